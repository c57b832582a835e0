import { describe, expect, it } from 'vitest';

import { isDnsLabel, isDnsSubdomain, isLabelKey, isLabelValue, isServiceName } from '../../crds/names.ts';

const long = (length: number): string => 'a'.repeat(length);

describe('names are what the API server takes for them', () => {
  it.each([
    ['a DNS label', isDnsLabel, ['a', '0', 'west-1', '1-west', long(63)]],
    ['a DNS subdomain', isDnsSubdomain, ['a', 'cluster.local', '1.2', `${long(251)}.a`]],
    ['a Service name', isServiceName, ['a', 'web-0', '0a', long(63)]],
    ['a label key', isLabelKey, ['a', 'A_b.c-1', 'x.io/a', `x.io/${long(63)}`, `${long(253)}/a`]],
    ['a label value', isLabelValue, ['', 'a', 'A_b.c-1', '1', long(63)]],
  ] as const)('%s', (_, accepts, names) => {
    expect(names.filter((name) => !accepts(name))).toEqual([]);
  });

  it.each([
    ['a DNS label', isDnsLabel, ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a\n', long(64)]],
    ['a DNS subdomain', isDnsSubdomain, ['', '.', 'a.', '.a', 'a..b', 'A.b', 'a b', `${long(252)}.a`]],
    ['a Service name', isServiceName, ['', '-a', 'A', 'a-', 'a.b', long(64)]],
    ['a label key', isLabelKey, ['', '/', '/a', 'a/', 'a/b/c', 'X.io/a', '-a', 'a-', `${long(254)}/a`, long(64)]],
    ['a label value', isLabelValue, ['-', 'a ', '.a', 'a/b', 'é', long(64)]],
  ] as const)('not %s', (_, accepts, names) => {
    expect(names.filter(accepts)).toEqual([]);
  });
});
