/**
 * Watches those Services of a cluster that one selector selects, and the slices of these Services.
 *
 * Kubernetes copies the labels of a Service to the slices that it creates, so one watch by labels finds these slices.
 * If a Service has no selector, or its labelled slices list no endpoint, its slices are also looked up by its name (see
 * slices-by-name.ts).
 */
import type { Selector } from '../../../crds/selector.ts';
import type { KubeClient } from '../../kube/client.ts';
import {
  ENDPOINT_SLICES,
  hasSelector,
  keyOf,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  type Service,
  SERVICES,
} from '../../kube/objects.ts';
import type { ReflectorTimings } from '../../runtime/reflector.ts';
import { Store } from '../../runtime/store.ts';
import { weightOf } from '../../runtime/weight.ts';
import { MAX_BYTES, MAX_OBJECTS } from '../read/bounds.ts';
import { needsByName, slicesBehind } from '../read/exported.ts';
import { type Read, readService, readSlice as readTargetSlice, serviceKeys } from '../read/objects.ts';
import type { SharedBytes } from '../read/shared-bytes.ts';
import { haveMoved, leftOf } from '../certain/pod-rereads.ts';
import type { ListsListener, ReadingListener, SelectedListener } from './listeners.ts';
import { SlicesByName, type Wanting } from './slices-by-name.ts';
import { WatchedStore, type WatchedStoreOptions } from './watched-store.ts';

/** Options that all watches of a target, or of one namespace of it, share. */
export interface WatchSettings {
  /** @default - the whole cluster */
  readonly namespace?: string | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  /**
   * How long labelled slices of a Service are awaited before its slices are looked up by its name, in milliseconds.
   * @default 2000
   */
  readonly labelCopyMs?: number | undefined;
  /** Validates a slice and keeps some of its fields, or refuses it. @default - keeps the fields that mirrors use */
  readonly readSlice?: ((object: EndpointSlice) => Read<EndpointSlice>) | undefined;
  readonly reading: ReadingListener;
}

export interface SelectedOptions extends WatchSettings {
  readonly selector: Selector;
  /** Prefix that makes the names of the reflectors unique within a namespace. @default - none */
  readonly prefix?: string;
  /** Whether slices are read from the start. */
  readonly readsSlices: boolean;
  readonly client: KubeClient;
  /** Ends all watches. */
  readonly signal: AbortSignal;
  readonly listener: SelectedListener;
  readonly lists: ListsListener;
}

/** Name of the watch of labelled slices. */
const LABELLED = 'endpointslices';

export class SelectedServices {
  readonly #options: SelectedOptions;
  readonly #services: WatchedStore<Service>;
  /** Labelled slices: those that the selector of the Services selects too. Undefined while slices are not read. */
  #labelled: WatchedStore<EndpointSlice> | undefined;
  readonly #byName: SlicesByName;
  #isRelisting = false;

  /** Starts watching. */
  constructor(options: SelectedOptions) {
    const { selector, readsSlices, labelCopyMs } = options;
    this.#options = options;
    this.#byName = new SlicesByName({
      watch: ({ number, labelSelector, shared }) =>
        this.#watchSlices(`${LABELLED} by name ${number}`, labelSelector, shared),
      wanting: () => this.#wanting(),
      labelCopyMs,
    });
    this.#services = this.#watchServices(selector.query);
    if (readsSlices) this.readSlices();
  }

  /** Starts to read slices. */
  readSlices(): void {
    this.#labelled ??= this.#watchSlices(LABELLED, this.#options.selector.query);
  }

  /** Whether all selected Services have been listed. Until then, a Service that is missing here might be selected. */
  get synced(): boolean {
    return this.#services.store.synced;
  }

  /** Whether everything that is read has been listed and is being watched, except slices that are found by name. */
  get open(): boolean {
    const watches = [this.#services, this.#labelled].filter((watch) => watch !== undefined);
    return watches.every(({ connected, store }) => connected && store.synced);
  }

  /** Whether every list that `relist` asked for has completed. */
  get current(): boolean {
    return !this.#isRelisting;
  }

  get size(): number {
    return this.#services.store.size;
  }

  get(key: string): Service | undefined {
    return this.#services.store.get(key);
  }

  /** Keys of all Services that are selected. */
  keys(): readonly string[] {
    return [...this.#services.store.values()].map(keyOf);
  }

  /**
   * Returns the slices of a Service; undefined while they are not known, empty if the watch does not show the Service.
   */
  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    const service = this.get(key);
    if (service === undefined) return [];
    return slicesBehind(service, this.#labelledOf(service), this.#byName.of(key, service.metadata.name));
  }

  /** Lists the Services anew. */
  relist(): void {
    this.#isRelisting = true;
    this.#services.relist();
  }

  stop(): void {
    for (const watch of [this.#services, this.#labelled, this.#byName]) watch?.stop();
  }

  #watchServices(labelSelector: string): WatchedStore<Service> {
    const { listener, lists } = this.#options;
    const store = new Store<Service>({
      weigh: weightOf,
      trim: (object) => this.#checked(readService(object)),
      listener: {
        relisted: (_first, lost) => {
          const isAskedFor = this.#isRelisting;
          this.#isRelisting = false;
          lists.relisted(lost > 0 && !isAskedFor);
        },
        changed: ({ key }) => {
          this.#byName.reconsider();
          listener.service(key);
        },
      },
    });
    return this.#watch('services', store, SERVICES, { labelSelector });
  }

  #watchSlices(id: string, labelSelector: string, shared?: SharedBytes): WatchedStore<EndpointSlice> {
    const { listener, lists, readSlice = readTargetSlice } = this.#options;
    const store = new Store<EndpointSlice>({
      weigh: weightOf,
      trim: (object) => this.#checked(readSlice(object)),
      indexes: { service: serviceKeys },
      listener: {
        relisted: () => {
          this.#byName.reconsider();
          for (const service of this.#services.store.values()) {
            // A list of slices by name concerns only the Services whose slices are looked up by name.
            if (id === LABELLED || needsByName(service, this.#labelledOf(service))) listener.slices?.(keyOf(service));
          }
          lists.slicesRelisted();
        },
        changed: ({ before, after, isListed }) => {
          if (this.#labelled?.store.synced === true && this.#byName.synced) this.#byName.reconsider();
          const left = isListed === true ? [] : leftOf(before, after);
          const isMove = haveMoved(before, after);
          for (const key of new Set([...serviceKeys(before), ...serviceKeys(after)])) {
            if (isMove) listener.pods?.(key);
            listener.slices?.(key, left);
          }
        },
      },
    });
    return this.#watch(id, store, ENDPOINT_SLICES, { labelSelector, shared });
  }

  #watch<T extends KubeObject>(
    id: string,
    store: Store<T>,
    resource: Resource,
    watched: Pick<WatchedStoreOptions<T>, 'labelSelector' | 'shared'>,
  ): WatchedStore<T> {
    const { prefix = '', client, namespace, timings, reading, signal } = this.#options;
    return new WatchedStore<T>({
      name: prefix + id,
      store,
      resource,
      ...watched,
      namespace,
      maxObjects: MAX_OBJECTS,
      maxBytes: MAX_BYTES,
      timings,
      client: () => client,
      listener: reading,
      signal,
    });
  }

  /** Returns the Services whose slices must be looked up by name; undefined while that is not known. */
  #wanting(): readonly Wanting[] | undefined {
    if (this.#options.signal.aborted || !this.synced || this.#labelled?.store.synced !== true) return undefined;
    return [...this.#services.store.values()]
      .filter((service) => needsByName(service, this.#labelledOf(service)))
      .map((service) => ({
        key: keyOf(service),
        name: service.metadata.name,
        // Kubernetes labels all slices of a Service alike: if one is labelled, no other is awaited.
        isLabelAwaited: hasSelector(service) && this.#labelledOf(service).length === 0,
      }));
  }

  #labelledOf(service: Service): readonly EndpointSlice[] {
    return this.#labelled?.store.by('service', keyOf(service)) ?? [];
  }

  #checked<T extends KubeObject>(read: Read<T>): T | undefined {
    if ('object' in read) return read.object;
    this.#options.reading.malformed(read.malformed);
    return undefined;
  }
}
