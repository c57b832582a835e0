import { describe, expect, it, test } from 'vitest';
import {
  ApiError,
  ConnectionError,
  cut,
  describe as describeError,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNamespaceGone,
  isNotFound,
  isUnauthorized,
  MAX_FOREIGN_TEXT,
  obstacleOf,
} from '../../../operator/kube/errors.ts';

describe('cut', () => {
  test.each([
    ['short text stays', 'short text stays'],
    ['  several\n lines\tbecome   one ', 'several lines become one'],
    ['', ''],
    ['\u001B[2J\u001B]0;owned\u0007 \u009B31m red', '[2J ]0;owned 31m red'],
    ['ends\u2028here, and \u202Ebackwards', 'ends here, and backwards'],
  ])('%j becomes %j', (text, expected) => {
    expect(cut(text)).toBe(expected);
  });

  it('looks at the beginning only', () => {
    expect(cut(`${'x'.repeat(10)}${' '.repeat(100_000)}y`)).toBe('x'.repeat(10));
  });

  it('ends at the limit, visibly', () => {
    const long = cut('x'.repeat(1000));
    expect(long).toHaveLength(MAX_FOREIGN_TEXT);
    expect(long.endsWith('x…')).toBe(true);
    expect(cut('x'.repeat(MAX_FOREIGN_TEXT))).toBe('x'.repeat(MAX_FOREIGN_TEXT));
  });
});

describe('ApiError', () => {
  it('says what was tried, what the server said and its code', () => {
    const error = new ApiError(
      409,
      { reason: 'Conflict', message: 'the object has been modified' },
      'apply Service a/b',
    );
    expect(error.message).toBe('apply Service a/b: the object has been modified (409)');
    expect(error.reason).toBe('Conflict');
  });

  it('falls back to the reason, then to the code', () => {
    expect(new ApiError(404, { reason: 'NotFound' }, 'get').message).toBe('get: NotFound (404)');
    expect(new ApiError(503, {}, 'get').message).toBe('get: HTTP 503 (503)');
  });

  it('repeats no more of what a server wrote than the limit', () => {
    expect(new ApiError(500, { message: 'y'.repeat(10_000) }, 'get').message.length).toBeLessThan(
      MAX_FOREIGN_TEXT + 20,
    );
  });

  it('tells a namespace that is gone from an object that is', () => {
    const of = (code: number, details: object) => new ApiError(code, { details }, 'apply Service shop/web');
    expect(isNamespaceGone(of(404, { kind: 'namespaces' }))).toBe(true);
    expect(isNamespaceGone(of(404, { kind: 'services' }))).toBe(false);
    expect(isNamespaceGone(of(403, { causes: [{ reason: 'NamespaceTerminating' }] }))).toBe(true);
    expect(isNamespaceGone(of(403, {}))).toBe(false);
  });

  test.each([
    [400, [isInvalid]],
    [401, [isUnauthorized]],
    [403, [isForbidden]],
    [404, [isNotFound]],
    [409, [isConflict]],
    [422, [isInvalid]],
    [500, []],
  ])('a %i is told from the others', (code, expected) => {
    const all = [isInvalid, isUnauthorized, isForbidden, isNotFound, isConflict];
    expect(all.filter((is) => is(new ApiError(code, {}, 'x')))).toEqual(expected);
    expect(all.filter((is) => is(new ConnectionError('x')))).toEqual([]);
  });
});

describe('isExpired', () => {
  test.each([
    ['code 410', new ApiError(410, {}, 'watch'), true],
    ['reason Expired, as of a list page', new ApiError(410, { reason: 'Expired' }, 'list'), true],
    ['a version of the future, by its cause', tooLarge(), true],
    [
      'a version of the future, by its text',
      new ApiError(504, { message: 'Too large resource version: 9' }, 'w'),
      true,
    ],
    ['any other timeout', new ApiError(504, { message: 'Timeout' }, 'list'), false],
    ['a connection that failed', new ConnectionError('reset'), false],
    ['no error of ours', new Error('410'), false],
  ])('of %s', (_, error, expected) => {
    expect(isExpired(error)).toBe(expected);
  });
});

function tooLarge(): ApiError {
  const details = { causes: [{ reason: 'ResourceVersionTooLarge' }] };
  return new ApiError(504, { reason: 'Timeout', message: 'Timeout', details }, 'list');
}

describe('an obstacle', () => {
  it('is the same for whatever leaves us without an answer, and passes', () => {
    const failures = [
      new ConnectionError('refused'),
      new ConnectionError('reset'),
      new ApiError(500, {}, 'list'),
      new ApiError(503, {}, 'watch'),
      new ApiError(429, {}, 'list'),
    ];
    expect(new Set(failures.map(obstacleOf)).size).toBe(1);
  });

  it('is another for each refusal', () => {
    const refusals = [401, 403, 404, 500].map((code) => new ApiError(code, {}, 'list'));
    expect(new Set(refusals.map(obstacleOf)).size).toBe(4);
  });
});

describe('describe', () => {
  test.each([
    ['an API error by its message', new ApiError(403, { message: 'no' }, 'list services'), 'list services: no (403)'],
    ['a wrapped error with its cause', new Error('outer', { cause: new Error('inner') }), 'outer: inner'],
    [
      'a cause that the error names already, once',
      new Error('list services: connect ECONNREFUSED 192.0.2.1:1', {
        cause: new Error('connect ECONNREFUSED 192.0.2.1:1'),
      }),
      'list services: connect ECONNREFUSED 192.0.2.1:1',
    ],
    ['several errors by the first', new AggregateError([new Error('one'), new Error('two')], 'all'), 'all: one'],
    ['several errors without a text of their own', new AggregateError([new Error('one'), new Error('two')]), 'one'],
    ['what is no error', 'text', 'text'],
  ])('%s', (_, error, expected) => {
    expect(describeError(error)).toBe(expected);
  });
});
