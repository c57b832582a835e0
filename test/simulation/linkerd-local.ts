/** Linkerd's local service mirror beside the operator, in a history (rule I7): it acts again and again while it runs. */
import type { HistoryCluster } from './cluster.ts';
import { LinkerdFederation } from './linkerd-federation.ts';
import type { World } from './world/world.ts';

const RETRY_MS = 2_000;

export interface LinkerdLocalOptions {
  readonly world: World;
  readonly east: HistoryCluster;
  /** Of Leases. */
  readonly namespace: string;
}

export class LinkerdLocal {
  readonly #options: LinkerdLocalOptions;
  readonly #mirror: LinkerdFederation;
  #isRunning = false;
  /** Counts what was begun: an older loop ends. */
  #run = 0;

  constructor(options: LinkerdLocalOptions) {
    const { world, east, namespace } = options;
    this.#options = options;
    this.#mirror = new LinkerdFederation({
      ...{ here: east, there: east, namespace, link: undefined, nowMs: () => world.nowMs },
    });
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#turn(++this.#run);
  }

  /** Releases the Lease; or, as when it is killed, leaves it to expire. */
  stop(how: 'release' | 'kill'): void {
    this.#isRunning = false;
    this.#run += 1;
    this.#mirror.stop(how);
  }

  #turn(run: number): void {
    if (run !== this.#run) return;
    const { world, east } = this.#options;
    if (!east.isDown) this.#mirror.act();
    world.after(world.users, RETRY_MS, () => this.#turn(run));
  }
}
