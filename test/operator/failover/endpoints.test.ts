import { expect, test } from 'vitest';
import { ServiceEndpoints, type EndpointsOptions } from '../../../operator/failover/endpoints.ts';
import { NOTHING_KNOWN, type TargetKnowledge } from '../../../operator/failover/readiness.ts';
import { type CountedSlice, KEPT } from '../../../operator/failover/kinds.ts';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { Store } from '../../../operator/runtime/store.ts';

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

test('of a Service that is derived from a ServiceImport, its slices count, also on a flat network (J3, K4)', () => {
  const SLICE = { 'linkspan.dev/service-import': 'web', 'multicluster.kubernetes.io/service-name': 'web' };
  const slices = new Store<CountedSlice>(KEPT.slices);
  slices.sink().init();
  const show = (name: string, labels: Readonly<Record<string, string>>, ...ready: readonly boolean[]): void => {
    const endpoints = ready.map((each) => ({ addresses: ['10.1.2.3'], conditions: { ready: each } }));
    const metadata = { name, namespace: 'shop', labels, uid: name, resourceVersion: '1' };
    const slice: EndpointSlice = { metadata, addressType: 'IPv4', endpoints };
    slices.sink().applied(slice as unknown as CountedSlice);
  };
  show('web-clusterset.west-ipv4', SLICE, true, false);
  show('web-clusterset.north-ipv4', { ...SLICE, 'kubernetes.io/service-name': 'web-clusterset' }, true);
  show('of-a-pod', { 'linkspan.dev/service-import': 'web', 'kubernetes.io/service-name': 'web-0' }, true);
  show('of-another', { ...SLICE, 'linkspan.dev/service-import': 'other' }, true);
  show('of-nobody', {}, true);
  const live: Service = {
    metadata: { name: 'web-clusterset', namespace: 'shop', labels: { 'linkspan.dev/service-import': 'web' } },
  };
  const endpoints = new ServiceEndpoints({
    namespace: 'linkerd-multicluster',
    services: { get: () => live },
    slices: { stateIn: () => 'readable', store: slices } as unknown as EndpointsOptions['slices'],
    knowledge: () => undefined,
    isMemberReady: () => undefined,
  });
  expect(endpoints.of(live)).toEqual({ ready: 2, total: 3 });
  expect(slices.size).toBe(4);
});

test('of a mirror in flat mode whose Link is not served, nothing is known: it has no slices here (J3)', () => {
  expect(known(mirror(FLAT), undefined)).toBeUndefined();
});

test('of an endpoint mirror, the one pod that it stands for counts, and not all of its headless Service (J3, L232)', () => {
  const pod = (hostname: string, metadata: Partial<Service['metadata']> = {}): Service => ({
    metadata: {
      ...{ name: `${hostname}-west`, namespace: 'shop' },
      labels: { ...LABELS, 'mirror.linkerd.io/headless-mirror-svc-name': 'db-west' },
      annotations: { 'mirror.linkerd.io/remote-svc-fq-name': `${hostname}.db.shop.svc.cluster.local` },
      ...metadata,
    },
  });
  const endpoints = [
    { addresses: ['10.1.2.3'], hostname: 'db-0', conditions: { ready: false } },
    { addresses: ['10.1.2.4'], hostname: 'db-1', conditions: { ready: true } },
  ];
  const slices = [{ metadata: { name: 'db-abc' }, addressType: 'IPv4', endpoints } as unknown as EndpointSlice];
  const knowledge: TargetKnowledge = { exported: 'gateway', slices, isGatewayAlive: true };
  expect(known(pod('db-0'), knowledge)).toEqual({ ready: 0, total: 1 });
  // Its name may be another than its hostname: A7.
  expect(known(pod('db-1', { name: 'db-1-db-west' }), knowledge)).toEqual({ ready: 1, total: 1 });
  expect(known(pod('db-2'), knowledge)).toEqual({ ready: 0, total: 0 });
  expect(known(pod('db-0'), { ...knowledge, slices: undefined })).toBeUndefined();
  const headless = { ...mirror(LABELS).metadata, name: 'db-west' };
  expect(known({ metadata: headless }, knowledge)).toEqual({ ready: 1, total: 2 });
});
