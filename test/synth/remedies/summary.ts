/** Says at the end of a run how many remedies its workers have typed, and which they have not, and why. */
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Names the file to which workers write what they have tried. */
export const REMEDIES_LOG = 'LINKSPAN_REMEDIES_LOG';

/** What became of a remedy. */
export interface Tried {
  readonly command: string;
  /** Why it does not do what it says. @default - it does, or it is not run */
  readonly failure?: string;
  /** Why it is not run. @default - it is */
  readonly skipped?: string;
}

/** A line of the log: commands of a kind differ in the files and ports of a run. */
export interface LoggedRemedy extends Tried {
  readonly kind: string;
}

/** The summary of what workers have tried. Pure. */
export const summaryOf = (all: readonly LoggedRemedy[]): string => {
  const kinds = [...new Map(all.map((tried) => [tried.kind, tried])).values()];
  const skipped = kinds.filter((tried) => tried.skipped !== undefined);
  const typed = `Remedies: ${kinds.length - skipped.length} typed`;
  const reasons = [...Map.groupBy(skipped, (tried) => tried.skipped)].map(
    ([reason, { length }]) => `${length} not run: ${reason ?? ''}`,
  );
  return [typed, ...reasons].join('; ');
};

/** Run by vitest before the tests. */
export const setup = (): void => {
  process.env[REMEDIES_LOG] ??= join(tmpdir(), `linkspan-remedies-${process.pid}.jsonl`);
};

/** Run by vitest after the last report. */
export const teardown = async (): Promise<void> => {
  const file = process.env[REMEDIES_LOG] ?? '';
  const log = await readFile(file, 'utf8').catch(() => '');
  if (log === '') return;
  console.log(
    `\n${summaryOf(
      log
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as LoggedRemedy),
    )}`,
  );
  await rm(file, { force: true });
};
