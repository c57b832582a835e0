/**
 * How far the mirrors of a cluster follow the target: since when a key has a change to follow (rule G4), whose endpoints
 * were edited by others, and which keys the first pass over the exports has yet to look at. It decides nothing but
 * whether a session has caught up.
 */
import type { Metrics } from '../metrics.ts';

/** What was known of a key when its reconcile began. */
export interface Began {
  /** When the change was seen that it follows, on the monotonic clock. */
  readonly sinceMs: number | undefined;
  readonly repairs: boolean;
}

export class Progress {
  readonly #labels: { readonly target_cluster_name: string };
  readonly #metrics: Pick<Metrics, 'target'>;
  readonly #since = new Map<string, number>();
  readonly #repairs = new Set<string>();
  /** What earlier passes of a reconcile that goes on have done. */
  readonly #earlier = new Map<string, { readonly writes: number; readonly repairs: boolean }>();
  /** Keys that the first pass has yet to look at; undefined: it has not begun. */
  #firstPass: Set<string> | undefined;

  constructor(cluster: string, metrics: Pick<Metrics, 'target'>) {
    this.#labels = { target_cluster_name: cluster };
    this.#metrics = metrics;
  }

  /** Whether every key has been looked at since the exports were first listed. */
  get isCaughtUp(): boolean {
    return this.#firstPass?.size === 0;
  }

  /** Whether the exports have been listed. */
  get hasBegun(): boolean {
    return this.#firstPass !== undefined;
  }

  /** Begins the first pass, over these keys. */
  start(keys: Iterable<string>): void {
    this.#firstPass = new Set(keys);
  }

  /** The exports are about to be listed anew, by other selectors. */
  restart(): void {
    this.#firstPass = undefined;
  }

  /** The target changed what the key stands for. */
  changed(key: string): void {
    if (!this.#since.has(key)) this.#since.set(key, performance.now());
  }

  /** Endpoints of the key changed in the source cluster, and no change of the target explains it. */
  edited(key: string): void {
    if (!this.#since.has(key)) this.#repairs.add(key);
  }

  begin(key: string): Began {
    const repairs = this.#repairs.delete(key) || this.#earlier.get(key)?.repairs === true;
    return { sinceMs: this.#since.get(key), repairs };
  }

  /** A pass of a reconcile that goes on has written. */
  wrote(key: string, { repairs }: Began, writes: number): void {
    this.#earlier.set(key, { writes: (this.#earlier.get(key)?.writes ?? 0) + writes, repairs });
  }

  /** @param writes what the last pass wrote; undefined: it failed */
  end(key: string, { sinceMs, repairs }: Began, writes: number | undefined): void {
    const total = (this.#earlier.get(key)?.writes ?? 0) + (writes ?? 0);
    this.#earlier.delete(key);
    if (repairs && sinceMs === undefined && total > 0) this.#metrics.target.endpointRepairs.inc(this.#labels);
    // Failed, or changed again meanwhile: the change is still to be followed.
    if (writes === undefined || sinceMs === undefined || this.#since.get(key) !== sinceMs) return;
    this.#since.delete(key);
    if (total > 0) this.#metrics.target.convergence.observe(this.#labels, (performance.now() - sinceMs) / 1000);
  }

  /** The first pass has looked at the key. Reports whether it was the last one. */
  seen(key: string): boolean {
    return this.#firstPass?.delete(key) === true && this.isCaughtUp;
  }
}
