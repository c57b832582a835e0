/**
 * A command that writes, stopped at each of its writes: a second run ends where an undisturbed one does, and at no moment do
 * credentials in use not work.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { onStage } from './on-stage.ts';
import type { Scenario } from './scenarios.ts';
import type { Stop } from './stage.ts';

/** How a command may end that was stopped: by the signal, or because its work was done in spite of it. */
const MAY_END_WITH: Readonly<Record<Stop, readonly number[]>> = {
  SIGKILL: [-1],
  cut: [1],
  SIGINT: [0, 130],
  EPIPE: [0],
};

/** What an undisturbed run writes, and where it ends. */
const undisturbed = (scenario: Scenario) =>
  onStage(scenario, async (stage) => {
    const { code, stderr, writes } = await stage.run(scenario.args(stage));
    expect(code, stderr).toBe(0);
    expect(stage.failures).toEqual([]);
    expect(writes.length).toBeGreaterThan(0);
    return { writes, state: await stage.state() };
  });

/** The tests of some scenarios; they are spread over files, which run at the same time. */
export const stopEverywhere = (scenarios: readonly Scenario[]): void => {
  const tried: string[] = [];
  afterAll(() => console.log(`${tried.length} stops were tried`));

  describe.each(scenarios)('$name', (scenario) => {
    test('is finished by a second run, wherever the first one was stopped', { timeout: 900_000 }, async () => {
      const { writes, state } = await undisturbed(scenario);
      const all = writes.map((what, at) => ({ what, number: at + 1 }));
      // What a process shows beside a cut, and what becomes of its output, is shown once: at a write in the middle.
      const middle = all.slice(all.length >> 1).slice(0, 1);
      const points = (['cut', 'SIGINT', 'SIGKILL', 'EPIPE'] as const).flatMap((how) =>
        (how === 'cut' || how === 'SIGINT' ? all : middle).map((point) => ({ how, ...point })),
      );
      for (const { how, what, number } of points) {
        const at = `${how} at write ${number}, ${what}`;
        await onStage(scenario, async (stage) => {
          const first = await stage.run(scenario.args(stage), { number, how });
          // A write over what the operator has just written was made twice in the undisturbed run.
          const isStopped = first.writes.length >= number;
          expect(isStopped ? MAY_END_WITH[how] : [0], `${at}: ${first.stderr}`).toContain(first.code);
          if (scenario.between) await stage.prepare(...scenario.between(stage));
          const second = await stage.run((scenario.again ?? scenario.args)(stage));
          expect(second.code, `${at}, then: ${second.stderr}`).toBe(0);
          expect(stage.failures, at).toEqual([]);
          expect(await stage.state(), at).toEqual(state);
        });
        tried.push(at);
      }
    });
  });
};
