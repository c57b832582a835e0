/**
 * How far the mirrors of a cluster follow the target: when the target's change of a key was seen (rule G4), which keys
 * have endpoints that others edited, and what the current pass over everything has still to do. Such a pass begins when
 * the exports are listed, and anew when what all mirrors are made from changes. Its only decisions are whether each key
 * has been looked at, and whether everything has been applied.
 */
import type { Metrics } from '../metrics/index.ts';

/** What was known about a key when its reconcile began. */
export interface Began {
  /** When the target's change was seen, on the monotonic clock; undefined if there was none. */
  readonly sinceMs: number | undefined;
  /** Whether others edited endpoints of the key. */
  readonly repairs: boolean;
  /** The pass over everything in which it began. */
  readonly round: number;
}

export class Progress {
  readonly #labels: { readonly target_cluster_name: string };
  readonly #metrics: Pick<Metrics, 'target'>;
  readonly #since = new Map<string, number>();
  readonly #repairs = new Set<string>();
  /** What the earlier passes of a reconcile of several passes did, by key. */
  readonly #earlier = new Map<string, { readonly writes: number; readonly repairs: boolean }>();
  /** Keys that the current pass has not applied yet; undefined before the exports are listed. */
  #left: Set<string> | undefined;
  /** Keys that the current pass has not reconciled yet, be it in vain. */
  #unseen: Set<string> = new Set();
  /** Number of passes over everything that have begun. */
  #round = 0;
  #hasSeenAll = false;

  constructor(cluster: string, metrics: Pick<Metrics, 'target'>) {
    this.#labels = { target_cluster_name: cluster };
    this.#metrics = metrics;
  }

  /** Reports whether every key has been applied since the current pass began. */
  get isCaughtUp(): boolean {
    return this.#left?.size === 0;
  }

  /** Reports whether every key has been reconciled, be it in vain, in a pass since the exports were listed. */
  get hasSeenAll(): boolean {
    return this.#hasSeenAll;
  }

  /** Reports whether the exports have been listed. */
  get hasBegun(): boolean {
    return this.#left !== undefined;
  }

  /** Begins a pass over these keys, in place of the current one. */
  start(keys: Iterable<string>): void {
    this.#left = new Set(keys);
    this.#unseen = new Set(this.#left);
    this.#round += 1;
    this.#hasSeenAll ||= this.#left.size === 0;
  }

  /** Starts over: the exports are about to be listed by other selectors. */
  restart(): void {
    this.#left = undefined;
    this.#hasSeenAll = false;
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
    return { sinceMs: this.#since.get(key), repairs, round: this.#round };
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

  /**
   * Notes that the key has been reconciled, unless that began before the current pass did: what it was made from may be
   * older. Reports whether it was the last key of the pass to be looked at, or to be applied.
   * @param isApplied whether nothing failed that will be tried again
   */
  seen(key: string, { round }: Began, isApplied: boolean): boolean {
    if (round !== this.#round || this.#left === undefined) return false;
    const wasLastUnseen = this.#unseen.delete(key) && this.#unseen.size === 0;
    const wasLastLeft = isApplied && this.#left.delete(key) && this.#left.size === 0;
    this.#hasSeenAll ||= wasLastUnseen;
    return wasLastUnseen || wasLastLeft;
  }
}
