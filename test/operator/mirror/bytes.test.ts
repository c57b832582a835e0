import { describe, expect, it, test } from 'vitest';
import { bytesOf, sizeOf } from '../../../operator/mirror/bytes.ts';
import { targetService, targetSlice } from './observed.ts';

const lots = <T>(of: (at: number) => T): readonly T[] => Array.from({ length: 100 }, (_, at) => of(at));

describe('the bytes that are counted of a value (E10)', () => {
  test.each<[string, unknown]>([
    ['texts', lots((at) => String(at))],
    ['numbers', lots((at) => 30_000 + at)],
    ['lists', lots(() => ['http', 'https'])],
    ['fields', Object.fromEntries(lots((at) => [`example.com/key-${at}`, `value ${at}`]))],
    ['fields that are null, as the API server sends empty lists', lots(() => ({ endpoints: null, ports: null }))],
    ['flags', lots(() => ({ ready: true, serving: false }))],
    ['a Service', targetService({}, { annotations: { note: 'x'.repeat(1_000) } })],
    ['a slice of pods', targetSlice(lots((at) => ({ hostname: `web-${at}` })))],
  ])('are about those of its JSON: %s', (_, value) => {
    const exact = JSON.stringify(value).length;
    expect(sizeOf(value)).toBeGreaterThan(0.8 * exact);
    expect(sizeOf(value)).toBeLessThan(1.3 * exact);
  });

  it('are those of each object, however often it is asked for', () => {
    const [small, large] = [targetService(), targetService({}, { annotations: { note: 'x'.repeat(1_000) } })];
    for (let time = 0; time < 2; time += 1) {
      expect([bytesOf(small), bytesOf(large)]).toEqual([sizeOf(small), sizeOf(large)]);
      expect(bytesOf(large) - bytesOf(small)).toBeGreaterThan(1_000);
    }
  });
});
