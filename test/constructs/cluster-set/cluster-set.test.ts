import { ApiObject, App, Testing } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import type { ClusterSetMember, ClusterSetProps } from '../../../constructs/cluster-set/props.ts';
import { ClusterSet } from '../../../constructs/cluster-set/cluster-set.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { LINK_SCHEMA } from '../../../crds/link/schema.ts';
import { readLink } from '../../../crds/link/settings.ts';
import { compile } from '../../../crds/validate.ts';
import { parseTargetKubeconfig } from '../../../operator/kube/access/secret-kubeconfig.ts';
import { CERTIFICATE } from '../../cluster/certificate.ts';
import { errorsOf } from '../errors-of.ts';

const caData = Buffer.from(CERTIFICATE).toString('base64');

const member = (name: string, more: Partial<ClusterSetMember> = {}): ClusterSetMember => ({
  name,
  clusterDomain: `${name}.example.com`,
  gatewayAddresses: [`gateway.${name}.example.com`],
  apiServer: { url: `https://api.${name}.example.com:6443`, caData },
  ...more,
});

const OPERATOR = { image: 'linkspan:1' };
const THREE = [member('east'), member('north'), member('west')];

const clusterSet = (props: Partial<ClusterSetProps> = {}) =>
  new ClusterSet(new App(), 'set', { members: THREE, operator: OPERATOR, ...props });

const objectsOf = (set: ClusterSet, cluster: string): readonly ApiJson[] =>
  Testing.synth(set.clusters.find(({ name }) => name === cluster)!.chart) as ApiJson[];

const ofKind = (objects: readonly ApiJson[], kind: string) => objects.filter((object) => object.kind === kind);

const namesOf = (objects: readonly ApiJson[], kind: string) =>
  ofKind(objects, kind).map(({ metadata }) => metadata.name);

/** Where each cluster mirrors from. */
const linksOf = (set: ClusterSet): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(set.clusters.map(({ name, multicluster }) => [name, multicluster.links.map((link) => link.name)]));

describe('a set of clusters', () => {
  test('in full mesh links each with each', () => {
    expect(linksOf(clusterSet())).toEqual({
      east: ['north', 'west'],
      north: ['east', 'west'],
      west: ['east', 'north'],
    });
  });

  test('with a hub links each spoke with the hub, both ways, and no spoke with another', () => {
    expect(linksOf(clusterSet({ topology: { type: 'hub-and-spokes', hubs: ['north'] } }))).toEqual({
      east: ['north'],
      north: ['east', 'west'],
      west: ['north'],
    });
  });

  test('by pairs gives a source the operator, a target the gateway, and a cluster in no pair neither', () => {
    const set = clusterSet({ topology: { type: 'pairs', pairs: [{ source: 'east', target: 'west' }] } });
    expect(linksOf(set)).toEqual({ east: ['west'], north: [], west: [] });
    const made = set.clusters.map(({ name, multicluster: { operator, gateway, remoteAccess } }) => [
      name,
      operator !== undefined,
      gateway !== undefined,
      remoteAccess.map((access) => access.name),
    ]);
    expect(made).toEqual([
      ['east', true, false, []],
      ['north', false, false, []],
      ['west', false, true, ['linkerd-service-mirror-remote-access-east']],
    ]);
  });

  test('keeps the operator, its CRDs and its monitoring in a cluster without Links, in pairs or not, if it is to', () => {
    const members = [member('east'), member('north', { operator: true }), member('west', { operator: true })];
    const pairs = [{ source: 'east', target: 'west' }];
    const set = clusterSet({ members, topology: { type: 'pairs', pairs }, monitoring: {} });
    expect(linksOf(set)).toEqual({ east: ['west'], north: [], west: [] });
    for (const { multicluster } of set.clusters) {
      const { operator, crd, failoverCrd, monitoring } = multicluster;
      for (const part of [operator, crd, failoverCrd, monitoring]) expect(part).toBeDefined();
    }
    const none = clusterSet({
      members: members.map((each) => ({ ...each, operator: true })),
      topology: { type: 'pairs', pairs: [] },
    });
    for (const { name } of none.clusters)
      expect(namesOf(objectsOf(none, name), 'Deployment')).toEqual(['linkspan-operator']);
    expect(objectsOf(clusterSet({ members }), 'west')).toEqual(objectsOf(clusterSet(), 'west'));
  });

  test('refuses a member without a pair that does not keep its operator, and another word than true, by its path', () => {
    const members = [member('east'), member('north'), member('west', { operator: false } as object)];
    const pairs = [{ source: 'east', target: 'west' }];
    expect(errorsOf(() => clusterSet({ members, topology: { type: 'pairs', pairs } }))).toEqual([
      'members[2].operator: false must be one of true',
      'members[1].name: "north" must be in a pair of the topology',
    ]);
    expect(errorsOf(() => clusterSet({ topology: { type: 'pairs', pairs: [] } }))).toEqual([
      'topology.pairs: [] is required when type is pairs',
    ]);
  });

  test('gives the Link of one pair what is given for it, and other Links none of it', () => {
    const selector = { matchLabels: { team: 'shop' } };
    const own = { source: 'east', target: 'west', selector, excludedLabels: ['team'], federation: 'gateway' } as const;
    const set = clusterSet({ flat: true, links: [own] });
    const specOf = (cluster: string, name: string) =>
      ofKind(objectsOf(set, cluster), 'Link').find(({ metadata }) => metadata.name === name)?.['spec'];
    expect(specOf('east', 'west')).toMatchObject({ selector, excludedLabels: ['team'], federation: 'gateway' });
    expect(specOf('east', 'west')).not.toHaveProperty('source');
    for (const [cluster, name] of [
      ['east', 'north'],
      ['west', 'east'],
    ] as const) {
      expect(specOf(cluster, name)).toMatchObject({
        selector: { matchLabels: { 'mirror.linkerd.io/exported': 'true' } },
      });
      expect(specOf(cluster, name)).not.toHaveProperty('excludedLabels');
    }
  });

  test('refuses what is given for a pair that is none, twice, or against the set, by its path', () => {
    const pair = { source: 'east', target: 'west' };
    const errors = errorsOf(() =>
      clusterSet({
        topology: { type: 'pairs', pairs: [pair, { source: 'north', target: 'west' }] },
        links: [
          { ...pair, excludedLabels: ['not a label'] },
          { source: 'west', target: 'east' },
          pair,
          { source: 'north', target: 'west', federation: 'flat' },
        ],
      }),
    );
    expect(errors.map((error) => error.slice(0, error.indexOf(':'))).sort()).toEqual([
      'links[0].excludedLabels[0]',
      'links[1]',
      'links[2]',
      'links[3].federation',
    ]);
  });

  test('A3: lets a Link have namespaces created, and refuses that with an operator that is limited to namespaces', () => {
    const links = [{ source: 'east', target: 'west', enableNamespaceCreation: true }];
    const mayCreate = (cluster: string) =>
      JSON.stringify(ofKind(objectsOf(clusterSet({ links }), cluster), 'ClusterRole')).includes(
        '"resources":["namespaces"],"verbs":["get","create","patch"]',
      );
    expect(['east', 'north'].map(mayCreate)).toEqual([true, false]);
    expect(errorsOf(() => clusterSet({ links, operator: { ...OPERATOR, mirrorNamespaces: ['shop'] } }))).toEqual([
      'links[0].enableNamespaceCreation: true must not be set together with operator.mirrorNamespaces, which must exist',
    ]);
  });

  test('gives a target what its sources need, each an account of its own, and lets in their networks alone', () => {
    const members = [
      member('east', { networks: ['10.2.0.0/16', '10.1.0.0/16'] }),
      member('north', { networks: ['10.1.0.0/16'] }),
      member('west'),
    ];
    const west = objectsOf(clusterSet({ members }), 'west');
    expect(namesOf(west, 'ServiceAccount')).toEqual([
      'linkerd-gateway',
      'linkerd-service-mirror-remote-access-east',
      'linkerd-service-mirror-remote-access-north',
      'linkspan-operator',
    ]);
    expect(ofKind(west, 'NetworkAuthentication')).toMatchObject([
      { spec: { networks: [{ cidr: '10.1.0.0/16' }, { cidr: '10.2.0.0/16' }] } },
    ]);
    // East and north are open, since west may come from anywhere, and say so.
    expect(ofKind(objectsOf(clusterSet({ members }), 'east'), 'NetworkAuthentication')).toMatchObject([
      { metadata: { annotations: { 'linkspan.dev/source-networks': 'any' } } },
    ]);
  });

  test('has Links and the gateway that they lead to agree', () => {
    const west = member('west', {
      trustDomain: 'mesh.example.com',
      gateway: {
        probePath: '/health',
        probePeriod: 5,
        service: { type: 'NodePort', nodePort: 30_043, probeNodePort: 30_091 },
      },
    });
    const set = clusterSet({ members: [member('east'), west], namespace: 'multi', linkerdNamespace: 'l5d' });
    const [link] = ofKind(objectsOf(set, 'east'), 'Link');
    expect(compile(LINK_SCHEMA)(link)).toMatchObject({ ok: true });
    expect(link).toMatchObject({
      metadata: { name: 'west', namespace: 'multi' },
      spec: {
        targetClusterDomain: 'west.example.com',
        gatewayAddress: 'gateway.west.example.com',
        gatewayPort: '30043',
        gatewayIdentity: set.clusters[1]!.multicluster.gateway!.identity,
        probeSpec: { path: '/health', port: '30091', period: '5s' },
        // Nothing reads credentials beside the control plane, so no Service may need them.
        remoteDiscoverySelector: {},
        federatedServiceSelector: { matchLabels: { 'mirror.linkerd.io/federated': 'member' } },
        federation: 'gateway',
      },
    });
  });

  test('a Link with a part of the probe probes the gateway where it answers', () => {
    const service = { type: 'NodePort', nodePort: 30_043, probeNodePort: 30_091 } as const;
    const west = member('west', { gateway: { probePath: '/health', probePeriod: 5, service } });
    const probe = { timeout: '10s', path: undefined, port: undefined };
    const set = clusterSet({ members: [member('east'), west], links: [{ source: 'east', target: 'west', probe }] });
    const [link] = ofKind(objectsOf(set, 'east'), 'Link');
    expect(link!['spec']).toMatchObject({
      gatewayPort: '30043',
      probeSpec: { path: '/health', port: '30091', period: '5s', timeout: '10s' },
    });
  });

  test('H6: lets others read the namespaces that a member exports from, and has their Links read no others', () => {
    const west = member('west', { exportNamespaces: ['shop', 'bank'] });
    const set = clusterSet({ members: [member('east'), west] });
    const roles = ofKind(objectsOf(set, 'west'), 'Role').filter(({ metadata }) => metadata.name.includes('remote'));
    // The last one is the right to renew a token, where the account is.
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(['shop', 'bank', 'linkerd-multicluster']);
    expect(ofKind(objectsOf(set, 'east'), 'Link')).toMatchObject([{ spec: { targetNamespaces: ['shop', 'bank'] } }]);
    expect(namesOf(objectsOf(set, 'east'), 'ClusterRole')).toEqual([
      'linkerd-service-mirror-remote-access-west',
      'linkspan-operator',
    ]);
    expect(ofKind(objectsOf(set, 'west'), 'Link')[0]).not.toHaveProperty('spec.targetNamespaces');
  });

  test('K1: imports what ServiceExports export, or not, by every Link', () => {
    const imports = (props: Partial<ClusterSetProps>) =>
      clusterSet(props).clusters.flatMap(({ multicluster }) =>
        multicluster.links.map((link) => readLink(ApiObject.of(link).toJson())),
      );
    const members = [member('east'), member('west')];
    expect(imports({ members })).toMatchObject([true, true].map((serviceExports) => ({ value: { serviceExports } })));
    expect(imports({ members, serviceExports: false })).toMatchObject(
      [false, false].map((serviceExports) => ({ value: { serviceExports } })),
    );
  });

  test('on a flat network needs no gateways, and lets accounts read what the destination controller needs', () => {
    const { gatewayAddresses: _, ...east } = member('east');
    const set = clusterSet({ members: [east, member('west')], flat: true, credentials: { type: 'placeholder' } });
    const made = objectsOf(set, 'west');
    const [link] = ofKind(made, 'Link') as [ApiJson & { readonly spec: object }];
    expect(link.spec).not.toHaveProperty('gatewayAddress');
    expect(link).toMatchObject({ spec: { remoteDiscoverySelector: { matchLabels: {} } } });
    expect(link.spec).not.toHaveProperty('federation');
    expect(set.clusters[0]!.multicluster.gateway).toBeUndefined();
    expect(JSON.stringify(ofKind(made, 'ClusterRole'))).toContain('replicasets');
    const copies = ofKind(made, 'Secret').filter(({ metadata }) => metadata.name === 'cluster-credentials-east');
    expect(copies.map(({ metadata }) => metadata.namespace)).toEqual(['linkerd-multicluster', 'linkerd']);
    expect(copies[1]).toMatchObject({
      metadata: {
        labels: { 'multicluster.linkerd.io/cluster-name': 'east' },
        annotations: { 'multicluster.linkerd.io/cluster-domain': 'east.example.com' },
      },
    });
  });
});

describe('who may come through a gateway', () => {
  const PAIR = { type: 'pairs', pairs: [{ source: 'east', target: 'west' }] } as const;
  const settingsOf = (objects: readonly ApiJson[]): readonly string[] =>
    JSON.stringify(objects).match(/--(?:gateway-access|gateway-tcp|cluster-domain|trust-domain)=[^"]*/g) ?? [];
  const isOpen = (objects: readonly ApiJson[]): boolean =>
    namesOf(objects, 'AuthorizationPolicy').includes('linkerd-gateway');

  test('is what the set says, and an operator keeps it also in a cluster that is a target alone', () => {
    const members = [member('east'), member('west')];
    const set = clusterSet({ members, topology: PAIR, operator: { ...OPERATOR, gatewayAccess: 'exported' } });
    const west = objectsOf(set, 'west');
    expect(settingsOf(west)).toEqual([
      '--gateway-access=exported',
      '--cluster-domain=west.example.com',
      '--trust-domain=west.example.com',
    ]);
    expect(isOpen(west)).toBe(false);
  });

  test('is what a member says of itself, so that one cluster after the other can be closed', () => {
    const members = [member('east', { gatewayAccess: 'clients', gatewayTcp: 'clients' }), member('west')];
    const set = clusterSet({ members });
    const [east, west] = [objectsOf(set, 'east'), objectsOf(set, 'west')];
    expect(settingsOf(east)).toEqual([
      '--gateway-access=clients',
      '--gateway-tcp=clients',
      '--cluster-domain=east.example.com',
      '--trust-domain=east.example.com',
    ]);
    expect([isOpen(east), isOpen(west)]).toEqual([false, true]);
    expect(settingsOf(west)).toEqual([]);
    const other = clusterSet({
      members: [member('east', { gatewayAccess: 'open' }), member('west')],
      operator: { ...OPERATOR, gatewayAccess: 'exported' },
    });
    expect([isOpen(objectsOf(other, 'east')), isOpen(objectsOf(other, 'west'))]).toEqual([true, false]);
  });

  test('is refused by the path of the member that has it', () => {
    const members = [member('east'), member('west', { gatewayAccess: 'clients', gatewayTcp: 'meshed' })];
    expect(errorsOf(() => clusterSet({ members }))).toEqual([
      expect.stringMatching(/^members\[1\]\.gatewayTcp: "meshed" must not be meshed if gatewayAccess is clients/),
    ]);
  });
});

describe('credentials in Git', () => {
  test('are left out unless asked for', () => {
    const made = objectsOf(clusterSet(), 'east');
    expect(JSON.stringify(made)).not.toContain('remote-kubeconfig');
  });

  test('as placeholders are refused by the operator for their empty token, and for nothing else', () => {
    const made = objectsOf(clusterSet({ credentials: { type: 'placeholder' } }), 'east');
    const placeholders = ofKind(made, 'Secret').filter(({ type }) => type === 'mirror.linkerd.io/remote-kubeconfig');
    expect(placeholders.map(({ metadata }) => metadata.name)).toEqual([
      'cluster-credentials-north',
      'cluster-credentials-west',
    ]);
    const { kubeconfig } = placeholders[0]!['stringData'] as { readonly kubeconfig: string };
    expect(parseTargetKubeconfig(kubeconfig)).toMatchObject({
      ok: false,
      errors: [{ path: 'users[0].user.token', reason: 'must not be empty' }],
    });
    expect(parseTargetKubeconfig(kubeconfig.replace('token: ""', 'token: abc'))).toMatchObject({
      ok: true,
      value: { access: { server: 'https://api.north.example.com:6443' } },
    });
  });

  test('as ExternalSecrets become kubeconfigs that the operator takes once the token is in', () => {
    const set = clusterSet({
      credentials: { type: 'external-secret', store: { name: 'vault' }, keyPrefix: 'teams/mesh' },
    });
    const [external] = ofKind(objectsOf(set, 'east'), 'ExternalSecret') as unknown as readonly {
      readonly spec: { readonly target: { readonly template: { readonly data: { readonly kubeconfig: string } } } };
    }[];
    expect(external).toMatchObject({
      apiVersion: 'external-secrets.io/v1',
      metadata: { name: 'cluster-credentials-north', namespace: 'linkerd-multicluster' },
      spec: {
        secretStoreRef: { name: 'vault', kind: 'ClusterSecretStore' },
        target: { name: 'cluster-credentials-north', template: { type: 'mirror.linkerd.io/remote-kubeconfig' } },
        data: [{ secretKey: 'token', remoteRef: { key: 'teams/mesh/east/north' } }],
      },
    });
    const filled = external!.spec.target.template.data.kubeconfig.replace('{{ .token | trim }}', 'abc');
    expect(parseTargetKubeconfig(filled)).toMatchObject({ ok: true });
  });
});

describe('what a set cannot be is refused', () => {
  test('all at once, by the path of the member', () => {
    const { gatewayAddresses: _, ...west } = member('west', { networks: ['10.0.0.0/33'], gateway: {} });
    const members = [
      member('East', {
        clusterDomain: 'east.local',
        gatewayAddresses: ['127.0.0.1'],
        apiServer: { url: 'http://api', caData: 'no' },
      }),
      west,
      member('west', { gateway: { service: { type: 'NodePort' } } }),
    ];
    expect(errorsOf(() => clusterSet({ members, credentials: { type: 'external-secret' } }))).toEqual([
      'members[2].name: "west" must be unique',
      'credentials.store: is required when type is external-secret',
      'members[0].name: "East" must be a valid DNS label',
      'members[0].gatewayAddresses[0]: "127.0.0.1" must not be a loopback, link-local or unspecified address: Endpoints cannot hold one',
      'members[0].apiServer.url: "http://api" must be an https URL',
      'members[0].apiServer.caData: must be base64 of PEM certificates',
      'members[1].gatewayAddresses: is required: other clusters connect to the gateway',
      'members[1].gateway: must not be set without gatewayAddresses',
      'members[1].networks[0]: "10.0.0.0/33" must be a network in CIDR notation',
      'members[2].gateway.service.nodePort: is required: Links to a NodePort gateway need it',
      'members[2].gateway.service.probeNodePort: is required: Links to a NodePort gateway need it',
    ]);
  });

  test('if it limits what is read where all must be, or to nothing', () => {
    const members = [member('east', { exportNamespaces: ['shop'] }), member('west', { exportNamespaces: [] })];
    expect(errorsOf(() => clusterSet({ members, flat: true }))).toEqual([
      'members[0].exportNamespaces: ["shop"] must not be set together with flat: Linkerd\'s destination controller reads whole clusters',
      'members[1].exportNamespaces: [] must not be empty',
      "members[1].exportNamespaces: [] must not be set together with flat: Linkerd's destination controller reads whole clusters",
    ]);
  });

  test('if it federates Services on a flat network that there is not, or through gateways that there are not', () => {
    const { gatewayAddresses: _, ...east } = member('east');
    expect(errorsOf(() => clusterSet({ federation: 'flat' }))).toEqual([
      'federation: "flat" requires flat to be true: pods connect to pods of other clusters',
    ]);
    expect(errorsOf(() => clusterSet({ members: [east, member('west')], flat: true, federation: 'gateway' }))).toEqual([
      'members[0].gatewayAddresses: is required: other clusters connect to the gateway',
    ]);
  });

  test("in the words of the part that refuses, the operator's once for all clusters", () => {
    const members = [member('east', { gateway: { probePath: 'ready' } }), member('west')];
    expect(errorsOf(() => clusterSet({ members, operator: { image: '' } }))).toEqual([
      'members[0].gateway.probePath: "ready" must be a valid path',
      'operator.image: "" must be a valid image reference',
    ]);
  });

  test('if its topology names strangers, or says what is of another type', () => {
    expect(
      errorsOf(() =>
        clusterSet({ topology: { type: 'pairs', hubs: ['east'], pairs: [{ source: 'south', target: 'west' }] } }),
      ),
    ).toEqual([
      'topology.hubs: ["east"] may only be used with type hub-and-spokes',
      'topology.pairs[0].source: "south" must be the name of a member',
    ]);
    expect(errorsOf(() => clusterSet({ topology: { type: 'hub-and-spokes' } }))).toEqual([
      'topology.hubs: is required when type is hub-and-spokes',
    ]);
  });
});

describe('the MCS API in a set of clusters (K2)', () => {
  test('is left out by default', () => {
    expect(namesOf(objectsOf(clusterSet(), 'east'), 'ClusterProperty')).toEqual([]);
  });

  test('calls each cluster by its name, and has the CRDs before that', () => {
    const objects = objectsOf(clusterSet({ mcs: { clusterSet: 'production' } }), 'west');
    expect(ofKind(objects, 'ClusterProperty').map(({ metadata, spec }) => [metadata.name, spec])).toEqual([
      ['cluster.clusterset.k8s.io', { value: 'west' }],
      ['clusterset.k8s.io', { value: 'production' }],
    ]);
    const kinds = objects.map(({ kind }) => kind);
    expect(namesOf(objects, 'CustomResourceDefinition')).toContain('clusterproperties.about.k8s.io');
    expect(kinds.lastIndexOf('CustomResourceDefinition')).toBeLessThan(kinds.indexOf('ClusterProperty'));
  });

  test('leaves CRDs out that somebody else has installed', () => {
    const objects = objectsOf(clusterSet({ mcs: { clusterSet: 'production', crds: false } }), 'west');
    expect(namesOf(objects, 'CustomResourceDefinition')).not.toContain('clusterproperties.about.k8s.io');
    expect(namesOf(objects, 'ClusterProperty')).toHaveLength(2);
  });

  test('refuses an id that no ClusterProperty can have', () => {
    expect(errorsOf(() => clusterSet({ mcs: { clusterSet: 'a b' } }))).toContain(
      'mcs.clusterSet: "a b" must be a valid DNS label',
    );
  });
});
