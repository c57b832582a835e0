import { beforeEach, describe, expect, it } from 'vitest';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import type { HeldDeletions } from '../../../operator/served/held.ts';
import { ServedTarget, type ServedTargetOptions } from '../../../operator/served/served-target.ts';
import { PROBE_KEY } from '../../../operator/source/owner.ts';
import { type Aspect, NO_PODS, NOTHING_EXPORTED } from '../../../operator/target/aspect.ts';
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
/** Keys of which something is being written. */
let underWay: Record<'mirrored' | 'members' | 'exports', Set<string>>;
/** Keys of members of federated Services in the target, and of memberships here. */
let members: Set<string>;
let federated: Set<string>;
/** Keys of what the target exports by the MCS API, and of ServiceImports here that it has a part in. */
let serviceExports: Set<string>;
let parts: Set<string>;
let report: RecordedReport;
let target: ServedTarget;
let held: HeldDeletions;
/** Keys that were reconciled since they are held no longer. */
let released: Set<string>;
/** What is to be put on record; undefined: nothing has to be. */
let recorded: PromiseWithResolvers<void> | undefined;
/** How often something was to be put on record. */
let records: number;
/** Whether the target is being read. */
let isRead: boolean;

/** Exports what a set of keys says at the moment. */
const exporting = <T>(exported: () => ReadonlySet<string>, value: T): Aspect<T> => ({
  ...NOTHING_EXPORTED,
  get isRead() {
    return isRead;
  },
  get: (key) => (exported().has(key) ? value : undefined),
  decides: (key) => !unknown.has(key),
  keys: exported,
});

beforeEach(() => {
  [exported, unknown, mirrored] = [new Set(), new Set(), new Set()];
  underWay = { mirrored: new Set(), members: new Set(), exports: new Set() };
  [members, federated] = [new Set(), new Set()];
  [serviceExports, parts] = [new Set(), new Set()];
  report = new RecordedReport();
  released = new Set();
  recorded = undefined;
  records = 0;
  isRead = true;
  target = servedTarget();
  held = target.held;
});

function servedTarget(): ServedTarget {
  const served = new ServedTarget({
    record: () => {
      records += 1;
      return recorded?.promise;
    },
    link: 'west',
    cluster: 'west',
    target: {
      mirrored: exporting(() => exported, { service: service('web'), mode: 'gateway' }),
      members: exporting(() => members, service('web')),
      exports: { ...exporting(() => serviceExports, service('web')), isRead: true, since: () => '' },
      pods: NO_PODS,
    },
    config: { endpointMirrorGraceMs: 60_000, maxMirrors: 100 } as ServedTargetOptions['config'],
    source: {
      keysOf: () => mirrored,
      membershipsOf: () => federated,
      ownedBy: () => NOTHING,
    },
    log: recordingLog([]),
    report,
    isHeadless: () => true,
    parts: () => parts,
    underWay: (aspect) => underWay[aspect],
  });
  const changed = (keys: Iterable<string>): void => {
    for (const key of keys) released.add(key);
  };
  for (const sort of served.sorts) sort.subscribe({ changed });
  return served;
}

/** Keys of what is reconciled by this, since it is held no longer. */
function releasedBy(release: () => void): ReadonlySet<string> {
  released = new Set();
  release();
  return released;
}

/** Keys of what may go once this confirms it. */
const confirmedBy = (confirmation: string | undefined): ReadonlySet<string> =>
  releasedBy(() => held.confirm(() => confirmation));

/** Returns how often the status of the Link is to be written anew for a change. */
function reportsOf(change: () => void): number {
  const before = report.statusChanges;
  change();
  return report.statusChanges - before;
}

it('parts in ServiceImports are held also if the target is not read (E6)', () => {
  parts = new Set(keysOf(12));
  mirrored = new Set(keysOf(12, 'bank'));
  isRead = false;
  expect(releasedBy(() => held.relisted(undefined))).toEqual(new Set());
  expect([held.count, target.exports.decides('shop/web-0')]).toEqual([12, false]);
});

describe('deletions that a list asks for (E6)', () => {
  it('are held if they are too many, and nothing is decided about them', () => {
    mirrored = new Set(keysOf(12));
    expect(releasedBy(() => held.relisted(undefined))).toEqual(new Set());
    expect([held.count, held.some.length]).toEqual([12, 5]);
    expect([target.mirrored.decides('shop/web-3'), target.mirrored.isGone('shop/web-3')]).toEqual([false, false]);
    expect(report.events).toEqual([
      'Warning PruneHeld the target no longer lists 12 of 12 mirrored Services, pods, members of federated Services and exports, or the settings no longer ask for them; what they have here stays',
    ]);
  });

  it('are counted of mirrors that are being written, but exports only once they are mirrored (L189)', () => {
    [mirrored, exported] = [new Set(keysOf(12)), new Set(keysOf(30, 'bank'))];
    underWay.mirrored = new Set(exported);
    held.relisted(undefined);
    expect(held.count).toBe(12);
    exported = new Set([...mirrored, ...underWay.mirrored]);
    held.relisted(undefined);
    expect(held.count).toBe(0);
    [mirrored, exported] = [new Set(keysOf(8)), new Set()];
    underWay.mirrored = new Set(keysOf(12));
    held.relisted(undefined);
    expect(held.count).toBe(12);
  });

  it('are counted of memberships and of parts in ServiceImports that are being written (L189)', () => {
    federated = new Set(keysOf(8));
    underWay.members = new Set(keysOf(12));
    held.relisted(undefined);
    expect([held.count, target.members.decides('shop/web-11')]).toEqual([12, false]);
    parts = new Set(keysOf(8));
    underWay.exports = new Set(keysOf(12));
    held.relisted(undefined);
    expect([held.count, target.exports.decides('shop/web-11')]).toEqual([24, false]);
  });

  it('are counted of parts in ServiceImports as of mirrors, and apart from them', () => {
    mirrored = new Set(keysOf(30));
    exported = new Set(mirrored);
    parts = new Set(keysOf(12));
    serviceExports = new Set(parts);
    held.relisted(undefined);
    serviceExports.clear();
    unknown = new Set(parts);
    held.relisted(undefined);
    expect(held.count).toBe(0);
    unknown.clear();
    held.relisted(undefined);
    expect([held.count, held.some[0]]).toEqual([12, 'shop/web-0!west']);
    expect([target.exports.decides('shop/web-3'), target.mirrored.decides('shop/web-3')]).toEqual([false, true]);
    serviceExports.add('shop/web-0');
    expect(reportsOf(() => target.exports.noted('shop/web-0'))).toBe(1);
    expect([held.count, target.exports.decides('shop/web-0')]).toEqual([11, true]);
    expect(confirmedBy(held.confirmation)).toEqual(new Set(keysOf(12).slice(1)));
    expect(target.exports.decides('shop/web-3')).toBe(true);
  });

  it('are counted of memberships as of mirrors, and apart from them (I6)', () => {
    mirrored = new Set(keysOf(30));
    exported = new Set(mirrored);
    federated = new Set(keysOf(12));
    members = new Set(federated);
    held.relisted(undefined);
    expect(held.count).toBe(0);
    members.clear();
    held.relisted(undefined);
    expect([held.count, held.some[0]]).toEqual([12, 'shop/web-0@west']);
    expect([target.members.decides('shop/web-3'), target.mirrored.decides('shop/web-3')]).toEqual([false, true]);
    members.add('shop/web-0');
    expect(reportsOf(() => target.members.noted('shop/web-0'))).toBe(1);
    expect([held.count, target.members.decides('shop/web-0')]).toEqual([11, true]);
    expect(confirmedBy(held.confirmation)).toEqual(new Set(keysOf(12).slice(1)));
    expect(target.members.decides('shop/web-3')).toBe(true);
  });

  it('are not held of a membership that a watch reported as gone', () => {
    federated = new Set(keysOf(12));
    for (const key of federated) target.members.noted(key);
    held.relisted(undefined);
    expect(held.count).toBe(0);
  });

  it('are reported once while their number is the same', () => {
    mirrored = new Set(keysOf(12));
    for (let lists = 0; lists < 3; lists += 1) held.relisted(undefined);
    expect(report.events).toHaveLength(1);
  });

  it('are released by what confirms them, and by nothing else', () => {
    mirrored = new Set(keysOf(12));
    held.relisted(undefined);
    expect(confirmedBy('12')).toEqual(new Set());
    expect(confirmedBy(held.confirmation)).toEqual(mirrored);
    expect([held.count, target.mirrored.isGone('shop/web-3')]).toEqual([0, true]);
  });

  describe('and that are confirmed', () => {
    const confirm = (): void => {
      const { confirmation } = held;
      released = new Set();
      held.confirm(() => confirmation);
    };

    beforeEach(() => {
      mirrored = new Set(keysOf(12));
      held.relisted(undefined);
      recorded = Promise.withResolvers();
    });

    it('are held until that is on record', async () => {
      confirm();
      expect([released.size, held.count, held.confirmed().size]).toEqual([0, 12, 12]);
      const reported = report.statusChanges;
      recorded!.resolve();
      await recorded!.promise;
      expect([released, held.count, held.confirmed().size]).toEqual([mirrored, 0, 12]);
      // The status that was written meanwhile says that they are held.
      expect(report.statusChanges).toBe(reported + 1);
    });

    it('stay held, and need another confirmation, if it is revoked by then (L295)', async () => {
      confirm();
      const before = held.confirmation;
      held.revoke();
      held.confirm(() => before);
      recorded!.resolve();
      await recorded!.promise;
      expect([released, held.count, held.confirmed().size]).toEqual([new Set(), 12, 0]);
      expect(held.confirmation).not.toBe(before);
    });

    it('stay held if they are more by then', async () => {
      confirm();
      mirrored = new Set(keysOf(30));
      held.relisted(undefined);
      recorded!.resolve();
      await recorded!.promise;
      expect([released, held.count, held.confirmed().size]).toEqual([new Set(), 30, 0]);
    });

    it('are not held anew by who leads next, be it told before its first list or after', () => {
      confirm();
      const digests = [...held.confirmed()];
      for (const isToldFirst of [true, false]) {
        const next = servedTarget();
        if (isToldFirst) next.held.resume(digests);
        next.held.relisted(undefined);
        expect(next.held.count).toBe(isToldFirst ? 0 : 12);
        if (!isToldFirst) expect(releasedBy(() => next.held.resume(digests))).toEqual(mirrored);
        expect([next.held.count, next.mirrored.decides('shop/web-3')]).toEqual([0, true]);
      }
    });

    it('are put on record anew once one that is on record is exported again, by a watch or by a list', () => {
      confirm();
      held.confirmed();
      const before = records;
      for (const key of ['shop/web-0', 'shop/web-1']) {
        // Its mirror is gone, and so is its confirmation; the record has both still.
        mirrored.delete(key);
        held.relisted(undefined);
        exported.add(key);
      }
      expect(records).toBe(before);
      target.mirrored.noted('shop/web-0');
      expect(records).toBe(before + 1);
      mirrored.add('shop/web-1');
      held.relisted(undefined);
      expect(records).toBe(before + 2);
      expect(held.confirmed().size).toBe(10);
      held.relisted(undefined);
      target.mirrored.noted('shop/web-0');
      expect(records).toBe(before + 2);
    });

    it('are forgotten as they go, and as the target has them again', () => {
      confirm();
      mirrored.delete('shop/web-0');
      expect(held.confirmed().size).toBe(11);
      exported.add('shop/web-1');
      target.mirrored.noted('shop/web-1');
      exported.add('shop/web-2');
      held.relisted(undefined);
      expect(held.confirmed().size).toBe(9);
      isRead = false;
      expect(held.confirmed().size).toBe(9);
    });
  });

  it('are released when the target has the Service again, by a watch or by a list', () => {
    mirrored = new Set(keysOf(12));
    held.relisted(undefined);
    exported.add('shop/web-0');
    expect(reportsOf(() => target.mirrored.noted('shop/web-0'))).toBe(1);
    expect(held.count).toBe(11);
    exported.add('shop/web-1');
    expect(releasedBy(() => held.relisted(undefined))).toEqual(new Set(['shop/web-1']));
  });

  it('are not held for what a watch has reported, until the target is read by other selectors', () => {
    mirrored = new Set(keysOf(12));
    for (const key of mirrored) target.mirrored.noted(key);
    held.relisted(undefined);
    expect(held.count).toBe(0);
    held.restarted(target.sorts);
    held.relisted(undefined);
    expect(held.count).toBe(12);
  });

  it('count in one namespace only where only that could not be read before', () => {
    mirrored = new Set([...keysOf(12), ...keysOf(30, 'bank')]);
    held.relisted(undefined, 'shop');
    expect(held.count).toBe(0);
    mirrored = new Set([...keysOf(12), ...keysOf(11, 'bank')]);
    held.relisted(undefined, 'shop');
    expect([held.count, target.mirrored.isGone('bank/web-0')]).toEqual([12, true]);
  });

  it('count neither the probe Service nor what the target does not decide about', () => {
    mirrored = new Set([...keysOf(10), PROBE_KEY]);
    held.relisted(undefined);
    expect(held.count).toBe(0);
    mirrored = unknown = new Set(keysOf(12));
    held.relisted(undefined);
    expect(held.count).toBe(0);
    expect([target.mirrored.decides('shop/web-0'), target.mirrored.isGone('shop/web-0')]).toEqual([false, false]);
  });
});
