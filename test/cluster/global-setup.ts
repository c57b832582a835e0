/**
 * Decides, before any test runs, which backings there are: builds the real servers where they are missing and Go is
 * there. Without Go the run is a shorter one and ends by saying so; under CI=true a shorter run is a failed one. However
 * a run ends, no process and no temporary file of it is left: it ends with its npm, its workers end with it, the servers
 * with the workers, and its temporary folder is removed from outside.
 */
import { chmodSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { BACKINGS_VARIABLE, backings } from './backings.ts';
import { missingBinaries } from './real/binaries.ts';
import { buildMissing, hasGo } from './real/build.ts';
import { endWithNpm } from './real/npm-parent.ts';
import { Processes } from './real/processes.ts';

const isCi = (): boolean => process.env['CI'] === 'true';

const wants = (): boolean => {
  const named = process.env[BACKINGS_VARIABLE];
  return named === undefined || named === '' || backings().includes('real');
};

declare module 'vitest' {
  export interface ProvidedContext {
    /** What is left to `npm run test:all`. */
    notRun: readonly string[];
    /** Whether suites for each backing run on the real one alone. */
    isQuick: boolean;
  }
}

let notRun: readonly string[] = [];
let processes: Processes | undefined;

/** Run by vitest before the tests. */
export const setup = async ({ config }: TestProject): Promise<void> => {
  endWithNpm();
  processes = new Processes('tests');
  // Workers, and what they start, take it for the system's; a test may run a program as another user.
  process.env['TMPDIR'] = processes.dir;
  chmodSync(processes.dir, 0o755);
  notRun = (config.provide as { readonly notRun?: readonly string[] }).notRun ?? [];
  if (wants() && missingBinaries().length > 0 && hasGo()) {
    console.log('Building the API servers that tests run on: minutes the first time, never again.');
    await buildMissing((line) => console.log(line));
  }
  const missing = missingBinaries();
  if (missing.length > 0 && isCi()) {
    throw new Error(`${missing.join(', ')} missing, and no Go to build them: under CI=true every suite must run`);
  }
  process.env[BACKINGS_VARIABLE] = backings().join(',');
};

/** Run by vitest after the last report. */
export const teardown = async (): Promise<void> => {
  await processes?.close();
  if (notRun.length > 0) console.warn(`\nNot run, as npm run test:all and CI do:\n  ${notRun.join('\n  ')}`);
  if (backings().includes('real')) return;
  console.warn(
    '\nWARNING: nothing ran on real API servers, only on the simulated one: RBAC, the schema and CEL rules of the\n' +
      "CRD, Kubernetes' own controllers and DNS were NOT tested. Install Go 1.26 and run `npm run cluster:build`.\n",
  );
};
