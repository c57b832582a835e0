/** What a soak came to: figures, each with the most that it may be. Pure. */
import { percentile, type Row } from '../bench/report.ts';

/** Time between two samples, in milliseconds. */
export const SAMPLE_MS = 2_000;

/** A leader's memory and open files, at one moment. */
export interface Sample {
  readonly megabytes: number;
  readonly files: number;
}

export interface Findings {
  readonly minutes: number;
  /** How often each fault was made, by its name. */
  readonly faults: ReadonlyMap<string, number>;
  readonly changes: number;
  readonly writes: number;
  readonly rests: number;
  readonly lost: readonly string[];
  readonly foreign: readonly string[];
  /** Replicas that ended by themselves. */
  readonly ended: number;
  readonly samples: readonly Sample[];
  readonly longestNotReadySeconds: number;
  readonly longestToRestSeconds: number;
}

/** Samples that say nothing: a process that begins to lead fills its caches and pools first. */
const WARM_UP = 120_000 / SAMPLE_MS;
/** Fewer are not judged. */
const FEWEST = 30;
/** Growth that is none: what a collector leaves, and connections that come and go. */
const FREE_MEGABYTES = 24;
const FREE_RATIO = 1.15;
const FREE_FILES = 16;

export function verdictRows(findings: Findings): readonly Row[] {
  const settled = findings.samples.slice(WARM_UP);
  const isJudged = settled.length >= FEWEST;
  const samples = isJudged ? settled : findings.samples;
  const third = Math.floor(samples.length / 3);
  const first = samples.slice(0, third);
  const last = samples.slice(samples.length - third);
  const middle = (of: readonly Sample[], field: keyof Sample): number =>
    of.length === 0
      ? 0
      : percentile(
          of.map((each) => each[field]),
          0.5,
        );
  // Connections close while a target is away: the most at any moment is what grows with a leak.
  const most = (of: readonly Sample[]): number => Math.max(0, ...of.map(({ files }) => files));
  const files = most(first);
  const megabytes = middle(first, 'megabytes');
  return [
    { measure: 'minutes of change', value: findings.minutes, unit: '' },
    ...[...findings.faults].map(([fault, count]) => ({ measure: `  fault: ${fault}`, value: count, unit: '' })),
    { measure: 'changes by users', value: findings.changes, unit: '' },
    { measure: 'writes by the operator, but Leases', value: findings.writes, unit: '' },
    { measure: 'replicas that ended by themselves', value: findings.ended, unit: '' },
    { measure: 'rests that were checked', value: findings.rests, unit: '' },
    { measure: '  longest time to rest', value: findings.longestToRestSeconds, unit: 's' },
    { measure: 'mirrors lost or wrong', value: findings.lost.length, unit: '', goal: 0 },
    { measure: 'foreign writes', value: findings.foreign.length, unit: '', goal: 0 },
    { measure: 'longest time not ready', value: findings.longestNotReadySeconds, unit: 's' },
    { measure: 'memory of the last leader, first third', value: megabytes, unit: 'MB' },
    {
      measure: '  last third',
      value: middle(last, 'megabytes'),
      unit: 'MB',
      ...(isJudged && { goal: megabytes * FREE_RATIO + FREE_MEGABYTES }),
    },
    { measure: 'most open files, first third', value: files, unit: '' },
    { measure: '  last third', value: most(last), unit: '', ...(isJudged && { goal: files + FREE_FILES }) },
  ];
}
