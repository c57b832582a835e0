import { beforeEach, describe, expect, it } from 'vitest';
import { HeldDeletions } from '../../../operator/served/held.ts';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import { PROBE_KEY } from '../../../operator/source/owner.ts';
import type { Target } from '../../../operator/target/target.ts';
import { service } from '../../support/builders.ts';
import { RecordedReport, recordingLog } from '../link/recorded.ts';

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
/** What is to be put on record; undefined: nothing has to be. */
let recorded: PromiseWithResolvers<void> | undefined;

const target = {
  mirrored: {
    get: (key: string) => (exported.has(key) ? { service: service('web'), mode: 'gateway' } : undefined),
    decides: (key: string) => !unknown.has(key),
    keys: () => exported,
  },
  members: {
    get: (key: string) => (members.has(key) ? service('web') : undefined),
    decides: (key: string) => !unknown.has(key),
  },
} as unknown as Target;

beforeEach(() => {
  [exported, unknown, mirrored] = [new Set(), new Set(), new Set()];
  [members, federated] = [new Set(), new Set()];
  [serviceExports, parts] = [new Set(), new Set()];
  report = new RecordedReport();
  recorded = undefined;
  held = heldDeletions();
});

const heldDeletions = (): HeldDeletions =>
  new HeldDeletions({
    record: () => recorded?.promise,
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

/** Keys of what may go once this confirms it. */
function confirmedBy(confirmation: string | undefined): ReadonlySet<string> {
  let released: ReadonlySet<string> = new Set();
  held.confirm(
    () => confirmation,
    (keys) => (released = keys),
  );
  return released;
}

/** Returns how often the status of the Link is to be written anew for a change. */
function reportsOf(change: () => void): number {
  const before = report.statusChanges;
  change();
  return report.statusChanges - before;
}

it('parts in ServiceImports are held also if the target is not read (E6)', () => {
  parts = new Set(keysOf(12));
  mirrored = new Set(keysOf(12, 'bank'));
  expect(held.relisted(undefined, undefined)).toEqual(new Set());
  expect([held.count, held.holdsImport('shop/web-0')]).toEqual([12, true]);
});

describe('deletions that a list asks for (E6)', () => {
  it('are held if they are too many, and nothing is decided about them', () => {
    mirrored = new Set(keysOf(12));
    expect(held.relisted(target, undefined)).toEqual(new Set());
    expect([held.count, held.some.length]).toEqual([12, 5]);
    expect([held.decides(target, 'shop/web-3'), held.isGone(target, 'shop/web-3')]).toEqual([false, false]);
    expect(report.events).toEqual([
      'Warning PruneHeld the target no longer lists 12 of 12 mirrored Services, pods, members of federated Services and exports, or the settings no longer ask for them; what they have here stays',
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
    expect(reportsOf(() => held.importChanged('shop/web-0'))).toBe(1);
    expect([held.count, held.holdsImport('shop/web-0')]).toEqual([11, false]);
    expect(confirmedBy(held.confirmation)).toEqual(new Set(keysOf(12).slice(1)));
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
    expect(reportsOf(() => held.memberChanged(target, 'shop/web-0'))).toBe(1);
    expect([held.count, held.decidesMember(target, 'shop/web-0')]).toEqual([11, true]);
    expect(confirmedBy(held.confirmation)).toEqual(new Set(keysOf(12).slice(1)));
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
    expect(confirmedBy('12')).toEqual(new Set());
    expect(confirmedBy(held.confirmation)).toEqual(mirrored);
    expect([held.count, held.isGone(target, 'shop/web-3')]).toEqual([0, true]);
  });

  describe('and that are confirmed', () => {
    const confirm = (): { readonly released: ReadonlySet<string>[] } => {
      const released: ReadonlySet<string>[] = [];
      const { confirmation } = held;
      held.confirm(
        () => confirmation,
        (keys) => void released.push(keys),
      );
      return { released };
    };

    beforeEach(() => {
      mirrored = new Set(keysOf(12));
      held.relisted(target, undefined);
      recorded = Promise.withResolvers();
    });

    it('are held until that is on record', async () => {
      const { released } = confirm();
      expect([released, held.count, held.confirmed(target).size]).toEqual([[], 12, 12]);
      const reported = report.statusChanges;
      recorded!.resolve();
      await recorded!.promise;
      expect([released, held.count, held.confirmed(target).size]).toEqual([[mirrored], 0, 12]);
      // The status that was written meanwhile says that they are held.
      expect(report.statusChanges).toBe(reported + 1);
    });

    it('stay held if they are more by then', async () => {
      const { released } = confirm();
      mirrored = new Set(keysOf(30));
      held.relisted(target, undefined);
      recorded!.resolve();
      await recorded!.promise;
      expect([released, held.count, held.confirmed(target).size]).toEqual([[new Set()], 30, 0]);
    });

    it('are not held anew by who leads next, be it told before its first list or after', () => {
      void confirm();
      const digests = [...held.confirmed(target)];
      for (const isToldFirst of [true, false]) {
        const next = heldDeletions();
        if (isToldFirst) next.resume(digests);
        next.relisted(target, undefined);
        expect(next.count).toBe(isToldFirst ? 0 : 12);
        if (!isToldFirst) expect(next.resume(digests)).toEqual(mirrored);
        expect([next.count, next.decides(target, 'shop/web-3')]).toEqual([0, true]);
      }
    });

    it('are forgotten as they go, and as the target has them again', () => {
      void confirm();
      mirrored.delete('shop/web-0');
      expect(held.confirmed(target).size).toBe(11);
      exported.add('shop/web-1');
      held.changed(target, 'shop/web-1', []);
      exported.add('shop/web-2');
      held.relisted(target, undefined);
      expect(held.confirmed(target).size).toBe(9);
      expect(held.confirmed(undefined).size).toBe(9);
    });
  });

  it('are released when the target has the Service again, by a watch or by a list', () => {
    mirrored = new Set(keysOf(12));
    held.relisted(target, undefined);
    exported.add('shop/web-0');
    expect(reportsOf(() => held.changed(target, 'shop/web-0', []))).toBe(1);
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
