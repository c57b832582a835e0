/**
 * What the operator knows of the source cluster: the mirrors of all Links and their endpoints, filed by who owns them,
 * and the names that other Services have; in the whole cluster, or in each of the namespaces that the operator is
 * limited to. One set of watches serves every Link, and reports changes to the Link whose they are.
 */
import { ENDPOINT_SLICE_MANAGER, Label } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  keyOf,
  NAMESPACES,
  SERVICES,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  type Service,
} from '../kube/objects.ts';
import type { OwnedObjects } from '../mirror/observed.ts';
import type { ReadHealth } from '../runtime/health.ts';
import type { Logger } from '../runtime/logger.ts';
import { Reflector, type ReflectorState, type ReflectorTimings } from '../runtime/reflector.ts';
import { type Change, Store } from '../runtime/store.ts';
import { logNamespaceAccess, sourceHealth, SourceProblems } from './advice.ts';
import { ListedNamespaces, type SourceNamespaces, WatchedNamespaces } from './namespaces.ts';
import { indexValueOf, mirroredName, type Owner, ownerOf, sameOwner } from './owner.ts';
import { trimEndpoints, trimForeignService, trimService, trimSlice } from './trim.ts';

export interface SourceOptions {
  readonly client: KubeClient;
  /** The operator's own namespace. */
  readonly namespace: string;
  /**
   * The only namespaces that are read, besides the operator's own.
   * @default - all, with one watch for each kind
   */
  readonly mirrorNamespaces?: readonly string[] | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly log: Logger;
}

/** Called with the key of a Link whose objects changed, or whose mirror's name another Service took or gave up. */
export type SourceListener = (key: string, by: 'endpoints' | 'service') => void;

/** Selects the slices that an operator writes, and not those that Kubernetes makes of Endpoints. */
const WRITTEN_SLICES = `${Label.endpointSliceManagedBy}=${ENDPOINT_SLICE_MANAGER}`;

/** Minimum time between two re-checks of one namespace. */
const RECHECK_PERIOD_MS = 10_000;

export class SourceCluster {
  readonly services: Store<Service>;
  readonly endpoints: Store<Endpoints>;
  readonly slices: Store<EndpointSlice>;
  readonly namespaces: SourceNamespaces;
  /** What cannot be read at present. */
  readonly problems = new SourceProblems();
  readonly #options: SourceOptions;
  /** The namespaces that are read; undefined: all. */
  readonly #within: ReadonlySet<string> | undefined;
  /** Set if all namespaces are read. */
  readonly #watched: WatchedNamespaces | undefined;
  /** Set if only some namespaces are read. */
  readonly #listed: ListedNamespaces | undefined;
  readonly #listeners = new Map<string, SourceListener>();
  /** By namespace, if only some are read. */
  readonly #reflectors = new Map<string, Pick<Reflector<KubeObject>, 'reconnect'>[]>();
  /** When a namespace was last re-checked, on the monotonic clock. */
  readonly #recheckedMs = new Map<string, number>();
  /** Resolve once everything has been listed. */
  #waiting: (() => void)[] = [];

  constructor(options: SourceOptions) {
    const { namespace, mirrorNamespaces } = options;
    this.#options = options;
    this.#within = mirrorNamespaces && new Set([namespace, ...mirrorNamespaces]);
    this.services = this.#store(SERVICES, 'service', (service) =>
      this.#ownerOf(service) === undefined ? trimForeignService(service) : trimService(service),
    );
    this.endpoints = this.#store(ENDPOINTS, 'endpoints', trimEndpoints);
    this.slices = this.#store(ENDPOINT_SLICES, 'endpoints', trimSlice);
    if (this.#within === undefined) {
      this.#watched = new WatchedNamespaces(() => this.#checkSynced());
      this.namespaces = this.#watched;
    } else {
      const resources = [SERVICES, ENDPOINTS, ENDPOINT_SLICES].map(({ plural }) => plural);
      this.#listed = new ListedNamespaces({ names: this.#within, required: namespace, resources });
      this.namespaces = this.#listed;
    }
  }

  /** Whether everything that can be read has been listed. */
  get synced(): boolean {
    const isListed = this.#within !== undefined || this.#stores.every(({ synced }) => synced);
    return isListed && this.namespaces.synced;
  }

  /** Resolves once everything that can be read has been listed, or when the signal aborts. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    if (this.synced || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      // All of them, as a Service that is not ours may have the name of a mirror.
      ...this.#watch(SERVICES, this.services, undefined, signal),
      ...this.#watch(ENDPOINTS, this.endpoints, Label.clusterName, signal),
      ...this.#watch(ENDPOINT_SLICES, this.slices, `${Label.clusterName},${WRITTEN_SLICES}`, signal),
      ...(this.#watched === undefined ? [] : this.#watch(NAMESPACES, this.#watched.store, undefined, signal)),
    ]);
  }

  /**
   * Reports the changes of one target cluster's objects.
   * @returns ends the subscription
   * @throws Error if the cluster has a listener: two would write the same mirrors
   */
  subscribe(cluster: string, listener: SourceListener): () => void {
    if (this.#listeners.has(cluster)) throw new Error(`the mirrors of cluster "${cluster}" already have a listener`);
    this.#listeners.set(cluster, listener);
    return () => void this.#listeners.delete(cluster);
  }

  /** The objects of one owner. */
  ownedBy(owner: Owner): OwnedObjects {
    const value = indexValueOf(owner);
    return {
      services: this.services.by('owner', value),
      endpoints: this.endpoints.by('owner', value),
      slices: this.slices.by('owner', value),
    };
  }

  /** The target clusters that own anything here. */
  clusters(): ReadonlySet<string> {
    return new Set(this.#stores.flatMap((store) => [...store.indexed('cluster')]));
  }

  /** The keys of everything that one target cluster owns here. */
  keysOf(cluster: string): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const store of this.#stores) {
      for (const object of store.by('cluster', cluster)) {
        const owner = this.#ownerOf(object);
        if (owner !== undefined) keys.add(owner.key);
      }
    }
    return keys;
  }

  /**
   * Lists what one target cluster owns here, and adds to the stores what they do not show yet: watches may be late, and a
   * write whose answer was lost has taken effect all the same. Namespaces that cannot be read are left out.
   * @returns whether the stores show all of it as the cluster's. A source cluster that was restored from a backup may have
   *   again what we deleted, or what is another cluster's by now: the stores show that only after the next list
   * @throws ApiError or ConnectionError if it cannot be listed
   */
  async readAnew(cluster: string, signal: AbortSignal): Promise<boolean> {
    const ofCluster = `${Label.clusterName}=${cluster}`;
    const shown = await Promise.all([
      this.#readAnew(SERVICES, this.services, ofCluster, signal),
      this.#readAnew(ENDPOINTS, this.endpoints, ofCluster, signal),
      this.#readAnew(ENDPOINT_SLICES, this.slices, `${ofCluster},${WRITTEN_SLICES}`, signal),
    ]);
    return !shown.includes(false);
  }

  /** Whether a Service of that name exists that was not mirrored from a target cluster. */
  isTaken(namespace: string, name: string, cluster: string): boolean {
    const service = this.services.get(`${namespace}/${name}`);
    return service !== undefined && this.#ownerOf(service)?.cluster !== cluster;
  }

  /**
   * Checks whether a namespace can still be read, since a write into it was refused. Where namespaces are not watched,
   * its watches are opened anew: one that is open goes on after the right to it, or the namespace, is gone.
   */
  recheck(namespace: string): void {
    const reflectors = this.#reflectors.get(namespace);
    const now = performance.now();
    const isRecent = now - (this.#recheckedMs.get(namespace) ?? -Infinity) < RECHECK_PERIOD_MS;
    if (reflectors === undefined || isRecent) return;
    this.#recheckedMs.set(namespace, now);
    for (const reflector of reflectors) reflector.reconnect({ resume: true });
  }

  get #stores() {
    return [this.services, this.endpoints, this.slices] as const;
  }

  #ownerOf(object: KubeObject): Owner | undefined {
    return ownerOf(object, this.#options.namespace);
  }

  #isForeign(object: KubeObject | undefined): boolean {
    return object !== undefined && this.#ownerOf(object) === undefined;
  }

  #store<T extends Service | Endpoints | EndpointSlice>(
    { plural }: Resource,
    by: 'service' | 'endpoints',
    trim: (object: T) => T,
  ): Store<T> {
    const ownersOf = (object: T): readonly Owner[] => [this.#ownerOf(object)].filter((owner) => owner !== undefined);
    return new Store<T>({
      partitions: this.#within,
      trim,
      indexes: {
        owner: (object) => ownersOf(object).map(indexValueOf),
        cluster: (object) => ownersOf(object).map(({ cluster }) => cluster),
      },
      onRelisted: (_first, _lost, namespace) => {
        if (namespace !== undefined) this.#listed?.listed(namespace, plural);
        this.#checkSynced();
      },
      onChange: (change) => this.#changed(change, by),
    });
  }

  #changed({ before, after }: Change<Service | Endpoints | EndpointSlice>, by: 'endpoints' | 'service'): void {
    const was = before && this.#ownerOf(before);
    const is = after && this.#ownerOf(after);
    const affected = [was, is].filter((owner) => owner !== undefined);
    // Of Services alone others than ours are stored.
    const [service] = [before, after].filter((object) => object !== undefined);
    if (service !== undefined && this.#isForeign(before) !== this.#isForeign(after)) {
      affected.push(...this.#whoWants(service));
    }
    affected.forEach((owner, at) => {
      if (affected.findIndex((each) => sameOwner(each, owner)) === at)
        this.#listeners.get(owner.cluster)?.(owner.key, by);
    });
  }

  /** Those whose mirror would have the name of a Service. */
  #whoWants({ metadata: { namespace = '', name } }: KubeObject): readonly Owner[] {
    return [...this.#listeners.keys()].flatMap((cluster) => {
      const remote = mirroredName(name, cluster);
      return remote === undefined ? [] : [{ cluster, key: `${namespace}/${remote}` }];
    });
  }

  async #readAnew<T extends Service | Endpoints | EndpointSlice>(
    resource: Resource,
    store: Store<T>,
    labelSelector: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { unreadable } = this.namespaces;
    let isShown = true;
    for (const namespace of store.partitions) {
      if (namespace !== undefined && unreadable.includes(namespace)) continue;
      const { items } = await this.#options.client.list<T>(resource, { namespace, labelSelector }, signal);
      for (const object of items) {
        if (store.get(keyOf(object)) === undefined) store.wrote(object, undefined);
        const shown = store.get(keyOf(object));
        isShown &&= shown !== undefined && this.#ownerOf(shown)?.cluster === this.#ownerOf(object)?.cluster;
      }
    }
    return isShown;
  }

  /** One watch of a resource, or one in each namespace. */
  #watch<T extends KubeObject>(
    resource: Resource,
    store: Store<T>,
    labelSelector: string | undefined,
    signal: AbortSignal,
  ): readonly Promise<void>[] {
    const { client, timings, namespace: own, log } = this.#options;
    const health = sourceHealth(resource.plural, own, log, this.problems);
    return store.partitions.map((namespace) => {
      const reflector = new Reflector<T>({
        client: () => client,
        resource,
        select: { labelSelector, namespace },
        sink: store.sink(namespace),
        ...(timings === undefined ? {} : { timings }),
        onState: (state) => this.#reflected(resource, namespace, state, health),
      });
      if (namespace !== undefined) {
        this.#reflectors.set(namespace, [...(this.#reflectors.get(namespace) ?? []), reflector]);
      }
      return reflector.run(signal);
    });
  }

  #reflected({ plural }: Resource, namespace: string | undefined, state: ReflectorState, health: ReadHealth): void {
    health.report(plural, state, namespace);
    if (namespace === undefined) return;
    const access = this.#listed?.reflected(namespace, plural, state);
    if (access === undefined) return;
    const { namespace: own, log } = this.#options;
    logNamespaceAccess(namespace, state.connected ? undefined : state.error, own, log);
    this.#checkSynced();
  }

  #checkSynced(): void {
    // The store that calls this has swapped its list in, and goes on to report the changes: they come first.
    queueMicrotask(() => {
      if (!this.synced) return;
      for (const resolve of this.#waiting) resolve();
      this.#waiting = [];
    });
  }
}
