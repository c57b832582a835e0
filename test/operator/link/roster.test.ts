import { beforeEach, describe, expect, it } from 'vitest';
import type { Verdict } from '../../../operator/kube/conditions.ts';
import type { Link } from '../../../operator/link/link.ts';
import { type LinkRead, readLinkObject } from '../../../operator/link/links.ts';
import { Roster } from '../../../operator/link/roster.ts';
import { link } from '../../support/builders.ts';

const read = (name: string, targetClusterName: string, at = '2026-01-01'): LinkRead =>
  readLinkObject(link(name, { targetClusterName }, { uid: name, creationTimestamp: `${at}T00:00:00Z` }));

let reads: Map<string, LinkRead>;
/** What was done with the Links, in order. */
let done: string[];
let roster: Roster;

const fake = (name: string) =>
  ({
    accept: ({ reason, message }: Verdict) => done.push(`${name} ${reason}${message === '' ? '' : ` ${message}`}`),
    listed: () => done.push(`${name} listed`),
    end: () => done.push(`${name} ended`),
  }) as unknown as Link;
const put = (each: LinkRead): void => {
  reads.set(each.name, each);
  roster.changed(each.name);
};
const remove = (name: string): void => {
  reads.delete(name);
  roster.changed(name);
};

beforeEach(() => {
  reads = new Map();
  done = [];
  roster = new Roster({ reads, served: new Map(), makeLink: fake });
});

describe('the Links that there are', () => {
  it('are made once, and end when they are deleted', () => {
    expect(roster.get('a')).toBeUndefined();
    put(read('a', 'west'));
    const made = roster.of('a');
    expect([roster.get('a'), roster.of('a')]).toEqual([made, made]);
    remove('a');
    expect([done, roster.get('a')]).toEqual([['a Accepted', 'a ended'], undefined]);
  });

  it('are refused as long as another has their cluster (E9)', () => {
    put(read('a', 'west'));
    put(read('b', 'west', '2026-01-02'));
    expect(done.at(-1)).toMatch(/^b DuplicateCluster .*already served by Link a/);
    remove('a');
    done.length = 0;
    roster.judge('east');
    expect(done).toEqual([]);
    roster.judge('west');
    expect(done).toEqual(['b Accepted']);
  });

  it('are warned of names that overlap, the one that was there and the one that comes (A7)', () => {
    put(read('a', 'west'));
    put(read('b', 'north-west'));
    expect(done.slice(1)).toEqual([
      expect.stringMatching(/^b Accepted .*Link a can want/),
      expect.stringMatching(/^a Accepted .*Link b can want/),
    ]);
    done.length = 0;
    remove('b');
    expect(done).toEqual(['b ended', 'a Accepted']);
  });

  it('hear of a new list, and of the end, all of them', async () => {
    put(read('a', 'west'));
    put(read('b', 'east'));
    done.length = 0;
    roster.listed();
    await roster.end();
    expect(done).toEqual(['a listed', 'b listed', 'a ended', 'b ended']);
  });
});
