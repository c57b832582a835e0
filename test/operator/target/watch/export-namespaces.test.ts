import { describe, expect, it } from 'vitest';
import type { KindState } from '../../../../operator/runtime/optional-kind.ts';
import { ExportNamespaces, WHOLE } from '../../../../operator/target/watch/export-namespaces.ts';

/** The namespaces that are read, by the state of each; undefined: all, which can be read. */
function namespaces(states: Record<string, KindState> | undefined) {
  const read = states && Object.keys(states);
  return new ExportNamespaces(read, (namespace) =>
    states === undefined ? 'readable' : (states[namespace] ?? 'unknown'),
  );
}

describe('all namespaces, read together', () => {
  it('are one part, whose lists are counted as they come', () => {
    const all = namespaces(undefined);
    expect([all.includes('shop'), all.partOf('shop'), all.isCounted('shop')]).toEqual([true, WHOLE, true]);
    expect(all.listed(undefined, 7)).toEqual([]);
    expect([all.isCounted('shop'), all.reconsider()]).toEqual([true, []]);
  });
});

describe('single namespaces', () => {
  it('are counted together when a list of one takes exports away (E6)', () => {
    const read = namespaces({ shop: 'readable', bank: 'readable', barn: 'forbidden' });
    expect(read.listed('shop', 0)).toEqual([]);
    expect(read.listed('shop', 2)).toEqual(['bank']);
    expect(['shop', 'bank'].map((each) => read.isCounted(each))).toEqual([false, false]);
    // What was asked for is counted with what led to it, and asks for nothing more.
    expect(read.listed('bank', 3)).toEqual([]);
    expect(['shop', 'bank', 'barn'].map((each) => read.isCounted(each))).toEqual([true, true, false]);
  });

  it('that come to be refused are not waited for', () => {
    const states: Record<string, KindState> = { shop: 'readable', bank: 'readable' };
    const read = namespaces(states);
    read.listed('shop', 1);
    states.bank = 'forbidden';
    expect(read.reconsider()).toEqual(['bank']);
    expect(read.isCounted('shop')).toBe(true);
  });

  it('are all that is known: what another has is known once any can be read', () => {
    const read = namespaces({ shop: 'unknown', bank: 'readable' });
    expect([read.includes('other'), read.isReadable('other'), read.isReadable('shop')]).toEqual([false, true, false]);
    expect(namespaces({ shop: 'unknown' }).isReadable('other')).toBe(false);
    expect(read.partOf('bank')).toBe('bank');
  });
});
