/**
 * S3: what nobody saw. Between a change and the one that undoes it, watches deliver nothing, or the operator is down or stands
 * still: nothing is made or deleted for it, and all is as it was. And each step of a run is learnt from a list alone.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import { everything, pairOf, PAIRS } from '../pairs.ts';
import type { PlanClass } from '../plan.ts';
import { course, differences, reference } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import { inScene, type Scene, type TargetName } from '../scene.ts';
import { differentStates } from '../state.ts';
import { Users } from '../users.ts';

/** How it comes that nothing is seen; returns what ends that. */
const HOWS: Readonly<Record<string, (scene: Scene, at: TargetName | 'source', ms: number) => () => void>> = {
  'watches are deaf': (scene, at) => {
    const { faults } = at === 'source' ? scene.source : scene.targets[at];
    const hear = faults.silenceWatches();
    return () => {
      hear();
      faults.expireWatches();
    };
  },
  'the operator is down': (scene) => {
    scene.operators.end(0, 'stop');
    return () => scene.operators.start(0);
  },
  'the operator stands still': (scene, _, ms) => {
    scene.operators.pause(0, ms);
    return () => undefined;
  },
};

/** Between a change and the one that undoes it. */
const GAPS_MS = [300, 9_000];

type Data =
  | { readonly pair: string; readonly how: string; readonly ms: number }
  | { readonly run: string; readonly step: number; readonly at: TargetName | 'source' };

async function unseenPair(name: string, how: string, ms: number): Promise<readonly string[]> {
  const { at, first, undo } = pairOf(name);
  const problems: string[] = [];
  const { complaints } = await inScene({}, async (scene) => {
    const users = new Users(scene);
    everything(users);
    await scene.rest();
    const [state, from] = [scene.state, scene.writes.telling.length];
    const see = HOWS[how]!(scene, at, ms + 1_000);
    await sleep(500);
    first(users, scene);
    await sleep(ms);
    undo(users, scene);
    await sleep(100);
    see();
    await scene.rest();
    problems.push(...differentStates(state, scene.state));
    // Who stood still sees all of it afterwards, and may make what is new, and delete it.
    const lives = scene.writes.telling
      .slice(from)
      .filter(({ type, id }) => type !== 'MODIFIED' && (how !== 'the operator stands still' || state.has(id)));
    problems.push(...lives.map(({ type, id }) => `${type} ${id}, though nobody saw why`));
  });
  return [...complaints, ...problems];
}

async function listedStep(name: string, step: number, at: TargetName | 'source'): Promise<readonly string[]> {
  const run = runOf(name);
  const wanted = await reference(run);
  let see: (() => void) | undefined;
  const found = await course(run, {
    before: (scene, index) => {
      if (index !== step) return;
      see = HOWS['watches are deaf']!(scene, at, 0);
      scene.world.after(scene.world.users, DEAF_MS, () => see?.());
    },
  });
  return differences(run, wanted, found);
}

/** How long a step is not heard of. */
const DEAF_MS = 5_000;
const PLACES = ['source', 'west', 'bar'] as const;

export const unseen: PlanClass<Data> = {
  id: 'S3',
  about:
    'changes that are undone before anybody saw them, and steps that only a list shows: nothing is made or deleted for them',

  list: () =>
    Promise.resolve([
      ...PAIRS.flatMap(({ name: pair, at }) =>
        Object.keys(HOWS).flatMap((how) =>
          GAPS_MS.map((ms) => ({ name: `${pair}, in ${at}, ${ms} ms in which ${how}`, data: { pair, how, ms } })),
        ),
      ),
      ...RUNS.flatMap(({ name: run, steps }) =>
        steps.flatMap(({ name }, step) =>
          PLACES.map((at) => ({ name: `${run}, "${name}": watches of ${at} are deaf`, data: { run, step, at } })),
        ),
      ),
    ]),

  play: (data) =>
    'pair' in data ? unseenPair(data.pair, data.how, data.ms) : listedStep(data.run, data.step, data.at),
};
