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
    ['1.001s', 1_001],
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
    ['0.9223372036854775807h', 3_320_413.933_268],
  ])('reads %j as Go does, to a nanosecond', (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 6);
    if (Number.isInteger(ms)) expect(parseDuration(text) + 0).toBe(ms + 0);
  });

  it.each([
    ['', 'must be a valid duration'],
    ['-', 'must be a valid duration'],
    ['+', 'must be a valid duration'],
    ['.', 'must be a valid duration'],
    ['-.', 'must be a valid duration'],
    ['.s', 'must be a valid duration'],
    ['+.s', 'must be a valid duration'],
    ['s', 'must be a valid duration'],
    ['abc', 'must be a valid duration'],
    [' 3s', 'must be a valid duration'],
    ['--3s', 'must be a valid duration'],
    ['3', 'must have a unit'],
    ['00', 'must have a unit'],
    ['3.', 'must have a unit'],
    ['1m3', 'must have a unit'],
    ['3 s', 'must have units ns, us, ms, s, m or h, not " s"'],
    ['3s ', 'must have units ns, us, ms, s, m or h, not "s "'],
    ['3S', 'must have units ns, us, ms, s, m or h, not "S"'],
    ['1d', 'must have units ns, us, ms, s, m or h, not "d"'],
    ['3s-4ms', 'must have units ns, us, ms, s, m or h, not "s-"'],
    ['\x85\x85', 'must be a valid duration'],
  ])('refuses %j: it %s', (text, reason) => {
    expect(() => parseDuration(text)).toThrow(new RangeError(reason));
  });

  it('reads what overflows in Go as what it says, for its reader to refuse', () => {
    expect(parseDuration('3000000h')).toBe(10_800_000_000_000);
    expect(parseDuration(`${'9'.repeat(400)}h`)).toBe(Infinity);
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
    ['', 'must be between 1 and 65535'],
    ['http', 'must be between 1 and 65535'],
    ['-1', 'must be between 1 and 65535'],
    ['+80', 'must be between 1 and 65535'],
    ['80 ', 'must be between 1 and 65535'],
    ['8e1', 'must be between 1 and 65535'],
    ['0x50', 'must be between 1 and 65535'],
    ['80.0', 'must be between 1 and 65535'],
    ['٨٠', 'must be between 1 and 65535'],
    ['0', 'must be between 1 and 65535'],
    ['65536', 'must be between 1 and 65535'],
    ['9'.repeat(400), 'must be between 1 and 65535'],
  ])('refuses %j: it %s', (text, reason) => {
    expect(() => parsePort(text)).toThrow(new RangeError(reason));
  });
});
