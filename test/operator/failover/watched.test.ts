import { expect, test } from 'vitest';
import { KEPT, type CountedSlice } from '../../../operator/failover/kinds.ts';
import type { Route } from '../../../operator/failover/observed.ts';
import { ROUTES } from '../../../operator/failover/routes.ts';
import { parentsChanged } from '../../../operator/failover/watched.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { Store } from '../../../operator/runtime/store.ts';
import { slice } from '../../support/builders.ts';

const of = ROUTES.HTTPRoute;
const route = (...parents: readonly string[]): Route => ({
  kind: 'HTTPRoute',
  metadata: { name: 'web-80', namespace: 'shop' },
  spec: { parentRefs: parents.map((name) => ({ group: 'core', kind: 'Service', name })) },
});

test.each([
  ['is made for a Service', { op: 'create', of, object: route('web') }, ['shop/web']],
  ['goes', { op: 'delete', of, object: route('web') }, ['shop/web']],
  ['is for another', { op: 'update', of, object: route('web'), live: route('spare') }, ['shop/spare', 'shop/web']],
  ['stays with its own', { op: 'update', of, object: route('web'), live: route('web') }, []],
] as const)('whoever has a route for the same Service hears that one %s (J4)', (_, action, services) => {
  expect(parentsChanged(action)).toEqual(services);
});

test('a slice that loses the name of its Service counts for none any more, as after a list (J3, L130)', () => {
  const store = new Store<CountedSlice>(KEPT.slices);
  const sink = store.sink();
  const of = (labels: Readonly<Record<string, string>>) =>
    ({ ...slice('web'), metadata: { name: 'web-1', namespace: 'shop', labels } }) as KubeObject as CountedSlice;
  sink.init();
  sink.listed(of({ 'kubernetes.io/service-name': 'web' }));
  sink.initDone();
  expect(store.by('service', 'shop/web')).toHaveLength(1);
  sink.applied(of({}));
  expect(store.by('service', 'shop/web')).toEqual([]);
});
