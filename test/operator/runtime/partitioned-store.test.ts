import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { PartitionedStore, sinksOf } from '../../../operator/runtime/partitioned-store.ts';
import { Store } from '../../../operator/runtime/store.ts';

const object = (namespace: string, name: string, resourceVersion = '1', labels = {}): KubeObject => ({
  metadata: { name, namespace, uid: `${namespace}-${name}`, resourceVersion, labels },
});

/** A store of two namespaces, of which each has been told what it has. */
function stocked() {
  const changes: string[] = [];
  const store = new PartitionedStore<KubeObject>('namespace', ['shop', 'bank'], {
    indexes: { app: ({ metadata }) => Object.values(metadata.labels ?? {}) },
    onChange: ({ key }) => changes.push(key),
  });
  const list = (namespace: string, ...objects: readonly KubeObject[]) => {
    const sink = store.parts.get(namespace)!;
    sink.init();
    for (const each of objects) sink.listed(each);
    sink.initDone();
  };
  return { store, list, changes };
}

describe('a store of parts', () => {
  it('reads like one store of all of them', () => {
    const { store, list, changes } = stocked();
    list('shop', object('shop', 'web', '1', { app: 'a' }), object('shop', 'db'));
    list('bank', object('bank', 'web', '1', { app: 'a' }));

    expect(store.size).toBe(3);
    expect(store.get('bank/web')?.metadata.namespace).toBe('bank');
    expect([store.get('bank/db'), store.get('other/web')]).toEqual([undefined, undefined]);
    expect([...store.values()].map(({ metadata }) => metadata.name)).toEqual(['web', 'db', 'web']);
    expect(store.by('app', 'a').map(({ metadata }) => metadata.namespace)).toEqual(['shop', 'bank']);
    expect(changes).toEqual(['shop/web', 'shop/db', 'bank/web']);
  });

  it('is synced when each of them is, and each is known by itself before', () => {
    const { store, list } = stocked();
    list('shop', object('shop', 'web'));
    expect([store.synced, store.get('shop/web') !== undefined]).toEqual([false, true]);
    list('bank');
    expect(store.synced).toBe(true);
  });

  it('keeps what one part knows when another is listed anew', () => {
    const { store, list } = stocked();
    list('shop', object('shop', 'web'));
    list('bank', object('bank', 'web'));
    list('bank');
    expect([...store.values()].map(({ metadata }) => metadata.namespace)).toEqual(['shop']);
  });

  it('shows our own writes in the part that they belong to, and none elsewhere', () => {
    const { store, list } = stocked();
    list('shop');
    store.wrote(object('shop', 'web'), undefined);
    store.wrote(object('other', 'web'), undefined);
    expect(store.size).toBe(1);
    store.deleted(store.get('shop/web')!);
    expect(store.size).toBe(0);
  });

  it('has parts by name as well', () => {
    const store = new PartitionedStore<KubeObject>('name', ['west', 'north']);
    store.parts.get('west')?.applied(object('mesh', 'west'));
    expect(store.get('mesh/west')?.metadata.name).toBe('west');
    expect(store.get('mesh/north')).toBeUndefined();
  });
});

it('a store is filled by one reflector, or by one for each part', () => {
  expect(sinksOf(new Store<KubeObject>()).map(([part]) => part)).toEqual([undefined]);
  expect(sinksOf(stocked().store).map(([part]) => part)).toEqual(['shop', 'bank']);
});
