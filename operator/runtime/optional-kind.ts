/**
 * A kind whose CRD need not be installed: what cannot be read is not known, and nothing may be deleted because of that.
 * It is looked at again for ever.
 */
import { aborted } from '../kube/abort.ts';
import type { KubeClient } from '../kube/client.ts';
import { describe, isForbidden, isNotFound } from '../kube/errors.ts';
import type { KubeObject, Resource } from '../kube/objects.ts';
import type { Interruptions } from './interruptions.ts';
import type { Logger } from './logger.ts';
import { Reflector, type ReflectorState, type ReflectorTimings } from './reflector.ts';
import { Store, type StoreListener, type StoreOptions } from './store.ts';

/**
 * Whether objects of a kind can be read: `missing` says that its CRD is not installed, `unknown` that it was not read
 * yet.
 */
export type KindState = 'readable' | 'missing' | 'forbidden' | 'unknown';

/** Where the objects of a kind are read. */
export interface OptionalKindOptions {
  readonly client: KubeClient;
  /** The namespaces that are read; `[undefined]`: all. */
  readonly partitions: readonly (string | undefined)[];
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly interruptions?: Interruptions | undefined;
  readonly fieldSelector?: string | undefined;
  /** Largest number of objects in each partition. @default - no limit */
  readonly maxObjects?: number | undefined;
  /** Largest number of bytes of the objects in each partition, as the store weighs them. @default - no limit */
  readonly maxBytes?: number | undefined;
  /** How it is logged that a kind cannot be read though the server serves it. @default warn */
  readonly level?: 'warn' | 'info' | 'debug' | undefined;
  readonly log: Logger;
}

/** Learns what becomes of a kind. */
export interface KindListener<T> extends Omit<StoreListener<T>, 'freed'> {
  /**
   * {@link OptionalKind.stateIn} may be another, or objects were listed anew; comes after
   * {@link StoreListener.relisted}.
   */
  stateChanged(): void;
  /** The server has been heard: it was listed, or something came by a watch. @default - nothing is done */
  heard?(): void;
  /** The watch of a partition is in some state. @default - nothing is done */
  reflected?(namespace: string | undefined, state: ReflectorState): void;
}

/** A kind as it is read: what there is of it, and whether that can be known. */
export type ReadKind<T extends KubeObject> = Pick<OptionalKind<T>, 'store' | 'stateIn' | 'isAwaitedIn'>;

/** One kind that may not be there. */
export class OptionalKind<T extends KubeObject> {
  readonly store: Store<T>;
  readonly of: Resource;
  readonly #options: OptionalKindOptions;
  readonly #listener: KindListener<T>;
  readonly #labelSelector: string | undefined;
  readonly #states = new Map<string | undefined, KindState>();
  readonly #reflectors = new Map<string | undefined, Reflector<T>>();
  #running = false;
  /** Called when the server may have such a kind. */
  #foundServed: () => void = () => undefined;

  /** @param kept how its objects are kept */
  constructor(
    of: Resource,
    options: OptionalKindOptions,
    kept: StoreOptions<T>,
    listener: KindListener<T>,
    labelSelector?: string,
  ) {
    this.of = of;
    this.#labelSelector = labelSelector;
    this.#options = options;
    this.#listener = listener;
    const names = options.partitions.filter((name) => name !== undefined);
    this.store = new Store<T>({
      ...kept,
      ...(names.length > 0 && { partitions: names }),
      listener: {
        changed: (change) => listener.changed?.(change),
        relisted: (first, lost, partition) => {
          listener.relisted?.(first, lost, partition);
          listener.stateChanged();
        },
      },
    });
  }

  /** Whether the API server does not serve it: its CRD is not installed. */
  get isMissing(): boolean {
    return [...this.#states.values()].includes('missing');
  }

  /** Whether the API server refuses to list it, or does not serve it. */
  get isUnreadable(): boolean {
    return this.isMissing || [...this.#states.values()].includes('forbidden');
  }

  /** Whether the objects of a namespace can be read, and have been. */
  stateIn(namespace: string): KindState {
    const state = this.#stateIn(namespace);
    if (state === 'missing' || state === 'forbidden') return state;
    return this.store.syncedPart(namespace) ? 'readable' : 'unknown';
  }

  /** Whether the API server has not answered yet, in any way, what objects a namespace has. */
  isAwaitedIn(namespace: string): boolean {
    return this.#stateIn(namespace) === undefined && !this.store.syncedPart(namespace);
  }

  #stateIn(namespace: string): KindState | undefined {
    return this.#states.get(namespace) ?? this.#states.get(undefined) ?? (this.isMissing ? 'missing' : undefined);
  }

  /**
   * Watches until the signal aborts; once, however often it is called. While the kind is not served, one namespace is
   * asked for it, and not all.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    const [first, ...others] = this.#options.partitions.map((namespace) => this.#reflector(namespace));
    const found = new Promise<void>((resolve) => (this.#foundServed = resolve));
    const served = Promise.race([found, aborted(signal)]);
    await Promise.all([first?.run(signal), ...others.map(async (each) => served.then(() => each.run(signal)))]);
  }

  #reflector(namespace: string | undefined): Reflector<T> {
    const { client, timings, interruptions, fieldSelector, maxObjects, maxBytes } = this.#options;
    const reflector = new Reflector<T>({
      client: () => client,
      resource: this.of,
      select: { namespace, labelSelector: this.#labelSelector, fieldSelector },
      sink: this.store.sink(namespace),
      maxObjects,
      maxBytes,
      onHeard: () => this.#listener.heard?.(),
      interruptions,
      ...(timings === undefined ? {} : { timings }),
      onState: (state) => this.#reflected(namespace, state),
    });
    this.#reflectors.set(namespace, reflector);
    return reflector;
  }

  /** Lists the objects of a namespace anew. */
  relist(namespace: string): void {
    this.#reflectors.get(namespace)?.reconnect({ resume: false });
  }

  #reflected(namespace: string | undefined, state: ReflectorState): void {
    this.#listener.reflected?.(namespace, state);
    const before = this.#states.get(namespace);
    const now = stateOf(state) ?? before ?? 'unknown';
    if (now !== 'missing') this.#foundServed();
    if (now === before) return;
    // Listeners of the list know it already.
    const isNews = now !== 'readable' || this.stateIn(namespace ?? '') !== 'readable';
    this.#states.set(namespace, now);
    const { plural, group } = this.of;
    const fields = { resource: `${plural}.${group}`, ...(namespace !== undefined && { namespace }) };
    const { log, level: refused = 'warn' } = this.#options;
    if (state.connected) log.debug(fields, 'it can be read');
    else {
      // The CRD is optional.
      const level = now === 'missing' ? 'debug' : refused;
      log[level]({ ...fields, error: describe(state.error) }, 'it cannot be read; trying again');
    }
    if (isNews) this.#listener.stateChanged();
  }
}

/** What the state of a watch says of its kind; undefined for nothing new. */
function stateOf(state: ReflectorState): KindState | undefined {
  if (state.connected) return 'readable';
  if (isNotFound(state.error)) return 'missing';
  return isForbidden(state.error) ? 'forbidden' : undefined;
}
