/**
 * Watches all Services of a cluster, or of one of its namespaces, and the slices of those that are exported. A Service
 * is exported if a ServiceExport has its namespace and name.
 *
 * All Services are watched, because the Service of a new export is needed at once. Few fields of each Service are kept.
 * Slices are found by the names of the exported Services, because every slice that names an exported Service counts,
 * whoever created the slice.
 */
import type { KubeClient } from '../../kube/client.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type KubeObject,
  type Service,
  SERVICES,
  splitKey,
} from '../../kube/objects.ts';
import type { Interruptions } from '../../runtime/interruptions.ts';
import { DEFAULT_TIMINGS, type ReflectorTimings } from '../../runtime/reflector.ts';
import { Store } from '../../runtime/store.ts';
import { weightOf } from '../../runtime/weight.ts';
import { MAX_BYTES, MAX_OBJECTS } from '../read/bounds.ts';
import { type Read, readExportedService, readExportedSlice, serviceKeys } from '../read/objects.ts';
import { haveMoved, PodRereads } from '../certain/pod-rereads.ts';
import type { AnswerListener } from '../certain/questions.ts';
import { isSameVersion, Rereads } from '../certain/rereads.ts';
import type { ReadingListener } from './listeners.ts';
import { SlicesByName, type WatchedShard } from './slices-by-name.ts';
import { WatchedStore, type WatchedStoreOptions } from './watched-store.ts';

/** Receives changes of exported Services. */
export interface ExportedListener {
  /**
   * Called when an exported Service or its slices may have changed, or when the cluster has answered a question about
   * them.
   */
  changed(key: string): void;
  /** Called when Services were listed anew. Then {@link changed} is called for every exported Service. */
  relisted(): void;
  /**
   * Called when a question about a Service or its pods has failed for the first time. The question is asked again,
   * without limit.
   */
  unanswered(key: string, error: unknown): void;
}

export interface ExportedServicesOptions {
  readonly client: KubeClient;
  /** Namespace that is read. @default all */
  readonly namespace?: string | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly interruptions?: Interruptions | undefined;
  /**
   * Validates a slice and keeps some of its fields, or refuses it.
   * @default - keeps the fields that are used in other clusters
   */
  readonly readSlice?: ((object: EndpointSlice) => Read<EndpointSlice>) | undefined;
  /** Returns the keys of all exported Services, whether or not the Services exist. */
  readonly exported: () => Iterable<string>;
  readonly isExported: (key: string) => boolean;
  readonly listener: ExportedListener;
  readonly reading: ReadingListener;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

export class ExportedServices {
  /** Answers of the cluster about the pods of exported Services. */
  readonly pods: PodRereads;
  readonly #options: ExportedServicesOptions;
  readonly #services: WatchedStore<Service>;
  readonly #slices: SlicesByName;
  readonly #rereads: Rereads<Service>;

  /** Starts watching. */
  constructor(options: ExportedServicesOptions) {
    this.#options = options;
    this.#slices = new SlicesByName({
      watch: (shard) => this.#watchSlices(shard),
      wanting: () => [...options.exported()].map((key) => ({ key, name: splitKey(key).name, isLabelAwaited: false })),
    });
    const { client, listener, timings, signal } = options;
    const answers: AnswerListener = {
      answered: (key) => listener.changed(key),
      unanswered: (key, error) => listener.unanswered(key, error),
    };
    const common = { listener: answers, backoff: timings?.backoff ?? DEFAULT_TIMINGS.backoff };
    this.#rereads = new Rereads<Service>({ ...common, of: SERVICES, read: readExportedService });
    this.pods = new PodRereads({ ...common, get: (key) => this.get(key), isLabelled: () => true });
    for (const rereads of [this.#rereads, this.pods]) rereads.run(client, signal);
    this.#services = this.#watchServices();
    signal.addEventListener('abort', () => this.#slices.stop(), { once: true });
  }

  /** Whether all Services have been listed. Until then, a Service that is missing here might exist. */
  get synced(): boolean {
    return this.#services.store.synced;
  }

  get(key: string): Service | undefined {
    return this.#services.store.get(key);
  }

  /**
   * Reports whether the cluster was asked for this exported Service, and its answer agrees with what the watch shows:
   * the same version of the Service, or no Service. The watch alone proves nothing, because it can be behind the watch
   * of exports, and a list can be older still.
   */
  confirms(key: string): boolean {
    const answer = this.#rereads.answer(key);
    return this.synced && answer !== undefined && isSameVersion(answer.object, this.get(key));
  }

  /**
   * Asks the cluster for a Service. Does nothing if the cluster has been asked for it already, or before all Services
   * have been listed.
   */
  ask(key: string): void {
    if (this.synced) this.#rereads.ask(key);
  }

  /** Forgets the answer about a Service. */
  forget(key: string): void {
    this.#rereads.forget(key);
  }

  /**
   * Returns the slices of an exported Service; undefined while they are not known, empty if the Service does not exist.
   */
  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    if (!this.synced) return undefined;
    return this.get(key) === undefined ? [] : this.#slices.of(key, splitKey(key).name);
  }

  /** Schedules a new choice of the slices to watch. Called when an export has appeared or changed. */
  reconsider(): void {
    this.#slices.reconsider();
  }

  #watchServices(): WatchedStore<Service> {
    const store = new Store<Service>({
      weigh: weightOf,
      trim: (object) => this.#checked(readExportedService(object)),
      listener: {
        relisted: () => {
          this.#rereads.askAnew((key) => this.confirms(key));
          this.pods.askAnew(() => false);
          this.#options.listener.relisted();
          this.#allChanged();
        },
        changed: ({ key }) => {
          this.#rereads.forget(key);
          this.pods.forget(key);
          if (this.#options.isExported(key)) this.#options.listener.changed(key);
        },
      },
    });
    return this.#watch('services', { store, resource: SERVICES });
  }

  #watchSlices({ number, names, labelSelector, shared }: WatchedShard): WatchedStore<EndpointSlice> {
    const { readSlice = readExportedSlice, isExported, listener } = this.#options;
    const store = new Store<EndpointSlice>({
      weigh: weightOf,
      trim: (object) => this.#checked(readSlice(object)),
      indexes: { service: serviceKeys },
      listener: {
        relisted: () => {
          this.pods.askAnew(() => false);
          this.#allChanged(names);
        },
        changed: ({ before, after }) => {
          const isMove = haveMoved(before, after);
          for (const key of new Set([...serviceKeys(before), ...serviceKeys(after)])) {
            if (isMove) this.pods.forget(key);
            if (isExported(key)) listener.changed(key);
          }
        },
      },
    });
    return this.#watch(`endpointslices ${number}`, { store, resource: ENDPOINT_SLICES, labelSelector, shared });
  }

  #watch<T extends KubeObject>(
    name: string,
    watched: Pick<WatchedStoreOptions<T>, 'store' | 'resource' | 'labelSelector' | 'shared'>,
  ): WatchedStore<T> {
    const { client, namespace, timings, interruptions, reading, signal } = this.#options;
    return new WatchedStore<T>({
      ...watched,
      name,
      namespace,
      maxObjects: MAX_OBJECTS,
      maxBytes: MAX_BYTES,
      timings,
      interruptions,
      client: () => client,
      listener: reading,
      signal,
    });
  }

  /**
   * Reports exported Services as changed.
   * @param names names of the Services that may have changed. @default all
   */
  #allChanged(names?: ReadonlySet<string>): void {
    const { exported, listener } = this.#options;
    for (const key of exported()) if (names === undefined || names.has(splitKey(key).name)) listener.changed(key);
  }

  #checked<T extends KubeObject>(read: Read<T>): T | undefined {
    if ('object' in read) return read.object;
    this.#options.reading.malformed(read.malformed);
    return undefined;
  }
}
