/**
 * P1: nothing waits for chance. Each step of each run has come about in a few seconds, by what is watched: what comes later comes
 * of a retry, and then something that should have been seen was not.
 */
import type { PlanClass } from '../plan.ts';
import { reference } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import { isTelling } from '../writes.ts';

interface Data {
  readonly run: string;
  readonly step: number;
}

/** Time for a step: a gateway is found dead after three probes, each 3 s after the other. */
const WITHIN_MS = 11_000;

export const promptness: PlanClass<Data> = {
  id: 'P1',
  about:
    'each step of each run comes about by what is watched, not by a retry: within 11 s, unless a rule says otherwise',

  list: () =>
    Promise.resolve(
      RUNS.flatMap(({ name: run, steps }) =>
        steps.map(({ name }, step) => ({ name: `${run}: "${name}"`, data: { run, step } })),
      ),
    ),

  play: async ({ run: name, step }) => {
    const { writes, begun, complaints } = await reference(runOf(name));
    const { withinMs = WITHIN_MS } = runOf(name).steps[step]!;
    const [{ writes: from, atMs }, next] = [begun[step]!, begun[step + 1]];
    const late = writes
      .slice(from, next?.writes)
      .filter((write) => isTelling(write) && write.atMs > atMs + withinMs)
      .map((write) => `${((write.atMs - atMs) / 1000).toFixed(1)} s after it began: ${write.type} ${write.id}`);
    return [...complaints, ...late];
  },
};
