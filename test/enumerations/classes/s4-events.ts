/**
 * S4: each event of a watch that matters comes late, or is lost with its watch. It matters if the operator writes something in the
 * pass that it causes, or in the next: of all others, which say what is known already, none is tried.
 */
import type { Exchange } from '../../cluster/simulated/exchange.ts';
import type { Request } from '../../simulation/cluster.ts';
import { Passing } from '../../simulation/manners.ts';
import type { PlanClass } from '../plan.ts';
import { course, differences, reference, type Run } from '../run.ts';
import { RUNS, runOf } from '../runs/index.ts';
import type { Scene } from '../scene.ts';
import { isTelling } from '../writes.ts';

/** Time in which what an event causes is written, and what that causes. */
const PASSES_MS = 120;
const LATE_MS = 1_500;

const HOWS = ['comes late', 'is lost with its watch'] as const;

interface Data {
  readonly run: string;
  readonly how: (typeof HOWS)[number];
  /** Of the event, from 1 over all watches of the operator. */
  readonly index: number;
}

/** Gives each event of each watch to a listener. */
function tap(scene: Scene, onEvent: (watch: Tapped, text: string) => void): void {
  for (const cluster of Object.values(scene.clusters)) {
    cluster.wrap = (request: Request): Exchange | undefined =>
      request.url.includes('watch=true') ? new Tapped(request, onEvent) : undefined;
  }
}

class Tapped extends Passing {
  readonly #onEvent: (watch: Tapped, text: string) => void;
  #held: string[] | undefined;

  constructor(inner: Exchange, onEvent: (watch: Tapped, text: string) => void) {
    super(inner);
    this.#onEvent = onEvent;
  }

  override write(text: string): void {
    if (this.#held !== undefined) this.#held.push(text);
    else if (text.includes('"type":"BOOKMARK"')) this.inner.write(text);
    else this.#onEvent(this, text);
  }

  pass(text: string): void {
    this.inner.write(text);
  }

  hold(text: string): void {
    this.#held = [text];
  }

  release(): void {
    for (const text of this.#held?.splice(0) ?? []) this.inner.write(text);
    this.#held = undefined;
  }
}

/** When each event came, in a run to which nothing happens. */
async function eventsOf(run: Run): Promise<readonly number[]> {
  const times: number[] = [];
  await course(run, {
    begin: (scene) =>
      tap(scene, (watch, text) => {
        times.push(scene.world.nowMs);
        watch.pass(text);
      }),
  });
  return times;
}

/** Numbers of the events that matter, and how many there are. */
async function mattering(run: Run): Promise<{ readonly kept: readonly number[]; readonly of: number }> {
  const times = await eventsOf(run);
  const { writes } = await reference(run);
  const told = writes.filter(isTelling).map(({ atMs }) => atMs);
  const isFollowed = (ms: number): boolean => told.some((atMs) => atMs > ms && atMs <= ms + PASSES_MS);
  return { kept: times.flatMap((ms, at) => (isFollowed(ms) ? [at + 1] : [])), of: times.length };
}

export const events: PlanClass<Data> = {
  id: 'S4',
  about: 'each event that matters comes late, or is lost with its watch: the same end, nothing made or deleted twice',

  list: async () => {
    const plans = await Promise.all(
      RUNS.map(async (run) => {
        const { kept } = await mattering(run);
        return kept.flatMap((index) =>
          HOWS.map((how) => ({ name: `${run.name}: event ${index} ${how}`, data: { run: run.name, how, index } })),
        );
      }),
    );
    return plans.flat();
  },

  play: async ({ run: name, how, index }) => {
    const run = runOf(name);
    const wanted = await reference(run);
    let count = 0;
    const found = await course(run, {
      begin: (scene) =>
        tap(scene, (watch, text) => {
          count += 1;
          if (count !== index) watch.pass(text);
          else if (how === 'is lost with its watch') watch.destroy();
          else {
            watch.hold(text);
            scene.world.after(scene.world.users, LATE_MS, () => watch.release());
          }
        }),
    });
    return differences(run, wanted, found);
  },

  notes: async () => {
    const all = await Promise.all(RUNS.map(mattering));
    const [kept, of] = [
      all.reduce((sum, each) => sum + each.kept.length, 0),
      all.reduce((sum, each) => sum + each.of, 0),
    ];
    return [`${kept} of ${of} events matter: ${((1 - kept / of) * 100).toFixed(0)} % are left out`];
  },
};
