/**
 * `npm run soak`: the operator on real API servers for as long as one likes, while users change what is exported and
 * things go wrong. Exits 1 if something was lost, an object of others was written, or memory at rest or open files grow.
 *
 *     npm run soak -- [--minutes 60] [--links 20] [--services 2000] [--built] [--heap]
 *
 * `--services` counts those of all Links. `--built` runs what `npm run build` has made instead of the sources: less memory.
 * `--heap` says at the end what of the leader's heap has grown; the snapshots for that take time, in which it does nothing.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isOver, table } from '../bench/report.ts';
import { missingBinaries } from '../../test/cluster/real/binaries.ts';
import { endWithNpm } from '../../test/cluster/real/npm-parent.ts';
import { BUILT } from '../../test/support/operator-process.ts';
import { growthTable } from './heap.ts';
import { soak } from './run.ts';
import { verdictRows } from './verdict.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    links: { type: 'string', default: '20' },
    services: { type: 'string', default: '2000' },
    built: { type: 'boolean', default: false },
    heap: { type: 'boolean', default: false },
  },
});

const positive = (flag: 'minutes' | 'links' | 'services'): number => {
  const value = Number(values[flag]);
  if (value > 0) return value;
  throw new RangeError(`--${flag} ${values[flag]}: must be a number above 0`);
};

endWithNpm();
const began = performance.now();
const progress = (what: string): void => {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${what}\n`);
};

try {
  if (values.built && !existsSync(BUILT)) throw new Error(`${BUILT} is not there: run \`npm run build\``);
  const missing = missingBinaries();
  if (missing.length > 0) throw new Error(`${missing.join(', ')} are not built: run \`npm run cluster:build\``);
  const findings = await soak({
    minutes: positive('minutes'),
    links: Math.round(positive('links')),
    services: Math.round(positive('services')),
    built: values.built,
    heap: values.heap,
    progress,
  });
  const rows = verdictRows(findings);
  console.log(table(rows));
  if (findings.grown !== undefined) console.log(growthTable(findings.grown));
  for (const each of [...findings.lost, ...findings.foreign].slice(0, 50)) console.log(each);
  process.exitCode = rows.some(isOver) ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
// The simulated parts of users hold nothing open, but a stopped child may.
process.exit();
