/** Draws what breaks: processes, the network, and API servers. Between two commands, time passes. */
import fc from 'fast-check';
import { type Failing, FORBIDDEN, PLACES } from '../command.ts';
import { type Manner, MANNERS } from '../manners.ts';
import type { Weather } from '../world/internet.ts';
import { at, doing, targetName } from './fields.ts';
import type { Weighted } from './weighted.ts';

export const faults: Weighted = [
  [
    7,
    fc.record({
      do: fc.constantFrom('stop operator', 'kill operator', 'start operator', 'start operator'),
      replica: fc.nat({ max: 1 }),
    }),
  ],
  [
    2,
    fc.record({
      ...doing('pause operator'),
      replica: fc.nat({ max: 1 }),
      ms: fc.constantFrom(200, 5_000, 20_000, 40_000, 90_000),
    }),
  ],
  [4, fc.record({ ...doing('crash operator'), writes: fc.integer({ min: 1, max: 12 }) })],
  [
    5,
    fc.record({
      ...doing('weather'),
      at: fc.constantFrom(...PLACES),
      weather: fc.constantFrom<Weather>('slow', 'slow', 'refused', 'stalled', 'lost'),
      ms: fc.constantFrom(100, 2_000, 12_000, 45_000, 200_000),
    }),
  ],
  [
    2,
    fc.record({
      ...doing('cut answers'),
      at,
      bytes: fc.constantFrom(0, 1, 100, 1_000),
      times: fc.constantFrom(1, 3),
    }),
  ],
  [2, fc.record({ ...doing('names'), as: fc.constantFrom('moved', 'moved', 'answered', 'refused', 'silent') })],
  [
    5,
    fc.record({
      ...doing('down'),
      at,
      ms: fc.constantFrom(3_000, 3_000, 20_000, 100_000),
      back: fc.constantFrom(0, 0, 1, 2, 4, 8),
      more: fc.constantFrom(0, 0, 10, 1_000),
    }),
  ],
  [
    1,
    fc.record({
      ...doing('forbid'),
      resource: fc.constantFrom(...FORBIDDEN),
      ms: fc.constantFrom(1_000, 12_000, 100_000),
    }),
  ],
  [1, fc.record({ ...doing('compact'), at })],
  [
    2,
    fc.record({
      ...doing('manner'),
      at: targetName,
      as: fc.constantFrom(...MANNERS),
      ms: fc.constantFrom(1_000, 30_000, 100_000),
    }),
  ],
  [
    1,
    fc.record({
      ...doing('manner'),
      at: fc.constant('east' as const),
      as: fc.constantFrom<Manner>('watches end young', 'bookmarks expire'),
      ms: fc.constantFrom(1_000, 30_000),
    }),
  ],
  [
    7,
    fc.record({
      ...doing('fail'),
      at,
      how: fc.constantFrom<Failing>(
        '401',
        '403',
        '500',
        '409',
        '409',
        '429',
        '503',
        '503',
        'drop before',
        'drop after',
        'drop after',
        'hang after',
      ),
      fraction: fc.constantFrom(1, 0.5, 0.3),
      times: fc.constantFrom(1, 2, 4, 8),
    }),
  ],
  [
    4,
    fc.record({
      do: fc.constantFrom(
        'drop watches',
        'drop watches',
        'expire watches',
        'expire watches',
        'silence watches',
        'delay',
        'heal',
      ),
      at,
    }),
  ],
  [14, fc.record({ ...doing('wait'), ms: fc.constantFrom(5, 100, 1_000, 4_000, 35_000) })],
];
