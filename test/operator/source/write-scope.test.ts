import { describe, expect, test } from 'vitest';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import {
  NamespaceBudget,
  type NamespaceBudgetOptions,
  namespaceStateOf,
} from '../../../operator/source/write-scope.ts';

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
  let freed = 0;
  const budget = (most: number) => {
    live.clear();
    freed = 0;
    const namespaces: NamespaceBudgetOptions['namespaces'] = {
      createdFor: (cluster) => [...live.values()].filter((of) => of === cluster).length,
      isCreatedFor: (name, cluster) => live.get(name) === cluster,
      stateOf: (name) => (live.has(name) ? 'exists' : 'missing'),
    };
    return new NamespaceBudget({ most, cluster: 'west', namespaces, freed: () => void (freed += 1) });
  };

  test('are no more than the limit allows, counted before they are there', () => {
    const limited = budget(2);
    for (const name of ['a', 'b']) {
      expect(limited.admits(name)).toBe(true);
      limited.decided('mirror', `${name}/web`, true);
    }
    expect(['a', 'c'].map((name) => limited.admits(name))).toEqual([true, false]);
    for (const name of ['a', 'b']) live.set(name, 'west');
    expect(limited.admits('c')).toBe(false);
    for (const name of ['a', 'b']) limited.decided('mirror', `${name}/web`, false);
    expect([limited.admits('c'), freed]).toEqual([false, 0]);
    live.delete('a');
    expect(limited.admits('c')).toBe(true);
  });

  test('count once while they are there and the key that has created them has yet to be decided again', () => {
    const limited = budget(2);
    limited.decided('mirror', 'a/web', true);
    live.set('a', 'west');
    expect(limited.admits('b')).toBe(true);
  });

  test('count as long as anything is about to have them created, and then make room', () => {
    const limited = budget(1);
    expect(['a', 'b'].map((name) => limited.admits(name))).toEqual([true, true]);
    limited.decided('mirror', 'a/web', true);
    limited.decided('federation', 'a/web', true);
    limited.decided('mirror', 'a/web', false);
    expect([limited.admits('b'), freed]).toEqual([false, 0]);
    limited.decided('federation', 'a/web', false);
    limited.decided('federation', 'a/web', false);
    expect([limited.admits('b'), freed]).toEqual([true, 1]);
  });

  test('make room where somebody else has created them first (L293)', () => {
    const limited = budget(1);
    limited.decided('mirror', 'a/web', true);
    expect(limited.admits('b')).toBe(false);
    live.set('a', '');
    limited.decided('mirror', 'a/web', false);
    expect([limited.admits('b'), freed]).toEqual([true, 1]);
    limited.decided('mirror', 'b/web', true);
    live.set('b', 'west');
    limited.decided('mirror', 'b/web', false);
    expect(freed).toBe(1);
  });

  test('make room for nobody where none was refused', () => {
    const limited = budget(1_000);
    limited.decided('mirror', 'a/web', true);
    live.set('a', 'north');
    limited.decided('mirror', 'a/web', false);
    expect(freed).toBe(0);
  });

  test('count also when they were created earlier, and only for their own cluster', () => {
    const limited = budget(2);
    live.set('a', 'west').set('b', 'north').set('c', '');
    expect(limited.admits('d')).toBe(true);
    limited.decided('mirror', 'd/web', true);
    expect(limited.admits('e')).toBe(false);
  });
});
