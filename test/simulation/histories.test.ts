/**
 * Random histories of two targets, their users, gateways, networks and operators: whatever happened, the source
 * cluster comes to what the rules demand, without a write more, and nobody else's object was ever touched.
 */
import { availableParallelism } from 'node:os';
import { expect, inject, test } from 'vitest';
import { explain, play } from './threads.ts';

/** As many as show most defects, and in runs that leave nothing out more. */
const HISTORIES = inject('isQuick') ? 100 : 500;
/** The same histories each time: a change does not fail by chance. `npm run fuzz` draws others. */
const SEED = 20_261_122;
/** Shrinking plays histories again and again. */
const SHRUNK = 2;

test(
  `${HISTORIES} random histories come to rest as docs/behaviour.md demands, and touch nothing that is not ours`,
  { timeout: 900_000 },
  async ({ signal }) => {
    const seed = Number(process.env['LINKSPAN_SIMULATION_SEED'] ?? SEED);
    console.log(`${HISTORIES} histories from seed ${seed}; LINKSPAN_SIMULATION_SEED=${seed} plays them again`);
    const failures = await play({ seed, count: HISTORIES, threads: Math.min(4, availableParallelism()), signal });
    const reports = [...failures]
      .slice(0, SHRUNK)
      .map(([current, failure]) => explain(current, failure, { budgetMs: 120_000 }));
    expect([...failures.keys()], (await Promise.all(reports)).join('\n\n')).toEqual([]);
  },
);
