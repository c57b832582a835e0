/** When the judge complains of a membership that is taken away although its Service is exported (rules E5, I6). */
import { expect, it } from 'vitest';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster } from './cluster.ts';
import { type Federation, PORTS } from './command.ts';
import { NO_GATEWAY } from './link-state.ts';
import { LostMembers } from './lost-members.ts';
import { MEMBER_LABEL } from './members.ts';

const MADE_AT = 100;
const MEMBERSHIP_LOST: unknown = expect.stringMatching(/^the membership of bar-west in shop\/alt-federated is deleted/);
const SERVICE_LOST: unknown = expect.stringMatching(/^Service shop\/alt-federated is deleted/);
const GATEWAY = { 'linkspan.dev/federation': 'gateway' };
const MIRRORED = { 'mirror.linkerd.io/mirrored-service': 'true' };

/** How a Link wants members to be reached. */
interface Reached {
  readonly federation: Federation;
  readonly gatewayAddress: string;
}
const THROUGH_GATEWAY: Reached = { federation: 'gateway', gatewayAddress: '203.0.113.10' };
const linkOf = (reached: Reached): KubeObject => ({
  ...{ apiVersion: 'multicluster.linkerd.io/v1alpha3', kind: 'Link', metadata: { name: 'bar' } },
  spec: { targetClusterName: 'bar-west', federatedServiceSelector: { matchLabels: {} }, ...reached },
});
const exported: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { namespace: 'shop', name: 'alt', uid: 'alt', labels: { [MEMBER_LABEL]: 'member' } },
  spec: { type: 'ClusterIP', ports: PORTS[0] },
};
const throughGateways: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { namespace: 'shop', name: 'alt-federated', uid: 'federated', labels: { ...MIRRORED, ...GATEWAY } },
};
const withoutMembers: KubeObject = {
  ...throughGateways,
  metadata: {
    ...throughGateways.metadata,
    labels: MIRRORED,
    annotations: { 'multicluster.linkerd.io/remote-discovery': '' },
  },
};
const slice: KubeObject = {
  ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  metadata: {
    ...{ namespace: 'shop', name: 'alt-federated.bar-west-ipv4' },
    labels: { ...GATEWAY, 'kubernetes.io/service-name': 'alt-federated', 'linkspan.dev/federation-member': 'bar-west' },
  },
};

/** What the operator does to a federated Service. */
interface Change {
  /** What the Service becomes; undefined: it is deleted. */
  readonly into: KubeObject | undefined;
  readonly sentMs: number;
}

/** The complaints where a slice is made at 100, and the operator then changes the federated Service. */
function complaints({ into, sentMs }: Change, reached = THROUGH_GATEWAY): readonly string[] {
  const complained: string[] = [];
  const objects: KubeObject[] = [throughGateways];
  const east = {
    get: (_: string, kind: string) => (kind === 'Secret' ? {} : objects.find((each) => each.kind === kind)),
    list: () => objects.filter(({ kind }) => kind === 'EndpointSlice'),
  } as unknown as HistoryCluster;
  let nowMs = 0;
  const members = new LostMembers(
    east,
    {
      ...{ nowMs: () => nowMs, complain: (what) => complained.push(what) },
      linkOf: (name) => (name === 'bar' ? linkOf(reached) : undefined),
      isServed: () => true,
      isAstray: () => false,
    },
    () => false,
  );
  members.linksChanged();
  const event = (of: Partial<StorageEvent>): StorageEvent => ({ type: 'MODIFIED', ...of }) as StorageEvent;
  members.targetChanged('bar', event({ type: 'ADDED', object: exported }));
  nowMs = MADE_AT;
  objects.push(slice);
  members.changed(event({ type: 'ADDED', object: slice }), { isByUs: true, sentMs: MADE_AT - 50 });
  nowMs = MADE_AT + 50;
  objects.splice(0, 1, ...(into === undefined ? [] : [into]));
  const changed =
    into === undefined
      ? event({ type: 'DELETED', object: throughGateways })
      : event({ object: into, previous: throughGateways });
  members.changed(changed, { isByUs: true, sentMs });
  return complained;
}

it('must not be hidden by whoever may have seen it', () => {
  expect(complaints({ into: withoutMembers, sentMs: MADE_AT + 1 })).toEqual([MEMBERSHIP_LOST]);
});

it('may be hidden by what was asked for before it was made', () => {
  expect(complaints({ into: withoutMembers, sentMs: MADE_AT - 1 })).toEqual([]);
});

it.each([
  ['gateway', 'a gateway', '203.0.113.10', [MEMBERSHIP_LOST, SERVICE_LOST]],
  ['gateway', 'no gateway', NO_GATEWAY, []],
  ['flat', 'a gateway', '203.0.113.10', [MEMBERSHIP_LOST, SERVICE_LOST]],
  // The membership goes with the flat shape, and the Service stays for the sake of the others.
  ['flat', 'no gateway', NO_GATEWAY, [SERVICE_LOST]],
] as const)('of a Link that says %s and has %s may go, or not, by rule I5', (federation, _, gatewayAddress, lost) => {
  expect(complaints({ into: undefined, sentMs: MADE_AT + 1 }, { federation, gatewayAddress })).toEqual(lost);
});
