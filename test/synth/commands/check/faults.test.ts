/**
 * Faults, put one by one into an installation that is healthy: each is diagnosed by the checks that name it and by no
 * other, and when it is gone, all is well again.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linkCrd } from '../../../../crds/index.ts';
import { jsonReport } from '../../../../synth/commands/check/report.ts';
import { onReal } from '../../../cluster/on-each-backing.ts';
import {
  eventually,
  installCrd,
  type KubeObject,
  type ObjectRef,
  READY_ANNOTATION,
} from '../../../cluster/workload/index.ts';
import { credentials, GATEWAY, LINKS_NAMESPACE, link, service, slice } from '../../../support/builders.ts';
import { serviceExport } from '../../../support/mcs.ts';
import { linkerdLinkCrd } from '../../../support/linkerd-crd.ts';
import { linkerdMirror } from '../../../support/linkerd-controller.ts';
import { typeRemedies } from '../../remedies/remedies.ts';
import { ANCHOR, EXPIRED_ANCHOR, OTHER_ANCHOR } from '../../../support/trust-anchors.ts';
import { DEPLOYMENT, Installed, linkerdConfig, textOf } from './installed.ts';
import {
  type Fault,
  WEST,
  COPY,
  LINK,
  REMOTE_ROLE,
  RENEWAL_ROLE,
  OPERATOR_ROLE,
  DISCOVERY_ROLE,
  GATEWAY_SERVICE,
  GATEWAY_SLICE,
  deleted,
  fresh,
  created,
  patched,
  applied,
  deprived,
  endingToken,
  kubeconfig,
  spec,
  exported,
  federating,
  LOCAL_LEASE,
  both,
  image,
  stopped,
  OLD,
  held,
  mcsInstalled,
  mirrored,
  meshedPod,
  linkerdDeployment,
} from './fault.ts';

const FAULTS: readonly Fault[] = [
  {
    name: 'the Secret with the credentials is deleted',
    inject: deleted('east', WEST),
    finds: [/^credentials-secret error Secret linkerd-multicluster\/cluster-credentials-west: not found/],
  },
  {
    name: 'the Secret has no kubeconfig',
    inject: async (site) => {
      const { data } = (await site.east.get<KubeObject & { data: object }>(WEST))!;
      await site.east.patch(WEST, { data: { kubeconfig: null } });
      return () => site.east.patch(WEST, { data });
    },
    finds: [/^credentials-secret error Secret .*: has no data key kubeconfig/],
  },
  {
    name: 'the kubeconfig is garbage',
    inject: kubeconfig(() => 'garbage'),
    finds: [/^credentials-kubeconfig error Secret .*: it is not a kubeconfig/],
  },
  {
    name: 'the kubeconfig would run a program',
    inject: kubeconfig((_, text) => text.replace(/token: .*/, 'exec: { command: sh, apiVersion: v1 }')),
    finds: [/^credentials-kubeconfig error Secret .*exec: .*would run a program/],
  },
  {
    name: 'the kubeconfig leads to where nobody answers',
    inject: kubeconfig(({ clusters }, text) => text.replace(clusters.westCluster.server, 'https://127.0.0.1:1')),
    finds: [/^target-api error API server https:\/\/127\.0\.0\.1:1 of west: .*ECONNREFUSED/],
  },
  {
    name: 'the token is refused',
    inject: kubeconfig((_, text) => text.replace(/token: .*/, 'token: revoked')),
    finds: [/^credentials-accepted error Secret .*: west refuses the credentials/],
  },
  {
    name: 'the account may not watch Services',
    inject: deprived('west', REMOTE_ROLE, 'services', ['watch']),
    finds: [
      /^target-rights error account of Secret .* in west: may not watch services$/,
      /^destination-rights error account of Secret linkerd\/.*: may not watch services$/,
    ],
  },
  {
    name: 'the account may not renew its token, which ends',
    inject: both(endingToken, deprived('west', RENEWAL_ROLE, 'serviceaccounts/token', ['create'])),
    finds: [
      /^target-rights error account of Secret .* in west: may not create serviceaccounts\/token ".*" in namespace linkerd-multicluster$/,
    ],
  },
  {
    name: 'the account may not list EndpointSlices',
    inject: deprived('west', REMOTE_ROLE, 'endpointslices', ['list']),
    finds: [
      /^target-rights error account of .*: may not list endpointslices\.discovery\.k8s\.io$/,
      /^destination-rights error account of .*: may not list endpointslices\.discovery\.k8s\.io$/,
    ],
  },
  {
    name: "Linkerd's destination has no credentials",
    inject: deleted('east', COPY),
    finds: [/^destination-secret error Secret linkerd\/cluster-credentials-west: not found/],
  },
  {
    name: "the credentials of Linkerd's destination lack their label",
    inject: patched(
      'east',
      COPY,
      { metadata: { labels: { 'multicluster.linkerd.io/cluster-name': null } } },
      { metadata: { labels: { 'multicluster.linkerd.io/cluster-name': 'west' } } },
    ),
    finds: [/^destination-secret error .*: has no label multicluster\.linkerd\.io\/cluster-name/],
  },
  {
    name: "the credentials of Linkerd's destination name another trust domain",
    inject: patched(
      'east',
      COPY,
      { metadata: { annotations: { 'multicluster.linkerd.io/trust-domain': 'other.example' } } },
      { metadata: { annotations: { 'multicluster.linkerd.io/trust-domain': 'cluster.local' } } },
    ),
    finds: [/^destination-secret error .*trust-domain: "other\.example", not "cluster\.local"/],
  },
  {
    name: "Linkerd's destination may not watch pods",
    inject: deprived('west', REMOTE_ROLE, 'pods', ['watch']),
    finds: [
      /^destination-rights error account of Secret linkerd\/cluster-credentials-west in west: may not watch pods$/,
    ],
  },
  {
    name: 'the clusters have no trust anchor in common',
    inject: applied('west', linkerdConfig(OTHER_ANCHOR), linkerdConfig(ANCHOR)),
    finds: [/^trust-anchors error east and west: have no trust anchor in common/],
  },
  {
    name: 'the only trust anchor in common has expired',
    inject: both(
      applied('west', linkerdConfig(EXPIRED_ANCHOR + OTHER_ANCHOR), linkerdConfig(ANCHOR)),
      applied('east', linkerdConfig(EXPIRED_ANCHOR + ANCHOR), linkerdConfig(ANCHOR)),
    ),
    finds: [/^trust-anchors error east and west: have only trust anchors in common that are not valid now/],
  },
  {
    name: 'the target has no Linkerd',
    inject: deleted('west', linkerdConfig(ANCHOR)),
    finds: [/^trust-anchors error ConfigMap linkerd\/linkerd-config of west: not found/],
  },
  {
    name: 'the source has no Linkerd',
    inject: deleted('east', linkerdConfig(ANCHOR)),
    finds: [/^linkerd-config error ConfigMap linkerd\/linkerd-config: not found/],
  },
  {
    name: 'the Link names another identity than the gateway has',
    inject: spec(
      { gatewayIdentity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.other.example' },
      { gatewayIdentity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local' },
    ),
    finds: [/^gateway-identity error Link .*other\.example", and the gateway of west is "/],
  },
  {
    name: 'the Link names another domain than the target has',
    inject: spec({ targetClusterDomain: 'other.example' }, { targetClusterDomain: 'cluster.local' }),
    finds: [/^cluster-domain error Link .*"other\.example", and west is "cluster\.local"/],
  },
  {
    name: 'a field of the Link is invalid',
    inject: spec({ gatewayPort: 'abc' }, { gatewayPort: '4143' }),
    finds: [/^links-valid error Link linkerd-multicluster\/west: spec\.gatewayPort: "abc" must be/],
  },
  {
    name: 'two Links name one cluster',
    inject: created(
      'east',
      link('wild', {
        targetClusterName: 'west',
        clusterCredentialsSecret: 'cluster-credentials-west',
        probeSpec: { path: '/ready', port: '4191', period: '100ms' },
      }),
    ),
    finds: [/^links-unique error Link linkerd-multicluster\/wild: names cluster west, as Link west does/],
  },
  {
    name: 'a Link is in a namespace that no operator serves',
    inject: created('east', link('north', {}, { namespace: 'shop' })),
    finds: [
      /^links-served error Link shop\/north: is not in namespace linkerd-multicluster/,
      /^credentials-secret error Secret shop\/cluster-credentials-north: not found/,
    ],
  },
  {
    name: 'the gateway has a name that does not resolve',
    inject: spec({ gatewayAddress: `${GATEWAY},gateway.invalid` }, { gatewayAddress: GATEWAY }),
    finds: [/^gateway-resolved error Link .*LookupFailed: .*gateway\.invalid/],
  },
  {
    name: 'the gateway is dead',
    inject: async ({ clusters }) => {
      await clusters.gateway.die();
      return () => clusters.gateway.revive();
    },
    finds: [/^gateway-alive error Link linkerd-multicluster\/west: ProbeFailed/],
  },
  {
    name: 'no pod of the gateway is ready',
    inject: applied(
      'west',
      slice('linkerd-gateway', { namespace: LINKS_NAMESPACE, labels: {}, endpoints: [{ ready: false }] }),
      GATEWAY_SLICE,
    ),
    finds: [/^target-gateway error Service linkerd-multicluster\/linkerd-gateway of west: has no ready endpoint/],
  },
  {
    name: 'the Service of the gateway is deleted',
    inject: deleted('west', GATEWAY_SERVICE),
    finds: [/^target-gateway warning namespace linkerd-multicluster of west: has no Service of a gateway/],
  },
  {
    name: 'the Link names another port than the gateway has',
    inject: spec({ gatewayPort: '4144' }, { gatewayPort: '4143' }),
    finds: [
      /^gateway-ports warning Link .*spec\.gatewayPort "4144", and port mc-gateway of the gateway of west is 4143/,
    ],
  },
  {
    name: 'the name of a mirror is too long',
    inject: exported('a'.repeat(60)),
    finds: [/^mirror-names error Service shop\/a{60} of west: InvalidName/],
  },
  {
    name: 'somebody else has the name of a mirror',
    inject: both(created('east', service('api-west')), exported('api')),
    finds: [/^mirror-conflicts error Service shop\/api of west: NameConflict: .*api-west/],
  },
  {
    name: 'the namespace of an export does not exist',
    inject: exported('far', 'faraway'),
    finds: [/^mirror-namespaces error Service faraway\/far of west: MissingNamespace/],
  },
  {
    name: 'a Service of kube-system is exported',
    inject: exported('dns', 'kube-system'),
    finds: [/^mirror-namespaces error Service kube-system\/dns of west: NamespaceNotAllowed/],
  },
  {
    name: 'a Service of type ExternalName is exported',
    inject: exported('outside', 'shop', { spec: { type: 'ExternalName', externalName: 'a.example' }, selector: null }),
    finds: [/^mirror-services error Service shop\/outside of west: InvalidService/],
  },
  {
    name: 'a mirror is left of a cluster without a Link',
    inject: created('east', linkerdMirror('south', { name: 'old' }, [{ name: 'http', port: 80 }])),
    finds: [/^mirror-orphans error Service shop\/old-south: mirrors cluster south, to which there is no Link/],
  },
  {
    name: 'a headless Service is to join a federated one',
    inject: federating('pods', { headless: true }),
    finds: [
      /^federated-members error Service shop\/pods of west: does not join pods-federated, InvalidService: .*headless/,
    ],
  },
  {
    name: 'somebody has the name of a federated Service',
    inject: both(created('east', service('shared-federated')), federating('shared')),
    finds: [/^federated-conflicts error Service shop\/shared of west: does not join shared-federated, NameConflict: /],
  },
  {
    name: "Linkerd's control plane cannot find the members of a federated Service",
    inject: both(deleted('east', COPY), federating('lost')),
    finds: [
      /^destination-secret error Secret linkerd\/cluster-credentials-west: not found/,
      /^federated-discovery error Service shop\/lost of west: does not join lost-federated, WaitingForCredentials: /,
    ],
  },
  {
    name: "Linkerd's local mirror decides about local members",
    inject: async (site) => {
      const renewTime = new Date().toISOString().replace('Z', '000Z');
      const spec = { holderIdentity: 'linkerd-local-service-mirror-7', leaseDurationSeconds: 3600, renewTime };
      await site.east.apply({ ...LOCAL_LEASE, spec } as ObjectRef);
      return () => site.east.delete(LOCAL_LEASE);
    },
    finds: [
      /^federated-lease warning Lease linkerd-multicluster\/local-service-mirror-write: linkerd-local-service-mirror-7 holds/,
    ],
  },
  {
    name: 'the operator may not write Endpoints',
    inject: deprived('east', OPERATOR_ROLE, 'endpoints', ['patch']),
    finds: [/^operator-rights error ServiceAccount linkerd-multicluster\/linkspan-operator: may not patch endpoints$/],
  },
  {
    name: 'the operator may not read ServiceFailovers',
    inject: deprived('east', OPERATOR_ROLE, 'servicefailovers', ['watch']),
    finds: [/^operator-rights error .*: may not watch servicefailovers\.linkspan\.dev$/],
  },
  {
    name: "the operator may not see which clusters Linkerd's control plane finds, and a Service is federated",
    inject: both(federating('plain'), deprived('east', DISCOVERY_ROLE, 'secrets', ['watch'])),
    finds: [/^operator-rights error .*: may not watch secrets "cluster-credentials-west" in namespace linkerd$/],
  },
  {
    name: 'the operator may not write Endpoints, and a Service is exported',
    inject: both(deprived('east', OPERATOR_ROLE, 'endpoints', ['patch']), exported('late')),
    finds: [
      /^operator-rights error .*: may not patch endpoints$/,
      /^mirror-failures error Service shop\/late of west: Error: .*forbidden/,
    ],
  },
  {
    name: 'one pod of the operator is not ready',
    inject: async (site) => {
      const [, pod] = await site.pods();
      await site.east.patch(pod!, { metadata: { annotations: { [READY_ANNOTATION]: 'false' } } });
      return () => site.east.patch(pod!, { metadata: { annotations: { [READY_ANNOTATION]: null } } });
    },
    finds: [
      /^operator-running warning Deployment .*: 1 of 2 pods are available; pod linkspan-operator-\S+ is not ready/,
    ],
  },
  {
    name: 'the operator has another version',
    inject: async (site) => {
      await image(site, '9.9.9');
      return () => image(site, '0.1.0');
    },
    finds: [/^operator-version warning Deployment .*: runs version 9\.9\.9, and this command is 0\.1\.0/],
  },
  {
    name: 'the operator is scaled to 0',
    inject: patched('east', DEPLOYMENT, { spec: { replicas: 0 } }, { spec: { replicas: 2 } }),
    finds: [/^operator-running error Deployment linkerd-multicluster\/linkspan-operator: is scaled to 0/],
  },
  {
    name: 'the Deployment of the operator is deleted',
    inject: deleted('east', DEPLOYMENT),
    finds: [/^operator-installed error Deployment linkerd-multicluster\/linkspan-operator: not found/],
  },
  {
    name: 'the operator does not lead',
    inject: stopped,
    finds: [
      /^operator-leads error Lease linkerd-multicluster\/linkspan-operator: nobody holds it/,
      /^link-leases error Lease linkerd-multicluster\/service-mirror-write-west: nobody holds it/,
    ],
  },
  {
    name: 'the operator died while it led',
    inject: both(stopped, held('linkspan-operator', 'dead-0', OLD), held('service-mirror-write-west', 'dead-0', OLD)),
    finds: [
      /^operator-leads error Lease .*: dead-0 holds it, and has not renewed it for 1 s/,
      /^link-leases error Lease .*: dead-0 holds it, and has not renewed it for 1 s/,
    ],
  },
  {
    name: 'a Service is exported while no operator runs',
    inject: both(stopped, exported('late')),
    finds: [
      /^operator-leads error/,
      /^link-leases error/,
      /^mirrors-complete error Service shop\/late of west: is exported, and has no mirror/,
    ],
  },
  {
    name: 'the export of a Service is taken back while no operator runs',
    inject: both(exported('gone'), mirrored('gone-west'), stopped, deleted('west', service('gone'))),
    finds: [
      /^operator-leads error/,
      /^link-leases error/,
      /^mirrors-complete error Service shop\/gone-west: mirrors what west does not export/,
    ],
  },
  {
    name: 'somebody unknown holds the Lease of a Link',
    inject: held('service-mirror-write-west', 'stranger-0'),
    finds: [
      /^link-leases error Lease .*: stranger-0 holds it, which is neither the leading operator linkspan-operator-/,
    ],
  },
  {
    name: "Linkerd's controller of a Link is installed, and scaled to 0",
    inject: created('east', linkerdDeployment('west')),
    finds: [/^linkerd-controllers warning Deployment .*controller-west: is scaled to 0: it does not take over west/],
  },
  {
    name: "Linkerd's controller writes for a Link",
    inject: both(created('east', linkerdDeployment('west')), held('service-mirror-write-west', 'controller-west-0')),
    finds: [/^linkerd-controllers warning Deployment .*controller-west: writes the mirrors of west/],
  },
  {
    name: 'a mirror loses its endpoints, and the operator may not write them',
    inject: both(deprived('east', OPERATOR_ROLE, 'endpoints', ['patch']), async (site) => {
      const web: ObjectRef = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web-west', namespace: 'shop' } };
      await site.east.patch(web, { subsets: null });
      return () => Promise.resolve();
    }),
    finds: [
      /^operator-rights error .*: may not patch endpoints$/,
      /^mirror-failures error Service shop\/web of west: Error: .*forbidden/,
      /^mirror-endpoints error Service shop\/web-west: has no ready endpoint, and shop\/web of west has one/,
    ],
  },
  {
    name: 'a pod that is to be in the mesh has no proxy',
    inject: created('east', meshedPod),
    finds: [/^proxies warning Pod linkerd-multicluster\/meshed: is to be in the mesh, and has no proxy/],
  },
  {
    name: 'the trust anchors of the target may not be read',
    inject: deprived('west', REMOTE_ROLE, 'configmaps', ['get']),
    finds: [/^trust-anchors warning ConfigMap .* of west: the trust anchors cannot be compared: .*forbidden/],
  },
  {
    name: 'the operator may not read the Secret that a Link names',
    inject: both(
      async (site) => {
        const { data } = (await site.east.get<KubeObject & { data: object }>(WEST))!;
        return created('east', { ...credentials('other', ''), data } as ObjectRef)(site);
      },
      spec(
        { clusterCredentialsSecret: 'cluster-credentials-other' },
        { clusterCredentialsSecret: 'cluster-credentials-west' },
      ),
    ),
    finds: [/^credentials-in-use error Link .*SecretNotListed/],
  },
  {
    name: 'a list of the target lacks most of what was exported',
    inject: async (site) => {
      const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
      for (const name of names) await exported(name)(site);
      for (const name of names) await mirrored(`${name}-west`)(site);
      await site.clusters.stopOperators();
      for (const name of names) await site.west.delete(service(name));
      await site.run();
      return async () => {
        const { message = '' } = (await site.clusters.condition('PruneHeld')) ?? {};
        const confirmed = /confirm-prune="([^"]+)"/.exec(message)?.[1];
        await site.east.patch(LINK, { metadata: { annotations: { 'linkspan.dev/confirm-prune': confirmed } } });
      };
    },
    finds: [/^deletions-held error Link linkerd-multicluster\/west: the target no longer lists 12 Services/],
  },
  {
    name: 'the API server of the target is down',
    inject: async ({ clusters }) => {
      await clusters.westCluster.kill();
      return () => clusters.westCluster.start();
    },
    finds: [/^target-api error API server https:\S+ of west: .*ECONNREFUSED/],
  },
  {
    name: 'the account may not read ServiceExports',
    inject: both(mcsInstalled(), deprived('west', REMOTE_ROLE, 'serviceexports', ['list', 'watch'])),
    finds: [
      /^target-exports warning account of Secret .* in west: may not list serviceexports\.multicluster\.x-k8s\.io: /,
      /^target-exports warning account of Secret .* in west: may not watch serviceexports\.multicluster\.x-k8s\.io: /,
    ],
  },
  {
    name: 'a CRD of the MCS API is missing',
    inject: mcsInstalled('serviceexports.multicluster.x-k8s.io'),
    finds: [/^mcs-crds warning CustomResourceDefinition serviceimports\.multicluster\.x-k8s\.io: not found/],
  },
  {
    name: 'a ServiceExport is of no Service',
    inject: both(mcsInstalled(), created('east', serviceExport('lost'))),
    finds: [/^exports-valid error ServiceExport shop\/lost: NoService: /],
  },
  {
    name: 'a ServiceImport cannot have its name',
    inject: both(
      mcsInstalled(),
      created('east', service('api-clusterset')),
      created('east', service('api')),
      created('east', serviceExport('api')),
    ),
    finds: [/^imports-ready error ServiceImport shop\/api: Pending: .*api-clusterset exists/],
  },
  {
    name: 'a ServiceFailover has no backend',
    inject: created('east', {
      apiVersion: 'linkspan.dev/v1alpha1',
      kind: 'ServiceFailover',
      metadata: { name: 'lost', namespace: 'shop' },
      spec: { service: 'lost', backends: [{ service: 'lost' }] },
    } as ObjectRef),
    finds: [/^failovers-ready error ServiceFailover shop\/lost: /],
  },
  {
    name: 'the namespace of the extension does not exist',
    inject: async () => () => Promise.resolve(),
    flags: () => ({ namespace: 'nowhere' }),
    finds: [
      /^extension-namespace error Namespace nowhere: not found/,
      /^links-served warning Link linkerd-multicluster\/west: is in namespace linkerd-multicluster, and whether/,
    ],
  },
  {
    name: "the CRD of the Link is Linkerd's",
    inject: async (site) => {
      await installCrd(site.clusters.eastCluster, linkerdLinkCrd);
      return async () => {
        await installCrd(site.clusters.eastCluster, linkCrd);
        // The operator reports again on a change.
        await site.east.patch(LINK, { spec: { excludedLabels: ['a'] } });
      };
    },
    finds: [
      /^link-crd-fields warning CustomResourceDefinition links\.multicluster\.linkerd\.io: drops .*status\.conditions/,
    ],
  },
  {
    name: 'the CRD of the Link does not serve its version',
    inject: async (site) => {
      const crd = linkCrd as unknown as ObjectRef & { spec: { versions: readonly { name: string }[] } };
      const versions = crd.spec.versions.map((each) => ({ ...each, served: each.name !== 'v1alpha3' }));
      await installCrd(site.clusters.eastCluster, { ...crd, spec: { ...crd.spec, versions } } as ObjectRef);
      return () => installCrd(site.clusters.eastCluster, crd);
    },
    finds: [/^link-crd error CustomResourceDefinition .*: does not serve v1alpha3/],
  },
  {
    name: 'the CRD of the Link is deleted',
    inject: async (site) => {
      const before = (await site.east.get(LINK))!;
      const crd = linkCrd as unknown as ObjectRef;
      await site.east.delete(crd);
      return async () => {
        await installCrd(site.clusters.eastCluster, crd);
        await site.east.create(fresh(before));
      };
    },
    finds: [/^link-crd error CustomResourceDefinition links\.multicluster\.linkerd\.io: not found/],
  },
];

onReal('faults, put one by one into an installation that is healthy', () => {
  let site: Installed;

  beforeAll(async () => {
    site = await Installed.start('real');
    await site.install();
    await site.exports();
    await site.run();
    await site.green();
  }, 120_000);
  afterAll(() => site.stop());

  /** Waits until a check finds what is expected, and nothing else. */
  const finds = async (patterns: readonly RegExp[], flags: object = {}): Promise<void> => {
    let found: readonly string[] = [];
    const isFound = (): boolean =>
      found.length === patterns.length && patterns.every((pattern) => found.some((line) => pattern.test(line)));
    await eventually(
      'the fault is diagnosed',
      async () => {
        found = textOf(await site.check(flags));
        return isFound();
      },
      10_000,
    ).catch(() => undefined);
    expect(found, patterns.map(String).join('\n')).toSatisfy(isFound);
  };

  test.each(FAULTS)('$name', async ({ inject, finds: patterns, flags }) => {
    const undo = await inject(site);
    try {
      await finds(patterns, flags?.(site));
      await typeRemedies('.', jsonReport(await site.check(flags?.(site))));
      // As long as the fault is there, no check is without a finding.
      expect(textOf(await site.check(flags?.(site)))).not.toEqual([]);
    } finally {
      await undo();
    }
    await site.green();
  });
});
