import { describe, expect, it } from 'vitest';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import { Limits } from '../../../operator/served/limits.ts';

const NOTHING: OwnedObjects = { services: [], endpoints: [], slices: [] };
const unheard = { changed: () => undefined };

describe('what is refused since it would take too many bytes (E10)', () => {
  it('is reported with the number of Services, in however many aspects each is refused (L287)', () => {
    const limits = new Limits({
      maxWrittenMib: 1,
      cluster: 'west',
      source: { keysOf: () => new Set(), membershipsOf: () => new Set(), ownedBy: () => NOTHING },
      parts: () => [],
      sorts: [],
      written: { mirrored: unheard, members: unheard, exports: unheard },
      report: { statusChanged: () => undefined, event: () => undefined },
    });
    const refuses = (sort: 'mirrored' | 'members' | 'exports', key: string): boolean =>
      !limits.admitsBytes(sort, key, 2 * 1024 * 1024);
    expect([refuses('mirrored', 'shop/web'), refuses('members', 'shop/web')]).toEqual([true, true]);
    expect(limits.excess).toMatch(/^1 of its Services would take/);
    expect(refuses('exports', 'shop/api')).toBe(true);
    expect(limits.excess).toMatch(/^2 of its Services would take/);
    limits.stop();
  });
});
