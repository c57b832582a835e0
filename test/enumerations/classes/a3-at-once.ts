/**
 * A3: what is reached step by step is what is reached at once. All that users did up to a step of a run is done before the
 * operator is started; and an object of ours is made with a value, instead of being changed to it.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import { inLife, textOf } from '../lives/alive.ts';
import { lifeOf } from '../lives/index.ts';
import { propertyIn } from '../lives/life.ts';
import type { PlanClass } from '../plan.ts';
import { reference } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import { inScene } from '../scene.ts';
import { differentStates } from '../state.ts';
import { Users } from '../users.ts';
import { valuePlans, type ValueOfLife } from './a2-mistakes.ts';

type Data = ValueOfLife | { readonly run: string; readonly step: number };

/** Between two things that users do: ages are in seconds. */
const PAUSE_MS = 1_100;

async function atOnce(name: string, step: number): Promise<readonly string[]> {
  const run = runOf(name);
  const { states } = await reference(run);
  const { value, complaints } = await inScene({ ...run.setting, isWaiting: true }, async (scene) => {
    const users = new Users(scene);
    for (const { act } of run.steps.slice(0, step + 1)) {
      act(users, scene);
      await sleep(PAUSE_MS);
    }
    scene.operators.startAll();
    await scene.rest(run.steps[step]!.restMs);
    return scene.state;
  });
  return [...complaints, ...differentStates(states[step]!, value ?? new Map())];
}

async function madeSo({ life: name, property: of, value: index }: ValueOfLife): Promise<readonly string[]> {
  const life = lifeOf(name);
  const property = propertyIn(life, of);
  const value = property.values[index];
  let wanted: ReadonlyMap<string, string> | undefined;
  const problems = await inLife(life, async (alive) => {
    await alive.begin();
    const change = await alive.change(property, value);
    // A mistake keeps what was before it, which depends on that.
    if (change.refused === undefined && !change.isInvalid) wanted = change.after.objects;
    return [];
  });
  if (wanted === undefined || problems.length > 0) return problems;
  const state = wanted;
  return inLife(life, async (alive) => {
    await alive.begin(alive.specWith(property, value));
    return differentStates(state, (await alive.look(property)).objects);
  });
}

export const atOnceOrNot: PlanClass<Data> = {
  id: 'A3',
  about:
    'all that users did by a step, before the operator starts; an object made with a value: the same as step by step',

  list: () =>
    Promise.resolve([
      ...RUNS.flatMap(({ name: run, steps }) =>
        steps.flatMap(({ name, hasPast = false }, step) =>
          hasPast ? [] : [{ name: `${run}, up to "${name}", at once`, data: { run, step } }],
        ),
      ),
      ...valuePlans().filter(({ data: { life, property, value } }) => {
        const { pasts = {} } = lifeOf(life);
        return !(`${property}=${textOf(propertyIn(lifeOf(life), property).values[value])}` in pasts);
      }),
    ]),

  play: (data) => ('run' in data ? atOnce(data.run, data.step) : madeSo(data)),
};
