import { describe, expect, it, test } from 'vitest';
import { enterClaims, type Named } from '../../../operator/mirror/claims.ts';
import type { Claim, NameClaims } from '../../../operator/mirror/names.ts';
import { claimsOfLinks } from './decided.ts';
import {
  endpointMirror,
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedService,
  targetService,
  targetSlice,
} from './observed.ts';

const enter = (all: NameClaims, options: ObservedOptions): Named => enterClaims(observed(options), all);

/** Who has a name of those that another Service of the Link would have, which is younger or older than all others. */
function holders(all: NameClaims, names: readonly string[], since = '2030-01-01T00:00:00Z'): readonly string[] {
  return names.map((name) => {
    const other: Claim = { owner: { cluster: 'west', key: 'shop/other' }, names: [name], since };
    const resolved = all.resolve('shop', other) ?? { name: 'no name' };
    if ('name' in resolved) return 'nobody';
    const { owner, hostname } = resolved.lostTo;
    return hostname === undefined ? owner.key : `${owner.key}#${hostname}`;
  });
}

const OLDEST = '2000-01-01T00:00:00Z';
const NAMES = ['web-west', 'web-0-west'];
const HELD = ['shop/web', 'shop/web#web-0'];
const FREE = ['nobody', 'nobody'];

const pods: ObservedOptions = { service: headlessService(), slices: [targetSlice([{ hostname: 'web-0' }])] };
const services = [ownedService('web-west', 'None'), endpointMirror('web-0')];
const owned = { ...NOTHING_OWNED, services };
/** What the API does not allow, as a hostile target may send it. */
const nonsense = { service: targetService({ ports: 'http' as unknown as [] }) };

describe('a Service that is mirrored', () => {
  it('claims its name and those of its pods, before younger ones of its Link (A7)', () => {
    const all = claimsOfLinks();
    enter(all, pods);
    expect(holders(all, NAMES)).toEqual(HELD);
    expect(holders(all, NAMES, OLDEST)).toEqual(FREE);
  });

  it('is told the names that it gets', () => {
    const { nameOf, shape } = enter(claimsOfLinks(), pods);
    expect(shape).toMatchObject({ kind: 'headless' });
    expect([nameOf(), nameOf('web-0'), nameOf('web-1')]).toEqual([
      { name: 'web-west' },
      { name: 'web-0-west' },
      undefined,
    ]);
  });

  test.each<[string, ObservedOptions]>([
    ['is no longer exported', { service: null }],
    ['cannot be mirrored any more', { service: targetService({ type: 'ExternalName' }) }],
  ])('claims nothing once it %s, whatever there still is of it (A7)', (_, options) => {
    const all = claimsOfLinks();
    enter(all, pods);
    enter(all, { ...options, owned });
    expect(holders(all, NAMES)).toEqual(FREE);
  });
});

describe('what is kept', () => {
  test.each<[string, ObservedOptions]>([
    ['nothing can be decided about it (E4)', { decidable: false }],
    ['the target has not confirmed that it is gone (A2)', { service: null, isConfirmed: false }],
    ['it is beyond the limit (E10)', { ...pods, isAdmitted: false }],
    ['its namespace cannot be read (A3)', { ...pods, namespaceState: 'unreadable' }],
    ['nobody can read what the target says of it (E8)', nonsense],
  ])('keeps its names when the operator starts while %s, however old others are (A7, L121)', (_, options) => {
    const all = claimsOfLinks();
    enter(all, { ...options, owned });
    expect(holders(all, NAMES, OLDEST)).toEqual(HELD);
  });

  it('keeps the names that it has, and no others (A7)', () => {
    const all = claimsOfLinks();
    const long = endpointMirror('web-0', '10.96.0.10', 'web-0-web-west');
    enter(all, { decidable: false, owned: { ...NOTHING_OWNED, services: [long] } });
    expect(holders(all, [...NAMES, 'web-0-web-west'], OLDEST)).toEqual([...FREE, 'shop/web#web-0']);
  });

  it('keeps both names of a pod that is changing its name, however old others are (A7, L121, L277)', () => {
    const all = claimsOfLinks();
    const both = [endpointMirror('web-0'), endpointMirror('web-0', '10.96.0.10', 'web-0-web-west')];
    enter(all, { decidable: false, owned: { ...NOTHING_OWNED, services: both } });
    expect(holders(all, ['web-0-west', 'web-0-web-west'], OLDEST)).toEqual(['shop/web#web-0', 'shop/web#web-0']);
  });

  test.each<[string, ObservedOptions]>([
    ['nothing can be decided about it', { decidable: false }],
    ['nobody can read what the target says of it', nonsense],
  ])('keeps what it has claimed, be it written or not, while %s (A7)', (_, options) => {
    const all = claimsOfLinks();
    enter(all, pods);
    enter(all, options);
    expect(holders(all, NAMES)).toEqual(HELD);
  });

  it('is told no names while nobody can read what the target says of it: nothing new is written (E8)', () => {
    const { shape, nameOf } = enter(claimsOfLinks(), { ...nonsense, owned });
    expect(shape).toBeInstanceOf(Error);
    expect([nameOf(), nameOf('web-0')]).toEqual([undefined, undefined]);
  });
});

describe('endpoint mirrors', () => {
  const gone = { ...pods, slices: undefined, owned };

  it('keep their names while the pods of the Service are not known, and the Service has its own (A7)', () => {
    const all = claimsOfLinks();
    const { nameOf } = enter(all, gone);
    expect(holders(all, NAMES)).toEqual(HELD);
    expect(nameOf()).toEqual({ name: 'web-west' });
    expect(holders(all, ['web-0-west'], OLDEST)).toEqual(['shop/web#web-0']);
  });

  test.each<[string, ObservedOptions]>([
    ['flat', { service: headlessService(), mode: 'remote-discovery' }],
    ['one with a ClusterIP', { service: targetService(), slices: undefined }],
  ])('give up their names when the Service has become %s (A7)', (_, options) => {
    const all = claimsOfLinks();
    enter(all, { ...options, owned });
    expect(holders(all, NAMES)).toEqual(['shop/web', 'nobody']);
  });
});
