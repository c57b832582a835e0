/** What a federated Service must be, example by example; test/operator/federation/rules.test.ts draws the rest. */
import { withoutLabel } from '../mirror/observed.ts';
import { describe, expect, test } from 'vitest';
import { decideFederation } from '../../../operator/federation/decide.ts';
import type { ObservedFederation, TargetParty } from '../../../operator/federation/observed.ts';
import type { Service, ServicePort } from '../../../operator/kube/objects.ts';
import { formerParty } from '../../../operator/federation/session-party.ts';
import { unknownParty } from '../../../operator/federation/derivation.ts';
import {
  federation,
  linkerds,
  local,
  localSlice,
  member,
  NOTHING,
  settled,
  step,
  target,
  throughGateway,
} from './observed.ts';

const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const OPERATOR = 'linkspan.dev/operator';
const LOCAL = 'multicluster.linkerd.io/local-discovery';

/** The annotations of the result, and its slices, each with how many of its endpoints are ready. */
const shownOf = (observed: ObservedFederation) => {
  const [{ live, slices }] = settled(observed);
  return {
    remote: live?.metadata.annotations?.[REMOTE],
    local: live?.metadata.annotations?.[LOCAL],
    slices: Object.fromEntries(
      slices.map(({ metadata, endpoints }) => [
        metadata.name,
        (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false).length,
      ]),
    ),
  };
};

const remoteOf = (observed: ObservedFederation): string | undefined => shownOf(observed).remote;

const reasonsOf = (observed: ObservedFederation): Readonly<Record<string, string>> => {
  const { statuses, local: ofLocal } = decideFederation(observed);
  return Object.fromEntries(
    [...statuses, ...(ofLocal ? [['(local)', ofLocal] as const] : [])].map(([cluster, { reason }]) => [
      cluster,
      reason,
    ]),
  );
};

const ownerOf = (observed: ObservedFederation): string | undefined => settled(observed)[0].live?.metadata.labels?.owner;

describe('members (I1)', () => {
  test('the Services of all clusters join, the local one by an annotation of its own', () => {
    const observed = federation([target('west'), target('north')], { local: local({ service: member('here') }) });
    expect(shownOf(observed)).toEqual({ remote: 'web@north,web@west', local: 'web', slices: {} });
    expect(reasonsOf(observed)).toEqual({ north: 'Mirrored', west: 'Mirrored', '(local)': 'Mirrored' });
  });

  test('the local Service joins alone', () => {
    expect(shownOf(federation([], { local: local({ service: member('here') }) }))).toEqual({
      remote: undefined,
      local: 'web',
      slices: {},
    });
  });

  test.each([
    ['a mirror', member('w', {}, { labels: { 'mirror.linkerd.io/mirrored-service': 'true' } })],
    ['a federated Service that copied the label (N7)', member('w', {}, { annotations: { [REMOTE]: 'web@x' } })],
    ['a federated Service without remote members', member('w', {}, { annotations: { [LOCAL]: 'web' } })],
    ['of type ExternalName (N8)', member('w', { type: 'ExternalName' })],
    ['without ports (N8)', member('w', { ports: [] })],
    ['headless', member('w', { clusterIP: 'None' })],
    ['with ports that no API server accepts', member('w', { ports: [{ port: 80 }, { port: 81 }] })],
    ['with a port name that no API server accepts', member('w', { ports: [{ name: 'HTTP_1', port: 80 }] })],
    ['with a protocol that no API server accepts', member('w', { ports: [{ port: 80, appProtocol: 'not valid!!' }] })],
    ['with a label that no API server accepts', member('w', {}, { labels: { 'bad key!': 'x' } })],
    ['with a label value that no API server accepts', member('w', {}, { labels: { app: 'x'.repeat(64) } })],
    ['with an annotation that no API server accepts', member('w', {}, { annotations: { 'bad key!': 'x' } })],
    [
      'with more annotations than fit beside ours, of which it has the most that API servers accept (L160)',
      member('w', {}, { annotations: { a: '漢'.repeat(43_000), b: 'x'.repeat(133_000) } }),
    ],
  ])('a Service does not join that is %s, and harms no other', (_, service) => {
    const observed = federation([target('a', { service }), target('west')]);
    expect(remoteOf(observed)).toBe('web@west');
    expect(reasonsOf(observed)).toEqual({ a: 'InvalidService', west: 'Mirrored' });
  });

  test('a member behind a gateway that has grown beyond the limit keeps its slices, which follow the gateway (E10, C1, L245)', () => {
    const [there] = settled(federation([throughGateway('a'), throughGateway('b')]));
    const dead = { ...throughGateway('a').gateway!, alive: false };
    for (const [gateway, ready] of [[throughGateway('a').gateway, 1] as const, [dead, 0] as const]) {
      const observed = federation([throughGateway('a', { isWithinBytes: false, gateway }), throughGateway('b')], there);
      expect(shownOf(observed).slices).toEqual({ 'web-federated.a-ipv4': ready, 'web-federated.b-ipv4': 1 });
      expect(reasonsOf(observed)).toEqual({ a: 'LimitExceeded', b: 'Mirrored' });
    }
  });

  test('slices of a target that cannot be read stay where an annotation of others hides them (I6, I7, L291)', () => {
    const here = { service: member('here') };
    const all = [throughGateway('a'), throughGateway('b')];
    const [{ live, slices }] = settled(federation(all, { local: local(here) }));
    const annotated = { ...live!, metadata: { ...live!.metadata, annotations: { [LOCAL]: 'web' } } };
    const unread = throughGateway('a', { knowledge: 'unknown', service: undefined });
    for (const others of [[throughGateway('b')], []]) {
      const beside = federation([unread, ...others], {
        live: annotated,
        slices,
        local: local({ ...here, isHeld: false }),
      });
      const [left] = settled(beside);
      expect(left.slices.map(({ metadata }) => metadata.name)).toContain('web-federated.a-ipv4');
      const ofOthers = { ...unread, knowledge: 'anothers' } as const;
      const [kept] = settled({ ...beside, targets: [ofOthers, ...others] });
      expect(kept.slices).toContainEqual(slices.find(({ metadata }) => metadata.name === 'web-federated.a-ipv4'));
      const dead = { ...unread, gateway: { ...unread.gateway!, alive: false } };
      expect(shownOf({ ...beside, ...left, targets: [dead, ...others] }).slices['web-federated.a-ipv4']).toBe(0);
    }
    const again = federation([unread, throughGateway('b')], { live: annotated, slices, local: local(here) });
    expect(shownOf(again)).toMatchObject({
      remote: undefined,
      local: undefined,
      slices: { 'web-federated.a-ipv4': 1, 'web-federated.b-ipv4': 1 },
    });
  });

  test('slices that cannot be rendered for what a cluster sends follow gateways all the same (F3, L97)', () => {
    const gateway = { port: 4143, identity: 'gateway.west', addresses: ['203.0.113.23'], alive: true };
    const before = settled(federation([throughGateway('west', { gateway })]))[0];
    const slices = [{ ...localSlice(), endpoints: [{ addresses: ['not an address'] }] }];
    const dead = throughGateway('west', { gateway: { ...gateway, alive: false } });
    const observed = federation([dead], { ...before, local: local({ service: member('here'), slices }) });
    expect(shownOf(observed).slices).toEqual({ 'web-federated.west-ipv4': 0 });
  });

  test('makes the slices of a member that leaves not ready if its gateway is dead, and deletes them then (F3, L260)', () => {
    const [before] = settled(federation([throughGateway('a'), throughGateway('b')]));
    const { gateway } = throughGateway('a');
    const readiness = (alive: boolean) => {
      const leaving = throughGateway('a', { service: undefined, gateway: { ...gateway!, alive } });
      const history = settled({ ...federation([leaving, throughGateway('b')]), ...before });
      return history.toReversed().map(({ slices }) => {
        const of = slices.find(({ metadata }) => metadata.name.startsWith('web-federated.a-'));
        return of?.endpoints?.[0]?.conditions?.ready;
      });
    };
    expect(readiness(false)).toContain(false);
    expect(readiness(false).at(-1)).toBeUndefined();
    expect(readiness(true)).not.toContain(false);
  });

  test('a label that no API server accepts does no harm where the Link excludes it', () => {
    const service = member('a', {}, { labels: { 'bad key!': 'x' } });
    expect(reasonsOf(federation([target('a', { service, excludedLabels: ['bad key!'] })]))).toEqual({ a: 'Mirrored' });
  });

  test('a Service that the limit of its Link leaves out does not join (E10)', () => {
    const observed = federation([target('a', { isAdmitted: false }), target('west')]);
    expect(remoteOf(observed)).toBe('web@west');
    expect(reasonsOf(observed)).toEqual({ a: 'LimitExceeded', west: 'Mirrored' });
  });

  test('a Service that would take what is written for its Link beyond the limit does not join, or stays as it joined (E10)', () => {
    const large = target('a', { isWithinBytes: false, service: member('grown') });
    const observed = federation([large, target('west')]);
    expect(remoteOf(observed)).toBe('web@west');
    expect(reasonsOf(observed)).toEqual({ a: 'LimitExceeded', west: 'Mirrored' });
    const before = step(federation([target('a'), target('west')])).after;
    const grown = federation([large, target('west')], before);
    expect([remoteOf(grown), step(grown).actions]).toEqual(['web@a,web@west', []]);
    expect(reasonsOf(grown)).toEqual({ a: 'LimitExceeded', west: 'Mirrored' });
  });

  test('a name that is too long with its suffix is reported, and nothing is written (N9)', () => {
    const observed = federation([target('west')], { name: 'w'.repeat(54) });
    expect(reasonsOf(observed)).toEqual({ west: 'InvalidName' });
    expect(step(observed).actions).toEqual([]);
  });

  test.each([
    ['missing', 'MissingNamespace'],
    ['unreadable', 'MissingNamespace'],
    ['forbidden', 'NamespaceNotAllowed'],
  ] as const)('nothing is written to a namespace that is %s', (namespaceState, reason) => {
    const observed = federation([target('west')], { namespaceState });
    expect(step(observed).actions).toEqual([]);
    expect(reasonsOf(observed)).toEqual({ west: reason });
  });

  test('what is in a namespace that may no longer be written to stays', () => {
    const live = linkerds('web@west');
    expect(step(federation([], { namespaceState: 'forbidden', live })).actions).toEqual([]);
  });

  test('what is in a namespace that seems to be gone stays: it may be back', () => {
    const live = linkerds('web@west');
    const observed = federation([target('west')], { namespaceState: 'missing', live });
    expect(step(observed).actions).toEqual([]);
    expect(reasonsOf(observed)).toEqual({ west: 'MissingNamespace' });
  });

  test('a namespace is created where a Link of a member wants that', () => {
    const observed = federation([target('west', { createNamespaces: true })], { namespaceState: 'missing' });
    const { manifests } = decideFederation(observed);
    expect(manifests.namespaces.map(({ object }) => object.metadata)).toEqual([
      {
        name: 'shop',
        labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
      },
    ]);
    expect(reasonsOf(observed)).toEqual({ west: 'Mirrored' });
  });
});

describe('a namespace that is missing', () => {
  const missing = (...targets: readonly TargetParty[]): readonly unknown[] => {
    const observed = federation(targets, { namespaceState: 'missing' });
    const { manifests } = decideFederation(observed);
    return [reasonsOf(observed), manifests.namespaces.length];
  };
  const full = { createNamespaces: true, isNamespaceAdmitted: false };

  test('is not created where nobody asks for it', () => {
    expect(missing(target('west'))).toEqual([{ west: 'MissingNamespace' }, 0]);
    expect(missing(target('west', { ...full, createNamespaces: false }))).toEqual([{ west: 'MissingNamespace' }, 0]);
  });

  test('is not created beyond the limit of a Link, which is then the reason (E10)', () => {
    expect(missing(target('west', full))).toEqual([{ west: 'LimitExceeded' }, 0]);
    expect(missing(target('west', full), target('east'))).toEqual([
      { east: 'LimitExceeded', west: 'LimitExceeded' },
      0,
    ]);
  });

  test('is created for another Link that is within its own', () => {
    const [reasons, created] = missing(target('west', full), target('east', { createNamespaces: true }));
    expect([reasons, created]).toEqual([{ east: 'Mirrored', west: 'Mirrored' }, 1]);
  });
});

describe('one writer (I2)', () => {
  test('the outcome is the same whatever the order in which clusters are known (N1)', () => {
    const clusters = ['a', 'b', 'c'].map((each) => target(each));
    const [forwards] = settled(federation(clusters));
    expect(settled(federation([...clusters].reverse()))[0]).toEqual(forwards);
    expect(remoteOf(federation(clusters))).toBe('web@a,web@b,web@c');
  });

  test('what is right is not written again (C5)', () => {
    const observed = federation([target('a'), throughGateway('b')], { local: local({ service: member('here') }) });
    expect(step({ ...observed, ...settled(observed)[0] }).actions).toEqual([]);
  });

  test('what somebody else changed is put right (N2)', () => {
    const live = linkerds('web@b,web@gone,web@a', { local: true });
    const observed = federation([target('a'), target('b')], { live });
    expect(shownOf(observed)).toEqual({ remote: 'web@a,web@b', local: undefined, slices: {} });
  });
});

describe('labels, annotations and ports (I3)', () => {
  const older = { seniority: { createdAt: '2025-01-01T00:00:00Z', name: 'z' } };

  test('are those of the local member', () => {
    expect(ownerOf(federation([target('a', older)], { local: local({ service: member('here') }) }))).toBe('here');
  });

  test('are else those of the member of the oldest Link, then of the first by name', () => {
    expect(ownerOf(federation([target('a'), target('z', older)]))).toBe('z');
    expect(ownerOf(federation([target('b'), target('a')]))).toBe('a');
  });

  test('are those of the next member at once when that one leaves (N4)', () => {
    const before = federation([target('a', { service: member('a', { ports: [{ port: 80 }] }) }), target('b')]);
    const after = { ...before, targets: [target('a', { service: undefined }), target('b')], ...settled(before)[0] };
    const [{ live }] = settled(after);
    expect(live?.metadata.labels?.owner).toBe('b');
    expect(live?.spec?.ports).toEqual([{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }]);
  });

  test('leave out what the Link of that member excludes', () => {
    expect(ownerOf(federation([target('a', { excludedLabels: ['owner'] })]))).toBeUndefined();
  });

  test('stay as they are while nothing is known of the member that they are from', () => {
    const live = linkerds('web@a,web@b', { labels: { 'helm.sh/chart': 'web' } });
    const observed = federation([target('a', { knowledge: 'unknown', service: undefined }), target('b')], { live });
    const [{ live: after }] = settled(observed);
    expect(after?.metadata.labels).toEqual(live.metadata.labels);
    expect(after?.spec?.ports).toEqual(live.spec?.ports);
  });

  test.each([
    ['follow the first member beside one of a younger Link', '2026-02-01T00:00:00Z', 81, 'Mirrored'],
    ['stay as they are beside one of an older Link', '2025-01-01T00:00:00Z', 80, 'PortMismatch'],
    ['stay as they are beside one of no Link', undefined, 80, 'PortMismatch'],
  ])('%s that has no session (L135)', (_, createdAt, port, reason) => {
    const silent = unknownParty('b', createdAt === undefined ? undefined : { createdAt, name: 'b' });
    const first = target('a', { service: member('a', { ports: [{ port: 81 }] }) });
    const observed = federation([first, silent], { live: linkerds('web@a,web@b') });
    const [{ live }] = settled(observed);
    expect(live?.spec?.ports?.map((each) => each.port)).toEqual([port]);
    expect(reasonsOf(observed)).toEqual({ a: reason });
    expect(remoteOf(observed)).toBe(reason === 'Mirrored' ? 'web@a,web@b' : 'web@b');
  });
});

describe('flat shape (I4)', () => {
  test('a cluster is listed only while the control plane has its credentials', () => {
    const observed = federation([target('a', { isDiscoverable: false }), target('b')]);
    expect(remoteOf(observed)).toBe('web@b');
    expect(reasonsOf(observed)).toEqual({ a: 'WaitingForCredentials', b: 'Mirrored' });
    expect(ownerOf(observed)).toBe('b');
  });

  test('a member stays while it is not known whether the control plane has its credentials, and none is added', () => {
    const unknown = { isDiscoverable: undefined };
    const live = linkerds('web@a');
    const observed = federation([target('a', unknown), target('b', unknown), target('c')], { live });
    expect(remoteOf(observed)).toBe('web@a,web@c');
    expect(reasonsOf(observed)).toEqual({ a: 'Mirrored', b: 'WaitingForCredentials', c: 'Mirrored' });
  });

  test('a member is listed only if it has every port number, under whatever name', () => {
    const named = (name: string, port: number) => ({ name, port, protocol: 'TCP' });
    const observed = federation([
      target('a', { service: member('a', { ports: [named('http', 80), named('admin', 81)] }) }),
      target('b', { service: member('b', { ports: [named('web', 80), named('x', 81), named('y', 82)] }) }),
      target('c', { service: member('c', { ports: [named('http', 80)] }) }),
      target('d', {
        service: member('d', { ports: [named('http', 80), { name: 'admin', port: 81, protocol: 'UDP' }] }),
      }),
    ]);
    expect(remoteOf(observed)).toBe('web@a,web@b');
    expect(reasonsOf(observed)).toEqual({ a: 'Mirrored', b: 'Mirrored', c: 'PortMismatch', d: 'PortMismatch' });
  });
});

describe('gateway shape (I5)', () => {
  test('each cluster has a slice, and the local pods have theirs', () => {
    const observed = federation([throughGateway('a'), target('b')], { local: local({ service: member('here') }) });
    expect(shownOf(observed)).toEqual({
      remote: undefined,
      local: undefined,
      slices: { 'web-federated.a-ipv4': 1, 'web-federated.b-ipv4': 1, 'web-federated.local.web-abc12': 1 },
    });
    const [{ slices }] = settled(observed);
    expect(slices.find(({ metadata }) => metadata.name.includes('local'))?.endpoints).toEqual([
      {
        addresses: ['10.1.0.7'],
        conditions: { ready: true, serving: true },
        nodeName: 'node-1',
        targetRef: { kind: 'Pod', name: 'web-0', namespace: 'shop', uid: 'u' },
      },
    ]);
  });

  test('a dead gateway, and a Service without ready pods, take the addresses of that cluster out alone', () => {
    const a = throughGateway('a');
    const dead = { ...a, gateway: { ...a.gateway!, alive: false } };
    expect(shownOf(federation([dead, target('b')])).slices).toEqual({
      'web-federated.a-ipv4': 0,
      'web-federated.b-ipv4': 1,
    });
    const empty = throughGateway('a', { anyReady: false });
    expect(shownOf(federation([empty, target('b')])).slices).toEqual({
      'web-federated.a-ipv4': 0,
      'web-federated.b-ipv4': 1,
    });
  });

  test('before the first verdict, lookup and list a slice stays as it is (F2)', () => {
    const a = throughGateway('a');
    const dead = federation([{ ...a, gateway: { ...a.gateway!, alive: false } }]);
    const restarted = (gateway: object, more: object = {}) =>
      shownOf({ ...dead, targets: [{ ...a, gateway: { ...a.gateway!, ...gateway }, ...more }], ...settled(dead)[0] })
        .slices;
    expect(restarted({ alive: undefined })).toEqual({ 'web-federated.a-ipv4': 0 });
    expect(restarted({ alive: true, addresses: [] })).toEqual({ 'web-federated.a-ipv4': 1 });
    expect(restarted({ alive: true }, { anyReady: undefined })).toEqual({ 'web-federated.a-ipv4': 1 });
    const unknown = { knowledge: 'unknown', service: undefined, anyReady: undefined };
    expect(restarted({ alive: undefined }, unknown)).toEqual({ 'web-federated.a-ipv4': 0 });
    expect(restarted({ alive: true }, unknown)).toEqual({ 'web-federated.a-ipv4': 1 });
  });

  test('before its name is resolved, a slice keeps the port and the identity of the gateway that it leads to (L157)', () => {
    const a = throughGateway('a');
    const [there] = settled(federation([a]));
    const gateway = { ...a.gateway!, addresses: [], port: 5143, identity: 'next.id' };
    expect(step(federation([{ ...a, gateway }], there)).actions).toEqual([]);
    const unread = { knowledge: 'unknown', service: undefined, anyReady: undefined } as const;
    expect(step(federation([{ ...a, gateway, ...unread }], there)).actions).toEqual([]);
    const dead = { ...gateway, alive: false };
    const [{ slices }] = settled(federation([{ ...a, gateway: dead, ...unread }], there));
    expect(slices.map(({ ports }) => ports?.[0]?.port)).toEqual([a.gateway!.port]);
    expect(shownOf(federation([{ ...a, gateway: dead, ...unread }], there)).slices).toEqual({
      'web-federated.a-ipv4': 0,
    });
  });

  test('a slice of a cluster that cannot be read is not ready once its Link has no gateway (C1)', () => {
    const alive = federation([throughGateway('a')]);
    const unread = { knowledge: 'unknown', service: undefined, anyReady: undefined, gateway: undefined } as const;
    const without = (more: object) => ({
      ...{ ...alive, targets: [throughGateway('a', { ...unread, ...more })], ...settled(alive)[0] },
    });
    expect(shownOf(without({ lacksGateway: true })).slices).toEqual({ 'web-federated.a-ipv4': 0 });
    expect(shownOf(without({})).slices).toEqual({ 'web-federated.a-ipv4': 1 });
  });

  test('a slice that has lost its label stays the one of a cluster that cannot be read, and gets it back (A6, I6)', () => {
    const known = federation([throughGateway('a')]);
    const [{ live, slices }] = settled(known);
    const unread = throughGateway('a', { knowledge: 'unknown', service: undefined, anyReady: undefined });
    const unlabelled = slices.map((each) => withoutLabel(each, 'kubernetes.io/service-name'));
    const [after] = settled({ ...known, targets: [unread], live, slices: unlabelled });
    expect(after.slices).toEqual(slices);
  });

  test('a cluster gets only the ports that it has, and says which it lacks', () => {
    const ports = [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'admin', port: 81, protocol: 'TCP' },
    ];
    const observed = federation([throughGateway('a', { service: member('a', { ports }) }), throughGateway('b')]);
    const { statuses } = decideFederation(observed);
    expect(statuses.get('b')).toMatchObject({
      mirrored: true,
      message: expect.stringContaining('admin 81/TCP') as string,
    });
    const [{ slices }] = settled(observed);
    expect(slices.map(({ ports: each }) => each?.map(({ name }) => name))).toEqual([['http', 'admin'], ['http']]);
  });

  test('a cluster that has none of the ports is refused, as is one without a gateway', () => {
    const other = member('c', { ports: [{ name: 'other', port: 80, protocol: 'TCP' }] });
    const observed = federation([
      throughGateway('a'),
      target('b', { gateway: undefined }),
      target('c', { service: other }),
      throughGateway('d', { service: member('d', { ports: [{ port: 53, protocol: 'UDP' }] }) }),
    ]);
    expect(reasonsOf(observed)).toEqual({
      a: 'Mirrored',
      b: 'WaitingForGateway',
      c: 'PortMismatch',
      d: 'InvalidService',
    });
  });

  test('a Link without a gateway does not turn the others to gateways', () => {
    const observed = federation([throughGateway('a', { gateway: undefined }), target('b')]);
    expect(remoteOf(observed)).toBe('web@b');
    expect(reasonsOf(observed)).toEqual({ a: 'WaitingForGateway', b: 'Mirrored' });
    const [there] = settled(federation([throughGateway('a'), target('b')]));
    expect(shownOf({ ...observed, ...there })).toEqual({ remote: 'web@b', local: undefined, slices: {} });
  });

  test('a gateway without an address does not turn the others to it, nor does its cluster lose its pods', () => {
    const a = throughGateway('a');
    const unresolved = { ...a, gateway: { ...a.gateway!, addresses: [] } };
    expect(remoteOf(federation([unresolved, target('b')]))).toBe('web@b');
    expect(reasonsOf(federation([unresolved, target('b')]))).toEqual({ a: 'WaitingForGateway', b: 'Mirrored' });
    const [flat] = settled(federation([target('a')]));
    expect(step(federation([unresolved], flat)).actions).toEqual([]);
    expect(shownOf(federation([a], flat)).slices).toEqual({ 'web-federated.a-ipv4': 1 });
  });

  test('a cluster whose gateway has no address waits for it, and one that has slices keeps them', () => {
    const b = throughGateway('b');
    const unresolved = { ...b, gateway: { ...b.gateway!, addresses: [] } };
    expect(reasonsOf(federation([throughGateway('a'), unresolved]))).toEqual({ a: 'Mirrored', b: 'WaitingForGateway' });
    const [there] = settled(federation([throughGateway('a'), b]));
    expect(step(federation([throughGateway('a'), unresolved], there)).actions).toEqual([]);
    expect(step(federation([unresolved], settled(federation([b]))[0])).actions).toEqual([]);
  });

  test('annotations stay until the endpoints of all members are known', () => {
    const here = local({ service: member('here') });
    const [flat] = settled(federation([target('a'), target('b')], { local: here }));
    const gateways = [throughGateway('a'), throughGateway('b')] as const;
    const notListed = [gateways[0], throughGateway('b', { anyReady: undefined })];
    expect(step(federation(notListed, { ...flat, local: here })).actions).toEqual([]);
    const notKnown = { ...here, slices: undefined };
    expect(step(federation(gateways, { ...flat, local: notKnown })).actions).toEqual([]);
    expect(Object.values(shownOf(federation(gateways, { ...flat, local: here })).slices)).toEqual([1, 1, 1]);
  });

  test('both annotations go in one write, also if another manager owns one of them', () => {
    const live = linkerds('web@west', { local: true });
    const observed = federation([throughGateway('west')], { local: local({ service: member('here') }), live });
    const { after } = step(observed);
    expect(step({ ...observed, ...after }).actions).toMatchObject([{ op: 'update', live, atOnce: true }]);
    expect(step(federation([target('west')], { live: linkerds('web@old') })).actions).not.toMatchObject([
      { atOnce: true },
    ]);
  });

  test('going from one shape to the other keeps the Service, and clients are never without a member', () => {
    const flat = federation([target('a'), target('b')]);
    const there = settled({ ...flat, targets: [throughGateway('a'), target('b')], ...settled(flat)[0] });
    const back = settled({ ...flat, ...there[0] });
    for (const { live, slices } of [...there, ...back]) {
      expect(live?.metadata.annotations?.[REMOTE] === 'web@a,web@b' || slices.length === 2).toBe(true);
    }
    expect(back[0]).toMatchObject({ slices: [] });
  });
});

describe('fail static (I6)', () => {
  const unknown = { knowledge: 'unknown', service: undefined, anyReady: undefined } as const;

  test('the membership of a cluster that cannot be read stays, also if it never was', () => {
    const live = linkerds('web@a,web@b');
    expect(remoteOf(federation([target('a', unknown), target('b')], { live }))).toBe('web@a,web@b');
    expect(step(federation([target('a', unknown), target('b', unknown)], { live })).actions).toEqual([]);
    const gateways = federation([throughGateway('a'), throughGateway('b')]);
    const [there] = settled(gateways);
    expect(
      step({ ...gateways, targets: [throughGateway('a', unknown), throughGateway('b', unknown)], ...there }).actions,
    ).toEqual([]);
  });

  const lease = { isHeld: false, mayWrite: () => false };
  const source = { membershipsOf: () => new Set<string>() };
  test.each([
    ['cannot be read', throughGateway('a', unknown)],
    ['is written for by another', throughGateway('a', { ...unknown, knowledge: 'anothers' })],
    ['has no session', unknownParty('a')],
    ['has no Link any more', formerParty('a', lease as never, { source, config: {} } as never).observe('shop/web')],
  ])('a cluster that %s does not keep the dead gateway of another ready', (_, silent) => {
    const [there] = settled(federation([throughGateway('a'), throughGateway('b')]));
    const b = throughGateway('b');
    const observed = federation([silent, { ...b, gateway: { ...b.gateway!, alive: false } }], there);
    expect(shownOf(observed).slices).toEqual({ 'web-federated.a-ipv4': 1, 'web-federated.b-ipv4': 0 });
    expect(reasonsOf(observed)).toEqual({ b: 'Mirrored' });
  });

  test('a cluster that cannot be read and was no member does not become one', () => {
    expect(step(federation([target('a', unknown)])).actions).toEqual([]);
  });

  test('a Service that somebody deletes comes back with the members that are not known, by their slices (C3, L241)', () => {
    const [{ slices }] = settled(federation([throughGateway('a'), throughGateway('b')]));
    const deleted = { live: undefined, slices };
    const all = { 'web-federated.a-ipv4': 1, 'web-federated.b-ipv4': 1 };
    const b = throughGateway('b', { service: member('b', { ports: [{ name: 'admin', port: 81, protocol: 'TCP' }] }) });
    for (const knowledge of ['unknown', 'anothers'] as const) {
      const a = throughGateway('a', { knowledge, service: undefined });
      const [after] = settled(federation([a, b], deleted));
      expect(after.live?.spec?.ports?.map(({ port }) => port)).toEqual([81]);
      expect(after.live?.metadata.labels?.owner).toBe('b');
      expect(shownOf(federation([a, b], deleted)).slices).toEqual(all);
    }
    const anew = shownOf(federation([throughGateway('a', { service: undefined }), b], deleted));
    expect(anew.slices).toEqual({ 'web-federated.b-ipv4': 1 });
  });

  test('slices of a Service that somebody deletes follow gateways until a member is known (C3, L241)', () => {
    const [there] = settled(federation([throughGateway('a')], { local: local({ service: member('here') }) }));
    const dead = { ...throughGateway('a').gateway!, alive: false };
    const a = throughGateway('a', { ...unknown, gateway: dead });
    const here = local({ knowledge: 'unknown', slices: undefined });
    const observed = federation([a], { slices: there.slices, local: here });
    expect(shownOf(observed).slices).toEqual({ 'web-federated.a-ipv4': 0, 'web-federated.local.web-abc12': 1 });
    expect(settled(observed)[0].live).toBeUndefined();
    expect(reasonsOf(observed)).toEqual({});
    const left = federation([throughGateway('a', { service: undefined })], { slices: there.slices, local: here });
    expect(shownOf(left).slices).toEqual({ 'web-federated.local.web-abc12': 1 });
  });

  test('a Service that somebody deletes does not come back in the shape that needs the Lease, without it (I7, L241)', () => {
    const [{ slices }] = settled(federation([throughGateway('a'), throughGateway('b')]));
    const b = throughGateway('b');
    const observed = federation([throughGateway('a', unknown), b], { slices, local: local({ isHeld: false }) });
    expect(settled(observed)[0].live).toBeUndefined();
    expect(shownOf(observed).slices).toEqual({ 'web-federated.a-ipv4': 1 });
    expect(reasonsOf(observed)).toEqual({ b: 'WaitingForLease' });
  });

  test('a deleted Service keeps the slices of a gateway that is not known beside a member on a flat network (I5, L241)', () => {
    const [{ slices }] = settled(federation([throughGateway('a'), target('b')]));
    const observed = federation([throughGateway('a', unknown), target('b')], { slices });
    const all = { 'web-federated.a-ipv4': 1, 'web-federated.b-ipv4': 1 };
    expect(shownOf(observed)).toEqual({ remote: undefined, local: undefined, slices: all });
    expect(settled(observed)[0].live?.metadata.labels?.owner).toBe('b');
  });

  test('a deleted Service keeps the slices of a gateway whose name has no address now (C2, L241)', () => {
    const [{ slices }] = settled(federation([throughGateway('a')]));
    const unresolved = { ...throughGateway('a').gateway!, addresses: [] };
    const observed = federation([throughGateway('a', { gateway: unresolved })], { slices });
    expect(shownOf(observed)).toEqual({ remote: undefined, local: undefined, slices: { 'web-federated.a-ipv4': 1 } });
  });

  test('the memberships of a Link that is gone, and of a cluster that a Link no longer names, go (N5, N10)', () => {
    expect(remoteOf(federation([target('b')], { live: linkerds('web@a,web@b') }))).toBe('web@b');
    expect(settled(federation([], { live: linkerds('web@a') }))[0]).toEqual(NOTHING);
    const [there] = settled(federation([throughGateway('a'), throughGateway('b')]));
    expect(Object.keys(shownOf(federation([throughGateway('b')], there)).slices)).toEqual(['web-federated.b-ipv4']);
  });

  test('the shape stays while a member cannot be asked', () => {
    const observed = federation([target('a', unknown), throughGateway('b')], { live: linkerds('web@a') });
    expect(remoteOf(observed)).toBe('web@a');
    expect(reasonsOf(observed)).toEqual({ b: 'ModeMismatch' });
  });

  test('slices of local pods that are not known stay', () => {
    const observed = federation([throughGateway('a')], { local: local({ service: member('here') }) });
    const [there] = settled(observed);
    expect(
      step({ ...observed, ...there, local: local({ service: member('here'), slices: undefined }) }).actions,
    ).toEqual([]);
    expect(step({ ...observed, ...there, local: local({ knowledge: 'unknown', slices: undefined }) }).actions).toEqual(
      [],
    );
    const notReady = local({ service: member('here'), slices: [localSlice(false)] });
    expect(step({ ...observed, ...there, local: notReady }).actions).toHaveLength(1);
  });
});

describe("beside Linkerd's controllers (I7)", () => {
  test('the entry of a cluster that another writes for stays, and others join beside it', () => {
    const live = linkerds('web@theirs');
    const theirs = target('theirs', { knowledge: 'anothers' });
    expect(remoteOf(federation([theirs, target('b')], { live }))).toBe('web@b,web@theirs');
    expect(remoteOf(federation([theirs], { live }))).toBe('web@theirs');
  });

  test('while labels and ports are those of a member that another writes for, the others go by them', () => {
    const live = linkerds('web@a');
    const other = member('b', { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] });
    const observed = federation([target('a', { knowledge: 'anothers' }), target('b', { service: other })], { live });
    expect(step(observed).actions).toEqual([]);
    expect(reasonsOf(observed)).toEqual({ b: 'PortMismatch' });
  });

  test('the local entry stays while another writes it, and goes when it is ours and no member is', () => {
    const live = linkerds(undefined, { local: true });
    expect(step(federation([], { live, local: local({ isHeld: false }) })).actions).toEqual([]);
    expect(settled(federation([], { live }))[0]).toEqual(NOTHING);
  });

  test('the local entry is not made while another may write it', () => {
    const here = local({ service: member('here'), isHeld: false });
    expect(shownOf(federation([target('a')], { local: here }))).toMatchObject({ remote: 'web@a', local: undefined });
    expect(reasonsOf(federation([target('a')], { local: here }))).toEqual({ a: 'Mirrored' });
    expect(step(federation([], { local: here })).actions).toEqual([]);
  });

  test('nor is it made in place of slices, when nobody can be reached through a gateway any more', () => {
    const [there] = settled(federation([throughGateway('a')], { local: local({ service: member('here') }) }));
    const dns: readonly ServicePort[] = [{ name: 'dns', port: 53, protocol: 'UDP' }];
    const here = local({ service: member('here', { ports: dns }), isHeld: false });
    const observed = federation([target('b', { service: member('b', { ports: dns }) })], { ...there, local: here });
    expect(shownOf(observed)).toEqual({ remote: 'web@b', local: undefined, slices: {} });
    expect(reasonsOf(observed)).toEqual({ b: 'Mirrored' });
  });

  test('no Service leads through gateways from now on while its deletion by others must be feared', () => {
    const fearing = { local: local({ isHeld: false }) };
    expect(step(federation([throughGateway('a')], fearing)).actions).toEqual([]);
    expect(reasonsOf(federation([throughGateway('a')], fearing))).toEqual({ a: 'WaitingForLease' });
    const [flat] = settled(federation([target('a')]));
    const observed = federation([throughGateway('a'), target('b')], { ...flat, ...fearing });
    expect(shownOf(observed)).toEqual({ remote: 'web@b', local: undefined, slices: {} });
    expect(reasonsOf(observed)).toEqual({ a: 'WaitingForLease', b: 'Mirrored' });
    expect(shownOf({ ...observed, local: local() }).slices).toHaveProperty(['web-federated.a-ipv4']);
  });

  test('one that leads through gateways already follows them, and the pods here, whoever holds the Lease', () => {
    const here = local({ service: member('here') });
    const [there] = settled(federation([throughGateway('a')], { local: here }));
    const fearing = local({ service: member('here'), isHeld: false });
    const a = throughGateway('a');
    expect(step(federation([a], { ...there, local: fearing })).actions).toEqual([]);
    expect(step(federation([target('a')], { ...there, local: fearing })).actions).toEqual([]);
    const dead = { ...a, gateway: { ...a.gateway!, alive: false } };
    expect(step(federation([dead], { ...there, local: fearing })).actions.map(({ op }) => op)).toEqual(['update']);
    const notReady = { ...fearing, slices: [localSlice(false)] };
    expect(step(federation([a], { ...there, local: notReady })).actions.map(({ op }) => op)).toEqual(['update']);
    expect(shownOf(federation([a], { ...there, local: { ...fearing, service: undefined } })).slices).toEqual({
      'web-federated.a-ipv4': 1,
    });
  });

  test('the slices of a cluster that another writes for are left as they are', () => {
    const [there] = settled(federation([throughGateway('a'), throughGateway('b')]));
    const a = throughGateway('a', { knowledge: 'anothers' });
    const dead = { ...a, gateway: { ...a.gateway!, alive: false } };
    expect(step(federation([dead, throughGateway('b')], there)).actions).toEqual([]);
    // Somebody has deleted the Service, and no member is known.
    const alone = { slices: there.slices.filter(({ metadata }) => metadata.name.startsWith('web-federated.a-')) };
    const { actions } = step(federation([{ ...dead, service: undefined }], alone));
    expect(actions).toEqual([]);
  });
});

describe('without members (I6, L68)', () => {
  const live = linkerds('web@gone', { labels: { owner: 'gone' } });
  const unread = target('a', { knowledge: 'unknown', service: undefined });
  const none = target('b', { service: undefined });
  const unresolved = { ...target('a').gateway!, addresses: [] };

  test('a federated Service stays as it is, with an empty list, while a cluster may have a member', () => {
    const [there] = settled(federation([unread, none], { live }));
    expect(there.live?.metadata.annotations).toEqual({ [REMOTE]: '', [OPERATOR]: 'linkerd-multicluster' });
    expect(there.live?.metadata.labels).toEqual({ owner: 'gone', 'mirror.linkerd.io/mirrored-service': 'true' });
    expect(there.live?.spec?.clusterIP).toBe(live.spec?.clusterIP);
    expect(there.live?.spec?.ports).toEqual(live.spec?.ports);
    expect(decideFederation(federation([unread, none], there)).awaited).toEqual(new Set(['a']));
    expect(remoteOf(federation([target('a'), none], there))).toBe('web@a');
    expect(settled(federation([none], there))[0]).toEqual(NOTHING);
  });

  test('of one that led through gateways, no slice stays', () => {
    const [led] = settled(federation([throughGateway('b')]));
    const [there] = settled(federation([unread, none], led));
    expect(there).toEqual({ live: led.live, slices: [] });
    const fearing = { ...there, local: local({ isHeld: false }) };
    expect(remoteOf(federation([unread, none], fearing))).toBe('');
    expect(settled(federation([unread], fearing))[0].live?.metadata.labels).not.toHaveProperty([
      'linkspan.dev/federation',
    ]);
  });

  test.each<[string, ObservedFederation]>([
    ['its Link is another controller’s', federation([{ ...unread, knowledge: 'anothers', mayHaveMember: false }])],
    ['its Link selects no members', federation([{ ...unread, mayHaveMember: false }])],
    ['there is no Link', federation([])],
    ['its Link has no gateway', federation([throughGateway('a', { gateway: undefined })])],
  ])('it goes when nobody may have a member: %s', (_, observed) => {
    expect(settled({ ...observed, live })[0]).toEqual(NOTHING);
  });

  test.each<[string, ObservedFederation]>([
    ['its Lease has yet to be taken', federation([{ ...unread, knowledge: 'anothers' }])],
    ['it is not known whether it can be found', federation([target('a', { isDiscoverable: undefined })])],
    ['the local Services are not read', federation([], { local: local({ knowledge: 'unknown' }) })],
    ['nor are they, nor the Lease held', federation([], { local: local({ knowledge: 'unknown', isHeld: false }) })],
    ['a member waits for the Lease', federation([throughGateway('a')], { local: local({ isHeld: false }) })],
    ['its gateway has no address yet', federation([throughGateway('a', { gateway: unresolved })])],
    ['the local one waits for the Lease', federation([], { local: local({ service: member('h'), isHeld: false }) })],
  ])('it stays for a cluster that may have one: %s', (_, observed) => {
    expect(remoteOf({ ...observed, live })).toBe('');
  });

  test('none is made for that, and a Service that is not ours is not awaited', () => {
    expect(step(federation([unread])).actions).toEqual([]);
    const foreign = federation([unread], { live: linkerds(undefined) });
    expect([step(foreign).actions, decideFederation(foreign).awaited.size]).toEqual([[], 0]);
  });
});

describe('one operator (I9)', () => {
  const OWN = 'linkerd-multicluster';
  const markOf = (observed: ObservedFederation): string | undefined =>
    settled(observed)[0].live?.metadata.annotations?.[OPERATOR];
  const servedBy = (operator: string, service: Service): Service => ({
    ...service,
    metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, [OPERATOR]: operator } },
  });
  const here = local({ service: member('here') });
  /** A cluster that nothing is known of: one of another operator's Links. */
  const foreign = (cluster: string): TargetParty => ({ ...unknownParty(cluster), isLinked: false });
  const [{ live: made }] = settled(federation([throughGateway('a')]));
  const [led] = settled(federation([throughGateway('a')], { local: here }));

  test('a Service with a member of a target says whose it is, and one of local Services alone does not', () => {
    expect(markOf(federation([target('a')]))).toBe(OWN);
    expect(markOf(federation([target('a')], { local: here }))).toBe(OWN);
    expect(markOf(federation([], { local: here }))).toBeUndefined();
    expect(markOf(federation([target('a')], { live: linkerds(undefined, { local: true }), local: here }))).toBe(OWN);
    // What a target wants to be called means nothing.
    const service = member('a', {}, { annotations: { [OPERATOR]: 'evil' } });
    expect(markOf(federation([target('a', { service })]))).toBe(OWN);
  });

  test('a Service that has no mark and no members goes once those who have Links have looked for some (I6)', () => {
    const unmarked = linkerds('');
    const none = target('b', { service: undefined });
    expect(settled(federation([none], { live: unmarked }))[0]).toEqual(NOTHING);
    expect(settled(federation([], { live: unmarked }))[0].live).toEqual(unmarked);
  });

  test.each<[string, Partial<ObservedFederation>]>([
    ['that has no slices yet', { live: servedBy('other', made!) }],
    ['that is kept without members', { live: linkerds('', { operator: 'other' }) }],
    ['with its slices', { ...led, live: servedBy('other', led.live!), targets: [foreign('a')] }],
    ['whose slices a list hides yet', { live: linkerds('web@a', { operator: 'other' }), slices: led.slices }],
  ])('a Service of another operator %s is left alone, whoever would join', (_, there) => {
    for (const joining of [local(), here]) {
      expect(step({ ...federation([]), ...there, local: joining }).actions).toEqual([]);
      const observed = {
        ...federation([]),
        ...there,
        local: joining,
        targets: [...(there.targets ?? []), target('b')],
      };
      expect(step(observed).actions).toEqual([]);
      expect(reasonsOf(observed)).toEqual({ b: 'ServedByAnother' });
      expect(decideFederation(observed)).toMatchObject({ isLeft: true, manifests: { isBlocked: true } });
    }
  });

  test('of one that says nothing, what another operator has there is left alone until a cluster of ours has a part', () => {
    const unmarked = { ...led, live: linkerds('web@a'), targets: [foreign('a')], local: here };
    expect(step(federation([], unmarked)).actions).toEqual([]);
    expect(step(federation([], { ...unmarked, live: undefined })).actions).toEqual([]);
    expect(step(federation([], { live: linkerds('') })).actions).toEqual([]);
    const beside = federation([foreign('a'), target('b')], { live: linkerds('web@a') });
    expect([remoteOf(beside), markOf(beside)]).toEqual(['web@a,web@b', OWN]);
  });

  test('what an older version kept without members is taken over, and goes when nobody has one', () => {
    const unread = target('a', { knowledge: 'unknown', service: undefined });
    const [kept] = settled(federation([unread], { live: linkerds('') }));
    expect(kept.live?.metadata.annotations?.[OPERATOR]).toBe(OWN);
    expect(settled(federation([target('a', { service: undefined })], kept))[0]).toEqual(NOTHING);
  });

  test('one of an operator whose namespace is gone is taken over', () => {
    const operators = { own: OWN, isGone: (namespace: string) => namespace === 'other' };
    const live = linkerds('web@a', { operator: 'other' });
    expect(markOf(federation([target('a')], { live, operators }))).toBe(OWN);
  });

  test('the mark goes when nothing but local Services is left, and not while a member is refused or may come back', () => {
    const own = { live: linkerds('web@a', { local: true, operator: OWN }), local: here };
    expect(markOf(federation([target('a', { service: undefined })], own))).toBeUndefined();
    const lacking = target('a', { service: member('a', { ports: [{ name: 'other', port: 81 }] }) });
    expect(markOf(federation([lacking], own))).toBe(OWN);
    expect(markOf(federation([target('b', { knowledge: 'unknown', service: undefined })], own))).toBe(OWN);
    expect(markOf(federation([foreign('a')], own))).toBe(OWN);
  });
});

describe('ownership (I8)', () => {
  test("a Service that Linkerd's controllers wrote is taken over in place, and left alone if it is right", () => {
    const live = linkerds('web@a');
    const right = {
      ...live,
      metadata: {
        ...live.metadata,
        labels: { owner: 'a', 'mirror.linkerd.io/mirrored-service': 'true' },
        annotations: { ...live.metadata.annotations, 'example.com/owner': 'a' },
      },
    };
    expect(step(federation([target('a')], { live: right })).actions).toEqual([]);
    expect(step(federation([target('a')], { live })).actions.map(({ op }) => op)).toEqual(['update']);
  });

  test.each([
    ["a user's", { metadata: { name: 'web-federated', namespace: 'shop', labels: {} } }],
    ["a user's with an annotation", { metadata: { ...linkerds('web@a').metadata, labels: {} } }],
    [
      'the mirror of a cluster called federated (N6)',
      linkerds('web@a', { labels: { 'mirror.linkerd.io/cluster-name': 'federated' } }),
    ],
    ['marked as mirrored alone (N6)', linkerds(undefined)],
  ])('a Service that is %s is never written or deleted', (_, live) => {
    const observed = federation([target('a')], { live });
    expect(step(observed).actions).toEqual([]);
    expect(decideFederation(observed).manifests.isBlocked).toBe(true);
    expect(reasonsOf(observed)).toEqual({ a: 'NameConflict' });
    expect(step(federation([], { live })).actions).toEqual([]);
  });

  test('the status of each cluster says what became of it at every pass, also if nothing is written (N3)', () => {
    const observed = federation([target('a'), target('b', { isDiscoverable: false })]);
    const again = { ...observed, ...settled(observed)[0] };
    expect([...decideFederation(again).statuses.values()]).toEqual([
      {
        remote: { namespace: 'shop', name: 'web' },
        local: 'web-federated',
        mirrored: true,
        reason: 'Mirrored',
        message: '',
      },
      expect.objectContaining({ mirrored: false, reason: 'WaitingForCredentials' }),
    ]);
  });
});
