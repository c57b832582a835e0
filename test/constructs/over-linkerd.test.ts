/**
 * Our constructs over what Linkerd's multicluster chart has installed: applied by client-side and by server-side apply,
 * nothing is refused or made anew, and what changes is known, line by line, with its reason.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Chart } from 'cdk8s';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ClusterSet } from '../../constructs/cluster-set/cluster-set.ts';
import { Multicluster } from '../../constructs/cluster-set/multicluster.ts';
import { Gateway } from '../../constructs/gateway/gateway.ts';
import { type ApiJson, render } from '../../constructs/rendered/render.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { requireBinary } from '../cluster/real/binaries.ts';
import { startCluster, type TestCluster } from '../cluster/index.ts';
import { type Api, api, eventually, installCrd, type KubeObject } from '../cluster/workload/index.ts';
import { linkerdChart } from '../support/linkerd-chart.ts';
import { meshCrds } from '../support/mesh-crds.ts';

const IMAGE = 'registry.example/linkspan:0.1.0';
const REMOTE = 'linkerd-service-mirror-remote-access-default';

const multicluster = render((chart) => {
  new Multicluster(chart, 'multicluster', {
    sources: [{ sourceCluster: 'east', name: REMOTE, flat: true, longLivedToken: true }],
    operator: { image: IMAGE },
    links: [{ targetCluster: 'west', gatewayAddresses: ['203.0.113.7'] }],
  });
});

const gateway = render((chart) => {
  new Gateway(chart, 'gateway');
});

const clusterSet = ((): readonly ApiJson[] => {
  const { clusters } = new ClusterSet(new Chart(new App(), 'clusters'), 'set', {
    members: [
      { name: 'east', gatewayAddresses: ['203.0.113.5'] },
      { name: 'west', gatewayAddresses: ['203.0.113.7'] },
    ],
    flat: true,
    operator: { image: IMAGE },
  });
  return clusters[0]!.chart.toJson() as ApiJson[];
})();

/** What changes, by the reason for it. */
type Reasons = Readonly<Record<string, readonly string[]>>;

const createdBy = (...paths: readonly string[]): readonly string[] =>
  paths.map((path) => `${path}.annotations.linkerd.io/created-by: "linkerd/cli edge-26.8.1" → -`);

const DEPLOYMENT = 'Deployment linkerd-gateway';
const POD = `${DEPLOYMENT} spec.template.spec`;
const SPREAD = `${POD}.topologySpreadConstraints.0`;
const ANTI_AFFINITY = `${POD}.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.0`;

const OF_GATEWAY: Reasons = {
  'three pods, so that a rollout or a node takes none of the traffic': [`${DEPLOYMENT} spec.replicas: 1 → 3`],
  'they are spread where there are nodes and zones for it': [
    `${ANTI_AFFINITY}.weight: - → 100`,
    `${ANTI_AFFINITY}.podAffinityTerm.topologyKey: - → "kubernetes.io/hostname"`,
    `${ANTI_AFFINITY}.podAffinityTerm.labelSelector.matchLabels.app: - → "linkerd-gateway"`,
    `${SPREAD}.maxSkew: - → 1`,
    `${SPREAD}.topologyKey: - → "topology.kubernetes.io/zone"`,
    `${SPREAD}.whenUnsatisfiable: - → "ScheduleAnyway"`,
    `${SPREAD}.labelSelector.matchLabels.app: - → "linkerd-gateway"`,
  ],
  'the image of today, and the user that it is made for': [
    `${POD}.containers.0.image: "registry.k8s.io/pause:3.2" → "registry.k8s.io/pause:3.10"`,
    `${POD}.containers.0.securityContext.runAsUser: 2103 → 65535`,
    `${POD}.containers.0.securityContext.runAsGroup: 2103 → 65535`,
  ],
  'the scheduler knows what the container needs': [
    `${POD}.containers.0.resources.requests.cpu: - → "1m"`,
    `${POD}.containers.0.resources.requests.memory: - → "4Mi"`,
  ],
  'defaults that cdk8s-plus writes out': [
    `${POD}.containers.0.securityContext.privileged: - → false`,
    `${POD}.setHostnameAsFQDN: - → false`,
  ],
  'no pod that forgets to say so gets a token that nothing uses': [
    'ServiceAccount linkerd-gateway automountServiceAccountToken: - → false',
  ],
  'whoever looks for what belongs to the gateway finds all of it': [
    'Service linkerd-gateway metadata.labels.app: - → "linkerd-gateway"',
    'ServiceAccount linkerd-gateway metadata.labels.app: - → "linkerd-gateway"',
  ],
  'labels and annotations that nothing reads, and which name the version of a chart that no longer keeps the gateway': [
    `${DEPLOYMENT} metadata.labels.app.kubernetes.io/name: "gateway" → -`,
    `${DEPLOYMENT} metadata.labels.app.kubernetes.io/part-of: "Linkerd" → -`,
    `${DEPLOYMENT} metadata.labels.app.kubernetes.io/version: "edge-26.8.1" → -`,
    `${DEPLOYMENT} metadata.labels.component: "gateway" → -`,
    'Service linkerd-gateway metadata.annotations.component: "gateway" → -',
    ...createdBy(`${DEPLOYMENT} metadata`, `${DEPLOYMENT} spec.template.metadata`, 'Service linkerd-gateway metadata'),
  ],
};

const OF_POLICY: Reasons = {
  'the operator knows the policy for everyone as its own, and nobody else deletes it before what is exported is admitted':
    [
      'AuthorizationPolicy linkerd-gateway metadata.annotations.argocd.argoproj.io/compare-options: - → "IgnoreExtraneous"',
      'AuthorizationPolicy linkerd-gateway metadata.annotations.argocd.argoproj.io/sync-options: - → "Prune=false"',
      'AuthorizationPolicy linkerd-gateway metadata.labels.linkspan.dev/gateway-access: - → "open"',
    ],
  'a gateway that is open to every network says so': [
    'NetworkAuthentication source-cluster metadata.annotations.linkspan.dev/source-networks: - → "any"',
  ],
  'policies that the chart no longer keeps': createdBy(
    'Server linkerd-gateway metadata',
    'AuthorizationPolicy linkerd-gateway metadata',
    'MeshTLSAuthentication any-meshed metadata',
    'NetworkAuthentication source-cluster metadata',
  ),
};

const ROLE = `ClusterRole ${REMOTE}`;
const OF_ACCOUNT: Reasons = {
  'rights that neither operator, controller, destination controller nor check uses': [
    ...['replicasets', 'jobs', 'pods', 'endpoints', 'endpointslices', 'servers'].map(
      (resource) => `${ROLE} get ${resource}: granted → -`,
    ),
  ],
  "a source cluster writes nothing here: Linkerd's controller goes on without its Events": [
    `${ROLE} create events: granted → -`,
    `${ROLE} patch events: granted → -`,
  ],
  'the operator reads what is exported by the MCS API': ['list', 'watch'].flatMap((verb) => [
    `${ROLE} ${verb} serviceexports: - → granted`,
    `${ROLE} ${verb} clusterproperties cluster.clusterset.k8s.io: - → granted`,
  ]),
  'no pod of this cluster gets the token of another': [
    `ServiceAccount ${REMOTE} automountServiceAccountToken: - → false`,
  ],
  'an account that the chart no longer keeps': createdBy(
    `ServiceAccount ${REMOTE} metadata`,
    `Secret ${REMOTE}-token metadata`,
    `${ROLE} metadata`,
    `ClusterRoleBinding ${REMOTE} metadata`,
  ),
};

const OF_LINK: Reasons = {
  'the defaults of the CRD, written out': [
    'Link west spec.probeSpec.failureThreshold: - → "3"',
    'Link west spec.probeSpec.timeout: - → "30s"',
  ],
  'a Link that link-gen no longer writes': createdBy('Link west metadata'),
  'the CRD is a superset of that of the chart, and is found by its label': [
    'CustomResourceDefinition links.multicluster.linkerd.io metadata.labels.linkerd.io/extension: - → "multicluster"',
  ],
};

const keyOf = ({ kind, metadata }: ApiJson): string => `${kind} ${metadata.name}`;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const rightsOf = ({ resources, resourceNames = [], verbs }: Rule): readonly string[] =>
  resources.flatMap((resource) => verbs.map((verb) => [verb, resource, ...resourceNames].join(' ')));

/** Set by the server, or by the client for itself. */
const NOISE =
  /^(status|metadata\.(managedFields|resourceVersion|generation|uid|creationTimestamp|annotations\.(kubectl\.|deployment\.).*))(\.|$)/;

/** Its leaves by their paths. A rule of a role is a leaf for each right; the schemas of a CRD are not looked into. */
const leavesOf = (value: unknown, path = ''): readonly (readonly [path: string, text: string])[] => {
  if (NOISE.test(path) || path === 'spec.versions') return [];
  if (path === 'rules') return (value as readonly Rule[]).flatMap(rightsOf).map((right) => [right, 'granted']);
  if (typeof value !== 'object' || value === null) return [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, each]) => leavesOf(each, path === '' ? key : `${path}.${key}`));
};

/** What a value is after, that was another or none before. */
const changesOf = (key: string, before: unknown, after: unknown): readonly string[] => {
  const was = new Map(leavesOf(before));
  const is = new Map(leavesOf(after));
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((path) => was.get(path) !== is.get(path))
    .map((path) => `${key} ${path}: ${was.get(path) ?? '-'} → ${is.get(path) ?? '-'}`);
};

onReal("over the objects of Linkerd's chart", () => {
  let cluster: TestCluster;
  let client: Api;
  let directory: string;

  const kubectl = async (command: readonly string[], objects: readonly ApiJson[]): Promise<void> => {
    const typed = promisify(execFile)(
      requireBinary('kubectl'),
      ['--kubeconfig', cluster.kubeconfigFile, ...command, '-f', '-'],
      { env: { HOME: directory, PATH: process.env['PATH'] } },
    );
    typed.child.stdin?.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    await typed;
  };

  const live = async (objects: readonly ApiJson[]): Promise<ReadonlyMap<string, KubeObject>> => {
    const found = await Promise.all(
      objects.map(async (object) => [keyOf(object), (await client.get(object))!] as const),
    );
    return new Map(found);
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-over-linkerd-'));
    cluster = await startCluster({ backing: 'real', name: 'over-linkerd', podSecurity: 'baseline' });
    client = api(cluster);
    for (const crd of meshCrds) if (crd.metadata.name.endsWith('policy.linkerd.io')) await installCrd(cluster, crd);
  }, 120_000);
  afterEach(async () => {
    for (const object of [...multicluster, ...clusterSet, ...linkerdChart])
      if (object.kind !== 'Namespace') await client.delete(object);
    const [crd] = multicluster.filter(({ kind }) => kind === 'CustomResourceDefinition');
    await eventually('the CRD is gone', async () => (await client.get(crd!)) === undefined);
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
    await rm(directory, { recursive: true });
  });

  describe.each([
    ['client-side', ['apply', '--validate=strict'], ['diff']],
    ['server-side', ['apply', '--server-side', '--validate=strict'], ['diff', '--server-side']],
  ])('%s', (_, apply, diff) => {
    test.each<[string, readonly ApiJson[], Reasons]>([
      ['Multicluster', multicluster, { ...OF_GATEWAY, ...OF_POLICY, ...OF_ACCOUNT, ...OF_LINK }],
      ['Gateway', gateway, OF_GATEWAY],
      ['ClusterSet', clusterSet, { ...OF_GATEWAY, ...OF_POLICY, ...OF_LINK }],
    ])('%s is applied, and changes no more than this', async (_, ours, reasons) => {
      const [namespace, crd, ...rest] = linkerdChart;
      const ofControlPlane = { ...namespace!, metadata: { name: 'linkerd' } };
      await kubectl(apply, [namespace!, ofControlPlane, crd!]);
      await eventually('Links are served', async () => (await client.request('GET', LINKS)).code === 200);
      await kubectl(apply, rest);
      const before = await live(linkerdChart);

      await kubectl(apply, ours);
      const after = await live(linkerdChart);

      for (const [key, { metadata }] of before) expect(after.get(key)?.metadata.uid, key).toBe(metadata.uid);
      const changes = [...before].flatMap(([key, object]) => changesOf(key, object, after.get(key)));
      expect(changes.toSorted()).toEqual(Object.values(reasons).flat().toSorted());
      // It exits with 1 if there is a difference: what Argo CD would show for ever.
      await kubectl(diff, ours);
    });
  });

  test('a pod with the init container of the proxy is admitted to the namespace, and not to one without its label', async () => {
    const template = (
      gateway.find(({ kind }) => kind === 'Deployment')!.spec as { readonly template: { readonly spec: PodSpec } }
    ).template;
    const pod = (namespace: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'gateway', namespace },
      spec: { ...template.spec, initContainers: [INIT] },
    });
    const [ours] = multicluster;
    await kubectl(['apply'], [ours!, { ...ours!, metadata: { name: 'unlabelled' } }]);
    const admitted = (namespace: string) =>
      client.request('POST', `/api/v1/namespaces/${namespace}/pods`, {
        query: { dryRun: 'All' },
        body: pod(namespace),
      });

    expect(await admitted('unlabelled')).toMatchObject({
      code: 403,
      body: { message: expect.stringContaining('violates PodSecurity "baseline:latest"') as string },
    });
    expect(await admitted('linkerd-multicluster')).toMatchObject({ code: 201 });
  });
});

interface PodSpec {
  readonly containers: readonly object[];
}

/** As Linkerd's injector puts it into a pod where there is no CNI plugin. */
const INIT = {
  name: 'linkerd-init',
  image: 'registry.example/proxy-init:v2',
  securityContext: { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
};

const LINKS = '/apis/multicluster.linkerd.io/v1alpha3/links';
