/**
 * Random histories of two targets, their users, gateways, networks and operators: whatever happened, the source
 * cluster comes to what the rules demand, without a write more, and nobody else's object was ever touched.
 */
import { expect, test } from 'vitest';
import { historyOf } from './command.ts';
import { report, runMany, shrink } from './run.ts';

const HISTORIES = 500;
/** Shrinking plays histories again and again. */
const SHRUNK = 2;

test(
  `${HISTORIES} random histories come to rest as docs/behaviour.md demands, and touch nothing that is not ours`,
  { timeout: 900_000 },
  async () => {
    const seed = Number(process.env['LINKSPAN_SIMULATION_SEED'] ?? Date.now() % 1_000_000_000);
    console.log(`${HISTORIES} histories from seed ${seed}; LINKSPAN_SIMULATION_SEED=${seed} plays them again`);
    const failures = await runMany({ seed, count: HISTORIES });
    const reports: string[] = [];
    for (const [current, failure] of [...failures].slice(0, SHRUNK)) {
      reports.push(report(current, failure, await shrink(historyOf(current), current, { budgetMs: 120_000 })));
    }
    expect([...failures.keys()], reports.join('\n\n')).toEqual([]);
  },
);
