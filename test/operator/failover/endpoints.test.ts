import { expect, test } from 'vitest';
import { ServiceEndpoints, type EndpointsOptions } from '../../../operator/failover/endpoints.ts';
import { NOTHING_KNOWN, type TargetKnowledge } from '../../../operator/failover/readiness.ts';
import type { Service } from '../../../operator/kube/objects.ts';

const LABELS = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const FLAT = { ...LABELS, 'multicluster.linkerd.io/remote-discovery': 'west' };
const ANNOTATIONS = { 'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local' };

const mirror = (labels: Readonly<Record<string, string>>): Service => ({
  metadata: { name: 'web-west', namespace: 'shop', labels, annotations: ANNOTATIONS },
});

/** What is known of a mirror that has one ready endpoint of two in its slices here. */
const known = (live: Service, knowledge: TargetKnowledge | undefined) =>
  new ServiceEndpoints({
    namespace: 'linkerd-multicluster',
    services: { get: () => live },
    slices: {
      stateIn: () => 'readable',
      store: { by: () => [{ counts: { family: 'IPv4', ready: 1, total: 2 } }] },
    } as unknown as EndpointsOptions['slices'],
    knowledge: () => knowledge,
    isMemberReady: () => undefined,
  }).of(live);

test('of a mirror whose Link is not served, its slices count (H9, J3)', () => {
  expect(known(mirror(LABELS), undefined)).toEqual({ ready: 1, total: 2 });
  expect(known(mirror(LABELS), NOTHING_KNOWN)).toBeUndefined();
});

test('of a mirror in flat mode whose Link is not served, nothing is known: it has no slices here (J3)', () => {
  expect(known(mirror(FLAT), undefined)).toBeUndefined();
});
