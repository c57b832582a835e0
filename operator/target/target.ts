/**
 * A target cluster as one Link reads it: as a whole, or namespace by namespace, each by watches of its own, so that one
 * that may not be read stops no other. Each Link has connections and backoff of its own: what happens to its target
 * affects no other Link.
 *
 * A list that takes Services away reports how many only if all namespaces are counted (rule E6). So when one namespace
 * has lost any, all are listed anew, and until that is done nothing is known to be gone.
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

/** What is in the way of reading a target. */
export type TargetObstacle = ReadObstacle;

/** Learns what is read of a target. */
export interface TargetListener extends ExportListener, Pick<ReadingListener, 'heard' | 'malformed'> {
  /**
   * Services, exported ones or members, or only what is behind them, were listed anew, and every one that can be known is.
   * Services that went one by one before a list of slices may still have their mirrors: only a list of Services takes
   * any away.
   */
  relisted(what: 'services' | 'slices'): void;
  /** All that can be read is listed and watched: at first, and whenever a watch has been opened anew. @default - nothing is done */
  opened?(): void;
  /** On change: the target can be read (undefined), or not all of it. */
  reachable(obstacle: TargetObstacle | undefined): void;
}

export interface TargetOptions extends Omit<ExportWatchOptions, 'namespace' | 'listener' | 'lists' | 'reading'> {
  /** The only namespaces that are read. @default - all, with one watch for each kind */
  readonly namespaces?: readonly string[] | undefined;
  readonly listener: TargetListener;
}

/** In place of a namespace: all of them. */
const WHOLE = '';

export class Target implements Omit<TargetView, 'exports'> {
  readonly mirrored: Aspect<Exported>;
  readonly members: Aspect<Service>;
  readonly pods: PodAnswers;
  readonly #options: TargetOptions;
  readonly #watches: ReadonlyMap<string, ExportWatch>;
  readonly #health: ReadHealth;
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

  /** Whether every exported Service, and every member, that can be known is known. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Forgets what the target answered, and asks it again where that settled nothing. */
  askAnew(): void {
    for (const watch of this.#watches.values()) watch.askAnew();
  }

  /** Reads the slices behind what is exported in flat mode from now on. */
  readFlatSlices(): void {
    for (const watch of this.#watches.values()) watch.readFlatSlices();
  }

  /** Starts watching. */
  run(client: KubeClient, signal: AbortSignal): void {
    for (const watch of this.#watches.values()) watch.run(client, signal);
    if (this.#isOpen) this.#options.listener.opened?.();
  }

  /** Whether everything in a namespace is read: listed, and being watched. */
  isRead(namespace: string): boolean {
    return this.#watches.get(namespace)?.open === true;
  }

  /** The namespaces that refuse to be read. */
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

  /** Whether every namespace has been listed as far as it can be: what was asked for has come, or is refused. */
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
    // If all namespaces are refused, nothing is known of what is exported.
    this.#synced ||= [...this.#watches.values()].some(({ synced }) => synced);
    if (this.#synced) this.#options.listener.relisted(what);
  }

  #reflected(namespace: string, reflector: string, state: ReflectorState | undefined): void {
    const within = namespace === WHOLE ? undefined : namespace;
    if (state === undefined) {
      this.#health.forget(reflector, within);
      return;
    }
    const wasCounted = this.#isCounted;
    this.#health.report(reflector, state, within);
    if (!wasCounted && this.#isCounted) this.#relisted('services');
    if (this.#isOpen) this.#options.listener.opened?.();
  }
}

interface AspectOfAllOptions<T> {
  readonly watches: ReadonlyMap<string, ExportWatch>;
  /** The watch that would show a key; undefined for a namespace that the Link does not name, which exports nothing to it. */
  readonly watchOf: (key: string) => ExportWatch | undefined;
  /** Whether it is known of a key that its watch shows it, or does not. */
  readonly knows: (isThere: boolean) => boolean;
  readonly aspectOf: (watch: ExportWatch) => WatchedAspect<T>;
}

/** One sort of what is exported, in all namespaces that are read. */
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
