import { expect, it } from 'vitest';
import type { Service } from '../../../operator/kube/objects.ts';
import { SourceStores } from '../../../operator/source/stores.ts';

const LABELS = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };

const mirror = (resourceVersion: string, more: Partial<Service['metadata']> = {}): Service => ({
  metadata: { name: 'web-west', namespace: 'shop', uid: 'u', labels: LABELS, resourceVersion, ...more },
  spec: { ports: [{ port: 80, protocol: 'TCP' }] },
});

it('a mirror that a finalizer holds after our deletion is heard of when it is gone, though no store keeps when it was to go (L131, L222)', () => {
  const stores = new SourceStores({ namespace: 'linkerd-multicluster' });
  const heard: string[] = [];
  stores.subscribe('west', (key) => heard.push(key));
  const sink = stores.services.sink();
  sink.init();
  sink.listed(mirror('1'));
  sink.initDone();
  stores.services.deleted(stores.services.get('shop/web-west')!);
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  sink.applied(mirror('2', { deletionTimestamp, finalizers: ['example.com/late'] }));
  heard.length = 0;
  sink.removed(mirror('3', { deletionTimestamp }));
  expect(heard).toEqual(['shop/web']);
});
