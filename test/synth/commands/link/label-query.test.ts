import { describe, expect, it } from 'vitest';
import { readLabelQuery } from '../../../../synth/commands/link/label-query.ts';

const read = (query: string) => {
  const found = readLabelQuery('--selector', query);
  return found.ok ? found.selector : found.problem.reason;
};

describe('a label query', () => {
  it.each([
    ['', {}],
    ['a=b', { matchLabels: { a: 'b' } }],
    ['a in (b)', { matchLabels: { a: 'b' } }],
    ['example.com/a==b,c=', { matchLabels: { 'example.com/a': 'b', c: '' } }],
    ['a!=b', { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] }],
    ['a in (b, c)', { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] }],
    [
      'a notin (b,c),d=e',
      { matchLabels: { d: 'e' }, matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b', 'c'] }] },
    ],
    [
      'a, !b',
      {
        matchExpressions: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'DoesNotExist' },
        ],
      },
    ],
  ])('%j is the selector %j', (query, selector) => {
    expect(read(query)).toEqual(selector);
  });

  it.each([
    ['a=b,a=c', /must not ask for two values of a/],
    ['a=b c', /"a=b c" is no requirement on a label/],
    ['a in (b', /must be a label query: "a in \(b" is no requirement/],
    ['a,,b', /"a,,b" must be a label query: "" is no requirement/],
    ['a=-', /must be a valid label value/],
    ['-a', /must be a valid label key/],
    ['a>1', /must be a valid label key/],
  ])('%j is refused', (query, reason) => {
    expect(read(query)).toMatch(reason);
  });
});
