import { describe, expect, it, test } from 'vitest';
import { PruneGuard } from '../../../operator/target/losses.ts';

const keys = (count: number): ReadonlySet<string> =>
  new Set(Array.from({ length: count }, (_, index) => `shop/s${index}`));

/** A guard after a list that shows the first `left` of `mirrored` Services. */
function relisted(mirrored: number, left: number, confirmed?: number) {
  const guard = new PruneGuard();
  const released = guard.relisted(keys(mirrored), (key) => !keys(left).has(key), confirmed);
  return { guard, released };
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
    const { guard } = relisted(mirrored, left);
    expect(guard.count).toBe(held);
    expect(guard.isHeld(`shop/s${mirrored - 1}`)).toBe(held > 0);
    expect(guard.isHeld('shop/s0') && left > 0).toBe(false);
  });
});

describe('what is held', () => {
  it('stays held while the target lists its Services again bit by bit', () => {
    const { guard } = relisted(100, 0);
    const released = guard.relisted(keys(100), (key) => !keys(60).has(key), undefined);
    expect(released).toHaveLength(60);
    expect(guard.count).toBe(40);
    expect(guard.relisted(keys(100), () => false, undefined)).toHaveLength(40);
    expect(guard.count).toBe(0);
  });

  it('stays held, beside what another list takes away, while it is not known whether it is gone', () => {
    const { guard } = relisted(100, 40);
    const mirrored = new Set([...keys(40), 'shop/s99']);
    guard.relisted(mirrored, (key) => (key === 'shop/s99' ? undefined : !keys(10).has(key)), undefined);
    expect(guard.isHeld('shop/s99')).toBe(true);
    expect(guard.count).toBe(31);
  });

  it('goes at a confirmation of its count, though the target was listed again before that was heard', () => {
    const { guard } = relisted(100, 40);
    guard.relisted(keys(100), (key) => !keys(40).has(key), 60);
    expect(guard.confirm(60)).toHaveLength(60);
  });

  it('stays held while it is not known whether it is gone', () => {
    const { guard } = relisted(12, 0);
    expect(guard.relisted(keys(12), () => undefined, undefined)).toEqual([]);
    expect(guard.count).toBe(12);
  });

  it('is nothing of what is not known to be gone', () => {
    const guard = new PruneGuard();
    guard.relisted(keys(100), () => undefined, undefined);
    expect(guard.count).toBe(0);
  });

  it('is let go one by one as Services come back', () => {
    const { guard } = relisted(12, 0);
    expect(guard.returned('shop/s3')).toBe(true);
    expect(guard.returned('shop/s3')).toBe(false);
    expect([guard.count, guard.isHeld('shop/s3')]).toEqual([11, false]);
  });

  it('goes when its very count is confirmed, and for no other', () => {
    const { guard } = relisted(12, 0);
    expect(guard.confirm(undefined)).toEqual([]);
    expect(guard.confirm(11)).toEqual([]);
    expect(guard.confirm(12)).toHaveLength(12);
    expect(guard.count).toBe(0);
    expect(guard.confirm(12)).toEqual([]);
  });

  it('is not confirmed by an annotation that was there before, but by one that is put there anew', () => {
    const { guard } = relisted(12, 0, 12);
    expect(guard.confirm(12)).toEqual([]);
    expect(guard.confirm(undefined)).toEqual([]);
    expect(guard.confirm(12)).toHaveLength(12);
  });
});
