import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseDuration, parsePort } from '../../crds/duration.ts';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['+0', 0],
    ['-0', 0],
    ['5s', 5_000],
    ['30s', 30_000],
    ['1478s', 1_478_000],
    ['-5s', -5_000],
    ['+5s', 5_000],
    ['5.0s', 5_000],
    ['5.6s', 5_600],
    ['5.s', 5_000],
    ['.5s', 500],
    ['1.004s', 1_004],
    ['1.00400s', 1_004],
    ['100.00100s', 100_001],
    ['10ns', 0.000_01],
    ['11us', 0.011],
    ['12\u00b5s', 0.012],
    ['12\u03bcs', 0.012],
    ['13ms', 13],
    ['14s', 14_000],
    ['15m', 900_000],
    ['16h', 57_600_000],
    ['3h30m', 12_600_000],
    ['10.5s4m', 250_500],
    ['-2m3.4s', -123_400],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['1h2m3s4ms5us6ns', 3_723_004.005_006],
    ['39h9m14.425s', 140_954_425],
    ['52763797000ns', 52_763.797],
    ['0.3333333333333333333h', 1_200_000],
    ['0.100000000000000000000h', 360_000],
    ['0.9223372036854775807h', 3_320_413.933_267],
    ['9223372036854775807ns', 9_223_372_036_854.775_807],
    ['9223372036854775.807us', 9_223_372_036_854.775_807],
    ['9223372036s854ms775us807ns', 9_223_372_036_854.775_807],
    ['-9223372036854775808ns', -9_223_372_036_854.775_808],
    ['-9223372036854775.808us', -9_223_372_036_854.775_808],
    ['-2562047h47m16.854775808s', -9_223_372_036_854.775_808],
  ])('reads %j as Go does', (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 6);
  });

  it.each([
    ['', 'is no duration'],
    ['-', 'is no duration'],
    ['+', 'is no duration'],
    ['.', 'is no duration'],
    ['-.', 'is no duration'],
    ['.s', 'is no duration'],
    ['+.s', 'is no duration'],
    ['s', 'is no duration'],
    ['abc', 'is no duration'],
    [' 3s', 'is no duration'],
    ['--3s', 'is no duration'],
    ['3', 'lacks a unit'],
    ['00', 'lacks a unit'],
    ['3.', 'lacks a unit'],
    ['1m3', 'lacks a unit'],
    ['3 s', 'has an unknown unit " s"'],
    ['3s ', 'has an unknown unit "s "'],
    ['3S', 'has an unknown unit "S"'],
    ['1d', 'has an unknown unit "d"'],
    ['3s-4ms', 'has an unknown unit "s-"'],
    ['\x85\x85', 'is no duration'],
    ['9223372036854775808ns', 'is longer than a duration can be'],
    ['9223372036854775.808us', 'is longer than a duration can be'],
    ['9223372036854ms775us808ns', 'is longer than a duration can be'],
    ['3000000h', 'is longer than a duration can be'],
    ['-9223372036854775809ns', 'is longer than a duration can be'],
    ['99999999999999999999999999999999s', 'is longer than a duration can be'],
  ])('refuses %j, which %s', (text, reason) => {
    expect(() => parseDuration(text)).toThrow(new RangeError(reason));
  });

  it('reads back every sum of terms', () => {
    const units = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;
    const term = fc.tuple(fc.nat(1_000), fc.constantFrom('h', 'm', 's', 'ms'));
    fc.assert(
      fc.property(fc.array(term, { minLength: 1 }), fc.constantFrom('', '+', '-'), (terms, sign) => {
        const ms = terms.reduce((sum, [count, unit]) => sum + count * units[unit], 0);
        const text = sign + terms.map(([count, unit]) => `${count}${unit}`).join('');
        expect(parseDuration(text) + 0).toBe((sign === '-' ? -ms : ms) + 0);
      }),
    );
  });

  it('either gives a number or throws a RangeError, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+.0-9hmsunµ]*$/)), (text) => {
        try {
          expect(parseDuration(text)).not.toBeNaN();
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

describe('parsePort', () => {
  it('reads every port, also with leading zeros, as Linkerd does', () => {
    expect(parsePort('04143')).toBe(4143);
    fc.assert(fc.property(fc.integer({ min: 1, max: 65_535 }), (port) => parsePort(String(port)) === port));
  });

  it.each([
    ['', 'is no port number'],
    ['http', 'is no port number'],
    ['-1', 'is no port number'],
    ['+80', 'is no port number'],
    ['80 ', 'is no port number'],
    ['8e1', 'is no port number'],
    ['0x50', 'is no port number'],
    ['80.0', 'is no port number'],
    ['٨٠', 'is no port number'],
    ['0', 'is not between 1 and 65535'],
    ['65536', 'is not between 1 and 65535'],
    ['9'.repeat(400), 'is not between 1 and 65535'],
  ])('refuses %j, which %s', (text, reason) => {
    expect(() => parsePort(text)).toThrow(new RangeError(reason));
  });
});
