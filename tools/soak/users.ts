/**
 * What users do to the Services of the targets while the operator runs: they export them and take that back, pods become
 * ready and not ready and are made anew, ports change, and Links are edited. Here and there they change what Services share over clusters. Nothing is changed on a target whose turn is being used by a fault, so that it is
 * always known which changes a target has.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { link } from '../../test/support/builders.ts';
import type { ExportedService } from './model.ts';
import { SHARED } from './shared.ts';
import { changeShared } from './shared-users.ts';
import { serviceOf, sliceOf, type Stage, type Target } from './stage.ts';

const PAUSE_MS = 150;
/** Between two changes of what is shared: what is made and undone faster is answered later and later. */
const SHARED_PAUSE_MS = 1_000;
const LINK_PAUSE_MS = 2_000;

export class Users {
  readonly #stage: Stage;
  readonly #turns = new Map<string, Promise<unknown>>();
  #isResting = true;
  #isStopped = false;
  #changes = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Number of changes that were made. */
  get changes(): number {
    return this.#changes;
  }

  start(): void {
    const { here, targets } = this.#stage;
    this.#running = Promise.all([
      ...targets.map((target) => this.#use(target, PAUSE_MS, () => this.#change(target))),
      this.#use(here, LINK_PAUSE_MS, () => this.#editLink()),
      ...this.#all.map((each) => this.#use(each, SHARED_PAUSE_MS, () => changeShared(each.name, each.api))),
    ]);
  }

  resume(): void {
    this.#isResting = false;
  }

  /** No change is made from when this resolves until they go on. */
  async rest(): Promise<void> {
    this.#isResting = true;
    for (const target of this.#all) await this.alone(target, () => Promise.resolve());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** Does something to a target while nobody changes it. */
  async alone<T>(target: Target, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(target.name) ?? Promise.resolve();
    const done = before.then(work);
    this.#turns.set(
      target.name,
      done.catch(() => undefined),
    );
    return done;
  }

  get #all(): readonly Target[] {
    return [this.#stage.here, ...this.#stage.targets];
  }

  async #use(target: Target, pauseMs: number, change: () => Promise<unknown>): Promise<void> {
    while (!this.#isStopped) {
      if (!this.#isResting) {
        await this.alone(target, change);
        this.#changes += 1;
      }
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }

  /** How often a gateway is asked changes nothing of what there must be. */
  async #editLink(): Promise<void> {
    const { links, east } = this.#stage;
    const period = Math.random() < 0.5 ? '1s' : '2s';
    const name = links[Math.floor(Math.random() * links.length)]!;
    await east.patch(link(name), { spec: { probeSpec: { period } } });
  }

  async #change(target: Target): Promise<void> {
    const all = this.#stage.model.backup(target.name);
    const before = all[Math.floor(Math.random() * all.length)];
    if (before === undefined) return;
    const after = changed(before, Math.random());
    // What ends is over before the write, what begins counts from the answer.
    this.#stage.model.put({
      ...after,
      exported: before.exported && after.exported,
      ready: before.ready && after.ready,
    });
    const { spec } = serviceOf(after);
    const { ports } = spec as { readonly ports?: unknown };
    const labels = { 'mirror.linkerd.io/exported': String(after.exported) };
    const isSlice = after.ready !== before.ready;
    const { endpoints } = sliceOf(after) as { readonly endpoints?: unknown };
    if (isSlice) await target.api.patch(sliceOf(after), { endpoints });
    else await target.api.patch(serviceOf(after), { metadata: { labels }, spec: { ports } });
    this.#stage.model.put(after);
  }
}

/** @param dice in [0, 1) */
function changed(service: ExportedService, dice: number): ExportedService {
  // Most stay exported: what is not is nobody's to lose.
  if (!service.exported) return { ...service, exported: true };
  if (dice < 0.2) return { ...service, exported: false };
  if (dice < 0.7) return { ...service, ready: !service.ready };
  // With another port, what is a member of something would be none.
  if (SHARED.includes(service.name)) return { ...service, ready: !service.ready };
  return { ...service, port: service.port === 80 ? 81 : 80 };
}
