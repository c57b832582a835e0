/**
 * The source cluster in memory: what it holds now, and what planned writes would make of it. It answers writes as an
 * API server does, as far as mirrors need it, so that the operator's own steps can be made against it one after the
 * other.
 */
import { FIELD_MANAGER, KUBERNETES_SLICE_MANAGERS, Label, SELECTED_SLICE_MANAGER } from '../../crds/wire.ts';
import { ApiError } from '../kube/errors.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  type Namespace,
  NAMESPACES,
  type Resource,
  type Service,
  SERVICES,
} from '../kube/objects.ts';
import type { WriteClient } from '../runtime/applier.ts';
import { idOf, nameOf } from '../runtime/plan.ts';
import type { Sink, Store, StoreOptions } from '../runtime/store.ts';
import { SourceStores, type SourceStoresOptions } from '../source/stores.ts';
import { type Listed, ListedKind } from './listed-kind.ts';

/** What the source cluster holds. Endpoints and slices that do not belong to a mirror may be left out. */
export interface SourceObjects {
  readonly namespaces: readonly Namespace[];
  readonly services: readonly Service[];
  readonly endpoints: readonly Endpoints[];
  readonly slices: readonly EndpointSlice[];
}

export interface ModelOptions extends SourceStoresOptions {
  readonly objects: SourceObjects;
  /** Finds Endpoints that were left out. */
  readonly findEndpoints: (namespace: string, name: string) => Promise<KubeObject | undefined>;
  /** Finds the slices of Services by their names, in all namespaces. */
  readonly findSlices: (services: readonly string[]) => Promise<readonly EndpointSlice[]>;
  /** Lists another kind, in the namespaces that are read. */
  readonly list: (of: Resource) => Promise<Listed>;
}

/** An object that planned writes have created, changed, replaced or deleted. */
export interface Touched {
  readonly of: Resource;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** ClusterIPs that only an API server gives are taken from 0.0.0.0/8, where no Service has one. */
const ASSIGNED = /^0\.\d+\.\d+\.\d+$/;

/** Whether an IP stands for one that the API server will give. */
export const isAssigned = (ip: string): boolean => ASSIGNED.test(ip);

/** The stores of the source cluster, filled with what it holds, and with what is written. */
class ModelStores extends SourceStores {
  /** Other stores that show what is written, by the name of their resource. */
  readonly #others = new Map<string, Store<KubeObject>[]>();

  show<T extends KubeObject>(of: Resource, store: Store<T>): void {
    const name = nameOf(of);
    this.#others.set(name, [...(this.#others.get(name) ?? []), store as unknown as Store<KubeObject>]);
  }

  fill({ namespaces, services, endpoints, slices }: SourceObjects): void {
    const exist = new Set(namespaces.map(({ metadata }) => metadata.name));
    if (this.watched !== undefined) fill(this.watched.store, namespaces, exist);
    fill(this.services, services, exist);
    fill(this.endpoints, endpoints.filter(isOfCluster), exist);
    fill(this.slices, slices.filter(isWritten), exist);
    for (const { label, store } of this.foreign.selected) {
      const has = ({ metadata }: EndpointSlice): boolean =>
        metadata.labels?.[Label.endpointSliceManagedBy] === SELECTED_SLICE_MANAGER && label in metadata.labels;
      fill(store, slices.filter(has), exist);
    }
  }

  put(of: Resource, object: KubeObject): void {
    for (const sink of this.#sinks(of, object)) sink.applied(object);
  }

  remove(of: Resource, object: KubeObject): void {
    for (const sink of this.#sinks(of, object)) sink.removed(object);
  }

  #sinks(of: Resource, object: KubeObject): readonly Sink<KubeObject>[] {
    const others = this.#others.get(nameOf(of)) ?? [];
    const all = [this.#sink(of, object), ...others.map((store) => sinkFor(store, object.metadata.namespace))];
    return all.filter((sink) => sink !== undefined);
  }

  #sink({ plural }: Resource, { metadata: { namespace } }: KubeObject): Sink<KubeObject> | undefined {
    switch (plural) {
      case NAMESPACES.plural:
        return this.watched?.store.sink();
      case SERVICES.plural:
        return sinkFor(this.services, namespace);
      case ENDPOINTS.plural:
        return sinkFor(this.endpoints, namespace);
      case ENDPOINT_SLICES.plural:
        return sinkFor(this.slices, namespace);
      default:
        return undefined;
    }
  }
}

/** Where objects of a namespace go; undefined if it is not read. */
const sinkFor = <T extends KubeObject>(store: Store<T>, namespace: string | undefined): Sink<T> | undefined => {
  const partition = [undefined, namespace].find((each) => store.partitions.includes(each));
  return store.partitions.includes(partition) ? store.sink(partition) : undefined;
};

/** Fills a store with a list; a partition whose namespace does not exist cannot be listed. */
const fill = <T extends KubeObject>(store: Store<T>, objects: readonly T[], exist: ReadonlySet<string>): void => {
  for (const partition of store.partitions) {
    if (partition !== undefined && !exist.has(partition)) continue;
    const sink = store.sink(partition);
    sink.init();
    for (const object of objects) sink.listed(object);
    sink.initDone();
  }
};

const isOfCluster = ({ metadata }: KubeObject): boolean => metadata.labels?.[Label.clusterName] !== undefined;

const isWritten = ({ metadata }: KubeObject): boolean =>
  !KUBERNETES_SLICE_MANAGERS.includes(metadata.labels?.[Label.endpointSliceManagedBy] ?? '');

export class ModelCluster implements WriteClient {
  readonly fieldManager = FIELD_MANAGER;
  readonly #options: ModelOptions;
  readonly #stores: ModelStores;
  /** Every object that there is, by id; undefined if it was deleted. */
  readonly #objects = new Map<string, KubeObject | undefined>();
  /** What was asked for besides, by the name of its resource. */
  readonly #lists = new Map<string, Promise<Listed>>();
  readonly #touched = new Map<string, { readonly of: Resource; readonly before: KubeObject | undefined }>();
  /** Objects whose fields were all made ours: an apply leaves nothing else in them. */
  readonly #claimed = new Set<string>();
  #writes = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#stores = new ModelStores(options);
    const { namespaces, services, endpoints, slices } = options.objects;
    this.#stores.fill(options.objects);
    for (const [of, objects] of [
      [NAMESPACES, namespaces],
      [SERVICES, services],
      [ENDPOINTS, endpoints],
      [ENDPOINT_SLICES, slices],
    ] as const) {
      for (const object of objects) this.#objects.set(idOf(of, object), object);
    }
  }

  /** Returns what there was at first of another kind. The cluster is asked once. */
  list(of: Resource): Promise<Listed> {
    const listing = this.#lists.get(nameOf(of)) ?? this.#options.list(of);
    this.#lists.set(nameOf(of), listing);
    return listing;
  }

  /**
   * Reads another kind, and shows in it what is written. Whatever is derived asks for its own kinds, before anything is
   * written.
   * @param kept how the objects are kept
   */
  async kind<T extends KubeObject>(of: Resource, kept: StoreOptions<T>): Promise<ListedKind<T>> {
    const listed = await this.list(of);
    const kind = new ListedKind<T>(listed, this.#options.mirrorNamespaces, kept);
    this.show(of, kind.store);
    if (typeof listed !== 'string') for (const object of listed) this.#objects.set(idOf(of, object), object);
    return kind;
  }

  /** Returns the slices of Services, in all namespaces. */
  findSlices(services: readonly string[]): Promise<readonly EndpointSlice[]> {
    return this.#options.findSlices(services);
  }

  /** Shows what is written of a resource in another store, too. */
  show<T extends KubeObject>(of: Resource, store: Store<T>): void {
    this.#stores.show(of, store);
  }

  /** What the operator knows of it. */
  get stores(): SourceStores {
    return this.#stores;
  }

  /** The Services that there were at first. */
  get services(): readonly Service[] {
    return this.#options.objects.services;
  }

  /** Number of writes and deletions so far. */
  get writes(): number {
    return this.#writes;
  }

  /** What was written or deleted, with what it was before and what it is now, if that differs. */
  get touched(): readonly Touched[] {
    return [...this.#touched]
      .map(([id, { of, before }]) => ({ of, before, after: this.#objects.get(id) }))
      .filter(({ before, after }) => before !== after);
  }

  /** Nothing else writes here: there is nothing to hold back. */
  fenced(): WriteClient {
    return this;
  }

  async read<T extends KubeObject>(of: Resource, namespace: string | undefined, name: string): Promise<T> {
    const id = idOf(of, named(namespace, name));
    const known = this.#objects.get(id);
    if (known !== undefined) return known as T;
    const isUnknown = of === ENDPOINTS && !this.#objects.has(id);
    const found = isUnknown ? await this.#options.findEndpoints(namespace ?? '', name) : undefined;
    if (found === undefined) throw new ApiError(404, { reason: 'NotFound' }, `get ${of.kind} ${name}`);
    return found as T;
  }

  async apply<T extends KubeObject>(of: Resource, wanted: KubeObject): Promise<T> {
    const { namespace, name, uid } = wanted.metadata;
    const id = idOf(of, wanted);
    const live = await this.read(of, namespace, name).catch(() => undefined);
    if (live !== undefined && uid === undefined) {
      throw new ApiError(409, { reason: 'Conflict' }, `apply ${of.kind} ${name}`);
    }
    const written = withServerFields(of, merged(wanted, live, this.#claimed.has(id)), live, ++this.#writes);
    this.#touch(of, id, live);
    this.#objects.set(id, written);
    this.#stores.put(of, written);
    return written as T;
  }

  /** Nothing is against any object. */
  tryApply<T extends KubeObject>(_of: Resource, wanted: KubeObject): Promise<T> {
    return Promise.resolve(wanted as T);
  }

  /** Only managedFields are ever patched. */
  async patch<T extends KubeObject>(
    of: Resource,
    { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
  ): Promise<T> {
    this.#claimed.add(idOf(of, named(namespace, name)));
    return this.read<T>(of, namespace, name);
  }

  delete(
    of: Resource,
    { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
  ): Promise<void> {
    this.#delete(of, named(namespace, name));
    // The API server deletes the Endpoints of a Service with it.
    if (of === SERVICES) this.#delete(ENDPOINTS, named(namespace, name));
    return Promise.resolve();
  }

  #delete(of: Resource, object: KubeObject): void {
    const id = idOf(of, object);
    const live = this.#objects.get(id);
    if (live === undefined) return;
    this.#writes += 1;
    this.#touch(of, id, live);
    this.#objects.set(id, undefined);
    this.#claimed.delete(id);
    this.#stores.remove(of, live);
  }

  #touch(of: Resource, id: string, live: KubeObject | undefined): void {
    if (!this.#touched.has(id)) this.#touched.set(id, { of, before: live });
  }
}

const named = (namespace: string | undefined, name: string): KubeObject => ({
  metadata: { name, ...(namespace !== undefined && { namespace }) },
});

/** Server-side apply: labels and annotations of others stay, unless they were made ours first. */
const merged = (wanted: KubeObject, live: KubeObject | undefined, isClaimed: boolean): KubeObject => {
  if (live === undefined || isClaimed) return wanted;
  const { labels, annotations } = wanted.metadata;
  return {
    ...wanted,
    metadata: {
      ...wanted.metadata,
      labels: { ...live.metadata.labels, ...labels },
      annotations: { ...live.metadata.annotations, ...annotations },
    },
  };
};

const withServerFields = (
  of: Resource,
  object: KubeObject,
  live: KubeObject | undefined,
  version: number,
): KubeObject => {
  const metadata = {
    ...object.metadata,
    uid: live?.metadata.uid ?? `planned-${version}`,
    resourceVersion: `planned-${version}`,
  };
  if (of !== SERVICES) return { ...object, metadata };
  const { spec } = object as Service;
  const { clusterIP = spec?.clusterIP ?? assignedIP(version) } = (live as Service | undefined)?.spec ?? {};
  const service: Service = { ...object, metadata, spec: { ...spec, clusterIP } };
  return service;
};

const assignedIP = (n: number): string => `0.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
