import { describe, expect, test } from 'vitest';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { NamespaceBudget, namespaceStateOf } from '../../../operator/source/write-scope.ts';

const stateOf = (namespace: string, mirrorNamespaces?: readonly string[]) => {
  const config = { namespace: 'links', controlPlaneNamespace: 'linkerd', mirrorNamespaces } as OperatorConfig;
  const namespaces = { stateOf: () => 'missing' } as unknown as Parameters<
    typeof namespaceStateOf
  >[1]['source']['namespaces'];
  return namespaceStateOf(namespace, { config, source: { namespaces } });
};

describe('where mirrors may be written (A3, E8)', () => {
  test.each<[string, string, readonly string[] | undefined, string]>([
    ['in a namespace, which is as the source cluster has it', 'shop', undefined, 'missing'],
    ['in a namespace that the operator is given', 'shop', ['shop'], 'missing'],
    ['not in one that it is not given', 'shop', ['bank'], 'forbidden'],
    ["not in the operator's own", 'links', undefined, 'forbidden'],
    ["not in the operator's own though that is given", 'links', ['links'], 'forbidden'],
    ['not in that of the control plane', 'linkerd', ['linkerd'], 'forbidden'],
    ['not in those of Kubernetes', 'kube-system', ['kube-system'], 'forbidden'],
  ])('is %s', (_, namespace, given, expected) => {
    expect(stateOf(namespace, given)).toBe(expected);
  });
});

describe('namespaces that are created for a Link (E10)', () => {
  const live = new Map<string, string>();
  const budget = (most: number) =>
    new NamespaceBudget(most, 'west', {
      createdFor: (cluster) => [...live.values()].filter((of) => of === cluster).length,
      stateOf: (name) => (live.has(name) ? 'exists' : 'missing'),
    });

  test('are no more than the limit allows, counted before they are there', () => {
    live.clear();
    const limited = budget(2);
    expect(['a', 'b', 'c', 'a'].map((name) => limited.admits(name))).toEqual([true, true, false, true]);
    for (const name of ['a', 'b']) live.set(name, 'west');
    expect(limited.admits('c')).toBe(false);
    live.delete('a');
    expect(limited.admits('c')).toBe(true);
  });

  test('count also when they were created earlier, and only for their own cluster', () => {
    live.clear();
    live.set('a', 'west').set('b', 'north').set('c', '');
    const limited = budget(2);
    expect([limited.admits('d'), limited.admits('e')]).toEqual([true, false]);
  });
});
