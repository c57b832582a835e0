/**
 * What holds of every check: some fault makes it red or yellow, it is not green where nobody has looked, and the commands
 * in its remedies can be pasted.
 */
import { describe, expect, test } from 'vitest';
import type { LinkSettings } from '../../../../crds/index.ts';
import type { Service } from '../../../../operator/kube/objects.ts';
import type { FailoverObject } from '../../../../synth/commands/common/failovers.ts';
import { CHECKS } from '../../../../synth/commands/check/checks/index.ts';
import type { Crd } from '../../../../synth/commands/check/objects.ts';
import { type Checked, runChecks, tableReport } from '../../../../synth/commands/check/report.ts';
import type { LinkFacts, Survey } from '../../../../synth/commands/check/survey.ts';
import { linkerdLinkCrd } from '../../../support/linkerd-crd.ts';
import { OTHER_ANCHOR } from '../../../support/trust-anchors.ts';
import {
  conditions,
  facts,
  heartbeat,
  linkFacts,
  MCS_CRDS,
  operatorDeployment,
  pod,
  read,
  target,
  unread,
} from './facts.ts';

const settings = (changed: Partial<LinkSettings>): Partial<LinkFacts> => ({
  settings: { ...linkFacts().settings!, ...changed },
});
const of = (changed: Partial<LinkFacts>): Survey => facts({}, linkFacts(changed));
const reporting = (field: 'mirrorServices' | 'federatedServices', reason: string): Survey => {
  const entry = {
    remoteRef: { namespace: 'shop', name: 'web' },
    conditions: [{ type: 'Mirrored', status: 'False', reason, message: 'why' }],
  };
  return of({ object: { ...linkFacts().object, status: { [field]: [entry] } } });
};
const condition = (type: string, status: 'True' | 'False', reason = 'Reason'): Survey =>
  of({ conditions: conditions({ [type]: { status, reason }, Ready: { status: 'False' } }) });
const mirror: Service = {
  metadata: {
    name: 'web-west',
    namespace: 'shop',
    labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
  },
};
const exporting = (mode: 'gateway' | 'flat') =>
  target({ exports: read([{ key: 'shop/web', namespace: 'shop', name: 'web', mode, isReady: true }]) });
const refused = { right: { verb: 'list', group: '', resource: 'services' }, granted: read(false) };
const linkerd = (version: string | undefined) =>
  read({ clusterDomain: 'other.example', trustDomain: 'cluster.local', anchors: OTHER_ANCHOR, version });
const dead = (...names: readonly string[]) =>
  read(new Map(names.map((name) => [name, heartbeat(name, 'operator-0', false)])));
const named = (type: string, status: 'True' | 'False') => ({
  metadata: { name: 'web', namespace: 'shop', generation: 1, labels: { 'linkspan.dev/service-import': 'web' } },
  status: {
    conditions: [
      {
        type,
        status,
        reason: 'Reason',
        message: 'why',
        observedGeneration: 1,
        lastTransitionTime: '2026-11-22T00:00:00Z',
      },
    ],
  },
});
const FAILOVER: FailoverObject = { ...named('Ready', 'False'), status: named('Ready', 'False').status as object };
const second = linkFacts({ name: 'wild', title: 'Link linkerd-multicluster/wild' });
const proxied = (image: string, annotations = {}) =>
  read([
    pod('a', {
      metadata: { name: 'a', namespace: 'links', annotations },
      spec: { containers: [{ name: 'linkerd-proxy', image }] },
    }),
  ]);

/** What Kubernetes keeps in Secrets. */
const LONG_LIVED = ['e30', Buffer.from('{"iss":"kubernetes/serviceaccount"}').toString('base64url'), 'c2ln'].join('.');

/** A fault for each check. */
const FAULTS: Readonly<Record<string, Survey>> = {
  'source-api': facts({ kubernetes: unread('unreachable') }),
  'source-reads': facts({ unread: [unread('refused')] }),
  'extension-namespace': facts({ extensionNamespace: read(undefined) }),
  'link-crd': facts({ crd: read(undefined) }),
  'link-crd-fields': facts({ crd: read(linkerdLinkCrd as unknown as Crd) }),
  'linkerd-config': facts({ linkerd: read(undefined) }),
  'operator-installed': facts({ deployments: read([]) }),
  'operator-running': facts({ deployments: read([operatorDeployment({ spec: { replicas: 0 } })]) }),
  'operator-leads': facts({ heartbeats: dead('linkspan-operator') }),
  'link-leases': facts({ heartbeats: dead('service-mirror-write-west') }),
  'operator-rights': facts({ operatorRights: read([refused]) }),
  'operator-version': facts({ version: '9.9.9' }),
  proxies: facts({ pods: proxied('proxy:a', { 'linkerd.io/inject': 'enabled' }) }),
  'proxy-versions': facts({ linkerd: linkerd('edge-2'), pods: proxied('proxy:edge-1') }),
  'linkerd-controllers': facts({
    deployments: read([
      operatorDeployment(),
      {
        metadata: {
          name: 'controller-west',
          namespace: 'links',
          labels: { component: 'controller', 'mirror.linkerd.io/cluster-name': 'west' },
        },
      },
    ]),
  }),
  'links-valid': of({ errors: [{ path: 'spec.gatewayPort', value: 'x', reason: 'must be a port' }] }),
  'links-unique': facts({}, linkFacts(), {
    ...second,
    object: { ...second.object, metadata: { ...second.object.metadata, name: 'wild' } },
  }),
  'links-served': of({ conditions: undefined }),
  'links-ready': condition('Ready', 'False'),
  'links-synced': condition('Synced', 'False'),
  'deletions-held': of({
    conditions: conditions({
      PruneHeld: { status: 'True', message: 'to delete: kubectl annotate x linkspan.dev/confirm-prune="12-0a1b2c3d"' },
    }),
  }),
  'target-limits': condition('TargetWithinLimits', 'False'),
  'links-there': facts({ links: read([]) }),
  'credentials-secret': of({ credentials: read({ ok: false, in: 'Secret', reason: 'not found' }), target: undefined }),
  'credentials-kubeconfig': of({
    credentials: read({ ok: false, in: 'kubeconfig', reason: 'garbage' }),
    target: undefined,
  }),
  'target-api': of({ target: target({ version: unread('unreachable') }) }),
  'credentials-accepted': of({ target: target({ version: unread('unauthorized') }) }),
  'target-rights': of({ target: target({ rights: [refused] }) }),
  'target-reads': of({ target: target({ unread: [unread('refused')] }) }),
  'credentials-in-use': condition('CredentialsValid', 'False'),
  'tokens-end': of({
    credentials: read({ ok: true, access: { access: {} as never, fingerprint: '', token: LONG_LIVED }, text: '' }),
  }),
  'target-reachable': condition('TargetReachable', 'False'),
  'destination-secret': of({ target: exporting('flat') }),
  'destination-rights': of({ destinationAccess: { version: read('v1'), rights: [refused] } }),
  'trust-anchors': of({ target: target({ linkerd: linkerd(undefined) }) }),
  'gateway-identity': of(settings({ gateway: { addresses: ['203.0.113.10'], port: 4143 } })),
  'trust-domains': facts({ gatewayAccess: 'clients' }),
  'cluster-domain': of({ target: target({ linkerd: linkerd(undefined) }) }),
  'gateway-resolved': condition('GatewayResolved', 'False'),
  'gateway-alive': condition('GatewayAlive', 'False'),
  'target-gateway': of({ target: target({ gateway: read(undefined) }) }),
  'gateway-ports': of(settings({ gateway: { ...linkFacts().settings!.gateway!, port: 1 } })),
  'mirrors-complete': of({ target: exporting('gateway') }),
  'mirror-endpoints': facts({ mirrors: read([mirror]) }, linkFacts({ target: exporting('gateway') })),
  'mirror-orphans': facts({ mirrors: read([mirror]), allLinks: read([]) }),
  'mirror-names': reporting('mirrorServices', 'InvalidName'),
  'mirror-conflicts': reporting('mirrorServices', 'NameConflict'),
  'mirror-namespaces': reporting('mirrorServices', 'MissingNamespace'),
  'mirror-services': reporting('mirrorServices', 'InvalidService'),
  'mirror-failures': reporting('mirrorServices', 'Error'),
  'federated-members': reporting('federatedServices', 'InvalidService'),
  'federated-discovery': reporting('federatedServices', 'WaitingForCredentials'),
  'federated-ports': reporting('federatedServices', 'PortMismatch'),
  'federated-conflicts': reporting('federatedServices', 'NameConflict'),
  'federated-lease': facts({
    heartbeats: read(
      new Map(
        [
          ['linkspan-operator', 'linkspan-operator-a'],
          ['service-mirror-write-west', 'linkspan-operator-a'],
          ['local-service-mirror-write', 'other'],
        ].map(([name = '', holder = '']) => [name, heartbeat(name, holder)]),
      ),
    ),
  }),
  'mcs-crds': facts({ mcs: read({ isServed: true, crds: new Map([[MCS_CRDS[0]!.metadata.name, MCS_CRDS[0]!]]) }) }),
  'target-exports': of({ target: target({ exportRights: [refused] }) }),
  'exports-valid': facts({ serviceExports: read([named('Valid', 'False')]) }),
  'imports-ready': facts({ serviceImports: read([named('Ready', 'False')]) }),
  'failovers-ready': facts({ failovers: read([FAILOVER]) }),
};

const resultOf = (survey: Survey, id: string): Checked => {
  const found = runChecks(CHECKS, survey).find((each) => each.id === id);
  if (found === undefined) throw new Error(`there is no check ${id}`);
  return found;
};

test('each check has a fault here', () => {
  expect(Object.keys(FAULTS).toSorted()).toEqual(CHECKS.map(({ id }) => id).toSorted());
});

test.each(Object.keys(FAULTS))('%s is not green with its fault', (id) => {
  const { result, findings } = resultOf(FAULTS[id]!, id);
  expect(['warning', 'error']).toContain(result);
  expect(findings.length).toBeGreaterThan(0);
});

describe('a check that judges by what the operator reports', () => {
  const BY_REPORT = [
    'links-ready',
    'links-synced',
    'deletions-held',
    'target-limits',
    'credentials-in-use',
    'target-reachable',
    'gateway-resolved',
    'gateway-alive',
    'mirror-names',
    'mirror-conflicts',
    'mirror-namespaces',
    'mirror-services',
    'mirror-failures',
    'federated-members',
    'federated-discovery',
    'federated-ports',
    'federated-conflicts',
    'exports-valid',
    'imports-ready',
    'failovers-ready',
  ];
  const fine = (type: string) => read([named(type, 'True')]);
  const objects = { serviceExports: fine('Valid'), serviceImports: fine('Ready'), failovers: fine('Ready') as never };

  test.each(BY_REPORT)('%s is green while all is well', (id) => {
    expect(resultOf(facts(objects), id).result).toBe('success');
  });

  test.each(BY_REPORT)('%s is not green where nobody keeps it true', (id) => {
    const stale = facts({ ...objects, heartbeats: dead('linkspan-operator', 'service-mirror-write-west') });
    expect(resultOf(stale, id).result).toBe('skipped');
    expect(resultOf(facts({ ...objects, heartbeats: unread() }), id).result).toBe('skipped');
  });

  test.each(BY_REPORT)('%s keeps what was found, also where the report may be old', (id) => {
    const survey = { ...FAULTS[id]!, heartbeats: dead('linkspan-operator', 'service-mirror-write-west') };
    expect(['warning', 'error']).toContain(resultOf(survey, id).result);
  });

  test.each(['CredentialsValid', 'TargetReachable', 'Synced', 'TargetWithinLimits', 'GatewayResolved', 'GatewayAlive'])(
    'is not green where %s is Unknown',
    (type) => {
      const survey = of({ conditions: conditions({ [type]: { status: 'Unknown', reason: 'Pending' } }) });
      expect(runChecks(CHECKS, survey).filter(({ result }) => result === 'warning')).toHaveLength(1);
    },
  );

  test.each([['serviceExports'], ['serviceImports'], ['failovers']] as const)('%s may not be read', (part) => {
    const id = { serviceExports: 'exports-valid', serviceImports: 'imports-ready', failovers: 'failovers-ready' }[part];
    expect(resultOf(facts({ [part]: unread() }), id).skipped).toMatch(/ cannot be read$/);
    expect(resultOf(facts({ [part]: read(undefined) }), id).skipped).toMatch(/^the API server serves no /);
  });
});

test('a gateway that nobody probes is not called alive', () => {
  const survey = of({ conditions: conditions({ GatewayAlive: { reason: 'NotProbed' } }) });
  expect(resultOf(survey, 'gateway-alive').skipped).toBe('the Link has no probe');
});

test('a Link that cannot be judged is named beside those that are well', () => {
  const away = target({ version: unread('unreachable'), exports: unread(), gateway: unread(), linkerd: unread() });
  const other = { ...linkFacts({ target: away }), name: 'north', title: 'Link linkerd-multicluster/north' };
  const { result, partly } = resultOf(facts({}, linkFacts(), other), 'gateway-identity');
  expect(result).toBe('success');
  const all = runChecks(CHECKS, facts({}, linkFacts(), other)).filter(({ id }) => id === 'gateway-identity');
  expect(tableReport(all)).toContain('(not judged: Link linkerd-multicluster/north, ');
  expect(partly).toBe(
    "Link linkerd-multicluster/north, neither the gateway's Service nor Linkerd's settings can be read",
  );
});

describe('the remedy of', () => {
  const GIVEN = { kubeconfig: '/home/me/my clusters', context: "east's" };
  const FLAGS = String.raw`--kubeconfig '/home/me/my clusters' --context 'east'\''s'`;

  test.each(Object.keys(FAULTS))('%s has commands that can be pasted, or none', (id) => {
    for (const { remedy } of resultOf({ ...FAULTS[id]!, ...GIVEN }, id).findings) {
      const parts = remedy.split('`');
      expect(parts.length % 2, remedy).toBe(1);
      for (const command of parts.filter((_, at) => at % 2 === 1)) {
        expect(command).toMatch(/^(kubectl|linkspan|linkerd) /);
        expect(command).toContain(FLAGS);
        expect(command).not.toMatch(/[<>]|undefined/);
      }
      const prose = parts.filter((_, at) => at % 2 === 0).join('');
      expect(prose).not.toMatch(/kubectl|linkspan \w+ -/);
    }
  });

  /** Faults whose commands are not about a Link. */
  const OF_NO_LINK = [
    'source-',
    'extension-namespace',
    'link-crd',
    'link-crd-fields',
    'operator-',
    'linkerd-',
    'proxies',
    'links-there',
    'mirror-orphans',
    'federated-lease',
    'mcs-crds',
    'exports-valid',
    'imports-ready',
    'failovers-ready',
  ];
  const IN_OTHER = { name: 'west', namespace: 'other' };
  /** The commands of a fault that are about the Link or its operator, where that is in another namespace. */
  const commandsElsewhere = (id: string): readonly string[] => {
    const { links, ...survey } = FAULTS[id]!;
    const moved = links.ok
      ? read(links.value.map((each) => ({ ...each, ...IN_OTHER, title: 'Link other/west' })))
      : links;
    return resultOf({ ...survey, links: moved }, id)
      .findings.flatMap(({ remedy }) => remedy.split('`').filter((_, at) => at % 2 === 1))
      .filter((command) => !/ -n shop | create namespace |^linkerd /.test(command));
  };
  const LINK_FAULTS = Object.keys(FAULTS).filter((id) => !OF_NO_LINK.some((each) => id.startsWith(each)));

  test.each(LINK_FAULTS)('%s acts in the namespace of the Link', (id) => {
    for (const command of commandsElsewhere(id)) expect(command).toMatch(/ (-n|--(multicluster-)?namespace) other\b/);
  });

  test('most faults of Links have a command', () => {
    expect(LINK_FAULTS.filter((id) => commandsElsewhere(id).length > 0).length).toBeGreaterThan(15);
  });
});
