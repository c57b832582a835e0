/**
 * S1: the operator is stopped after each write, or its answer is lost or late. Whatever it had done by then, it comes to the same
 * end, and no object is made or deleted once more or once less: what was half done is gone on with, not begun anew.
 */
import type { Exchange } from '../../cluster/simulated/exchange.ts';
import type { Request } from '../../simulation/cluster.ts';
import { Passing } from '../../simulation/manners.ts';
import type { World } from '../../simulation/world/world.ts';
import type { PlanClass } from '../plan.ts';
import { course, differences, lastingWrites, reference } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import type { Scene } from '../scene.ts';
import type { Write } from '../writes.ts';

/** How the operator is disturbed as a write takes effect. */
const HOWS = {
  /** It never learns of the answer, and starts anew. */
  'is killed at': (scene: Scene) => scene.operators.end(0, 'kill'),
  /** It knows of the answer, but has not gone on. */
  'is killed after the answer to': (scene: Scene) => {
    scene.world.after(scene.world.users, ANSWERED_MS, () => scene.operators.end(0, 'kill'));
  },
  /** It is asked to stop, and does so in order (H2). */
  'is stopped at': (scene: Scene) => scene.operators.end(0, 'stop'),
  /** The connection breaks before the answer arrives, and it goes on. */
  'has no answer to': (_: Scene, close: () => void) => close(),
  /** The answer comes late, and much else is done meanwhile. */
  'has a late answer to': (_: Scene, __: () => void, delay: () => void) => delay(),
} as const;
type How = keyof typeof HOWS;
const GOES_ON: ReadonlySet<How> = new Set(['has no answer to', 'has a late answer to']);

interface Data {
  readonly run: string;
  readonly how: How;
  /** Of the write. */
  readonly index: number;
}

/** After which an answer has arrived. */
const ANSWERED_MS = 8;
/** How long the operator is down. */
const DOWN_MS = 1_000;
/** How late an answer is. */
const LATE_MS = 3_000;

/** A Lease that is renewed says no more than the one before; the first of each does, and what it comes to record. */
const isTold = ({ kind, isRenewal }: Write): boolean => kind !== 'Event' && !isRenewal;

/** An exchange whose answer can be held back. */
class Delayed extends Passing {
  readonly #world: World;
  isLate = false;

  constructor(request: Request, world: World) {
    super(request);
    this.#world = world;
  }

  override answer(...answer: Parameters<Exchange['answer']>): void {
    const send = (): void => super.answer(...answer);
    if (this.isLate) this.#world.after(this.#world.users, LATE_MS, send);
    else send();
  }
}

export const stops: PlanClass<Data> = {
  id: 'S1',
  about:
    'a stop after each write, and a lost or late answer to each: the same end, as many creations and deletions of each object',

  list: async () => {
    const plans = await Promise.all(
      RUNS.map(async (run) => {
        const told = (await lastingWrites(run)).filter(isTold);
        return told.flatMap(({ index, id, type }) =>
          (Object.keys(HOWS) as How[]).map((how) => ({
            name: `${run.name}: the operator ${how} write ${index}, ${type} ${id}`,
            data: { run: run.name, how, index },
          })),
        );
      }),
    );
    return plans.flat();
  },

  play: async ({ run: name, how, index }) => {
    const run = runOf(name);
    const wanted = await reference(run);
    const found = await course(run, {
      begin: (scene) => {
        const answers = new WeakMap<Request, Delayed>();
        scene.source.wrap = (request) => {
          const answer = new Delayed(request, scene.world);
          answers.set(request, answer);
          return answer;
        };
        scene.writes.onWrite = (write, request) => {
          if (write.index !== index) return;
          HOWS[how](
            scene,
            () => request.destroy(),
            () => (answers.get(request)!.isLate = true),
          );
          if (!GOES_ON.has(how)) scene.world.after(scene.world.users, DOWN_MS, () => scene.operators.start(0));
        };
      },
    });
    return differences(run, wanted, found);
  },
};
