/** What a soak takes for the operator's own among the objects of shared Services, and what must stay of them. */
import { expect, test } from 'vitest';
import {
  failover,
  HERE,
  isDerived,
  isLasting,
  isRoute,
  mayBeImported,
  SHARED,
  steadyIn,
} from '../../tools/soak/shared.ts';

test('a third of the Services stays in a target, a third in the source, and a third nowhere', () => {
  expect(SHARED.slice(0, 4).map(steadyIn)).toEqual(['west', HERE, undefined, 'west']);
});

test.each<[string, boolean]>([
  ['app-0-federated', true],
  ['app-0-federated.west-ipv4', true],
  ['app-0-clusterset', true],
  ['held-federated', true],
  // Somebody else's, or of somebody else's name.
  ['app-0', false],
  ['held-clusterset', false],
  ['taken-federated', false],
  ['taken-clusterset', false],
])('whether %s is ours to write: %s', (name, is) => {
  expect(isDerived(name)).toBe(is);
});

test.each<[string, boolean]>([
  ['app-0', true],
  ['app-0-federated', true],
  ['app-0-clusterset', true],
  ['app-0-federated.west-ipv4', true],
  // Of a cluster that may leave, and of a Service that may leave everywhere.
  ['app-0-federated.bar-ipv4', false],
  ['app-1-federated.west-ipv4', false],
  ['app-1-federated', true],
  ['app-2-federated', false],
  ['web-0-of-1-soak-1', false],
])('whether %s must stay: %s', (name, is) => {
  expect(isLasting(name)).toBe(is);
});

test('what is somebody else’s is neither imported nor a route of ours', () => {
  expect(['app-3', 'held', 'taken'].filter(mayBeImported)).toEqual(['app-3', 'held']);
  expect(['app-3-80', 'own-taken', 'taken-80'].filter(isRoute)).toEqual(['app-3-80']);
});

test('a ServiceFailover names both mirrors and the Service here, in the order that is asked for', () => {
  const backends = (turn: number) =>
    (failover('app-0', turn) as unknown as { spec: { backends: { service: string }[] } }).spec.backends;
  expect(backends(0).map(({ service }) => service)).toEqual(['app-0-west', 'app-0-bar', 'app-0']);
  expect(backends(2).map(({ service }) => service)).toEqual(['app-0', 'app-0-west', 'app-0-bar']);
});
