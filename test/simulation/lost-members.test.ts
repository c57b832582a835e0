/** When the judge complains of a membership that is taken away although its Service is exported (rules E5, I6). */
import { expect, it } from 'vitest';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster } from './cluster.ts';
import { PORTS } from './command.ts';
import { LostMembers } from './lost-members.ts';
import { MEMBER_LABEL } from './members.ts';

const MADE_AT = 100;
const GATEWAY = { 'linkspan.dev/federation': 'gateway' };
const MIRRORED = { 'mirror.linkerd.io/mirrored-service': 'true' };

const link: KubeObject = {
  ...{ apiVersion: 'multicluster.linkerd.io/v1alpha3', kind: 'Link', metadata: { name: 'bar' } },
  spec: { targetClusterName: 'bar-west', federation: 'gateway', federatedServiceSelector: { matchLabels: {} } },
};
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

/** The complaints where a slice is made at 100, and a list of no members, which was asked for then, hides it. */
function complaints(sentMs: number): readonly string[] {
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
      linkOf: (name) => (name === 'bar' ? link : undefined),
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
  objects[0] = withoutMembers;
  const hidden = event({ object: withoutMembers, previous: throughGateways });
  members.changed(hidden, { isByUs: true, sentMs });
  return complained;
}

it('must not be hidden by whoever may have seen it', () => {
  expect(complaints(MADE_AT + 1)).toEqual([expect.stringMatching(/membership of bar-west .* is deleted/)]);
});

it('may be hidden by what was asked for before it was made', () => {
  expect(complaints(MADE_AT - 1)).toEqual([]);
});
