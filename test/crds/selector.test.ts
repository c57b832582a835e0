import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Selector, parseSelector, parseSelectorText } from '../../crds/selector.ts';
import { formatFieldErrors } from '../../crds/field-error.ts';

const selector = (value: unknown): Selector => {
  const parsed = parseSelector(value, 'spec.selector');
  if (!parsed.ok) throw new Error(formatFieldErrors(parsed.errors));
  expect(parsed.value).toBeDefined();
  return parsed.value!;
};

const complaint = (value: unknown): string => {
  const parsed = parseSelector(value, 'spec.selector');
  return parsed.ok ? '' : formatFieldErrors(parsed.errors);
};

describe('parseSelector', () => {
  it.each([
    [undefined],
    [null],
    [{}],
    [{ matchLabels: {} }],
    [{ matchExpressions: [] }],
    [{ matchLabels: null, matchExpressions: null }],
  ])('selects nothing given %j (A1, L3)', (value) => {
    expect(parseSelector(value, 'spec.selector')).toEqual({ ok: true, value: undefined });
  });

  const expression = (key: string, operator: string, values?: readonly string[]) => ({
    matchExpressions: [{ key, operator, ...(values && { values }) }],
  });
  it.each([
    [{ matchLabels: { b: '2', a: '1' } }, 'a=1,b=2'],
    [{ matchLabels: { a: '' } }, 'a='],
    [expression('a', 'In', ['y', 'x', 'y']), 'a in (x,y)'],
    [expression('a', 'In', ['x']), 'a=x'],
    [expression('a', 'In', ['', 'x']), 'a in (,x)'],
    [expression('a', 'NotIn', ['x', 'y']), 'a notin (x,y)'],
    [expression('a', 'NotIn', ['']), 'a!='],
    [expression('a', 'Exists'), 'a'],
    [expression('a', 'DoesNotExist', []), '!a'],
    [{ matchLabels: { 'x.io/a': '1' }, ...expression('b', 'Exists') }, 'b,x.io/a=1'],
    [{ matchLabels: { a: '1' }, ...expression('a', 'In', ['1']) }, 'a=1'],
  ])('writes %j as the query %s', (value, query) => {
    expect(selector(value).query).toBe(query);
  });

  it.each([
    ['matchLabels', { matchLabels: { a: '1' } }, { one: true, two: false, empty: false, none: false }],
    ['In', expression('a', 'In', ['1', '2']), { one: true, two: true, empty: false, none: false }],
    ['In with the empty value', expression('a', 'In', ['']), { one: false, two: false, empty: true, none: false }],
    ['NotIn', expression('a', 'NotIn', ['1']), { one: false, two: true, empty: true, none: true }],
    ['Exists', expression('a', 'Exists'), { one: true, two: true, empty: true, none: false }],
    ['DoesNotExist', expression('a', 'DoesNotExist'), { one: false, two: false, empty: false, none: true }],
  ])('matches by %s as Kubernetes does', (_, value, wanted) => {
    const { matches } = selector(value);
    expect({
      one: matches({ a: '1' }),
      two: matches({ a: '2' }),
      empty: matches({ a: '' }),
      none: matches({ b: '1' }),
    }).toEqual(wanted);
    expect(matches(undefined)).toBe(wanted.none);
  });

  it('tells exported: "false" from exported: "true" by value, and not by existence (L4)', () => {
    const labels = { 'mirror.linkerd.io/exported': 'false' };
    expect(selector({ matchLabels: { 'mirror.linkerd.io/exported': 'true' } }).matches(labels)).toBe(false);
    expect(selector(expression('mirror.linkerd.io/exported', 'Exists')).matches(labels)).toBe(true);
  });

  it('does not take what every JavaScript object has for a label', () => {
    expect(selector(expression('constructor', 'Exists')).matches({})).toBe(false);
    expect(selector(expression('toString', 'NotIn', ['x'])).matches({})).toBe(true);
  });

  it('needs all requirements to hold', () => {
    const { matches } = selector({ matchLabels: { a: '1' }, ...expression('b', 'Exists') });
    expect(matches({ a: '1', b: 'x' })).toBe(true);
    expect(matches({ a: '1' })).toBe(false);
    expect(matches({ b: 'x' })).toBe(false);
  });

  it('writes one query for the same requirements in any order', () => {
    const label = fc.constantFrom('a', 'b', 'c', 'x.io/a');
    const requirement = fc.oneof(
      fc.record({
        key: label,
        operator: fc.constantFrom('In', 'NotIn'),
        values: fc.array(fc.constantFrom('', '1', '2'), { minLength: 1 }),
      }),
      fc.record({ key: label, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
    );
    const shuffled = fc
      .array(requirement, { minLength: 1 })
      .chain((items) => fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length })));
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(selector({ matchExpressions: one }).query).toBe(selector({ matchExpressions: other }).query);
      }),
    );
  });

  const KEY = '(write a label key such as example.com/name: a name of at most 63 letters, digits, - _ .)';
  const VALUE = '(write at most 63 letters, digits, - _ . that start and end with a letter or digit)';
  it.each([
    ['a=b', 'spec.selector: "a=b" must be an object'],
    [{ matchLabels: ['a'] }, 'spec.selector.matchLabels: ["a"] must be an object'],
    [{ matchLabels: { a: true } }, 'spec.selector.matchLabels.a: true must be a string (put it in quotes: "true")'],
    [{ matchLabels: { a: '-x' } }, `spec.selector.matchLabels.a: "-x" must be a valid label value ${VALUE}`],
    [{ matchLabels: { 'A.io/b': 'x' } }, `spec.selector.matchLabels["A.io/b"]: "x" must have a valid label key ${KEY}`],
    [{ matchExpressions: {} }, 'spec.selector.matchExpressions: {} must be an array'],
    [{ matchExpressions: ['a'] }, 'spec.selector.matchExpressions[0]: "a" must be an object'],
    [{ matchExpressions: [{ operator: 'Exists' }] }, `spec.selector.matchExpressions[0].key: is required ${KEY}`],
    [expression('a/b/c', 'Exists'), `spec.selector.matchExpressions[0].key: "a/b/c" must be a valid label key ${KEY}`],
    [{ matchExpressions: [{ key: 'a' }] }, 'spec.selector.matchExpressions[0].operator: is required'],
    [
      expression('a', 'in', ['x']),
      'spec.selector.matchExpressions[0].operator: "in" must be one of In, NotIn, Exists, DoesNotExist',
    ],
    [
      expression('a', 'In'),
      'spec.selector.matchExpressions[0].values: must not be empty for In (name at least one value)',
    ],
    [
      expression('a', 'NotIn', []),
      'spec.selector.matchExpressions[0].values: [] must not be empty for NotIn (name at least one value)',
    ],
    [
      expression('a', 'Exists', ['x']),
      'spec.selector.matchExpressions[0].values: ["x"] must be empty for Exists (leave it out)',
    ],
    [
      expression('a', 'DoesNotExist', ['x']),
      'spec.selector.matchExpressions[0].values: ["x"] must be empty for DoesNotExist (leave it out)',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: 'x' }] },
      'spec.selector.matchExpressions[0].values: "x" must be an array',
    ],
    [
      expression('a', 'In', ['a b']),
      `spec.selector.matchExpressions[0].values[0]: "a b" must be a valid label value ${VALUE}`,
    ],
  ])('refuses %j, naming field and reason (E7)', (value, message) => {
    expect(complaint(value)).toContain(message);
  });

  it('reports all that is wrong at once', () => {
    expect(
      parseSelector({ matchLabels: { a: 1, '-': 'x' }, ...expression('', 'Exists', ['x']) }, 'spec.selector'),
    ).toMatchObject({
      ok: false,
      errors: [
        { path: 'spec.selector.matchLabels.a' },
        { path: 'spec.selector.matchLabels.-' },
        { path: 'spec.selector.matchExpressions[0].key' },
        { path: 'spec.selector.matchExpressions[0].values' },
      ],
    });
  });
});

describe('parseSelectorText', () => {
  it.each([
    ['a=b', 'a=b'],
    [' a == b ,c!=d', 'a=b,c!=d'],
    ['a in (y, x),b notin (z),c,!d', '!d,a in (x,y),b!=z,c'],
    ['a=,b!=,c in (,x)', 'a=,b!=,c in (,x)'],
    ['mirror.linkerd.io/federated=member', 'mirror.linkerd.io/federated=member'],
  ])('reads %s as kubectl does', (text, query) => {
    expect(parseSelectorText(text)).toMatchObject({ ok: true, value: { query } });
  });

  it.each([[''], [' ']])('selects nothing given %j (A1)', (text) => {
    expect(parseSelectorText(text)).toEqual({ ok: true, value: undefined });
  });

  it.each([
    ['a=b c', 'selector: "a=b c" must be a valid label selector'],
    ['a=b,', 'selector: "a=b," must be a valid label selector'],
    ['a in b', 'selector: "a in b" must be a valid label selector'],
    ['ain (b)', 'selector: "ain (b)" must be a valid label selector'],
    ['a>1', 'selector.matchExpressions[0].key: "a>1" must be a valid label key'],
    ['a/b/c=d', 'selector.matchExpressions[0].key: "a/b/c" must be a valid label key'],
    ['a=-b', 'selector.matchExpressions[0].values[0]: "-b" must be a valid label value'],
  ])('refuses %s', (text, error) => {
    const parsed = parseSelectorText(text);
    expect(parsed.ok ? '' : formatFieldErrors(parsed.errors)).toContain(error);
  });
});
