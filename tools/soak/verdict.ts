/** What a soak came to: figures, each with the most that it may be. Pure. */
import { percentile, type Row } from '../bench/report.ts';
import type { Growth } from './heap.ts';
import type { Memory } from './memory.ts';

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
  /** Of the last leader, at one rest after the other. */
  readonly memories: readonly Memory[];
  readonly longestNotReadySeconds: number;
  readonly longestToRestSeconds: number;
  /** What of the heap of the last leader has grown, most first; undefined if no snapshots were taken. */
  readonly grown: readonly Growth[] | undefined;
}

/** Samples that say nothing: a process that begins to lead fills its caches and pools first. */
const WARM_UP = 120_000 / SAMPLE_MS;
/** Fewer are not judged. */
const FEWEST = 30;
/** Rests of one leader; the first proves nothing. Fewer are not judged. */
const FEWEST_RESTS = 5;
/** Growth that is none: between two rests, connections and histories of what was written differ, and pages are left over. */
const FREE: Readonly<Record<keyof Memory, { readonly ratio: number; readonly megabytes: number }>> = {
  liveMegabytes: { ratio: 1.1, megabytes: 6 },
  residentMegabytes: { ratio: 1.15, megabytes: 24 },
};
const FREE_FILES = 16;

export function verdictRows(findings: Findings): readonly Row[] {
  const settled = findings.samples.slice(WARM_UP);
  const isJudged = settled.length >= FEWEST;
  const samples = isJudged ? settled : findings.samples;
  const third = Math.floor(samples.length / 3);
  const first = samples.slice(0, third);
  const last = samples.slice(samples.length - third);
  // Connections close while a target is away: the most at any moment is what grows with a leak.
  const files = mostOf(first, 'files');
  return [
    { measure: 'minutes of change', value: findings.minutes, unit: '' },
    ...[...findings.faults].map(([fault, count]) => ({ measure: `  fault: ${fault}`, value: count, unit: '' })),
    { measure: 'changes by users', value: findings.changes, unit: '' },
    { measure: 'writes by the operator, but Leases', value: findings.writes, unit: '' },
    { measure: 'replicas that ended by themselves', value: findings.ended, unit: '' },
    { measure: 'rests that were checked', value: findings.rests, unit: '' },
    { measure: '  longest time to rest', value: findings.longestToRestSeconds, unit: 's' },
    { measure: 'lost or wrong', value: findings.lost.length, unit: '', goal: 0 },
    { measure: 'foreign writes', value: findings.foreign.length, unit: '', goal: 0 },
    { measure: 'longest time not ready', value: findings.longestNotReadySeconds, unit: 's' },
    ...atRest(findings.memories, 'liveMegabytes', 'live heap of the last leader at rest, first third'),
    ...atRest(findings.memories, 'residentMegabytes', 'resident at rest, first third'),
    // What is resident while things change has garbage in it, which is the collector's to leave.
    { measure: 'most resident while things change', value: mostOf(samples, 'megabytes'), unit: 'MB' },
    { measure: 'most open files, first third', value: files, unit: '' },
    { measure: '  last third', value: mostOf(last, 'files'), unit: '', ...(isJudged && { goal: files + FREE_FILES }) },
  ];
}

const mostOf = (of: readonly Sample[], field: keyof Sample): number => Math.max(0, ...of.map((each) => each[field]));

/** The middle of the first third of the rests, and that of the last, which is judged by it. */
function atRest(all: readonly Memory[], field: keyof Memory, measure: string): readonly Row[] {
  const settled = all.slice(1);
  const third = Math.ceil(settled.length / 3);
  const middle = (of: readonly Memory[]): number =>
    percentile(
      of.map((each) => each[field]),
      0.5,
    );
  const [first, last] = [middle(settled.slice(0, third)), middle(settled.slice(settled.length - third))];
  const { ratio, megabytes } = FREE[field];
  const isJudged = all.length >= FEWEST_RESTS;
  return [
    { measure, value: first, unit: 'MB' },
    { measure: '  last third', value: last, unit: 'MB', ...(isJudged && { goal: first * ratio + megabytes }) },
  ];
}
