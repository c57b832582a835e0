import { describe, expect, it } from 'vitest';
import { ApiError, ConnectionError } from '../../../operator/kube/errors.ts';
import type { Namespace } from '../../../operator/kube/objects.ts';
import { ListedNamespaces, WatchedNamespaces } from '../../../operator/source/namespaces.ts';

const OWN = 'linkerd-multicluster';
const forbidden = { connected: false, error: new ApiError(403, {}, 'list services') } as const;
const unanswered = { connected: false, error: new ConnectionError('refused') } as const;
const connected = { connected: true } as const;

/** The operator's own namespace and two more; nothing in them has been listed. */
function listing() {
  const changed: string[] = [];
  const namespaces = new ListedNamespaces({
    names: [OWN, 'shop', 'bank'],
    required: OWN,
    resources: ['services', 'endpoints'],
  });
  namespaces.subscribe((name, state) => changed.push(`${name} ${state}`));
  const listAll = (name: string): void => {
    for (const resource of ['services', 'endpoints']) namespaces.listed(name, resource);
  };
  return { namespaces, changed, listAll };
}

describe('a namespace that is known by name', () => {
  it('exists once every resource in it has been listed', () => {
    const { namespaces, changed } = listing();
    namespaces.listed('shop', 'services');
    expect(namespaces.stateOf('shop')).toBe('unreadable');
    namespaces.listed('shop', 'endpoints');
    expect(namespaces.stateOf('shop')).toBe('exists');
    namespaces.listed('shop', 'endpoints');
    expect(changed).toEqual(['shop exists']);
    expect(namespaces.stateOf('elsewhere')).toBe('missing');
  });

  it('cannot be read while any resource in it is refused, which is reported once', () => {
    const { namespaces, changed, listAll } = listing();
    listAll('shop');
    expect(namespaces.reflected('shop', 'services', connected)).toBeUndefined();
    expect(namespaces.reflected('shop', 'services', forbidden)).toBe('refused');
    expect(namespaces.reflected('shop', 'endpoints', forbidden)).toBeUndefined();
    expect(namespaces.stateOf('shop')).toBe('unreadable');
    expect(namespaces.reflected('shop', 'services', connected)).toBeUndefined();
    expect(namespaces.stateOf('shop')).toBe('unreadable');
    expect(namespaces.reflected('shop', 'endpoints', connected)).toBe('readable');
    expect(changed).toEqual(['shop exists', 'shop unreadable', 'shop exists']);
  });

  it('keeps its state while the API server does not answer', () => {
    const { namespaces, changed, listAll } = listing();
    listAll('shop');
    expect(namespaces.reflected('shop', 'services', unanswered)).toBeUndefined();
    expect([namespaces.stateOf('shop'), changed]).toEqual(['exists', ['shop exists']]);
    namespaces.reflected('bank', 'services', forbidden);
    expect(namespaces.reflected('bank', 'services', unanswered)).toBeUndefined();
    expect(namespaces.stateOf('bank')).toBe('unreadable');
  });
});

describe('all of them', () => {
  it('are synced when each is listed or refused; the one without which nothing works must be listed', () => {
    const { namespaces, listAll } = listing();
    listAll('shop');
    namespaces.reflected(OWN, 'services', forbidden);
    namespaces.reflected('bank', 'services', unanswered);
    expect(namespaces.synced).toBe(false);
    namespaces.reflected('bank', 'services', forbidden);
    expect(namespaces.synced).toBe(false);
    listAll(OWN);
    expect([namespaces.synced, namespaces.unreadable]).toEqual([true, [OWN, 'bank']]);
  });
});

describe('namespaces that are watched', () => {
  const namespace = (name: string, resourceVersion: string, deletionTimestamp?: string): Namespace => ({
    metadata: { name, resourceVersion, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
  });

  it('exist until they are deleted, or their deletion has begun', () => {
    let lists = 0;
    const namespaces = new WatchedNamespaces({ relisted: () => void (lists += 1) });
    const changed: string[] = [];
    const end = namespaces.subscribe((name, state) => changed.push(`${name} ${state}`));
    const sink = namespaces.store.sink();
    sink.init();
    sink.listed(namespace('shop', '1'));
    expect(namespaces.synced).toBe(false);
    sink.initDone();
    expect([namespaces.synced, lists]).toEqual([true, 1]);
    sink.applied(namespace('shop', '2'));
    sink.applied(namespace('shop', '3', '2026-01-01T00:00:00Z'));
    expect(namespaces.stateOf('shop')).toBe('missing');
    sink.removed(namespace('shop', '4', '2026-01-01T00:00:00Z'));
    expect(changed).toEqual(['shop exists', 'shop missing']);
    end();
    sink.applied(namespace('shop', '5'));
    expect(namespaces.stateOf('shop')).toBe('exists');
    expect(changed).toHaveLength(2);
  });

  it('leave room for another from when they are reported to be missing (E10)', () => {
    const namespaces = new WatchedNamespaces({ relisted: () => undefined });
    const counts: unknown[] = [];
    const counted = () => [namespaces.createdFor('west'), namespaces.isCreatedFor('shop', 'west')];
    namespaces.subscribe(() => counts.push(counted()));
    const sink = namespaces.store.sink();
    const created = (resourceVersion: string, deletionTimestamp?: string): Namespace => {
      const { metadata } = namespace('shop', resourceVersion, deletionTimestamp);
      const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
      return { metadata: { ...metadata, labels } };
    };
    sink.applied(created('1'));
    sink.applied(created('2', '2026-01-01T00:00:00Z'));
    expect(counts).toEqual([
      [1, true],
      [0, false],
    ]);
    expect(namespaces.isCreatedFor('shop', 'north')).toBe(false);
  });
});
