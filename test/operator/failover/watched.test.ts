import { expect, test } from 'vitest';
import type { Route } from '../../../operator/failover/observed.ts';
import { ROUTES } from '../../../operator/failover/routes.ts';
import { parentsChanged } from '../../../operator/failover/watched.ts';

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
