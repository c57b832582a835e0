import { describe, expect, it } from 'vitest';
import type { EndpointSlice, Service } from '../../../../operator/kube/objects.ts';
import { federatedAmong } from '../../../../synth/commands/common/federated.ts';
import { reportOf } from '../../../../synth/commands/common/link-status.ts';
import { explainFederated, type FederationFacts } from '../../../../synth/commands/explain/federated.ts';

const MIRRORED = { 'mirror.linkerd.io/mirrored-service': 'true' };
const GATEWAY = { ...MIRRORED, 'linkspan.dev/federation': 'gateway' };

const federated = (annotations: Readonly<Record<string, string>>): Service => ({
  metadata: {
    name: 'web-federated',
    namespace: 'shop',
    labels: Object.keys(annotations).length === 0 ? GATEWAY : MIRRORED,
    annotations,
  },
});
const slice = (cluster: string | undefined, ...addresses: readonly string[]): EndpointSlice => ({
  metadata: {
    name: `web-federated.${cluster ?? 'local'}`,
    namespace: 'shop',
    labels: {
      ...GATEWAY,
      'kubernetes.io/service-name': 'web-federated',
      ...(cluster !== undefined && { 'linkspan.dev/federation-member': cluster }),
    },
  },
  addressType: 'IPv4',
  endpoints: [{ addresses, conditions: { ready: addresses.length > 0 } }],
});
const WEB: Service = {
  metadata: { name: 'web', namespace: 'shop', labels: { 'mirror.linkerd.io/federated': 'member' } },
};

/** A Link, and what it reports of its member: a reason; undefined: nothing. */
const linkOf = (cluster: string, reason?: string, message = ''): FederationFacts['links'][number] => {
  const status = reason === 'Mirrored' ? 'True' : 'False';
  const entry = {
    remoteRef: { namespace: 'shop', name: 'web' },
    conditions: [{ status, reason, message, localRef: { name: 'web-federated' } }],
  };
  const link = reportOf({
    metadata: { name: cluster, namespace: 'links' },
    spec: { targetClusterName: cluster },
    status: { federatedServices: reason === undefined ? [] : [entry] },
  });
  return { link, report: link.members[0] };
};

const facts = (
  live: Service | undefined,
  slices: readonly EndpointSlice[],
  links: readonly FederationFacts['links'][number][],
  changed: Partial<FederationFacts> = {},
): FederationFacts => ({
  source: { context: 'east', namespace: 'links' },
  member: { namespace: 'shop', name: 'web' },
  federated: federatedAmong(live === undefined ? [] : [live], slices)[0],
  live,
  local: undefined,
  localHolder: '',
  links,
  ...changed,
});
const outline = (given: FederationFacts): readonly string[] => {
  const { steps, reached } = explainFederated(given);
  const signs = { ok: '√', warning: '‼', stop: '×', unknown: '?' };
  return [...steps.map(({ step, state, message }) => `${signs[state]} ${step}: ${message}`), reached.join(', ')];
};

describe('I5: a federated Service that leads through gateways', () => {
  it('is reached by the ready addresses of all members', () => {
    const slices = [slice(undefined, '10.0.0.1'), slice('north'), slice('west', '203.0.113.7')];
    const links = [linkOf('north', 'Mirrored'), linkOf('west', 'Mirrored', 'requests to 81 go to other members')];
    expect(outline(facts(federated({}), slices, links, { local: WEB }))).toEqual([
      '√ Service: Service shop/web-federated is in east, and leads through gateways',
      '√ local: Service shop/web of east has joined: clients reach 10.0.0.1',
      '‼ member: Service shop/web of north has joined, and has no ready address: its gateway is down, or no pod of it is ready',
      '√ member: Service shop/web of west has joined: clients reach 203.0.113.7; requests to 81 go to other members',
      '10.0.0.1, 203.0.113.7',
    ]);
  });

  it('stops if no member has a ready address', () => {
    expect(outline(facts(federated({}), [slice('west')], [linkOf('west', 'Mirrored')])).slice(-2)).toEqual([
      '× endpoints: no member has a ready address',
      '',
    ]);
  });
});

describe('I4: a federated Service on a flat network', () => {
  const flat = federated({ 'multicluster.linkerd.io/remote-discovery': 'web@north,web@west' });

  it('is reached by the pods of its members', () => {
    expect(outline(facts(flat, [], [linkOf('north', 'Mirrored'), linkOf('west')]))).toEqual([
      '√ Service: Service shop/web-federated is in east, and finds the pods of its members on a flat network',
      '√ member: Service shop/web of north has joined: Linkerd finds its pods',
      '√ member: Service shop/web of west has joined: Linkerd finds its pods; Link west does not report on it: its membership stays as it was',
      'the pods of north, the pods of west',
    ]);
  });

  it('names why others have not joined, the local Service too', () => {
    const links = [linkOf('north', 'Mirrored'), linkOf('west', 'PortMismatch', 'it lacks 81/TCP'), linkOf('south')];
    const given = facts(federated({ 'multicluster.linkerd.io/remote-discovery': 'web@north' }), [], links, {
      local: WEB,
      localHolder: 'linkerd-local-service-mirror-7',
    });
    expect(outline(given).slice(1)).toEqual([
      '‼ local: Service shop/web of east has not joined: linkerd-local-service-mirror-7 holds Lease local-service-mirror-write',
      '√ member: Service shop/web of north has joined: Linkerd finds its pods',
      '‼ member: Service shop/web of west does not join, PortMismatch: it lacks 81/TCP',
      'the pods of north',
    ]);
  });
});

describe('I8: a federated Service stops', () => {
  it.each([
    ['if nobody has joined it', undefined, 'Service shop/web-federated is not in east: no Service has joined it'],
    [
      'at a Service of others that has its name',
      { metadata: { name: 'web-federated', namespace: 'shop' } },
      'Service shop/web-federated of east is no federated Service',
    ],
  ])('%s', (_, live, message) => {
    const conflict = linkOf('west', 'NameConflict', 'Service shop/web-federated exists');
    expect(outline(facts(live, [], [conflict]))).toEqual([
      '‼ member: Service shop/web of west does not join, NameConflict: Service shop/web-federated exists',
      `× Service: ${message}`,
      '',
    ]);
  });
});
