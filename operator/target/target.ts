/**
 * Reads those Services of a cluster that selectors select, and their slices, in the whole cluster or namespace by
 * namespace. The cluster is a target, read for one Link, or the source cluster, read for its own members of federated
 * Services. Each namespace has watches of its own, so that a namespace that is forbidden does not stop the others. Each
 * Link has its own connections and backoff, so that a failing target affects no other Link.
 *
 * The mass-deletion guard counts the losses of all namespaces together (rule E6). If a list shows that one namespace
 * has lost Services, the other namespaces are listed anew, except those that the operator is forbidden to read. Until
 * these lists are complete, no Service counts as gone.
 */
import type { KubeClient } from '../kube/client.ts';
import { splitKey, type EndpointSlice, type Service } from '../kube/objects.ts';
import { ReadHealth, type ReadObstacle } from '../runtime/health.ts';
import type { ReflectorState } from '../runtime/reflector.ts';
import { type Aspect, NO_PODS, type PodAnswers, type TargetView } from './aspect.ts';
import type { Exported } from './read/exported.ts';
import { ExportWatch, type ExportWatchOptions } from './watch/export-watch.ts';
import type { ExportListener, ReadingListener } from './watch/listeners.ts';
import type { WatchedAspect } from './watch/watched-aspect.ts';

/** Why a target cannot be read, or cannot be read in full. */
export type TargetObstacle = ReadObstacle;

/** Receives what is read of a target. */
export interface TargetListener extends ExportListener, Pick<ReadingListener, 'heard' | 'malformed'> {
  /**
   * Called when Services, or only their slices, were listed anew, and the lists of Services are complete in all
   * namespaces that the operator is not forbidden to read. Also called without a new list in two cases:
   * - there are no selectors;
   * - the last namespace whose list was missing turns out to be forbidden, and another namespace has been listed.
   * @param what `slices` if only slices were listed: such a list shows no loss of Services
   */
  relisted(what: 'services' | 'slices'): void;
  /**
   * Called when everything that can be read, except slices that are found by name, has been listed and is being
   * watched. While this is so, called again whenever a watch reports its state, for example after another attempt to
   * read a namespace that is forbidden.
   * @default - nothing is done
   */
  opened?(): void;
  /**
   * Called when the first watch has reported whether it can read, and then whenever the obstacle to reading the target
   * has changed. Another error of the same kind is not a change.
   * @param obstacle undefined if nothing prevents reading, as far as the watches have reported
   */
  reachable(obstacle: TargetObstacle | undefined): void;
}

export interface TargetOptions extends Omit<ExportWatchOptions, 'namespace' | 'listener' | 'lists' | 'reading'> {
  /** Namespaces that are read, each with watches of its own. @default - all namespaces, read together */
  readonly namespaces?: readonly string[] | undefined;
  readonly listener: TargetListener;
}

/** Key of the {@link ExportWatch} that covers all namespaces. */
const WHOLE = '';

export class Target implements Omit<TargetView, 'exports'> {
  readonly mirrored: Aspect<Exported>;
  readonly members: Aspect<Service>;
  readonly pods: PodAnswers;
  readonly #options: TargetOptions;
  readonly #watches: ReadonlyMap<string, ExportWatch>;
  readonly #health: ReadHealth;
  readonly #failedMs = new Map<string, number>();
  #synced = false;

  constructor(options: TargetOptions) {
    this.#options = options;
    this.#health = new ReadHealth((obstacle) => options.listener.reachable(obstacle));
    const namespaces = options.namespaces ?? [WHOLE];
    this.#watches = new Map(namespaces.map((namespace) => [namespace, this.#exportWatch(namespace)]));
    const of = { watches: this.#watches, watchOf: (key: string) => this.#watchOf(key) };
    const knows = (isThere: boolean): boolean => this.#synced && (isThere || this.#isCounted);
    this.mirrored = new AspectOfAll<Exported>({ ...of, knows, aspectOf: ({ mirrored }) => mirrored });
    this.members = new AspectOfAll<Service>({ ...of, knows, aspectOf: ({ members }) => members });
    const podsOf = (key: string): PodAnswers => this.#watchOf(key)?.pods ?? NO_PODS;
    this.pods = {
      lacks: (key, hostname) => podsOf(key).lacks(key, hostname),
      ask: (key) => podsOf(key).ask(key),
      forget: (key) => podsOf(key).forget(key),
    };
  }

  /**
   * Whether the exported Services and members of all namespaces have been listed at least once, except in namespaces
   * that the operator is forbidden to read. False while all namespaces are forbidden and none has been listed. Once
   * true, it stays true.
   */
  get synced(): boolean {
    return this.#synced;
  }

  /**
   * Forgets all answers of the target. Asks again about each Service whose answer has not arrived yet, or differs from
   * what the watches show. Asks again about the pods of each Service whose pods were asked about.
   */
  askAnew(): void {
    for (const watch of this.#watches.values()) watch.askAnew();
  }

  /** Starts to read the slices of Services that are exported in flat mode. */
  readFlatSlices(): void {
    for (const watch of this.#watches.values()) watch.readFlatSlices();
  }

  /** Starts watching. */
  run(client: KubeClient, signal: AbortSignal): void {
    for (const watch of this.#watches.values()) watch.run(client, signal);
    if (this.#isOpen) this.#options.listener.opened?.();
  }

  /**
   * Reports whether everything that is read in a namespace, except slices that are found by name, has been listed and
   * is being watched. False if the target is read as a whole, or if the namespace is not read.
   */
  isRead(namespace: string): boolean {
    return this.#watches.get(namespace)?.open === true;
  }

  /** Returns when a read of a namespace was last reported as failed, on the monotonic clock; -Infinity if none was. */
  failedMs(namespace: string): number {
    return this.#failedMs.get(namespace) ?? -Infinity;
  }

  /** Namespaces that the operator is forbidden to read. Empty if the target is read as a whole. */
  get refused(): readonly string[] {
    return [...this.#watches.keys()].filter((namespace) => this.#health.isRefused(namespace));
  }

  stop(): void {
    for (const watch of this.#watches.values()) watch.stop();
  }

  #exportWatch(namespace: string): ExportWatch {
    const { selectors, timings, labelCopyMs, readSlice, listener } = this.#options;
    return new ExportWatch({
      selectors,
      timings,
      labelCopyMs,
      readSlice,
      listener,
      namespace: namespace === WHOLE ? undefined : namespace,
      lists: {
        relisted: (lost) => {
          if (lost) this.#recount(namespace);
          if (this.#isCounted) this.#relisted('services');
        },
        slicesRelisted: () => {
          if (this.#isCounted) this.#relisted('slices');
        },
      },
      reading: {
        state: (reflector, state) => this.#reflected(namespace, reflector, state),
        heard: () => listener.heard?.(),
        malformed: (what) => listener.malformed(what),
      },
    });
  }

  #watchOf(key: string): ExportWatch | undefined {
    return this.#watches.get(WHOLE) ?? this.#watches.get(splitKey(key).namespace);
  }

  /**
   * Whether the losses of all namespaces are known. This is so if, for each namespace, the first list and every list
   * that {@link ExportWatch.relist} asked for are complete, or the operator is forbidden to read the namespace.
   */
  get #isCounted(): boolean {
    return [...this.#watches].every(
      ([namespace, watch]) => (watch.synced && watch.current) || this.#health.isRefused(namespace),
    );
  }

  get #isOpen(): boolean {
    const watches = [...this.#watches];
    return (
      watches.some(([, { open }]) => open) &&
      watches.every(([namespace, { open }]) => open || this.#health.isRefused(namespace))
    );
  }

  #recount(changed: string): void {
    for (const [namespace, watch] of this.#watches) {
      if (namespace !== changed && !this.#health.isRefused(namespace)) watch.relist();
    }
  }

  #relisted(what: 'services' | 'slices'): void {
    // If all namespaces are forbidden, nothing is known about the exports.
    this.#synced ||= [...this.#watches.values()].some(({ synced }) => synced);
    if (this.#synced) this.#options.listener.relisted(what);
  }

  #reflected(namespace: string, reflector: string, state: ReflectorState | undefined): void {
    const within = namespace === WHOLE ? undefined : namespace;
    if (state === undefined) {
      this.#health.forget(reflector, within);
      return;
    }
    if (!state.connected) this.#failedMs.set(namespace, performance.now());
    const wasCounted = this.#isCounted;
    this.#health.report(reflector, state, within);
    if (!wasCounted && this.#isCounted) this.#relisted('services');
    if (this.#isOpen) this.#options.listener.opened?.();
  }
}

interface AspectOfAllOptions<T> {
  readonly watches: ReadonlyMap<string, ExportWatch>;
  /**
   * Returns the watch that covers the namespace of a key. Undefined if the namespace is not among those that are read:
   * then nothing in it counts as exported.
   */
  readonly watchOf: (key: string) => ExportWatch | undefined;
  /**
   * Reports whether the lists of all namespaces together are complete enough to say whether a key is exported.
   * Namespaces that the operator is forbidden to read do not count.
   * - For a key that the watches show as exported, all namespaces must have been listed once.
   * - For any other key, the losses of all namespaces must be known as well.
   *
   * @param isThere whether the watches show the key as exported
   */
  readonly knows: (isThere: boolean) => boolean;
  readonly aspectOf: (watch: ExportWatch) => WatchedAspect<T>;
}

/** One aspect, joined from the watches of all namespaces that are read. */
class AspectOfAll<T> implements Aspect<T> {
  readonly isRead = true;
  readonly #options: AspectOfAllOptions<T>;

  constructor(options: AspectOfAllOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.reduce((sum, { size }) => sum + size, 0);
  }

  keys(): ReadonlySet<string> {
    const [first, ...others] = this.#all;
    return others.length === 0 ? (first?.keys() ?? new Set()) : new Set(this.#all.flatMap((each) => [...each.keys()]));
  }

  get(key: string): T | undefined {
    return this.#of(key)?.get(key);
  }

  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.#of(key)?.slicesOf(key);
  }

  decides(key: string): boolean {
    const { watchOf, knows } = this.#options;
    return watchOf(key)?.synced !== false && knows(this.get(key) !== undefined);
  }

  confirms(key: string): boolean {
    return this.#of(key)?.confirms(key) ?? true;
  }

  ask(key: string): void {
    this.#of(key)?.ask(key);
  }

  forget(key: string): void {
    this.#of(key)?.forget(key);
  }

  get #all(): readonly WatchedAspect<T>[] {
    return [...this.#options.watches.values()].map(this.#options.aspectOf);
  }

  #of(key: string): WatchedAspect<T> | undefined {
    const watch = this.#options.watchOf(key);
    return watch && this.#options.aspectOf(watch);
  }
}
