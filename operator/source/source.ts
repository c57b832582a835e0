/** Watches the source cluster. One set of watches serves all Links, and fills the stores of stores.ts. */
import { Label } from '../../crds/wire.ts';
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
import type { ReadHealth } from '../runtime/health.ts';
import type { Interruptions } from '../runtime/interruptions.ts';
import type { Logger } from '../runtime/logger.ts';
import { Reflector, type ReflectorState, type ReflectorTimings } from '../runtime/reflector.ts';
import type { Store } from '../runtime/store.ts';
import { logNamespaceAccess, sourceHealth, SourceProblems } from './advice.ts';
import type { SelectedSlices } from './slices-of-others.ts';
import { SourceStores, type SourceStoresOptions, WRITTEN_SLICES } from './stores.ts';

export interface SourceOptions extends SourceStoresOptions {
  readonly client: KubeClient;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly interruptions?: Interruptions | undefined;
  readonly log: Logger;
}

/** Minimum time between two re-checks of one namespace. */
const RECHECK_PERIOD_MS = 10_000;

export class SourceCluster extends SourceStores {
  /** The resources that cannot be read now. */
  readonly problems = new SourceProblems();
  readonly #options: SourceOptions;
  /** The reflectors of each namespace; empty if all namespaces are read together. */
  readonly #reflectors = new Map<string, Pick<Reflector<KubeObject>, 'reconnect'>[]>();
  readonly #health = new Map<string, ReadHealth>();
  /** When a namespace was last re-checked, on the monotonic clock. */
  readonly #recheckedMs = new Map<string, number>();
  /** Ends the watches; undefined before they begin. */
  #stop: AbortSignal | undefined;
  /** The watches of the slices that Kubernetes makes for Services derived from ServiceImports. */
  #ofDerived: readonly Promise<void>[] = [];
  /** Functions to call once everything has been listed. */
  #waiting: (() => void)[] = [];

  constructor(options: SourceOptions) {
    super(options);
    this.#options = options;
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
    this.#stop = signal;
    await Promise.all([
      // All Services are watched, since one that is not ours may have the name of a mirror.
      ...this.#watch(SERVICES, this.services, undefined, signal),
      ...this.#watch(ENDPOINTS, this.endpoints, Label.clusterName, signal),
      ...this.#watch(ENDPOINT_SLICES, this.slices, WRITTEN_SLICES, signal),
      ...this.foreign.selected.flatMap((selected) => this.#watchSelected(selected, signal)),
      ...(this.watched === undefined ? [] : this.#watch(NAMESPACES, this.watched.store, undefined, signal)),
    ]);
    await Promise.all(this.#ofDerived);
  }

  /**
   * Also watches the slices that Kubernetes makes for Services derived from ServiceImports. Called when there may be
   * such Services. Does nothing before {@link run}, or if these slices are watched already.
   */
  watchDerived(): void {
    if (this.#stop === undefined || this.#stop.aborted || this.#ofDerived.length > 0) return;
    this.#ofDerived = this.#watchSelected(this.foreign.derived, this.#stop);
  }

  /**
   * Lists the objects that one target cluster owns in the source cluster, and adds those that the stores do not show
   * yet. Watches may be late, and a write whose answer was lost may have taken effect. Namespaces that cannot be read
   * are left out.
   * @returns whether the stores show each of these objects as owned by the target cluster. This may not be so after a
   *   restore of the source cluster from a backup, which gives it back an object that another cluster owns by now. The
   *   stores show that only after their next list
   * @throws ApiError or ConnectionError if the objects cannot be listed
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

  /**
   * Checks whether a namespace can still be read. Called when a write into the namespace was refused. Its watches are
   * opened anew, since an open watch goes on even when the right to it, or the namespace, is gone. Does nothing if all
   * namespaces are read together, or if the namespace was checked a short time ago.
   */
  recheck(namespace: string): void {
    const reflectors = this.#reflectors.get(namespace);
    const now = performance.now();
    const isRecent = now - (this.#recheckedMs.get(namespace) ?? -Infinity) < RECHECK_PERIOD_MS;
    if (reflectors === undefined || isRecent) return;
    this.#recheckedMs.set(namespace, now);
    for (const reflector of reflectors) reflector.reconnect({ resume: true });
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
      const sentMs = performance.now();
      const { items } = await this.#options.client.list<T>(resource, { namespace, labelSelector }, signal);
      for (const object of items) {
        if (store.get(keyOf(object)) === undefined) store.wrote(object, undefined, sentMs);
        const shown = store.get(keyOf(object));
        isShown &&= shown !== undefined && this.ownerOf(shown)?.cluster === this.ownerOf(object)?.cluster;
      }
    }
    return isShown;
  }

  /**
   * Watches a resource, either in the whole cluster or in each namespace that is read.
   * @returns a promise for each watch, which resolves when the watch has ended
   */
  #watch<T extends KubeObject>(
    resource: Resource,
    store: Store<T>,
    labelSelector: string | undefined,
    signal: AbortSignal,
    onState = (namespace: string | undefined, state: ReflectorState) => this.#reflected(resource, namespace, state),
  ): readonly Promise<void>[] {
    const { client, timings, interruptions } = this.#options;
    return store.partitions.map((namespace) => {
      const reflector = new Reflector<T>({
        client: () => client,
        resource,
        select: { labelSelector, namespace },
        sink: store.sink(namespace),
        interruptions,
        ...(timings === undefined ? {} : { timings }),
        onState: (state) => onState(namespace, state),
      });
      if (namespace !== undefined) {
        this.#reflectors.set(namespace, [...(this.#reflectors.get(namespace) ?? []), reflector]);
      }
      return reflector.run(signal);
    });
  }

  #watchSelected({ labelSelector, store }: SelectedSlices, signal: AbortSignal): readonly Promise<void>[] {
    return this.#watch(ENDPOINT_SLICES, store, labelSelector, signal, (namespace, state) =>
      this.#healthOf(ENDPOINT_SLICES).report(labelSelector, state, namespace),
    );
  }

  /** Returns the object to which all reflectors of a resource report their state. */
  #healthOf({ plural }: Resource): ReadHealth {
    const { namespace, log } = this.#options;
    const health = this.#health.get(plural) ?? sourceHealth(plural, namespace, log, this.problems);
    this.#health.set(plural, health);
    return health;
  }

  #reflected(resource: Resource, namespace: string | undefined, state: ReflectorState): void {
    const { plural } = resource;
    this.#healthOf(resource).report(plural, state, namespace);
    if (namespace === undefined) return;
    const access = this.listed?.reflected(namespace, plural, state);
    if (access === undefined) return;
    const { namespace: own, log } = this.#options;
    logNamespaceAccess(namespace, state.connected ? undefined : state.error, own, log);
    this.checkSynced();
  }

  protected override checkSynced(): void {
    // The store that calls this reports the changes of its list right afterwards. They must be handled first.
    queueMicrotask(() => {
      if (!this.synced) return;
      for (const resolve of this.#waiting) resolve();
      this.#waiting = [];
    });
  }
}
