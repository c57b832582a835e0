/**
 * What a target cluster, or one namespace of it, exports to one Link: watches its Services by the Link's selectors and
 * their EndpointSlices, and nothing else, so that what is not exported costs nothing.
 *
 * Kubernetes copies a Service's labels to its slices, so one labelled watch finds them; slices that others made are
 * found by the Service's name, with a second watch over just the Services that have nobody without them.
 */
import type { Selector } from '../../crds/selector.ts';
import type { KubeClient } from '../kube/client.ts';
import { obstacleOf } from '../kube/errors.ts';
import {
  ENDPOINT_SLICES,
  keyOf,
  splitKey,
  type EndpointSlice,
  type KubeObject,
  type Service,
  SERVICES,
} from '../kube/objects.ts';
import { Reflector, type ReflectorState, type ReflectorTimings } from '../runtime/reflector.ts';
import { type Change, Store } from '../runtime/store.ts';
import type { MirrorMode } from '../mirror/observed.ts';
import { SlicesByName } from './slices-by-name.ts';
import { type Read, readService, readSlice, serviceKeys } from './objects.ts';

export interface TargetSelectors {
  readonly gateway: Selector | undefined;
  readonly flat: Selector | undefined;
}

export interface TargetPartOptions {
  readonly selectors: TargetSelectors;
  /** @default - the whole cluster */
  readonly namespace?: string | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  /** How long a Service's slices may take to carry its labels, before they are looked up by name. @default 2000 */
  readonly labelCopyMs?: number | undefined;
  /** A target Service, or what is behind it, may have changed: `namespace/name`. */
  readonly onChange: (key: string) => void;
  /**
   * Services were listed anew, and every exported Service is known.
   * @param lost whether, without `relist` having been asked for, Services that were exported are so no longer
   */
  readonly onRelisted: (lost: boolean) => void;
  /** What is behind Services was listed anew, and every exported Service is known. */
  readonly onSlicesRelisted: () => void;
  /** It can be read (undefined), or cannot since this error; said on each change. */
  readonly onState: (error: unknown) => void;
  /** Something was left out since it is not what the API says it is. */
  readonly onMalformed: (what: string) => void;
}

/** How long changes to the set of Services looked up by name are collected before the watch is made anew. */
const BY_NAME_SETTLE_MS = 250;
/** Kubernetes' controller copies a label within milliseconds, and within seconds under load. */
const LABEL_COPY_MS = 2_000;
/**
 * With two selectors a Service that moves from one to the other leaves the first watch before it enters the second;
 * its mirror must not be torn down in between.
 */
const LEFT_SETTLE_MS = 250;

/** The two watches of EndpointSlices. */
const LABELLED = 'endpointslices';
const BY_NAME = 'endpointslices by name';

interface Watched<T extends KubeObject> {
  readonly store: Store<T>;
  reconnect(): void;
  relist(): void;
  stop(): void;
}

export class TargetPart {
  readonly #options: TargetPartOptions;
  readonly #states = new Map<string, ReflectorState>();
  readonly #selectors: TargetSelectors;
  #client: KubeClient | undefined;
  #signal: AbortSignal | undefined;
  #gateway: Watched<Service> | undefined;
  #flat: Watched<Service> | undefined;
  #slices: Watched<EndpointSlice> | undefined;
  readonly #byName = new SlicesByName((query, shard) => this.#watchSlices(`${BY_NAME} ${shard}`, query));
  #byNameTimer: NodeJS.Timeout | undefined;
  #byNameDueMs = Infinity;
  /** When labelled slices of any Service were last given up, on the monotonic clock. */
  #gaveUpMs = -Infinity;
  /** Since when, on the monotonic clock, Services with a selector have had no labelled slice. */
  #unlabelledSince: ReadonlyMap<string, number> = new Map();
  /** What was last told: `reachable`, or the obstacle. */
  #said: string | undefined;
  /** Stores of Services whose list has been asked for anew. */
  readonly #awaited = new Set<Store<Service>>();

  constructor(options: TargetPartOptions) {
    this.#options = options;
    this.#selectors = options.selectors;
  }

  /** Whether every exported Service is known: only then is a Service that is not there known to be gone. */
  get synced(): boolean {
    return (this.#gateway?.store.synced ?? true) && (this.#flat?.store.synced ?? true) && this.#client !== undefined;
  }

  /** Whether no list of Services is awaited that `relist` asked for. */
  get current(): boolean {
    return this.#awaited.size === 0;
  }

  /** The exported Service, and how; flat mode wins (rule A1). */
  get(key: string): { readonly service: Service; readonly mode: MirrorMode } | undefined {
    const flat = this.#flat?.store.get(key);
    if (flat !== undefined) return { service: flat, mode: 'remote-discovery' };
    const gateway = this.#gateway?.store.get(key);
    return gateway === undefined ? undefined : { service: gateway, mode: 'gateway' };
  }

  /** Keys of all exported Services, in either mode. */
  keys(): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const watched of [this.#gateway, this.#flat]) {
      for (const service of watched?.store.values() ?? []) keys.add(keyOf(service));
    }
    return keys;
  }

  /** The slices behind a Service; undefined while it is not known which there are. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    const service = this.#gateway?.store.get(key);
    if (service === undefined) return [];
    const labelled = this.#labelled(service);
    if (!this.#needsByName(service)) return labelled;
    const { name } = service.metadata;
    const named = this.#byName.of(key, name);
    if (named === undefined) return undefined;
    const found = new Map(labelled.map((slice) => [slice.metadata.name, slice]));
    for (const slice of named) found.set(slice.metadata.name, slice);
    return [...found.values()];
  }

  /** Starts watching; with what client is up to `use`. */
  run(client: KubeClient, signal: AbortSignal): void {
    this.#client = client;
    this.#signal = signal;
    const { gateway, flat } = this.#selectors;
    const two = gateway !== undefined && flat !== undefined;
    if (gateway !== undefined) {
      this.#gateway = this.#watchServices('services', gateway.query, two);
      this.#slices = this.#watchSlices(LABELLED, gateway.query);
    }
    if (flat !== undefined) this.#flat = this.#watchServices('flat services', flat.query, two);
    // Nothing is selected: that is known without asking.
    if (gateway === undefined && flat === undefined) this.#options.onRelisted(false);
  }

  /** Lists the exported Services anew. */
  relist(): void {
    for (const watched of [this.#gateway, this.#flat]) {
      if (watched === undefined) continue;
      this.#awaited.add(watched.store);
      watched.relist();
    }
  }

  /** Goes on with another client, from where the watches are. */
  use(client: KubeClient): void {
    this.#client = client;
    for (const watched of [this.#gateway, this.#flat, this.#slices, this.#byName]) watched?.reconnect();
  }

  stop(): void {
    clearTimeout(this.#byNameTimer);
    for (const watched of [this.#gateway, this.#flat, this.#slices, this.#byName]) watched?.stop();
  }

  #watchServices(id: string, labelSelector: string, two: boolean): Watched<Service> {
    const store: Store<Service> = new Store<Service>({
      trim: (object) => this.#checked(readService(object)),
      onRelisted: (_, lost) => {
        const isAwaited = this.#awaited.delete(store);
        if (this.synced) this.#options.onRelisted(lost > 0 && !isAwaited);
      },
      onChange: ({ key, after }) => {
        this.#byNameChanged();
        if (after === undefined && two) {
          setTimeout(() => {
            if (this.#signal?.aborted === false) this.#options.onChange(key);
          }, LEFT_SETTLE_MS);
        } else this.#options.onChange(key);
      },
    });
    return this.#watch(id, store, SERVICES, labelSelector);
  }

  #watchSlices(id: string, labelSelector: string): Watched<EndpointSlice> {
    const store: Store<EndpointSlice> = new Store<EndpointSlice>({
      trim: (object) => this.#checked(readSlice(object)),
      indexes: { service: serviceKeys },
      onRelisted: () => {
        this.#byNameChanged();
        for (const service of this.#gateway?.store.values() ?? []) {
          // A list of slices by name says nothing of the Services whose slices are labelled.
          if (id === LABELLED || this.#needsByName(service)) this.#options.onChange(keyOf(service));
        }
        if (this.synced) this.#options.onSlicesRelisted();
      },
      onChange: ({ before, after }: Change<EndpointSlice>) => {
        if (this.#slices?.store.synced === true && this.#byName.synced) this.#byNameChanged();
        for (const key of new Set([...serviceKeys(before), ...serviceKeys(after)])) this.#options.onChange(key);
      },
    });
    return this.#watch(id, store, ENDPOINT_SLICES, labelSelector);
  }

  #watch<T extends KubeObject>(
    id: string,
    store: Store<T>,
    resource: typeof SERVICES,
    labelSelector: string,
  ): Watched<T> {
    const stop = new AbortController();
    const { namespace } = this.#options;
    const reflector = new Reflector<T>({
      client: () => {
        if (this.#client === undefined) throw new Error('no client');
        return this.#client;
      },
      resource,
      select: { labelSelector, ...(namespace !== undefined && { namespace }) },
      sink: store.sink(),
      ...(this.#options.timings === undefined ? {} : { timings: this.#options.timings }),
      onState: (state) => this.#told(id, state),
    });
    const signal = this.#signal === undefined ? stop.signal : AbortSignal.any([this.#signal, stop.signal]);
    void reflector.run(signal);
    return {
      store,
      reconnect: () => reflector.reconnect(),
      relist: () => reflector.relist(),
      stop: () => {
        stop.abort();
        this.#states.delete(id);
      },
    };
  }

  #told(id: string, state: ReflectorState): void {
    this.#states.set(id, state);
    const failing = [...this.#states.values()].find(({ connected }) => !connected);
    const error = failing?.connected === false ? failing.error : undefined;
    const news = failing === undefined ? 'reachable' : obstacleOf(error);
    if (news === this.#said) return;
    this.#said = news;
    this.#options.onState(error);
  }

  /** Services without a selector, and those whose labelled slices, if there are any, list nobody. */
  #needsByName(service: Service): boolean {
    return !hasSelector(service) || this.#labelled(service).every(({ endpoints }) => (endpoints ?? []).length === 0);
  }

  #labelled(service: Service): readonly EndpointSlice[] {
    return this.#slices?.store.by('service', keyOf(service)) ?? [];
  }

  #byNameChanged(settleMs = BY_NAME_SETTLE_MS): void {
    const dueMs = performance.now() + settleMs;
    if (this.#byNameDueMs <= dueMs) return;
    clearTimeout(this.#byNameTimer);
    this.#byNameDueMs = dueMs;
    this.#byNameTimer = setTimeout(() => {
      this.#byNameDueMs = Infinity;
      this.#rewatchByName();
    }, settleMs);
  }

  #rewatchByName(): void {
    if (this.#signal?.aborted !== false) return;
    if (this.#gateway?.store.synced !== true || this.#slices?.store.synced !== true) return;
    const { labelCopyMs = LABEL_COPY_MS } = this.#options;
    const now = performance.now();
    const names = new Set<string>();
    const waiting = new Map<string, number>();
    for (const service of this.#gateway.store.values()) {
      if (!this.#needsByName(service)) continue;
      const [key, { name }] = [keyOf(service), service.metadata];
      // With a labelled slice, none that is to be labelled is awaited.
      const isDue = !hasSelector(service) || this.#byName.has(name) || this.#labelled(service).length > 0;
      if (isDue) names.add(name);
      else waiting.set(key, this.#unlabelledSince.get(key) ?? now);
    }
    // A target that is late with many labels must not have the watch made anew for each of them.
    if (now - this.#gaveUpMs >= labelCopyMs) {
      for (const [key, since] of waiting) {
        if (now - since < labelCopyMs) continue;
        names.add(splitKey(key).name);
        waiting.delete(key);
        this.#gaveUpMs = now;
      }
    }
    this.#unlabelledSince = waiting;
    if (waiting.size > 0) this.#byNameChanged(labelCopyMs);
    this.#byName.want(names);
  }

  #checked<T extends KubeObject>(read: Read<T>): T | undefined {
    if ('object' in read) return read.object;
    this.#options.onMalformed(read.malformed);
    return undefined;
  }
}

const hasSelector = ({ spec }: Service): boolean => Object.keys(spec?.selector ?? {}).length > 0;
