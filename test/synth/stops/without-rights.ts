/**
 * A command that writes, run by a user who lacks one of the rights that it uses: it does without, or is refused before it has
 * written anything; and once the user has the right, it ends where an undisturbed run does.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { onStage } from './on-stage.ts';
import type { Right } from './rights.ts';
import type { Scenario } from './scenarios.ts';

/** A review of a token keeps nothing. */
const READING = /: ((get|list|watch) |create tokenreviews)/;

/** The tests of some scenarios; they are spread over files, which run at the same time. */
export const withoutRights = (scenarios: readonly Scenario[]): void => {
  const tried: Right[] = [];
  afterAll(() => console.log(`${tried.length} rights were withheld`));

  describe.each(scenarios)('$name', (scenario) => {
    const prints = async (): Promise<void> => {
      const rights = await onStage(scenario, async (stage) => {
        const args = scenario.args(stage).filter((argument) => argument !== '--apply');
        const { code, stderr } = await stage.runWithout(undefined, args);
        expect(code, stderr).toBe(0);
        return stage.rights;
      });
      expect(rights.filter((right) => !READING.test(right))).toEqual([]);
    };
    if (scenario.isFirst) test('needs no right to write for what it prints', prints);

    test('does without a right, or is refused before it writes', { timeout: 900_000 }, async () => {
      const { rights, state } = await onStage(scenario, async (stage) => {
        const { code, stderr } = await stage.runWithout(undefined, scenario.args(stage));
        expect(code, stderr).toBe(0);
        return { rights: stage.rights, state: await stage.state() };
      });
      expect(rights.length).toBeGreaterThan(0);
      const left = [...rights];
      const withhold = () =>
        onStage(scenario, async (stage) => {
          // One that was refused has left the clusters as they were: the next is tried on them, too.
          for (let right = left.shift(); right !== undefined; right = left.shift()) {
            tried.push(right);
            const first = await stage.runWithout(right, scenario.args(stage));
            if (first.code !== 0) {
              expect(first.writes, `without "${right}": ${first.stderr}`).toEqual([]);
              continue;
            }
            const second = await stage.run(scenario.args(stage));
            expect(second.code, `without "${right}", then with it: ${second.stderr}`).toBe(0);
            expect(await stage.state(), `without "${right}", then with it`).toEqual(state);
            return;
          }
        });
      while (left.length > 0) await withhold();
    });
  });
};
