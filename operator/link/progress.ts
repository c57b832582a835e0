/**
 * How far the mirrors of a cluster follow the target: when the target's change of a key was seen (rule G4), which keys
 * have endpoints that others edited, and which keys the first pass over the exports has not reconciled yet. Its only
 * decision is whether a session has caught up.
 */
import type { Metrics } from '../metrics.ts';

/** What was known about a key when its reconcile began. */
export interface Began {
  /** When the target's change was seen, on the monotonic clock; undefined if there was none. */
  readonly sinceMs: number | undefined;
  /** Whether others edited endpoints of the key. */
  readonly repairs: boolean;
}

export class Progress {
  readonly #labels: { readonly target_cluster_name: string };
  readonly #metrics: Pick<Metrics, 'target'>;
  readonly #since = new Map<string, number>();
  readonly #repairs = new Set<string>();
  /** What the earlier passes of a reconcile of several passes did, by key. */
  readonly #earlier = new Map<string, { readonly writes: number; readonly repairs: boolean }>();
  /** Keys that the first pass has not reconciled yet; undefined if it has not begun. */
  #firstPass: Set<string> | undefined;

  constructor(cluster: string, metrics: Pick<Metrics, 'target'>) {
    this.#labels = { target_cluster_name: cluster };
    this.#metrics = metrics;
  }

  /** Reports whether every key has been reconciled since the exports were listed. */
  get isCaughtUp(): boolean {
    return this.#firstPass?.size === 0;
  }

  /** Reports whether the exports have been listed. */
  get hasBegun(): boolean {
    return this.#firstPass !== undefined;
  }

  /** Begins the first pass, over these keys. */
  start(keys: Iterable<string>): void {
    this.#firstPass = new Set(keys);
  }

  /** Starts over: the exports are about to be listed by other selectors. */
  restart(): void {
    this.#firstPass = undefined;
  }

  /** Notes that the target Service of the key changed. */
  changed(key: string): void {
    if (!this.#since.has(key)) this.#since.set(key, performance.now());
  }

  /**
   * Notes that endpoints of the key changed in the source cluster; it is a repair unless a change of the target
   * explains it.
   */
  edited(key: string): void {
    if (!this.#since.has(key)) this.#repairs.add(key);
  }

  begin(key: string): Began {
    const repairs = this.#repairs.delete(key) || this.#earlier.get(key)?.repairs === true;
    return { sinceMs: this.#since.get(key), repairs };
  }

  /** Notes the writes of a pass that another pass follows. */
  wrote(key: string, { repairs }: Began, writes: number): void {
    this.#earlier.set(key, { writes: (this.#earlier.get(key)?.writes ?? 0) + writes, repairs });
  }

  /**
   * Notes the end of a reconcile.
   * @param writes number of writes of the last pass; undefined if it failed
   */
  end(key: string, { sinceMs, repairs }: Began, writes: number | undefined): void {
    const total = (this.#earlier.get(key)?.writes ?? 0) + (writes ?? 0);
    this.#earlier.delete(key);
    if (repairs && sinceMs === undefined && total > 0) this.#metrics.target.endpointRepairs.inc(this.#labels);
    // It failed, or the target changed again meanwhile: the mirrors do not follow the change yet.
    if (writes === undefined || sinceMs === undefined || this.#since.get(key) !== sinceMs) return;
    this.#since.delete(key);
    if (total > 0) this.#metrics.target.convergence.observe(this.#labels, (performance.now() - sinceMs) / 1000);
  }

  /** Notes that the first pass has reconciled the key. Reports whether it was the last one. */
  seen(key: string): boolean {
    return this.#firstPass?.delete(key) === true && this.isCaughtUp;
  }
}
