/**
 * Watches EndpointSlices by the names of their Services. This also finds slices to which the labels of the Service were
 * not copied. The names are spread over several watches, because one query with all names could exceed the URL length
 * that servers and proxies accept.
 *
 * Changes are collected for 250 ms before the names to watch are chosen anew, so that many changes do not cost a new
 * watch each.
 */
import { Label } from '../../../crds/wire.ts';
import type { EndpointSlice } from '../../kube/objects.ts';
import { SharedBytes } from '../read/shared-bytes.ts';
import type { WatchedStore } from './watched-store.ts';

/** A Service whose slices must be found by its name. */
export interface Wanting {
  /** `namespace/name` */
  readonly key: string;
  readonly name: string;
  /** Whether a labelled slice of the Service might still appear, so that watching by name can wait. */
  readonly isLabelAwaited: boolean;
}

/** What is needed to start one watch of the slices of some Services. */
export interface WatchedShard {
  /** Number of the watch. Watches that run at the same time have different numbers. */
  readonly number: number;
  /** Names of the Services whose slices are watched, at most 100. */
  readonly names: ReadonlySet<string>;
  readonly labelSelector: string;
  /**
   * Sum of the bytes of all watches of one {@link SlicesByName}. The target decides how many watches there are, so one
   * limit applies to the sum (rule E10).
   */
  readonly shared: SharedBytes;
}

export interface SlicesByNameOptions {
  /** Starts a watch of the slices of some Services. */
  readonly watch: (shard: WatchedShard) => WatchedStore<EndpointSlice>;
  /** Returns the Services whose slices must be looked up by name; undefined while that is not known. */
  readonly wanting: () => readonly Wanting[] | undefined;
  /**
   * How long labelled slices of a Service are awaited at least, before its slices are looked up by its name, in
   * milliseconds. @default 2000
   */
  readonly labelCopyMs?: number | undefined;
}

interface Shard {
  /**
   * Number of the watch. Watches that run at the same time have different numbers, because the name of a reflector
   * contains the number, and its state is kept by its name.
   */
  readonly number: number;
  readonly names: ReadonlySet<string>;
  readonly watched: WatchedStore<EndpointSlice>;
}

/** Maximum number of names in one query: with names of 63 characters the query stays under 8 KiB. */
const MAX_NAMES = 100;
/** How long changes are collected before the names to watch are chosen anew, in milliseconds. */
const SETTLE_MS = 250;
/**
 * Default of {@link SlicesByNameOptions.labelCopyMs}. Kubernetes' controller copies a label within milliseconds, under
 * load within seconds.
 */
const LABEL_COPY_MS = 2_000;

export class SlicesByName {
  readonly #options: SlicesByNameOptions;
  readonly #labelCopyMs: number;
  readonly #shards: Shard[] = [];
  readonly #byName = new Map<string, Shard>();
  readonly #shared = new SharedBytes();
  /** When each Service began to wait for a labelled slice, on the monotonic clock, by key. */
  #awaitingSince: ReadonlyMap<string, number> = new Map();
  /** When the operator last gave up waiting for a labelled slice of any Service, on the monotonic clock. */
  #gaveUpMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires, on the monotonic clock. */
  #dueMs = Infinity;
  #isStopped = false;

  constructor(options: SlicesByNameOptions) {
    this.#options = options;
    this.#labelCopyMs = options.labelCopyMs ?? LABEL_COPY_MS;
  }

  /** Whether every watch has completed a list. */
  get synced(): boolean {
    return this.#shards.every(({ watched }) => watched.store.synced);
  }

  /** Returns the slices of Service `key`, whose name is `name`; undefined while they have not been listed. */
  of(key: string, name: string): readonly EndpointSlice[] | undefined {
    const store = this.#byName.get(name)?.watched.store;
    return store?.synced === true ? store.by('service', key) : undefined;
  }

  /**
   * Schedules a new choice of the names to watch. If one is scheduled already, only the earlier of the two is made.
   * Called when Services, their exports or their slices have changed. Also called to end the wait for labelled slices.
   * @param settleMs time until the choice, in milliseconds. @default 250
   */
  reconsider(settleMs = SETTLE_MS): void {
    const dueMs = performance.now() + settleMs;
    if (this.#isStopped || this.#dueMs <= dueMs) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => {
      this.#dueMs = Infinity;
      this.#decide();
    }, settleMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    for (const { watched } of this.#shards) watched.stop();
  }

  #decide(): void {
    const wanting = this.#options.wanting();
    if (wanting === undefined) return;
    const now = performance.now();
    const names = new Set<string>();
    const awaiting = new Map<string, { readonly name: string; readonly sinceMs: number }>();
    for (const { key, name, isLabelAwaited } of wanting) {
      if (!isLabelAwaited || this.#byName.has(name)) names.add(name);
      else awaiting.set(key, { name, sinceMs: this.#awaitingSince.get(key) ?? now });
    }
    // Waits end together, at most once per `labelCopyMs`. Otherwise, each label that is copied late could cost a watch.
    if (now - this.#gaveUpMs >= this.#labelCopyMs) {
      for (const [key, { name, sinceMs }] of awaiting) {
        if (now - sinceMs < this.#labelCopyMs) continue;
        names.add(name);
        awaiting.delete(key);
        this.#gaveUpMs = now;
      }
    }
    this.#awaitingSince = new Map([...awaiting].map(([key, { sinceMs }]) => [key, sinceMs]));
    if (awaiting.size > 0) this.reconsider(this.#labelCopyMs);
    this.#want(names);
  }

  /**
   * Watches the slices of Services with the given names, up to 100 names in one watch.
   * - A watch in which no name is wanted any more is stopped.
   * - If every wanted name is watched already, the other watches stay, even if they also have names that are no longer
   *   wanted: watching a few names too many costs less than a new list.
   * - If some wanted names are not watched yet, new watches are started for them. The new watches also replace each
   *   watch with at most 50 wanted names, and the newest watch if it has fewer than 100 wanted names. For `n` wanted
   *   names there are then at most `2n / 100 + 1` watches.
   */
  #want(names: ReadonlySet<string>): void {
    const missing = [...names].filter((name) => !this.#byName.has(name));
    const last = this.#shards.at(-1);
    for (const shard of [...this.#shards]) {
      const wanted = [...shard.names].filter((name) => names.has(name));
      const most = shard === last ? MAX_NAMES - 1 : MAX_NAMES / 2;
      if (wanted.length > 0 && (missing.length === 0 || wanted.length > most)) continue;
      this.#drop(shard);
      missing.unshift(...wanted);
    }
    for (let start = 0; start < missing.length; start += MAX_NAMES) this.#add(missing.slice(start, start + MAX_NAMES));
  }

  #drop(shard: Shard): void {
    shard.watched.stop();
    this.#shards.splice(this.#shards.indexOf(shard), 1);
    for (const name of shard.names) this.#byName.delete(name);
  }

  #add(all: readonly string[]): void {
    const names = new Set(all);
    const labelSelector = `${Label.serviceName} in (${[...names].sort().join(',')})`;
    let number = 0;
    while (this.#shards.some((shard) => shard.number === number)) number += 1;
    const shared = this.#shared;
    const shard = { number, watched: this.#options.watch({ number, names, labelSelector, shared }), names };
    this.#shards.push(shard);
    for (const name of names) this.#byName.set(name, shard);
  }
}
