/**
 * S7: the source goes back to a backup, one that was made after each write. What the operator wrote since is gone without an
 * event, and versions are given once more: it makes all of it again, and comes to the same end.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import { outageMs } from '../../simulation/command.ts';
import type { PlanClass } from '../plan.ts';
import { course, reference } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import { differentStates } from '../state.ts';
import { isTelling } from '../writes.ts';

/** How many versions are skipped, after which those to come are others than those that were lost. */
const HOWS = { 'is restored': 0, 'is restored, with other versions,': 50 } as const;
type How = keyof typeof HOWS;

interface Data {
  readonly run: string;
  readonly how: How;
  /** Of the write after which the backup is made. */
  readonly index: number;
  /** The step in which it is made. Once all is at rest after that, the source is restored. */
  readonly step: number;
}

export const restores: PlanClass<Data> = {
  id: 'S7',
  about: 'the source is restored to what it was after each write: the same end',

  list: async () => {
    const plans = await Promise.all(
      RUNS.map(async (run) => {
        const { writes, begun } = await reference(run);
        return writes.filter(isTelling).flatMap(({ index, id, type }) => {
          const step = begun.findLastIndex((each) => each.writes < index);
          const { isLostBy } = run.steps[step]!;
          // The last write of a step is not lost by that.
          const isLast = !writes.slice(index, begun[step + 1]?.writes).some(isTelling);
          if (isLast || isLostBy !== undefined) return [];
          return (Object.keys(HOWS) as How[]).map((how) => ({
            name: `${run.name}: the source ${how} to write ${index}, ${type} ${id}`,
            data: { run: run.name, how, index, step },
          }));
        });
      }),
    );
    return plans.flat();
  },

  play: async ({ run: name, how, index, step }) => {
    const run = runOf(name);
    const wanted = await reference(run);
    let isKept = false;
    const found = await course(run, {
      begin: ({ source, writes }) => {
        writes.onWrite = (write) => {
          if (write.index !== index) return;
          source.backUp();
          isKept = true;
        };
      },
      after: async (scene, at) => {
        if (at !== step) return;
        scene.source.goDown();
        scene.source.restore(1, HOWS[how]);
        await sleep(outageMs({ ms: 0, back: 1 }));
        scene.source.start();
        scene.source.restartControllers();
        await scene.rest(run.steps[step]?.restMs);
      },
    });
    return [
      ...(isKept ? [] : ['there was no such write']),
      ...found.complaints,
      ...differentStates(wanted.states[step]!, found.states[step] ?? new Map()),
      ...differentStates(wanted.states.at(-1)!, found.states.at(-1) ?? new Map()),
    ];
  },
};
