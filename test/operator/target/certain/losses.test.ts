import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type ExportState, Losses, type SortLosses } from '../../../../operator/target/certain/losses.ts';

const keys = (count: number, from = 0): ReadonlySet<string> =>
  new Set(Array.from({ length: count - from }, (_, index) => `shop/s${index + from}`));

/** What a list says that shows these keys, and no others. */
const listing =
  (exported: ReadonlySet<string>) =>
  (key: string): ExportState =>
    exported.has(key) ? 'exported' : 'gone';

type StateOf = (key: string) => ExportState;

const statesOf = (keys: Iterable<string>, stateOf: StateOf) =>
  new Map([...keys].map((key): [string, ExportState] => [key, stateOf(key)]));

/** The losses of one sort, which are all that there are. */
class Single {
  readonly all = new Losses();
  readonly sort: SortLosses = this.all.sort((key) => key);

  get count(): number {
    return this.all.count;
  }

  get confirmation(): string | undefined {
    return this.all.confirmation;
  }

  relisted(keys: Iterable<string>, stateOf: StateOf, confirmed: string | undefined): readonly string[] {
    return this.all.relisted(new Map([[this.sort, statesOf(keys, stateOf)]]), confirmed).get(this.sort) ?? [];
  }

  confirm(confirmed: string | undefined): readonly string[] {
    return this.all.confirm(confirmed).get(this.sort) ?? [];
  }
}

/** The losses after a list that shows the first `left` of `mirrored` Services. */
function afterList(mirrored: number, left: number, confirmed?: string) {
  const losses = new Single();
  const released = losses.relisted(keys(mirrored), listing(keys(left)), confirmed);
  return { losses, released };
}

describe('a list that takes mirrors away (E6)', () => {
  test.each([
    [10, 0, 0],
    [11, 0, 11],
    [20, 10, 0],
    [21, 10, 11],
    [100, 50, 0],
    [100, 49, 51],
    [4000, 0, 4000],
    [0, 0, 0],
  ])('of %i mirrored leaving %i holds %i', (mirrored, left, held) => {
    const { losses } = afterList(mirrored, left);
    expect(losses.count).toBe(held);
    expect(losses.sort.isHeld(`shop/s${mirrored - 1}`)).toBe(held > 0);
    expect(losses.sort.isHeld('shop/s0') && left > 0).toBe(false);
  });

  it('counts nothing of what is not known to be gone', () => {
    const losses = new Single();
    losses.relisted(keys(100), () => undefined, undefined);
    expect(losses.count).toBe(0);
  });

  it('counts what is held with what it takes itself, so that two lists hold what one would (L46)', () => {
    const { losses } = afterList(30, 14);
    expect(losses.count).toBe(16);
    losses.relisted(keys(30), listing(keys(0)), undefined);
    expect(losses.count).toBe(30);
  });
});

describe('a loss of a few that a list has let go (L107)', () => {
  /** Two lists: the first lacks 4 of 13, the second all of them. `between` is what happens in the meantime. */
  const afterBoth = (made: number, between: (losses: Single) => void): Single => {
    const losses = new Single();
    losses.relisted(keys(13), listing(keys(13, 4)), undefined);
    expect(losses.count).toBe(0);
    for (const key of keys(4)) losses.sort.changed(key, 'gone');
    between(losses);
    losses.relisted(keys(made), listing(keys(0)), undefined);
    return losses;
  };

  it('counts with what the next list takes, as long as its mirrors are there', () => {
    expect(afterBoth(13, () => undefined).count).toBe(13);
    // Lists come one for each namespace and aspect.
    const again = (losses: Single): void => void losses.relisted(keys(13), listing(keys(13, 4)), undefined);
    expect(afterBoth(13, again).count).toBe(13);
  });

  it('counts also after a list that says nothing of it, as one of another namespace', () => {
    const other = (losses: Single): void => {
      losses.relisted(keys(13), () => undefined, undefined);
      // Its slices go after its Services.
      for (const key of keys(4)) losses.sort.changed(key, 'gone');
    };
    expect(afterBoth(13, other).count).toBe(13);
  });

  it('counts no more once its mirrors are gone', () => {
    const losses = new Single();
    losses.relisted(keys(13), listing(keys(13, 4)), undefined);
    losses.relisted(keys(13, 4), listing(keys(0)), undefined);
    expect(losses.count).toBe(0);
  });

  it('is what a watch says, if the target has listed it again before', () => {
    const back = (losses: Single): void => {
      for (const key of keys(4)) losses.sort.changed(key, 'exported');
      for (const key of keys(4)) losses.sort.changed(key, 'gone');
    };
    expect(afterBoth(13, back).count).toBe(0);
    expect(afterBoth(13, (losses) => keys(4).forEach((key) => losses.sort.forget(key))).count).toBe(13);
  });

  it('is something that a change of an export has an effect on', () => {
    const losses = new Single();
    expect(losses.sort.isIdle).toBe(true);
    losses.relisted(keys(13), listing(keys(13, 4)), undefined);
    expect(losses.sort.isIdle).toBe(false);
    losses.relisted(keys(13, 4), listing(keys(13, 4)), undefined);
    expect(losses.sort.isIdle).toBe(true);
  });
});

describe('losses of two sorts (E6)', () => {
  const setUp = () => {
    const losses = new Losses();
    const [services, others] = [losses.sort((key) => key), losses.sort((key) => `${key}@west`)];
    const list = (made: number, lost: number, madeOthers: number, lostOthers: number) =>
      losses.relisted(
        new Map([
          [services, statesOf(keys(made), listing(keys(made, lost)))],
          [others, statesOf(keys(madeOthers), listing(keys(madeOthers, lostOthers)))],
        ]),
        undefined,
      );
    return { losses, services, others, list };
  };

  it('are counted apart: many of one sort let none of the other go', () => {
    const { losses, services, others, list } = setUp();
    list(15, 15, 1000, 0);
    expect(losses.count).toBe(15);
    list(15, 15, 1000, 400);
    expect(losses.count).toBe(15);
    list(15, 15, 1000, 501);
    expect([losses.count, services.count, others.count]).toEqual([516, 15, 501]);
    const released = losses.confirm(losses.confirmation);
    expect([released.get(services)?.length, released.get(others)?.length]).toEqual([15, 501]);
  });

  it('have names of their own, so that a key of one is not confirmed, or held, as that of the other', () => {
    const { losses, services, others, list } = setUp();
    list(0, 0, 12, 12);
    expect([losses.some[0], services.isHeld('shop/s0'), others.isHeld('shop/s0')]).toEqual([
      'shop/s0@west',
      false,
      true,
    ]);
    losses.confirm(losses.confirmation);
    list(12, 12, 12, 12);
    expect([services.count, others.count]).toEqual([12, 0]);
  });

  it('are held no longer, and do not count as leaving, once nobody counts them', () => {
    const { losses, services, list } = setUp();
    list(12, 12, 0, 0);
    expect(services.forget('shop/s0')).toBe(true);
    expect(services.forget('shop/s0')).toBe(false);
    expect(losses.count).toBe(11);
  });
});

describe('what a watch reports as gone one by one (E6)', () => {
  it('is never held, however much of it there is', () => {
    const losses = new Single();
    for (const key of keys(100)) {
      losses.sort.changed(key, 'gone');
      expect(losses.sort.isHeld(key)).toBe(false);
    }
  });

  it('is not counted by a list that comes before its mirrors are deleted', () => {
    const losses = new Single();
    for (const key of keys(15)) losses.sort.changed(key, 'gone');
    losses.relisted(keys(20), listing(keys(20, 15)), undefined);
    expect(losses.count).toBe(0);
  });

  it('is counted again once its mirrors were deleted and made anew', () => {
    const losses = new Single();
    for (const key of keys(15)) losses.sort.changed(key, 'gone');
    losses.relisted(new Set(), () => 'gone', undefined);
    losses.relisted(keys(15), () => 'gone', undefined);
    expect(losses.count).toBe(15);
  });

  test.each<[string, (losses: Single, key: string) => void]>([
    ['the target exports it again', (losses, key) => void losses.sort.changed(key, 'exported')],
    ['nothing is known of it any more', (losses, key) => void losses.sort.changed(key, undefined)],
    ['other selectors are read', (losses) => losses.sort.restarted()],
  ])('is counted again when %s', (_, meanwhile) => {
    const losses = new Single();
    for (const key of keys(15)) losses.sort.changed(key, 'gone');
    for (const key of keys(15)) meanwhile(losses, key);
    losses.relisted(keys(15), () => 'gone', undefined);
    expect(losses.count).toBe(15);
  });
});

describe('what is held', () => {
  it('stays held while the target lists its Services again bit by bit', () => {
    const { losses } = afterList(100, 0);
    const released = losses.relisted(keys(100), listing(keys(60)), undefined);
    expect(released).toHaveLength(60);
    expect(losses.count).toBe(40);
    expect(losses.relisted(keys(100), () => 'exported', undefined)).toHaveLength(40);
    expect(losses.count).toBe(0);
  });

  it('stays held, beside what another list takes away, while it is not known whether it is gone', () => {
    const { losses } = afterList(100, 40);
    const mirrored = new Set([...keys(40), 'shop/s99']);
    const state = listing(keys(10));
    losses.relisted(mirrored, (key) => (key === 'shop/s99' ? undefined : state(key)), undefined);
    expect(losses.sort.isHeld('shop/s99')).toBe(true);
    expect(losses.count).toBe(31);
  });

  it('goes at a confirmation of its count, though the target was listed again before that was heard', () => {
    const { losses } = afterList(100, 40);
    const confirmed = losses.confirmation;
    losses.relisted(keys(100), listing(keys(40)), confirmed);
    expect(losses.confirm(confirmed)).toHaveLength(60);
  });

  it('is not held again when the target is listed before its mirrors have gone', () => {
    const { losses } = afterList(100, 40);
    const confirmed = losses.confirmation;
    losses.confirm(confirmed);
    losses.relisted(keys(100), listing(keys(40)), confirmed);
    expect(losses.count).toBe(0);
  });

  it('stays held while it is not known whether it is gone', () => {
    const { losses } = afterList(12, 0);
    expect(losses.relisted(keys(12), () => undefined, undefined)).toEqual([]);
    expect(losses.count).toBe(12);
  });

  it('stays held when a watch reports it as gone once more', () => {
    const { losses } = afterList(12, 0);
    expect(losses.sort.changed('shop/s3', 'gone')).toBe(false);
    expect([losses.count, losses.sort.isHeld('shop/s3')]).toEqual([12, true]);
    losses.relisted(keys(12), () => 'gone', undefined);
    expect(losses.count).toBe(12);
  });

  it('counts with what the next list takes, also when a watch has reported it as gone once more (L46)', () => {
    const { losses } = afterList(30, 14);
    for (const key of keys(30, 14)) losses.sort.changed(key, 'gone');
    losses.relisted(keys(30), listing(keys(0)), undefined);
    expect(losses.count).toBe(30);
  });

  it('stays held while nothing is known of it', () => {
    const { losses } = afterList(12, 0);
    expect(losses.sort.changed('shop/s3', undefined)).toBe(false);
    expect(losses.sort.isHeld('shop/s3')).toBe(true);
  });

  it('is let go of when its mirror is gone', () => {
    const { losses } = afterList(12, 0);
    losses.relisted(keys(12, 5), () => 'gone', undefined);
    expect(losses.count).toBe(7);
  });

  it('is let go one by one as Services come back', () => {
    const { losses } = afterList(12, 0);
    expect(losses.sort.changed('shop/s3', 'exported')).toBe(true);
    expect(losses.sort.changed('shop/s3', 'exported')).toBe(false);
    expect([losses.count, losses.sort.isHeld('shop/s3')]).toEqual([11, false]);
  });

  it('goes when just this loss is confirmed, and for no other', () => {
    const { losses } = afterList(12, 0);
    const confirmed = losses.confirmation;
    expect(confirmed).toMatch(/^12-[0-9a-f]{8}$/);
    for (const other of [undefined, '', '12', '11-00000000', '12-00000000']) expect(losses.confirm(other)).toEqual([]);
    expect(losses.confirm(confirmed)).toHaveLength(12);
    expect([losses.count, losses.confirmation]).toEqual([0, undefined]);
    expect(losses.confirm(confirmed)).toEqual([]);
  });

  it('is not confirmed by what was confirmed before, be it of as many others or of the same', () => {
    const { losses } = afterList(12, 0);
    const confirmed = losses.confirmation;
    for (const lost of [keys(12), keys(24, 12)]) {
      const again = new Single();
      again.relisted(lost, () => 'gone', confirmed);
      again.relisted(lost, () => 'gone', confirmed);
      expect(again.confirm(confirmed)).toEqual([]);
      expect(again.confirm(undefined)).toEqual([]);
      expect(again.confirm(again.confirmation)).toHaveLength(12);
    }
  });

  it('is not confirmed by what was confirmed before, though some of it was held throughout', () => {
    const { losses } = afterList(12, 0);
    const confirmed = losses.confirmation;
    for (const key of keys(11)) losses.sort.changed(key, 'exported');
    // Heard too late: it is of more than is held.
    expect(losses.confirm(confirmed)).toEqual([]);
    losses.relisted(keys(12), () => 'gone', confirmed);
    expect(losses.confirm(confirmed)).toEqual([]);
    expect(losses.confirm(losses.confirmation)).toHaveLength(12);
  });

  it.each<[string, (losses: Single) => void]>([
    ['a list shows it all', (losses) => void losses.relisted(keys(12), () => 'exported', undefined)],
    ['a list shows one of it', (losses) => void losses.relisted(keys(12), listing(keys(1)), undefined)],
    ['a watch shows one of it', (losses) => void losses.sort.changed('shop/s0', 'exported')],
    ['one of it is not counted for a while', (losses) => void losses.sort.forget('shop/s0')],
    ['it was confirmed, and that is not there any more', (losses) => void losses.confirm(losses.confirmation)],
  ])(
    'is not confirmed by what an earlier loss of the same asked for, in a Link that was not read: %s (L96)',
    (_, end) => {
      const { losses } = afterList(12, 0);
      const confirmed = losses.confirmation;
      end(losses);
      for (const key of keys(12)) losses.all.confirmed.forget(key);
      losses.relisted(keys(12), () => 'gone', undefined);
      expect([losses.count, losses.confirm(confirmed)]).toEqual([12, []]);
      expect(losses.confirm(losses.confirmation)).toHaveLength(12);
    },
  );

  it('is confirmed as it was before by an operator that has started anew', () => {
    const { losses } = afterList(30, 14);
    losses.relisted(keys(30), listing(keys(0)), undefined);
    expect(afterList(30, 0).losses.confirmation).toBe(losses.confirmation);
  });

  it('is not confirmed by what others were held for when more came to be held', () => {
    const { losses } = afterList(30, 14);
    const confirmed = losses.confirmation;
    losses.relisted(keys(30), listing(keys(0)), undefined);
    expect(losses.confirm(confirmed)).toEqual([]);
    expect(losses.confirm(losses.confirmation)).toHaveLength(30);
  });
});

describe('whatever lists and watches report', () => {
  const key = fc.integer({ min: 0, max: 29 }).map((index) => `shop/s${index}`);
  const step = fc.oneof(
    fc.record({ op: fc.constant('list' as const), exported: fc.uniqueArray(key) }),
    fc.record({ op: fc.constant('gone' as const), key }),
    fc.record({ op: fc.constant('exported' as const), key }),
  );

  it('no single list makes more than half of the mirrors, and more than 10, deletable without a word (E6)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const losses = new Single();
        // Nothing is ever deleted here, so that what may be deleted adds up.
        const mirrored = keys(30);
        let exported = new Set(mirrored);
        const reported = new Set<string>();
        for (const each of steps) {
          if (each.op === 'list') {
            const before = exported;
            exported = new Set(each.exported);
            losses.relisted(mirrored, listing(exported), undefined);
            const going = [...mirrored].filter((one) => !exported.has(one) && !reported.has(one));
            const free = going.filter((one) => !losses.sort.isHeld(one) && before.has(one));
            if (free.length > 15) return false;
          } else if (each.op === 'gone') {
            exported.delete(each.key);
            if (!losses.sort.isHeld(each.key)) reported.add(each.key);
            losses.sort.changed(each.key, 'gone');
          } else {
            exported.add(each.key);
            reported.delete(each.key);
            losses.sort.changed(each.key, 'exported');
          }
          if ([...exported].some((one) => losses.sort.isHeld(one))) return false;
        }
        return true;
      }),
    );
  });
});

it('what watches reported as gone is forgotten when it is gone, and does not wait for a list', () => {
  const losses = new Single();
  for (const key of keys(999)) losses.sort.changed(key, 'gone');
  expect(losses.sort.isCrowded).toBe(false);
  losses.sort.changed('shop/s999', 'gone');
  expect(losses.sort.isCrowded).toBe(true);
  // Three of them still have a mirror: they are not counted with what a list takes.
  losses.sort.forgetGone(keys(3));
  expect(losses.sort.isCrowded).toBe(false);
  losses.relisted(keys(14), listing(new Set()), undefined);
  expect(losses.count).toBe(11);
});
