/**
 * S2: an API server that lags. Watches, open ones or those of connections that move to it, show what happens later than it does;
 * the end is the same, and no object is made or deleted once more for it.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import { Lag } from '../lag.ts';
import { everything, type Pair, pairOf, PAIRS } from '../pairs.ts';
import type { PlanClass } from '../plan.ts';
import { course, differences, reference } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import { inScene, type Scene, type TargetName } from '../scene.ts';
import { differentStates, type State } from '../state.ts';
import { Users } from '../users.ts';
import { differentLives, livesIn, type Lives } from '../writes.ts';

interface Lagging {
  readonly at: TargetName | 'source';
  /** Whether connections come from a server that does not lag. */
  readonly moved: boolean;
  readonly ms: number;
}

type Data = ({ readonly pair: string } | { readonly run: string; readonly step: number }) & Lagging;

const LAGS_MS = [1_500, 45_000];
const PLACES = ['source', 'west', 'bar'] as const;

const clusterOf = (scene: Scene, at: TargetName | 'source') => (at === 'source' ? scene.source : scene.targets[at]);

/** Plays a change that is seen, and the one that undoes it. @param lagging how a server lags when that comes */
async function playPair(
  { first, undo }: Pair,
  lagging?: Lagging,
): Promise<{
  readonly state: State;
  readonly lives: ReadonlyMap<string, Lives>;
  readonly complaints: readonly string[];
}> {
  const { value, complaints } = await inScene({}, async (scene) => {
    const users = new Users(scene);
    const lag = new Lag(clusterOf(scene, lagging?.at ?? 'source'));
    everything(users);
    await scene.rest();
    first(users, scene);
    await scene.rest();
    if (lagging !== undefined) {
      lag.begin(lagging);
      await sleep(50);
    }
    undo(users, scene);
    if (lagging !== undefined) {
      await sleep(lagging.ms);
      lag.catchUp();
    }
    await scene.rest();
    return { state: scene.state, lives: livesIn(scene.writes.all) };
  });
  return { state: value?.state ?? new Map(), lives: value?.lives ?? new Map(), complaints };
}

async function lateUndo(name: string, lagging: Lagging): Promise<readonly string[]> {
  const wanted = await playPair(pairOf(name));
  const found = await playPair(pairOf(name), lagging);
  return [
    ...found.complaints,
    ...differentStates(wanted.state, found.state),
    ...differentLives(wanted.lives, found.lives),
  ];
}

async function lateStep(name: string, step: number, { at, moved, ms }: Lagging): Promise<readonly string[]> {
  const run = runOf(name);
  const wanted = await reference(run);
  let lag: Lag | undefined;
  const found = await course(run, {
    begin: (scene) => (lag = new Lag(clusterOf(scene, at))),
    before: (scene, index) => {
      if (index !== step) return;
      lag?.begin({ moved });
      scene.world.after(scene.world.users, ms, () => lag?.catchUp());
    },
    after: async (scene, index) => {
      // What is shown later is written later.
      if (index === step && ms > 30_000) await scene.rest();
    },
  });
  return differences(run, wanted, found);
}

const lags = (places: readonly (TargetName | 'source')[]): readonly Lagging[] =>
  places.flatMap((at) => [true, false].flatMap((moved) => LAGS_MS.map((ms) => ({ at, moved, ms }))));

const textOf = ({ at, moved, ms }: Lagging): string =>
  `${at} lags by ${ms} ms${moved ? ' after connections moved' : ''}`;

export const lagging: PlanClass<Data> = {
  id: 'S2',
  about:
    'an API server that lags, with the connections that it has or that move to it: the same end, nothing made or deleted twice',

  list: () =>
    Promise.resolve([
      ...PAIRS.flatMap(({ name: pair, at: of }) =>
        lags([of]).map((each) => ({ name: `${pair}: ${textOf(each)}`, data: { pair, ...each } })),
      ),
      ...RUNS.flatMap(({ name: run, steps }) =>
        steps.flatMap(({ name }, step) =>
          lags(PLACES).map((each) => ({ name: `${run}, "${name}": ${textOf(each)}`, data: { run, step, ...each } })),
        ),
      ),
    ]),

  play: (data) => ('pair' in data ? lateUndo(data.pair, data) : lateStep(data.run, data.step, data)),
};
