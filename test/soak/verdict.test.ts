import { describe, expect, it, test } from 'vitest';
import { isOver } from '../../tools/bench/report.ts';
import { type ExportedService, inBoth, mirrorOf, Model } from '../../tools/soak/model.ts';
import type { Memory } from '../../tools/soak/memory.ts';
import { type Findings, type Sample, verdictRows } from '../../tools/soak/verdict.ts';

/** Rests of one leader, of which the first says nothing. */
const rests = (from: Memory, to: Memory, count = 12): readonly Memory[] => [
  { liveMegabytes: 20, residentMegabytes: 60, files: 30 },
  ...Array.from({ length: count }, (_, index) => (index < count / 2 ? from : to)),
];
const SMALL: Memory = { liveMegabytes: 60, residentMegabytes: 150, files: 60 };

/** Samples after the time in which a leader fills its caches. */
const samples = (from: Sample, to: Sample, count = 60): readonly Sample[] => [
  ...Array.from({ length: 60 }, () => ({ megabytes: 50, files: 20 })),
  ...Array.from({ length: count }, (_, index) => (index < count / 2 ? from : to)),
];
const WELL: Sample = { megabytes: 100, files: 60 };
const FINDINGS: Findings = {
  minutes: 60,
  faults: new Map([['the leader is killed', 3]]),
  ...{ changes: 1000, writes: 2000, rests: 10, ended: 1 },
  ...{ lost: [], foreign: [], longestNotReadySeconds: 12, longestToRestSeconds: 5 },
  samples: samples(WELL, WELL),
  memories: rests(SMALL, SMALL),
  grown: undefined,
};
const over = (findings: Partial<Findings>): readonly string[] =>
  verdictRows({ ...FINDINGS, ...findings })
    .filter(isOver)
    .map(({ measure }) => measure.trim());

describe('a soak', () => {
  test.each<[string, Partial<Findings>, readonly string[]]>([
    ['passes when nothing is lost, foreign or growing', {}, []],
    ['fails when a mirror is lost', { lost: ['web-soak-0'] }, ['lost or wrong']],
    ['fails when an object of others is written', { foreign: ['own'] }, ['foreign writes']],
    ['fails when the live heap grows', { memories: rests(SMALL, { ...SMALL, liveMegabytes: 75 }) }, ['last third']],
    [
      'fails when more stays resident at rest',
      { memories: rests(SMALL, { ...SMALL, residentMegabytes: 210 }) },
      ['last third'],
    ],
    ['fails when more files stay open at rest', { memories: rests(SMALL, { ...SMALL, files: 77 }) }, ['last third']],
    ['passes when more are open while things change', { samples: samples(WELL, { ...WELL, files: 400 }) }, []],
    ['passes when more is resident while things change', { samples: samples(WELL, { ...WELL, megabytes: 500 }) }, []],
    [
      'passes when a collector leaves some pages',
      { memories: rests(SMALL, { liveMegabytes: 64, residentMegabytes: 180, files: 70 }) },
      [],
    ],
    [
      'does not judge memory that was read a few times',
      { memories: rests(SMALL, { ...SMALL, liveMegabytes: 500 }, 3) },
      [],
    ],
  ])('%s', (_, findings, expected) => {
    expect(over(findings)).toEqual(expected);
  });
});

describe('the model of a soak', () => {
  const WEB: ExportedService = { link: 'soak-0', target: 'west', name: 'web', exported: true, ready: true, port: 80 };
  const modelOf = (...services: readonly ExportedService[]): Model => {
    const model = new Model();
    for (const service of services) model.put(service);
    return model;
  };

  it('calls for a mirror of what is exported, ready while its pods and the gateway are', () => {
    const model = modelOf(WEB);
    expect(model.expected(mirrorOf(WEB))).toEqual({ port: 80, readiness: 'ready' });
    model.setGateway(['soak-0'], false);
    expect(model.expected(mirrorOf(WEB))?.readiness).toBe('notReady');
    model.put({ ...WEB, ready: false });
    expect(model.expected(mirrorOf(WEB))?.readiness).toBe('empty');
    model.put({ ...WEB, exported: false });
    expect(model.expected(mirrorOf(WEB))).toBeUndefined();
  });

  it('names what is missing, wrong or too much', () => {
    const model = modelOf(WEB, { ...WEB, name: 'db' });
    const seen = new Map([
      ['web-soak-0', { port: 81, readiness: 'ready' as const }],
      ['old-soak-0', { port: 80, readiness: 'ready' as const }],
    ]);
    expect(model.differences(seen)).toEqual([
      'web-soak-0 is ready on port 81, must be ready on port 80',
      'db-soak-0 is absent, must be ready on port 80',
      'old-soak-0 is ready on port 80, must be absent',
    ]);
  });

  it('is certain of what two states of a target have in common', () => {
    expect(inBoth(WEB, { ...WEB, exported: false })).toMatchObject({ exported: false, ready: true });
  });
});
