import { beforeEach, describe, expect, it } from 'vitest';
import { HeldDeletions } from '../../../operator/link/held.ts';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import { PROBE_KEY } from '../../../operator/source/owner.ts';
import type { Target } from '../../../operator/target/target.ts';
import { service } from '../../support/builders.ts';
import { RecordedReport, recordingLog } from './recorded.ts';

const keysOf = (count: number, namespace = 'shop') =>
  Array.from({ length: count }, (_, index) => `${namespace}/web-${index}`);
const NOTHING: OwnedObjects = { services: [], endpoints: [], slices: [] };

/** Keys that the target exports, and those that it does not decide about. */
let exported: Set<string>;
let unknown: Set<string>;
/** Keys that have mirrors. */
let mirrored: Set<string>;
/** Keys of members of federated Services in the target, and of memberships here. */
let members: Set<string>;
let federated: Set<string>;
/** Keys of what the target exports by the MCS API, and of ServiceImports here that it has a part in. */
let serviceExports: Set<string>;
let parts: Set<string>;
let report: RecordedReport;
let held: HeldDeletions;

const target = {
  get: (key: string) => (exported.has(key) ? { service: service('web'), mode: 'gateway' } : undefined),
  decides: (key: string) => !unknown.has(key),
  keys: () => exported,
  member: (key: string) => (members.has(key) ? service('web') : undefined),
  decidesMember: (key: string) => !unknown.has(key),
} as unknown as Target;

beforeEach(() => {
  [exported, unknown, mirrored] = [new Set(), new Set(), new Set()];
  [members, federated] = [new Set(), new Set()];
  [serviceExports, parts] = [new Set(), new Set()];
  report = new RecordedReport();
  held = new HeldDeletions({
    link: 'west',
    cluster: 'west',
    env: {
      config: { endpointMirrorGraceMs: 60_000 },
      source: { keysOf: () => mirrored, membershipsOf: () => federated, ownedBy: () => NOTHING },
      log: recordingLog([]),
    } as unknown as ConstructorParameters<typeof HeldDeletions>[0]['env'],
    report,
    isHeadless: () => true,
    imports: {
      parts: () => parts,
      stateOf: (key) => (serviceExports.has(key) ? 'exported' : unknown.has(key) ? undefined : 'gone'),
    },
  });
});

describe('deletions that a list asks for (E6)', () => {
  it('are held if they are too many, and nothing is decided about them', () => {
    mirrored = new Set(keysOf(12));
    expect(held.relisted(target, undefined)).toEqual(new Set());
    expect([held.count, held.some.length]).toEqual([12, 5]);
    expect([held.decides(target, 'shop/web-3'), held.isGone(target, 'shop/web-3')]).toEqual([false, false]);
    expect(report.events).toEqual([
      'Warning PruneHeld the target no longer lists 12 of 12 mirrored Services, pods, members of federated Services and exports; what they have here stays',
    ]);
  });

  it('are counted of parts in ServiceImports as of mirrors, and apart from them', () => {
    mirrored = new Set(keysOf(30));
    exported = new Set(mirrored);
    parts = new Set(keysOf(12));
    serviceExports = new Set(parts);
    held.relisted(target, undefined);
    serviceExports.clear();
    unknown = new Set(parts);
    held.relisted(target, undefined);
    expect(held.count).toBe(0);
    unknown.clear();
    held.relisted(target, undefined);
    expect([held.count, held.some[0]]).toEqual([12, 'shop/web-0!west']);
    expect([held.holdsImport('shop/web-3'), held.decides(target, 'shop/web-3')]).toEqual([true, true]);
    serviceExports.add('shop/web-0');
    expect(held.importChanged('shop/web-0')).toBe(true);
    expect([held.count, held.holdsImport('shop/web-0')]).toEqual([11, false]);
    expect(held.confirm(held.confirmation)).toEqual(new Set(keysOf(12).slice(1)));
    expect(held.holdsImport('shop/web-3')).toBe(false);
  });

  it('are counted of memberships as of mirrors, and apart from them (I6)', () => {
    mirrored = new Set(keysOf(30));
    exported = new Set(mirrored);
    federated = new Set(keysOf(12));
    members = new Set(federated);
    held.relisted(target, undefined);
    expect(held.count).toBe(0);
    members.clear();
    held.relisted(target, undefined);
    expect([held.count, held.some[0]]).toEqual([12, 'shop/web-0@west']);
    expect([held.decidesMember(target, 'shop/web-3'), held.decides(target, 'shop/web-3')]).toEqual([false, true]);
    members.add('shop/web-0');
    expect(held.memberChanged(target, 'shop/web-0')).toBe(true);
    expect([held.count, held.decidesMember(target, 'shop/web-0')]).toEqual([11, true]);
    expect(held.confirm(held.confirmation)).toEqual(new Set(keysOf(12).slice(1)));
    expect(held.decidesMember(target, 'shop/web-3')).toBe(true);
  });

  it('are not held of a membership that a watch reported as gone', () => {
    federated = new Set(keysOf(12));
    for (const key of federated) held.memberChanged(target, key);
    held.relisted(target, undefined);
    expect(held.count).toBe(0);
  });

  it('are reported once while their number is the same', () => {
    mirrored = new Set(keysOf(12));
    for (let lists = 0; lists < 3; lists += 1) held.relisted(target, undefined);
    expect(report.events).toHaveLength(1);
  });

  it('are released by what confirms them, and by nothing else', () => {
    mirrored = new Set(keysOf(12));
    held.relisted(target, undefined);
    expect(held.confirm('12')).toEqual(new Set());
    expect(held.confirm(held.confirmation)).toEqual(mirrored);
    expect([held.count, held.isGone(target, 'shop/web-3')]).toEqual([0, true]);
  });

  it('are released when the target has the Service again, by a watch or by a list', () => {
    mirrored = new Set(keysOf(12));
    held.relisted(target, undefined);
    exported.add('shop/web-0');
    expect(held.changed(target, 'shop/web-0', [])).toBe(true);
    expect(held.count).toBe(11);
    exported.add('shop/web-1');
    expect(held.relisted(target, undefined)).toEqual(new Set(['shop/web-1']));
  });

  it('are not held for what a watch has reported, until the target is read by other selectors', () => {
    mirrored = new Set(keysOf(12));
    for (const key of mirrored) held.changed(target, key, []);
    held.relisted(target, undefined);
    expect(held.count).toBe(0);
    held.restarted();
    held.relisted(target, undefined);
    expect(held.count).toBe(12);
  });

  it('count in one namespace only where only that could not be read before', () => {
    mirrored = new Set([...keysOf(12), ...keysOf(30, 'bank')]);
    held.relisted(target, undefined, 'shop');
    expect(held.count).toBe(0);
    mirrored = new Set([...keysOf(12), ...keysOf(11, 'bank')]);
    held.relisted(target, undefined, 'shop');
    expect([held.count, held.isGone(target, 'bank/web-0')]).toEqual([12, true]);
  });

  it('count neither the probe Service nor what the target does not decide about', () => {
    mirrored = new Set([...keysOf(10), PROBE_KEY]);
    held.relisted(target, undefined);
    expect(held.count).toBe(0);
    mirrored = unknown = new Set(keysOf(12));
    held.relisted(target, undefined);
    expect(held.count).toBe(0);
    expect([held.decides(target, 'shop/web-0'), held.isGone(target, 'shop/web-0')]).toEqual([false, false]);
  });
});
