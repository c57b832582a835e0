/**
 * What a target cluster, or one namespace of it, exports to one Link: watches its Services by the Link's selectors and
 * their EndpointSlices, and nothing else, so that what is not exported costs nothing.
 *
 * Kubernetes copies a Service's labels to its slices, so one labelled watch finds them; slices that others made are
 * found by the Service's name (see slices-by-name.ts).
 */
import type { Selector } from '../../crds/selector.ts';
import type { KubeClient } from '../kube/client.ts';
import {
  ENDPOINT_SLICES,
  keyOf,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  type Service,
  SERVICES,
} from '../kube/objects.ts';
import type { ReflectorState, ReflectorTimings } from '../runtime/reflector.ts';
import { Store } from '../runtime/store.ts';
import { weightOf } from '../runtime/weight.ts';
import { type Exported, exportedAs, hasSelector, needsByName, slicesBehind } from './exported.ts';
import { type Read, readService, readSlice, serviceKeys } from './objects.ts';
import { Moves } from './moves.ts';
import { SlicesByName, type Wanting } from './slices-by-name.ts';
import { WatchedStore } from './watched-store.ts';

export interface TargetSelectors {
  readonly gateway: Selector | undefined;
  readonly flat: Selector | undefined;
}

export interface ExportWatchOptions {
  readonly selectors: TargetSelectors;
  /** @default - the whole cluster */
  readonly namespace?: string | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  /** How long a Service's slices may take to carry its labels, before they are looked up by name. @default 2000 */
  readonly labelCopyMs?: number | undefined;
  /**
   * Called when a target Service, or what is behind it, may have changed.
   * @param key `namespace/name`
   * @param left hostnames of pods that a watch, not a list, reported as gone from a slice of the Service
   */
  readonly onChange: (key: string, left?: readonly string[]) => void;
  /**
   * Called when Services were listed anew, and every exported Service is known.
   * @param lost whether Services are no longer exported, and this list was not asked for by `relist`
   */
  readonly onRelisted: (lost: boolean) => void;
  /** Called when what is behind Services was listed anew, and every exported Service is known. */
  readonly onSlicesRelisted: () => void;
  /** Called with each state of each reflector, and with undefined when one is stopped. */
  readonly onState: (reflector: string, state: ReflectorState | undefined) => void;
  /** Called when the target has been heard: a list, an event or a bookmark has come. */
  readonly onHeard?: (() => void) | undefined;
  /** Called when an object was left out since it is not what the API allows. */
  readonly onMalformed: (what: string) => void;
}

/** The watch of the slices that carry the labels of exported Services. */
const LABELLED = 'endpointslices';

/** Most Services, and most slices, that are read of a target (rule E10): several times what anybody mirrors. */
const MAX_OBJECTS = 50_000;
/** Most bytes that the objects of one list and its watch take: 10,000 Services with 6 KiB of annotations each. */
const MAX_BYTES = 64 * 1024 * 1024;

export class ExportWatch {
  readonly #options: ExportWatchOptions;
  #client: KubeClient | undefined;
  #signal: AbortSignal = AbortSignal.abort();
  #gateway: WatchedStore<Service> | undefined;
  #flat: WatchedStore<Service> | undefined;
  /** The slices that carry the labels of exported Services. */
  #labelled: WatchedStore<EndpointSlice> | undefined;
  readonly #byName: SlicesByName;
  /** Services that may be on their way from one watch to the other. */
  readonly #moves: Moves;
  /** Stores of Services that `relist` was called for and whose list has not completed. */
  readonly #relisting = new Set<Store<Service>>();

  constructor(options: ExportWatchOptions) {
    this.#options = options;
    this.#moves = new Moves((key) => options.onChange(key));
    this.#byName = new SlicesByName({
      watch: (query, shard) => this.#watchSlices(`endpointslices by name ${shard}`, query),
      wanting: () => this.#wanting(),
      labelCopyMs: options.labelCopyMs,
    });
  }

  /** Whether every exported Service is known: only then is a Service that is not there known to be gone. */
  get synced(): boolean {
    return this.#client !== undefined && this.#services.every(({ store }) => store.synced);
  }

  /** Whether everything that is read has been listed and is being watched. Slices found by name may still be looked for. */
  get open(): boolean {
    const watches = [...this.#services, this.#labelled].filter((watch) => watch !== undefined);
    return this.#client !== undefined && watches.every(({ connected, store }) => connected && store.synced);
  }

  /** Whether every list of Services that `relist` asked for has completed. */
  get current(): boolean {
    return this.#relisting.size === 0;
  }

  /** The exported Service, and how; flat mode wins (rule A1). */
  get(key: string): Exported | undefined {
    return exportedAs(this.#gateway?.store.get(key), this.#flat?.store.get(key));
  }

  /** Whether a Service left one watch and may be about to enter the other. */
  isMoving(key: string): boolean {
    return this.#moves.has(key);
  }

  /** Number of exported Services; one that is exported in both modes counts twice. */
  get size(): number {
    return this.#services.reduce((sum, { store }) => sum + store.size, 0);
  }

  /** Keys of all exported Services, in either mode. */
  keys(): ReadonlySet<string> {
    return new Set(this.#services.flatMap(({ store }) => [...store.values()].map(keyOf)));
  }

  /** The slices behind a Service; undefined while it is not known which there are. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    const service = this.#gateway?.store.get(key);
    if (service === undefined) return [];
    return slicesBehind(service, this.#labelledOf(service), this.#byName.of(key, service.metadata.name));
  }

  /** Starts watching. */
  run(client: KubeClient, signal: AbortSignal): void {
    this.#client = client;
    this.#signal = signal;
    const { gateway, flat } = this.#options.selectors;
    if (gateway !== undefined) {
      this.#gateway = this.#watchServices('services', gateway.query);
      this.#labelled = this.#watchSlices(LABELLED, gateway.query);
    }
    if (flat !== undefined) this.#flat = this.#watchServices('flat services', flat.query);
    // Nothing is selected: that is known without a request.
    if (gateway === undefined && flat === undefined) this.#options.onRelisted(false);
  }

  /** Lists the exported Services anew. */
  relist(): void {
    for (const watched of this.#services) {
      this.#relisting.add(watched.store);
      watched.relist();
    }
  }

  stop(): void {
    this.#moves.stop();
    for (const watched of this.#watches) watched.stop();
  }

  get #services(): readonly WatchedStore<Service>[] {
    return [this.#gateway, this.#flat].filter((watched) => watched !== undefined);
  }

  get #watches() {
    return [...this.#services, this.#labelled, this.#byName].filter((watch) => watch !== undefined);
  }

  /** Whether Services are exported in one mode and in the other. */
  get #areTwo(): boolean {
    return this.#options.selectors.gateway !== undefined && this.#options.selectors.flat !== undefined;
  }

  #watchServices(id: string, labelSelector: string): WatchedStore<Service> {
    const store: Store<Service> = new Store<Service>({
      weigh: weightOf,
      trim: (object) => this.#checked(readService(object)),
      onRelisted: (_first, lost) => {
        const isAskedFor = this.#relisting.delete(store);
        if (this.synced) this.#options.onRelisted(lost > 0 && !isAskedFor);
      },
      onChange: ({ key }) => {
        this.#byName.reconsider();
        if (this.get(key) === undefined && this.#areTwo) this.#moves.left(key);
        else {
          this.#moves.entered(key);
          this.#options.onChange(key);
        }
      },
    });
    return this.#watch(id, store, SERVICES, labelSelector);
  }

  #watchSlices(id: string, labelSelector: string): WatchedStore<EndpointSlice> {
    const store = new Store<EndpointSlice>({
      weigh: weightOf,
      trim: (object) => this.#checked(readSlice(object)),
      indexes: { service: serviceKeys },
      onRelisted: () => {
        this.#byName.reconsider();
        for (const service of this.#gateway?.store.values() ?? []) {
          // A list of slices by name says nothing about the Services whose slices are labelled.
          if (id === LABELLED || this.#needsByName(service)) this.#options.onChange(keyOf(service));
        }
        if (this.synced) this.#options.onSlicesRelisted();
      },
      onChange: ({ before, after, isListed }) => {
        if (this.#labelled?.store.synced === true && this.#byName.synced) this.#byName.reconsider();
        const there = hostnamesOf(after);
        const left = isListed === true ? [] : [...hostnamesOf(before)].filter((hostname) => !there.has(hostname));
        for (const key of new Set([...serviceKeys(before), ...serviceKeys(after)])) this.#options.onChange(key, left);
      },
    });
    return this.#watch(id, store, ENDPOINT_SLICES, labelSelector);
  }

  #watch<T extends KubeObject>(
    id: string,
    store: Store<T>,
    resource: Resource,
    labelSelector: string,
  ): WatchedStore<T> {
    const { namespace, timings, onState, onHeard } = this.#options;
    return new WatchedStore<T>({
      store,
      resource,
      labelSelector,
      namespace,
      maxObjects: MAX_OBJECTS,
      maxBytes: MAX_BYTES,
      timings,
      client: () => {
        if (this.#client === undefined) throw new Error('no client');
        return this.#client;
      },
      onState: (state) => {
        this.#moves.connected(this.#services.every(({ connected }) => connected));
        onState(id, state);
      },
      onHeard,
      signal: this.#signal,
    });
  }

  /** The Services that want slices found by name; undefined while it is not known which. */
  #wanting(): readonly Wanting[] | undefined {
    if (this.#signal.aborted || this.#gateway?.store.synced !== true || this.#labelled?.store.synced !== true) {
      return undefined;
    }
    return [...this.#gateway.store.values()]
      .filter((service) => this.#needsByName(service))
      .map((service) => ({
        key: keyOf(service),
        name: service.metadata.name,
        // A Service with one labelled slice has all of them labelled.
        isLabelAwaited: hasSelector(service) && this.#labelledOf(service).length === 0,
      }));
  }

  #needsByName(service: Service): boolean {
    return needsByName(service, this.#labelledOf(service));
  }

  #labelledOf(service: Service): readonly EndpointSlice[] {
    return this.#labelled?.store.by('service', keyOf(service)) ?? [];
  }

  #checked<T extends KubeObject>(read: Read<T>): T | undefined {
    if ('object' in read) return read.object;
    this.#options.onMalformed(read.malformed);
    return undefined;
  }
}

const hostnamesOf = (slice: EndpointSlice | undefined): ReadonlySet<string> =>
  new Set((slice?.endpoints ?? []).flatMap(({ hostname }) => hostname ?? []));
