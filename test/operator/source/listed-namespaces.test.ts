import { describe, expect, it } from 'vitest';
import { ApiError, ConnectionError } from '../../../operator/kube/errors.ts';
import { ListedNamespaces } from '../../../operator/source/listed-namespaces.ts';

const OWN = 'linkerd-multicluster';
const forbidden = { connected: false, error: new ApiError(403, {}, 'list services') } as const;
const unanswered = { connected: false, error: new ConnectionError('refused') } as const;
const connected = { connected: true } as const;

/** The operator's own namespace and two more, none of which has been listed. */
function listing() {
  const listed = new Set<string>();
  const changed: string[] = [];
  const refused: string[] = [];
  const namespaces = new ListedNamespaces({
    names: [OWN, 'shop', 'bank'],
    required: OWN,
    isListed: (name) => listed.has(name),
    onChange: (name) => changed.push(name),
    onRefused: (name, error) => refused.push(`${name} ${error === undefined ? 'no more' : 'refused'}`),
  });
  return { namespaces, listed, changed, refused };
}

describe('a namespace that is known by name', () => {
  it('is there once all of it has been listed', () => {
    const { namespaces, listed } = listing();
    expect(namespaces.stateOf('shop')).toBe('unreadable');
    listed.add('shop');
    expect(namespaces.stateOf('shop')).toBe('exists');
    expect(namespaces.stateOf('elsewhere')).toBe('missing');
  });

  it('cannot be read while any of it is refused, and is told of once', () => {
    const { namespaces, listed, changed, refused } = listing();
    listed.add('shop');
    namespaces.told('shop', 'services', connected);
    expect(changed).toEqual([]);
    namespaces.told('shop', 'services', forbidden);
    namespaces.told('shop', 'endpoints', forbidden);
    expect([namespaces.stateOf('shop'), changed, refused]).toEqual(['unreadable', ['shop'], ['shop refused']]);
    namespaces.told('shop', 'services', connected);
    expect(namespaces.stateOf('shop')).toBe('unreadable');
    namespaces.told('shop', 'endpoints', connected);
    expect([namespaces.stateOf('shop'), changed, refused]).toEqual([
      'exists',
      ['shop', 'shop'],
      ['shop refused', 'shop no more'],
    ]);
  });

  it('stays what it was while the API server does not answer', () => {
    const { namespaces, listed, changed } = listing();
    listed.add('shop');
    namespaces.told('shop', 'services', unanswered);
    expect([namespaces.stateOf('shop'), changed]).toEqual(['exists', []]);
    namespaces.told('bank', 'services', forbidden);
    namespaces.told('bank', 'services', unanswered);
    expect(namespaces.stateOf('bank')).toBe('unreadable');
  });
});

describe('all of them', () => {
  it('are known when each is listed or refused, but for the one without which nothing works', () => {
    const { namespaces, listed } = listing();
    listed.add('shop');
    namespaces.told(OWN, 'services', forbidden);
    namespaces.told('bank', 'services', unanswered);
    expect(namespaces.synced).toBe(false);
    namespaces.told('bank', 'services', forbidden);
    expect(namespaces.synced).toBe(false);
    listed.add(OWN);
    expect([namespaces.synced, namespaces.unreadable]).toEqual([true, [OWN, 'bank']]);
  });
});
