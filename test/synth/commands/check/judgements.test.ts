/** How checks judge what was read, where no fault in a cluster shows it, or not as exactly. */
import { describe, expect, test } from 'vitest';
import type { LinkSettings } from '../../../../crds/index.ts';
import { type Lease, type Resource, type Service, SERVICES } from '../../../../operator/kube/objects.ts';
import { CHECKS } from '../../../../synth/commands/check/checks/index.ts';
import { imageVersion } from '../../../../synth/commands/check/checks/operator.ts';
import type { Crd } from '../../../../synth/commands/check/objects.ts';
import { heartbeats } from '../../../../synth/commands/check/heartbeat.ts';
import { installRights } from '../../../../synth/commands/check/pre/survey.ts';
import type { Reader } from '../../../../synth/commands/check/reader.ts';
import { runChecks } from '../../../../synth/commands/check/report.ts';
import type { Survey } from '../../../../synth/commands/check/survey.ts';
import { readExports, readGateway, readMembers, type Target } from '../../../../synth/commands/check/target.ts';
import { EXPORTED, link, LINKS_NAMESPACE, selectorOf, service, slice } from '../../../support/builders.ts';
import { ANCHOR } from '../../../support/trust-anchors.ts';
import {
  conditions,
  facts,
  found,
  heartbeat,
  linkFacts,
  MCS_CRDS,
  operatorDeployment,
  pod,
  read,
  target,
  unread,
} from './facts.ts';

test('nothing is found where all is well', () => {
  expect(found(facts())).toEqual([]);
});

describe('what the operator reports', () => {
  test.each([
    [{ Synced: { status: 'False', reason: 'LeaseUnavailable' } }, 'links-synced error'],
    [{ TargetWithinLimits: { status: 'False', reason: 'LimitExceeded' } }, 'target-limits error'],
    [{ TargetReachable: { status: 'False', reason: 'ConnectionFailed' } }, 'target-reachable error'],
    [{ CredentialsValid: { status: 'False', reason: 'SecretNotListed' } }, 'credentials-in-use error'],
    [{ GatewayAlive: { status: 'Unknown', reason: 'Pending' } }, 'gateway-alive warning'],
    [{ PruneHeld: { status: 'True', reason: 'MassDeletion' } }, 'deletions-held error'],
  ])('%j', (changed, start) => {
    // What another check explains is not repeated as the summary.
    const Ready = { status: start.endsWith('warning') ? 'True' : 'False' };
    const all = found(facts({}, linkFacts({ conditions: conditions({ ...changed, Ready }) })));
    expect(all).toEqual([expect.stringMatching(`^${start} Link ${LINKS_NAMESPACE}/west: `)]);
  });

  test('a summary that nothing else explains', () => {
    const changed = conditions({ Ready: { status: 'False', reason: 'Odd', message: 'odd' } });
    expect(found(facts({}, linkFacts({ conditions: changed })))).toEqual([
      `links-ready error Link ${LINKS_NAMESPACE}/west: Odd: odd`,
    ]);
  });

  describe('of a Link that it does not accept (L216)', () => {
    const refused = (reason: string, changed: Parameters<typeof linkFacts>[0] = {}) => {
      const left = { status: 'False', reason, message: 'why' };
      return linkFacts({ conditions: conditions({ Ready: left, Accepted: left }), ...changed });
    };
    const writtenBy = (holder: string, isAlive = true) => {
      const beats = [
        heartbeat('linkspan-operator', 'linkspan-operator-a'),
        heartbeat('service-mirror-write-west', holder, isAlive),
      ];
      return { heartbeats: read(new Map(beats.map((beat) => [beat.lease.metadata.name, beat]))) };
    };
    const ready = (reason: string) => `links-ready error Link ${LINKS_NAMESPACE}/west: ${reason}: why`;

    test.each([
      ['FormerClusterSuspended', facts({}, refused('FormerClusterSuspended'))],
      ['InvalidLink', facts({}, refused('InvalidLink'))],
      ['DuplicateCluster', facts({}, refused('DuplicateCluster'))],
      ['Suspended', facts(writtenBy('controller-west-0', false), refused('Suspended'))],
      ['Suspended', facts(writtenBy('linkspan-operator-a'), refused('Suspended'))],
      ['Suspended', facts({ heartbeats: read(new Map()) }, refused('Suspended'))],
    ])('%s is an error where nothing else says so', (reason, survey) => {
      expect(found(survey)).toContain(ready(reason));
    });

    test('is none where another check says so, or somebody else writes for it', () => {
      const invalid = refused('InvalidLink', { errors: [{ path: 'spec', reason: 'is bad' }] });
      expect(found(facts({}, invalid))).toEqual([`links-valid error Link ${LINKS_NAMESPACE}/west: spec: is bad`]);
      const all = [link('west'), link('other', { targetClusterName: 'west' })];
      const duplicate = found(facts({ allLinks: read(all) }, refused('DuplicateCluster')));
      expect(duplicate).not.toContain(ready('DuplicateCluster'));
      expect(duplicate).toContainEqual(expect.stringMatching(/^links-unique error .*as Link other does/));
      expect(found(facts(writtenBy('controller-west-0'), refused('Suspended')))).not.toContain(ready('Suspended'));
      expect(found(facts({ heartbeats: unread() }, refused('Suspended')))).not.toContain(ready('Suspended'));
    });
  });

  test('an older generation', () => {
    const changed = conditions({ Ready: { observedGeneration: 0 } });
    expect(found(facts({}, linkFacts({ conditions: changed })))).toEqual([
      expect.stringMatching(/^links-served error .*has not seen its generation 1 yet, but 0/),
    ]);
  });

  test('nothing at all', () => {
    expect(found(facts({}, linkFacts({ conditions: undefined })))).toEqual([
      `links-served error Link ${LINKS_NAMESPACE}/west: the operator has not reported on it`,
    ]);
  });
});

describe('a ServiceFailover that says that it is ready', () => {
  const ready = { type: 'Ready', status: 'True', observedGeneration: 1 };
  const served = (operator?: string) => {
    const metadata = { namespace: 'shop', name: 'web', generation: 1 };
    return read([{ metadata, status: { conditions: [ready], ...(operator !== undefined && { operator }) } }]);
  };
  const off = (failovers: Survey['failovers']) => found(facts({ servesFailovers: false, failovers }));

  test('is not, where its operator was told to serve none', () => {
    for (const operator of [undefined, LINKS_NAMESPACE])
      expect(off(served(operator))).toEqual([
        expect.stringMatching(
          /^failovers-ready error ServiceFailover shop\/web: is not served any more: .*--no-failover/,
        ),
      ]);
  });

  test('is, where that is another operator, and where it serves them', () => {
    expect(off(served('another'))).toEqual([]);
    for (const servesFailovers of [true, undefined])
      expect(found(facts({ servesFailovers, failovers: served(LINKS_NAMESPACE) }))).toEqual([]);
  });
});

describe('clusters that share a trust domain (M6)', () => {
  const inDomain = (trustDomain: string) =>
    linkFacts({
      target: target({
        linkerd: read({ clusterDomain: 'cluster.local', trustDomain, anchors: ANCHOR, version: undefined }),
      }),
    });

  test('are named where exports name clients', () => {
    expect(found(facts({ gatewayAccess: 'clients' }, inDomain('cluster.local')))).toEqual([
      expect.stringMatching(/^trust-domains warning east and west: share the trust domain "cluster\.local"/),
    ]);
  });

  test('are well where no export names any, and so are those that do not', () => {
    for (const gatewayAccess of [undefined, 'open', 'exported'] as const)
      expect(found(facts({ gatewayAccess }, inDomain('cluster.local')))).toEqual([]);
    // The identities of gateways end in the trust domain, and that is another check.
    const all = found(facts({ gatewayAccess: 'clients' }, inDomain('west.example')));
    expect(all.filter((each) => each.startsWith('trust-domains'))).toEqual([]);
  });
});

describe('a target that this machine cannot reach', () => {
  const away = target({ version: unread('unreachable'), exports: unread(), gateway: unread(), linkerd: unread() });

  test('is a warning while the operator reads it', () => {
    expect(found(facts({}, linkFacts({ target: away })))).toEqual([
      expect.stringMatching(/^target-api warning API server/),
    ]);
  });

  test.each([
    ['reports that it cannot', { TargetReachable: { status: 'False' }, Ready: { status: 'False' } }],
    ['has reported so of an older generation', { TargetReachable: { observedGeneration: 0 } }],
  ])('is an error if the operator %s', (_, changed) => {
    expect(found(facts({}, linkFacts({ target: away, conditions: conditions(changed) })))).toEqual([
      expect.stringMatching(/^target-api error API server/),
    ]);
  });
});

describe('pods', () => {
  const waiting = pod('linkspan-operator-b', {
    status: {
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [
        { name: 'controller', state: { waiting: { reason: 'ImagePullBackOff', message: 'no image' } } },
      ],
    },
  });

  test.each([
    [1, 'warning'],
    [0, 'error'],
  ])('of 2, %i are available', (availableReplicas, level) => {
    const deployments = read([operatorDeployment({ status: { availableReplicas } })]);
    expect(found(facts({ deployments, pods: read([waiting]) }))).toEqual([
      `operator-running ${level} Deployment ${LINKS_NAMESPACE}/linkspan-operator: ${availableReplicas} of 2 pods are available; pod linkspan-operator-b is not ready: ImagePullBackOff: no image`,
    ]);
  });

  test('in the mesh need a proxy that is ready', () => {
    const metadata = { name: 'a', namespace: LINKS_NAMESPACE, annotations: { 'linkerd.io/inject': 'enabled' } };
    const spec = { containers: [], initContainers: [{ name: 'linkerd-proxy' }] };
    const proxy = (ready: boolean) =>
      pod('a', { metadata, spec, status: { initContainerStatuses: [{ name: 'linkerd-proxy', ready }] } });
    expect(found(facts({ pods: read([proxy(true)]) }))).toEqual([]);
    expect(found(facts({ pods: read([proxy(false)]) }))).toEqual([
      `proxies error Pod ${LINKS_NAMESPACE}/a: its proxy is not ready`,
    ]);
  });
});

test.each([
  ['cr.l5d.io/linkerd/proxy:edge-26.8.1', []],
  ['localhost:5000/proxy@sha256:abc', []],
  ['proxy:edge-26.7.1', ['proxy-versions warning']],
])('the proxy %s beside control plane edge-26.8.1: %j', (image, starts) => {
  const linkerd = read({ clusterDomain: 'cluster.local', trustDomain: 'a', anchors: ANCHOR, version: 'edge-26.8.1' });
  const pods = read([pod('a', { spec: { containers: [{ name: 'linkerd-proxy', image }] } })]);
  expect(found(facts({ linkerd, pods })).map((line) => line.split(' Pod')[0])).toEqual(starts);
});

describe("the copy for Linkerd's destination", () => {
  const access = (version: Target['version']) => ({ version, rights: [] });

  test.each([
    ['is refused', access(unread('unauthorized')), target(), /west refuses the credentials/],
    ['leads to another server than that of the Link', access(unread('unreachable')), target(), /not allowed/],
  ])('%s', (_, destinationAccess, of, reason) => {
    const all = found(facts({}, linkFacts({ destinationAccess, target: of })));
    expect(all).toEqual([expect.stringMatching(/^destination-rights error account of Secret linkerd\//)]);
    expect(all[0]).toMatch(reason);
  });

  test('leads to the server of the Link, which cannot be reached: that is reported once', () => {
    const unreachable = unread('unreachable');
    const all = found(
      facts({}, linkFacts({ destinationAccess: access(unreachable), target: target({ version: unreachable }) })),
    );
    expect(all).toEqual([expect.stringMatching(/^target-api /)]);
  });
});

test.each([
  ['linkspan:0.1.0', '0.1.0'],
  ['registry.example:5000/a/linkspan:v1.2.3-rc.1', '1.2.3-rc.1'],
  ['linkspan:0.1.0@sha256:abc', '0.1.0'],
  ['linkspan@sha256:abc', undefined],
  ['linkspan:latest', undefined],
  ['registry.example:5000/linkspan', undefined],
])('the image %s has version %s', (image, version) => {
  expect(imageVersion(image)).toBe(version);
});

describe('the endpoints of mirrors', () => {
  const mirror: Service = {
    metadata: {
      name: 'web-west',
      namespace: 'shop',
      labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
    },
  };
  const exported = (isReady: boolean, mode: 'gateway' | 'flat' = 'gateway') =>
    target({ exports: read([{ key: 'shop/web', namespace: 'shop', name: 'web', mode, isReady }]) });
  const addresses = (...ips: readonly string[]) =>
    read([{ metadata: { name: 'web-west', namespace: 'shop' }, subsets: [{ addresses: ips.map((ip) => ({ ip })) }] }]);
  const all = (changed: Partial<Survey>, of = exported(true)): readonly string[] =>
    found(facts({ mirrors: read([mirror]), ...changed }, linkFacts({ target: of })));

  test('follow their Services', () => {
    expect(all({ endpoints: addresses('203.0.113.10') })).toEqual([]);
    expect(all({ endpoints: addresses() })).toEqual([
      expect.stringMatching(/^mirror-endpoints error Service shop\/web-west/),
    ]);
  });

  test('are none where no pod is ready: that is no fault', () => {
    expect(all({ endpoints: addresses() }, exported(false))).toEqual([]);
    expect(all({ endpoints: addresses('203.0.113.10') }, exported(false))).toEqual([
      expect.stringMatching(/^mirror-endpoints error Service shop\/web-west: has ready endpoints/),
    ]);
  });

  test('are none in flat mode', () => {
    const copy = { metadata: { name: 'a', namespace: 'linkerd' }, type: 'mirror.linkerd.io/remote-kubeconfig' };
    const seen = found(
      facts({ mirrors: read([mirror]) }, linkFacts({ target: exported(true, 'flat'), destination: read(copy) })),
    );
    expect(seen.filter((line) => line.startsWith('mirror'))).toEqual([]);
  });

  test('may be slices', () => {
    const slices = read([
      {
        metadata: { name: 'x', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web-west' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['203.0.113.10'], conditions: { ready: true } }],
      },
    ]);
    expect(all({ slices })).toEqual([]);
  });
});

describe('the gateway of a Link', () => {
  const gateway = (name: string, identity: string) =>
    service(name, { annotations: { 'mirror.linkerd.io/gateway-identity': identity } });
  const nameOf = async (services: readonly object[], place: { readonly name?: string; readonly identity?: string }) => {
    const reader = { list: async (of: Resource) => read(of === SERVICES ? services : []) } as unknown as Reader;
    const found = await readGateway(reader, { namespace: 'mesh', name: undefined, identity: undefined, ...place });
    return found.ok ? found.value?.service.metadata.name : found.why;
  };
  const two = [gateway('another', 'a.mesh'), gateway('linkerd-gateway', 'b.mesh'), gateway('third', 'b.mesh')];

  test.each([
    [{ name: 'third', identity: 'a.mesh' }, 'third'],
    [{ name: 'gone', identity: 'a.mesh' }, undefined],
    [{ identity: 'a.mesh' }, 'another'],
    [{ identity: 'b.mesh' }, 'linkerd-gateway'],
    [{ identity: 'other.mesh' }, 'linkerd-gateway'],
    [{}, 'linkerd-gateway'],
  ])('of %j is %s, of three in one namespace', async (place, name) => {
    expect(await nameOf(two, place)).toBe(name);
  });

  test('with any other name is found where it is alone', async () => {
    expect(await nameOf([service('web'), gateway('another', 'a.mesh')], {})).toBe('another');
  });

  const given = (words: string) => {
    const object = { ...link('west'), metadata: { ...link('west').metadata, generation: 1 } };
    return { object: { ...object, metadata: { ...object.metadata, annotations: { 'linkspan.dev/given': words } } } };
  };
  const remedyOf = (id: string, changed: object): string => {
    const { gateway: found } = target();
    if (!found.ok || found.value === undefined) return '';
    const at = { ...found.value.service, status: { loadBalancer: { ingress: [{ ip: '203.0.113.99' }] } } };
    const moved = target({ gateway: read({ ...found.value, service: at }) });
    const dead = conditions({ GatewayAlive: { status: 'False' }, Ready: { status: 'False' } });
    const all = runChecks(CHECKS, facts({}, linkFacts({ target: moved, conditions: dead, ...changed })));
    return all.find((each) => each.id === id)?.findings[0]?.remedy ?? '';
  };

  test('that has another address now is linked again, unless the Link was given its addresses', () => {
    expect(remedyOf('gateway-alive', {})).toMatch(/ has address 203\.0\.113\.99 now: link the cluster again: `/);
    const remedy = remedyOf('gateway-alive', given('gatewayAddress'));
    expect(remedy).toMatch(/^see the pods of the gateway .* its addresses, 203\.0\.113\.10, as they were given$/);
  });

  test('that has another port is linked again by it where the Link was given one, which stays otherwise', () => {
    const settings = { ...linkFacts().settings!, gateway: { ...linkFacts().settings!.gateway!, port: 1 } };
    expect(remedyOf('gateway-ports', { settings })).not.toContain('--gateway-port');
    expect(remedyOf('gateway-ports', { settings, ...given('gatewayPort') })).toContain('--gateway-port 4143 ');
  });
});

describe('what the import policy of a Link does not admit (N1, N2, N4)', () => {
  const { settings } = linkFacts();
  const withPolicy = (importPolicy: LinkSettings['importPolicy']): LinkSettings => ({
    ...settings!,
    importPolicy: importPolicy!,
    federatedServiceSelector: selectorOf(EXPORTED),
  });
  /** A target that has these, whichever are asked for. */
  const having = (services: readonly object[], slices: readonly object[] = []): Reader =>
    ({ list: async (of: Resource) => read(of === SERVICES ? services : slices) }) as unknown as Reader;

  test.each([
    ['excluded', { namespaces: ['bank'] }],
    ['not approved', { approvals: { services: new Set<string>(), patterns: [] } }],
  ])('needs no mirror, nor is it a member: %s', async (_, importPolicy) => {
    const policed = withPolicy(importPolicy);
    const reader = having([service('web', { labels: EXPORTED })], [slice('web')]);
    const [exports, members] = [await readExports(reader, policed), await readMembers(reader, policed)];
    expect(found(facts({}, linkFacts({ settings: policed, target: target({ exports, members }) })))).toEqual([]);
  });

  test('is a port of a headless Service: whoever is behind it alone is not ready', async () => {
    const reader = having([service('db', { labels: EXPORTED, headless: true })], [slice('db')]);
    const isReady = async (first: number): Promise<readonly boolean[]> => {
      const exports = await readExports(
        reader,
        withPolicy({
          ports: [
            { first, last: 65_535 },
            { first: 80, last: 80 },
          ],
        }),
      );
      return exports.ok ? exports.value.map((each) => each.isReady) : [];
    };
    expect(await isReady(1)).toEqual([true]);
    expect(await isReady(9000)).toEqual([false]);
  });
});

describe('a status of any form', () => {
  test.each([
    [{ mirrorServices: 'text' }],
    [{ mirrorServices: [null, 1, {}, { remoteRef: null }, { remoteRef: {}, conditions: [] }] }],
    [{ mirrorServices: [{ remoteRef: { namespace: 1 }, conditions: [{ status: 'True' }] }] }],
    [null],
  ])('%j harms nothing', (status) => {
    const object = { ...link('west'), status } as never;
    expect(found(facts({}, linkFacts({ object })))).toEqual([]);
  });
});

describe('imports by the MCS API', () => {
  const [EXPORTS, IMPORTS] = MCS_CRDS as [Crd, Crd, Crd];
  const mcs = (crds: readonly Crd[], isServed = true) => ({
    mcs: read({ isServed, crds: new Map(crds.map((crd) => [crd.metadata.name, crd])) }),
  });
  /** A CRD that serves these versions alone. */
  const serving = (crd: Crd, ...served: readonly string[]): Crd => ({
    ...crd,
    spec: { versions: (crd.spec?.versions ?? []).map((each) => ({ ...each, served: served.includes(each.name) })) },
  });
  const refused = (verb: string) => ({
    right: { verb, group: 'multicluster.x-k8s.io', resource: 'serviceexports' },
    granted: read(false),
  });
  const refusing = linkFacts({ target: target({ exportRights: [refused('list')] }) });
  const notAsked = linkFacts({
    target: target({ exportRights: [refused('list')] }),
    settings: { ...linkFacts().settings!, serviceExports: false },
  });

  test.each<[string, Survey, readonly RegExp[]]>([
    ['no CRD', facts(mcs([])), []],
    ['a ClusterProperty alone', facts(mcs(MCS_CRDS.slice(2))), []],
    ['no ClusterProperty', facts(mcs([EXPORTS, IMPORTS])), []],
    [
      'no ServiceExports',
      facts(mcs([IMPORTS])),
      [/^mcs-crds warning CustomResourceDefinition serviceexports\.multicluster\.x-k8s\.io: not found/],
    ],
    ['no ServiceExports, but nothing is imported', facts(mcs([IMPORTS], false)), []],
    [
      'ServiceImports that CoreDNS cannot read',
      facts(mcs([EXPORTS, serving(IMPORTS, 'v1beta1')])),
      [/^mcs-crds warning .*serviceimports.*: does not serve v1alpha1, which CoreDNS reads/],
    ],
    ['ServiceExports without the version of CoreDNS', facts(mcs([serving(EXPORTS, 'v1beta1'), IMPORTS])), []],
    [
      'ServiceExports that the operator cannot read',
      facts(mcs([serving(EXPORTS, 'v1alpha1'), IMPORTS])),
      [/^mcs-crds warning .*serviceexports.*: does not serve v1beta1, which the operator reads/],
    ],
    [
      'a target that refuses ServiceExports',
      facts({}, refusing),
      [/^target-exports warning account of Secret .* in west: may not list serviceexports\.multicluster\.x-k8s\.io: /],
    ],
    ['a target that refuses ServiceExports, which nobody wants', facts({}, notAsked), []],
    ['a target that refuses ServiceExports, without CRDs', facts(mcs([]), refusing), []],
  ])('%s', (_, survey, expected) => {
    expect(found(survey)).toEqual(expected.map((each) => expect.stringMatching(each) as unknown));
  });
});

describe('what could not be read', () => {
  const PARTS = [
    'extensionNamespace',
    'linkerd',
    'crd',
    'links',
    'allLinks',
    'deployments',
    'pods',
    'heartbeats',
    'operatorRights',
    'mcs',
    'mirrors',
    'endpoints',
    'slices',
  ] as const satisfies readonly (keyof Survey)[];

  test.each(PARTS)('%s: it is an error, or a warning, and nothing is judged by it', (part) => {
    const all = runChecks(CHECKS, facts({ [part]: unread(), unread: [unread()] }));
    expect(all.find(({ id }) => id === 'source-reads')?.result).toBe('error');
    const broken = all.filter(({ id, result }) => id !== 'source-reads' && result === 'error');
    expect(broken).toEqual([]);
    const passed = (checked: typeof all) => checked.filter(({ result }) => result === 'success').length;
    expect(passed(all)).toBeLessThan(passed(runChecks(CHECKS, facts())) - 1);
  });

  test('of a target is an error, unless a right lacks that nobody needs', () => {
    const of = (obstacle: 'refused' | 'forbidden') =>
      facts({}, linkFacts({ target: target({ unread: [unread(obstacle)] }) }));
    expect(found(of('refused'))).toEqual(['target-reads error west: cannot list things: not allowed']);
    expect(found(of('forbidden'))).toEqual([
      'target-reads warning west: cannot list things, which is not checked: not allowed',
    ]);
  });
});

describe('a heartbeat', () => {
  const NOW = Date.parse('2026-11-22T12:00:00Z');
  const lease = (renewTime: string, holderIdentity = 'a'): Lease => ({
    metadata: { name: 'lease', namespace: LINKS_NAMESPACE },
    spec: { holderIdentity, renewTime, leaseDurationSeconds: 1 },
  });
  /** A cluster whose Lease is this one when it is read again. */
  const isAlive = async (first: Lease, again: Lease): Promise<boolean> => {
    const reader = { find: async () => read(again) } as unknown as Reader;
    return (await heartbeats(reader, [first], NOW)).get('lease')!.isAlive;
  };

  test('that was renewed in time is alive, and not looked at again', async () => {
    expect(await isAlive(lease('2026-11-22T11:59:59.500000Z'), lease('', ''))).toBe(true);
  });

  test.each(['2026-11-22T11:00:00.000000Z', '2026-11-22T13:00:00.000000Z'])(
    'that looks wrong by the clock here (%s) is alive if it is renewed, and dead if it is not',
    async (renewTime) => {
      expect(await isAlive(lease(renewTime), lease('2026-11-22T11:00:01.000000Z'))).toBe(true);
      expect(await isAlive(lease(renewTime), lease(renewTime))).toBe(false);
    },
  );

  test('that nobody holds is not alive', async () => {
    expect(await isAlive(lease('2026-11-22T11:59:59.500000Z', ''), lease('', ''))).toBe(false);
  });
});

describe('the Lease of a Link', () => {
  const held = (holder: string, deployments = [operatorDeployment()]) =>
    facts({
      deployments: read(deployments),
      heartbeats: read(
        new Map([
          ['linkspan-operator', heartbeat('linkspan-operator', 'linkspan-operator-a')],
          ['service-mirror-write-west', heartbeat('service-mirror-write-west', holder)],
        ]),
      ),
    });
  const controller = {
    metadata: {
      name: 'controller-west',
      namespace: LINKS_NAMESPACE,
      labels: { component: 'controller', 'mirror.linkerd.io/cluster-name': 'west' },
    },
  };

  test('may be held by the operator that leads', () => {
    expect(found(held('linkspan-operator-a'))).toEqual([]);
  });

  test("may be held by Linkerd's controller, which is a warning", () => {
    expect(found(held('controller-west-abc', [operatorDeployment(), controller]))).toEqual([
      expect.stringMatching(/^linkerd-controllers warning .*writes the mirrors of west/),
    ]);
  });

  test.each(['stranger', 'controller-west-abc'])('must not be held by %s, which nobody knows', (holder) => {
    expect(found(held(holder))).toEqual([expect.stringMatching(/^link-leases error /)]);
  });
});

describe('exports without a mirror (L225)', () => {
  /** A Link whose status lists so many Services that are not mirrored, of 600 exports that have no mirror. */
  const listing = (entries: number) => {
    const exports = Array.from({ length: 600 }, (_, at) => ({
      ...{ key: `shop/s${at}`, namespace: 'shop', name: `s${at}` },
      ...({ mode: 'gateway', isReady: true } as const),
    }));
    const mirrorServices = exports.slice(0, entries).map(({ namespace, name }) => ({
      remoteRef: { namespace, name },
      conditions: [{ type: 'Mirrored', status: 'False', reason: 'LimitExceeded', message: 'too many' }],
    }));
    const { object } = linkFacts();
    const changed = { object: { ...object, status: { mirrorServices } }, target: target({ exports: read(exports) }) };
    const [complete] = runChecks(CHECKS, facts({}, linkFacts(changed))).filter(({ id }) => id === 'mirrors-complete');
    return [complete?.findings.length, complete?.skipped ?? ''];
  };

  test('are missing unless the status says why', () => {
    expect(listing(499)).toEqual([101, '']);
  });

  test('are not known to be missing where the status has no room for more that are refused', () => {
    expect(listing(500)).toEqual([0, expect.stringContaining('has room for 500 Services')]);
  });
});

describe('an operator that elects no leader (L225)', () => {
  const alone = (args: readonly string[]) => {
    const containers = [{ name: 'controller', image: 'linkspan:0.1.0', args }];
    const { spec } = operatorDeployment();
    return facts({
      deployments: read([operatorDeployment({ spec: { ...spec, template: { spec: { containers } } } })]),
      heartbeats: read(
        new Map([['service-mirror-write-west', heartbeat('service-mirror-write-west', 'linkspan-operator-a')]]),
      ),
    });
  };

  test('has no Lease of its own', () => {
    expect(found(alone(['operator', '--no-leader-elect']))).toEqual([]);
  });

  test('is known by its flag: another has one', () => {
    expect(found(alone(['operator']))).toEqual([expect.stringMatching(/^operator-leads error .*not found/)]);
  });
});

describe('what a Link reports while another holds its Lease (L225)', () => {
  const by = (holder: string, status: string) =>
    facts(
      {
        heartbeats: read(
          new Map([
            ['linkspan-operator', heartbeat('linkspan-operator', 'linkspan-operator-a')],
            ['service-mirror-write-west', heartbeat('service-mirror-write-west', holder)],
          ]),
        ),
      },
      linkFacts({ conditions: conditions({ GatewayAlive: { status } }) }),
    );
  const passed = (survey: ReturnType<typeof facts>) =>
    runChecks(CHECKS, survey).filter(({ id }) => id === 'gateway-alive');

  test('is not relied on: it may be old', () => {
    expect(passed(by('linkspan-operator-a', 'True'))).toEqual([expect.objectContaining({ result: 'success' })]);
    const [judged] = passed(by('controller-west-abc', 'True'));
    expect([judged?.result, judged?.skipped]).toEqual([
      'skipped',
      expect.stringContaining('which is not the operator that reports'),
    ]);
  });
});

describe('federated Services', () => {
  const entry = (name: string, reason: string) => ({
    remoteRef: { namespace: 'shop', name },
    conditions: [{ type: 'Mirrored', status: reason === 'Mirrored' ? 'True' : 'False', reason, message: 'why' }],
  });
  const reporting = (members: readonly string[], ...federatedServices: readonly object[]) => {
    const { object, settings } = linkFacts();
    const changed = {
      object: { ...object, status: { federatedServices } },
      settings: settings && { ...settings, federation: 'gateway' as const },
      target: target({ members: read(members) }),
    };
    return facts({}, linkFacts(changed));
  };

  test('have the members that are selected', () => {
    expect(found(reporting(['shop/web'], entry('web', 'Mirrored')))).toEqual([]);
    expect(found(reporting(['shop/web']))).toEqual([
      'federated-members error Service shop/web of west: is to join a federated Service, and the operator does not report on it',
    ]);
  });

  test('are not known to be missing where the status lists only some of those that work (L228)', () => {
    const names = Array.from({ length: 150 }, (_, at) => `s${String(at).padStart(3, '0')}`);
    const listed = (count: number) =>
      reporting(
        names.map((name) => `shop/${name}`),
        ...names.slice(0, count).map((name) => entry(name, 'Mirrored')),
      );
    expect(found(listed(100))).toEqual([]);
    expect(found(listed(99))).toHaveLength(51);
  });

  test.each([
    ['WaitingForCredentials', 'federated-discovery'],
    ['PortMismatch', 'federated-ports'],
    ['NameConflict', 'federated-conflicts'],
    ['WaitingForLease', 'federated-members'],
    ['InvalidService', 'federated-members'],
  ])('lack a member for reason %s', (reason, id) => {
    expect(found(reporting(['shop/web'], entry('web', reason)))).toEqual([
      `${id} error Service shop/web of west: does not join web-federated, ${reason}: why`,
    ]);
  });

  const LOCAL = 'federated-lease warning Lease linkerd-multicluster/local-service-mirror-write';
  test.each([
    ['linkspan-operator-a', true, []],
    ['linkerd-local-service-mirror-7', true, [LOCAL]],
    ['linkerd-local-service-mirror-7', false, []],
  ])('have local members by %s, which renews the Lease: %s', (holder, isAlive, expected) => {
    const beats = [
      heartbeat('linkspan-operator', 'linkspan-operator-a'),
      heartbeat('service-mirror-write-west', 'linkspan-operator-a'),
      heartbeat('local-service-mirror-write', holder, isAlive),
    ];
    const survey = facts({ heartbeats: read(new Map(beats.map((beat) => [beat.lease.metadata.name, beat]))) });
    expect(found(survey).map((each) => each.split(':')[0])).toEqual(expected);
  });
});

test('the rights of an installation are those to create and to change what it writes, each once', () => {
  const rights = installRights('mesh', 'linkerd').map(
    ({ verb, resource, namespace }) => `${verb} ${resource} ${namespace ?? '*'}`,
  );
  expect(rights).toContain('create customresourcedefinitions *');
  expect(rights).toContain('patch deployments mesh');
  expect(rights).toContain('create namespaces *');
  expect(new Set(rights).size).toBe(rights.length);
});

test('pods that have ended are not looked at: an evicted one is listed until somebody deletes it (L218)', () => {
  const proxied = (name: string, status: NonNullable<ReturnType<typeof pod>['status']>) =>
    pod(name, {
      metadata: { name, namespace: LINKS_NAMESPACE, annotations: { 'linkerd.io/inject': 'enabled' } },
      spec: { containers: [{ name: 'linkerd-proxy', image: 'proxy:stale' }] },
      status,
    });
  const linkerd = read({ clusterDomain: 'cluster.local', trustDomain: 'a', anchors: ANCHOR, version: 'edge-26.8.1' });
  const ofGateway = (phase: string) => {
    const pods = read([proxied('gateway', { phase, containerStatuses: [] })]);
    return found(facts({ linkerd, pods })).map((line) => line.split(' ')[0]);
  };
  expect(ofGateway('Running')).toEqual(['proxies', 'proxy-versions']);
  expect([ofGateway('Failed'), ofGateway('Succeeded')]).toEqual([[], []]);
});
