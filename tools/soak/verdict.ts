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
const FREE: Readonly<Record<keyof Memory, { readonly ratio: number; readonly more: number }>> = {
  liveMegabytes: { ratio: 1.1, more: 6 },
  residentMegabytes: { ratio: 1.15, more: 24 },
  files: { ratio: 1, more: 16 },
};

export function verdictRows(findings: Findings): readonly Row[] {
  const settled = findings.samples.slice(WARM_UP);
  const samples = settled.length >= FEWEST ? settled : findings.samples;
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
    ...atRest(findings.memories, 'liveMegabytes', 'live heap of the last leader at rest, first third', 'MB'),
    ...atRest(findings.memories, 'residentMegabytes', 'resident at rest, first third', 'MB'),
    // What is resident while things change has garbage in it, which is the collector's to leave.
    { measure: 'most resident while things change', value: mostOf(samples, 'megabytes'), unit: 'MB' },
    // Connections close while a target is away, and more than one is opened when it is back.
    ...atRest(findings.memories, 'files', 'open files at rest, first third', ''),
    { measure: 'most open files while things change', value: mostOf(samples, 'files'), unit: '' },
  ];
}

const mostOf = (of: readonly Sample[], field: keyof Sample): number => Math.max(0, ...of.map((each) => each[field]));

/** The middle of the first third of the rests, and that of the last, which is judged by it. */
function atRest(all: readonly Memory[], field: keyof Memory, measure: string, unit: string): readonly Row[] {
  const settled = all.slice(1);
  const third = Math.ceil(settled.length / 3);
  const middle = (of: readonly Memory[]): number =>
    percentile(
      of.map((each) => each[field]),
      0.5,
    );
  const [first, last] = [middle(settled.slice(0, third)), middle(settled.slice(settled.length - third))];
  const { ratio, more } = FREE[field];
  const isJudged = all.length >= FEWEST_RESTS;
  return [
    { measure, value: first, unit },
    { measure: '  last third', value: last, unit, ...(isJudged && { goal: first * ratio + more }) },
  ];
}
