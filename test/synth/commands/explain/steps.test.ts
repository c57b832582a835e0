import { describe, expect, it } from 'vitest';
import type { Service } from '../../../../operator/kube/objects.ts';
import { reportOf } from '../../../../synth/commands/common/link-status.ts';
import type { Facts } from '../../../../synth/commands/explain/facts.ts';
import { explain } from '../../../../synth/commands/explain/steps.ts';

const LINK = {
  metadata: { name: 'west', namespace: 'links', generation: 1 },
  spec: {
    targetClusterName: 'west',
    gatewayAddress: '203.0.113.20',
    gatewayPort: '4143',
    probeSpec: { path: '/ready', port: '4191', period: '3s' },
    selector: { matchLabels: { 'mirror.linkerd.io/exported': 'true' } },
  },
  status: {
    conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', observedGeneration: 1 }],
    gateway: { alive: true, addresses: ['203.0.113.20'] },
    mirrorServices: [{ remoteRef: { namespace: 'shop', name: 'web' }, conditions: [{ status: 'True' }] }],
  },
};

const REMOTE: Service = {
  metadata: { name: 'web', namespace: 'shop', labels: { 'mirror.linkerd.io/exported': 'true', tier: 'front' } },
  spec: { ports: [{ name: 'http', port: 80 }] },
};
const MIRROR: Service = {
  metadata: {
    name: 'web-west',
    namespace: 'shop',
    labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west', tier: 'front' },
    annotations: { 'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local' },
  },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
};

const facts = (changed: Partial<Facts> = {}, mirror: Service = MIRROR): Facts => ({
  source: { kubeconfig: '/tmp/a b', context: 'east', namespace: 'links' },
  link: LINK,
  report: reportOf(LINK),
  unread: [],
  unserved: undefined,
  ref: { namespace: 'shop', name: 'web' },
  target: {
    context: 'west',
    service: REMOTE,
    slices: [{ metadata: { name: 'web-a' }, addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] }],
  },
  linkerdNamespace: 'linkerd',
  hasNamespace: true,
  owned: {
    services: [mirror],
    endpoints: [{ metadata: { name: 'web-west' }, subsets: [{ addresses: [{ ip: '203.0.113.20' }] }] }],
    slices: [],
  },
  local: mirror,
  foreign: new Set(),
  ...changed,
});
/** A Link that takes some Services only. */
const choosy = { ...LINK, spec: { ...LINK.spec, importPolicy: { ports: ['443'] } } };

const messageOf = (given: Facts, step: string): string | undefined =>
  explain(given).steps.find((each) => each.step === step)?.message;

describe('an explanation', () => {
  it.each(['linkerd', 'mesh'])('stops where the control plane is in the namespace of the Service, %s', (namespace) => {
    const given = facts({ linkerdNamespace: namespace, ref: { namespace, name: 'web' } });
    expect(messageOf(given, 'mirror')).toContain('it is not mirrored, NamespaceNotAllowed');
  });

  it('reaches the gateway', () => {
    const { steps, reached } = explain(facts());
    expect(steps.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(reached).toEqual(['203.0.113.20']);
  });

  it('stops at a policy of the Link that does not admit it (N1)', () => {
    const { steps } = explain(facts({ link: choosy }));
    expect(steps.at(-1)).toMatchObject({
      state: 'stop',
      step: 'export',
      message: 'Link west takes no Service with port 80, by its spec.importPolicy',
      remedy: 'admit it by spec.importPolicy of the Link, if it is wanted',
    });
  });

  it('stops at a headless Service whose pods are reached by other ports than the Link takes (N4)', () => {
    const service = { ...REMOTE, spec: { clusterIP: 'None', ports: [{ name: 'http', port: 443 }] } };
    const slices = [
      {
        metadata: { name: 'web-a' },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.0.0.1'], hostname: 'web-0' }],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ];
    const stop = (link: Facts['link']) =>
      explain(facts({ link, target: { context: 'west', service, slices } })).steps.find(({ step }) => step === 'pods');
    expect(stop(LINK)).toMatchObject({ state: 'ok' });
    expect(stop(choosy)).toMatchObject({
      state: 'stop',
      message: 'nothing behind the Service is ready in west: it has no endpoints',
    });
  });

  it('stops at a Service that waits for approval, with the command that approves it (N2)', () => {
    const importPolicy = { approval: 'required', approved: ['shop/api'] } as const;
    const { steps } = explain(facts({ link: { ...LINK, spec: { ...LINK.spec, importPolicy } } }));
    expect(steps.at(-1)).toMatchObject({
      state: 'stop',
      step: 'export',
      message: 'Link west takes no Service that is not approved, by its spec.importPolicy',
      remedy:
        "approve it: `linkspan approve shop/web --from west --namespace links --kubeconfig '/tmp/a b' --context east`",
    });
  });

  it('stops at a Service that no selector of the Link selects, with the label that it needs', () => {
    const hidden = { ...REMOTE, metadata: { ...REMOTE.metadata, labels: { 'mirror.linkerd.io/exported': 'yes' } } };
    const target = { context: 'west', service: hidden, slices: [] };
    expect(explain(facts({ target })).steps.at(-1)).toEqual({
      step: 'export',
      state: 'stop',
      message: 'no selector of Link west selects it: its label mirror.linkerd.io/exported is "yes"',
      remedy:
        'export it: `kubectl --context west -n shop label service web mirror.linkerd.io/exported=true --overwrite`',
    });
  });

  it('names in what the mirror differs from what it should be', () => {
    const labels = { ...MIRROR.metadata.labels, tier: 'back', extra: 'x' };
    const differs = {
      metadata: { ...MIRROR.metadata, labels },
      spec: { ...MIRROR.spec, ports: [{ name: 'http', port: 81 }] },
    };
    expect(messageOf(facts({}, differs), 'mirror')).toMatch(
      /^Service shop\/web-west differs from what it should be: label tier, label extra, port 80\/TCP http, port 81\/TCP http$/,
    );
    expect(explain(facts({}, differs)).reached).toEqual(['203.0.113.20']);
  });

  it('goes on from the source where the target cannot be read, and says what is not known', () => {
    const away = { context: 'west', obstacle: 'west: get Service shop/web: connect ECONNREFUSED' };
    const { steps, reached } = explain(facts({ target: undefined, away }));
    expect(steps.map(({ step, state }) => `${step} ${state}`)).toEqual([
      'Link ok',
      'Service unknown',
      'report ok',
      'mirror ok',
      'gateway ok',
      'endpoints ok',
    ]);
    expect(steps[1]?.message).toBe(`what is in west is not known: ${away.obstacle}`);
    expect(reached).toEqual(['203.0.113.20']);
    const none = {
      owned: { services: [], endpoints: [], slices: [] },
      local: undefined,
      ref: { namespace: 'shop', name: 'x' },
    };
    expect(explain(facts({ ...none, target: undefined, away })).steps.at(-1)).toEqual({
      step: 'report',
      state: 'stop',
      message: 'Link west does not report on shop/x, and west cannot be read',
    });
  });

  it('says nothing of a report that lists only some of what works (L228)', () => {
    const listing = (count: number) => {
      const mirrorServices = Array.from({ length: count }, (_, at) => ({
        remoteRef: { namespace: 'shop', name: `a${at}` },
        conditions: [{ status: 'True', reason: 'Mirrored', message: '' }],
      }));
      const report = reportOf({ ...LINK, status: { ...LINK.status, mirrorServices } });
      return explain(facts({ report })).steps.some(({ step }) => step === 'report');
    };
    expect([listing(99), listing(100)]).toEqual([true, false]);
  });

  it.each([
    ['MissingNamespace', "create it: `kubectl --kubeconfig '/tmp/a b' --context east create namespace shop`; or"],
    ['NameConflict', "`kubectl --kubeconfig '/tmp/a b' --context east -n shop get service web-west"],
  ])('prints the command that mends %s, also from the source alone', (reason, expected) => {
    const entry = {
      remoteRef: { namespace: 'shop', name: 'web' },
      conditions: [{ status: 'False', reason, message: 'why' }],
    };
    const report = reportOf({ ...LINK, status: { ...LINK.status, mirrorServices: [entry] } });
    const { steps, reached } = explain(facts({ report, target: undefined, local: undefined }));
    expect(steps.at(-1)).toMatchObject({
      step: 'report',
      state: 'stop',
      message: expect.stringContaining(reason) as string,
    });
    expect(steps.at(-1)?.remedy).toContain(expected);
    expect(reached).toEqual([]);
  });

  it.each<[string, Partial<Facts>, string]>([
    ['nobody serves the Link', { unserved: 'no operator holds its Lease' }, 'nobody is known to probe it'],
    ['nobody has probed it yet', { report: { ...reportOf(LINK), gatewayAlive: undefined } }, 'is not probed yet'],
  ])('does not call the gateway alive where %s', (_, changed, expected) => {
    const step = explain(facts(changed)).steps.find((each) => each.step === 'gateway');
    expect(step).toMatchObject({ state: 'unknown', message: expect.stringContaining(expected) as string });
  });

  it('goes on with a Link that nobody serves, as long as there is a mirror', () => {
    const unserved = 'no operator holds its Lease';
    expect(explain(facts({ unserved })).reached).toEqual(['203.0.113.20']);
    const none = { unserved, owned: { services: [], endpoints: [], slices: [] }, local: undefined };
    expect(explain(facts(none)).steps).toMatchObject([{ step: 'Link', state: 'stop' }]);
  });

  it('stops at a Link that is invalid, whatever it holds', () => {
    const link = { ...LINK, spec: { targetClusterName: 'West\u001b[2J' } };
    const { steps } = explain(facts({ link: link as unknown as Facts['link'] }));
    expect(steps).toMatchObject([{ step: 'Link', state: 'stop' }]);
    expect(steps[0]?.message).not.toContain('\u001b');
  });

  it('names who has the name, without orders to the terminal', () => {
    const foreign = {
      metadata: { name: 'web-west', namespace: 'shop', managedFields: [{ manager: 'ku\u001b[2Jbectl' }] },
    };
    const given = facts({ local: foreign, foreign: new Set(['web-west']) });
    expect(messageOf(given, 'name')).toBe('Service shop/web-west of east is not ours: ku [2Jbectl wrote it');
    const other = { metadata: { ...MIRROR.metadata, labels: { 'mirror.linkerd.io/cluster-name': 'b-west' } } };
    expect(messageOf(facts({ local: other, foreign: new Set(['web-west']) }), 'name')).toContain(
      'it is a mirror of cluster b-west',
    );
  });
});
