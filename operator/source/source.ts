/**
 * What the operator keeps in the source cluster: the mirrors of all Links and their endpoints, watched by label, and
 * the namespaces they may live in; in the whole cluster, or in each of the namespaces that it is limited to. One set of
 * watches serves every Link; objects are filed by who owns them.
 */
import { ENDPOINT_SLICE_MANAGER, Label, Value } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import { isForbidden } from '../kube/errors.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  NAMESPACES,
  SERVICES,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  type Service,
} from '../kube/objects.ts';
import { Reflector, type ReflectorState, type ReflectorTimings } from '../runtime/reflector.ts';
import { Store } from '../runtime/store.ts';
import { ListedNamespaces } from './listed-namespaces.ts';
import type { OwnedObjects } from '../mirror/observed.ts';
import { type SourceNamespaceState, WatchedNamespaces } from './namespaces.ts';

/** The key of a Link's probe Service; every other key is `namespace/name` of a target Service. */
export const PROBE_KEY = '!probe';

/** In a key: ours by its labels, but the mirror of nothing that could exist. */
const STRAY = '~';

/** Whose an object is: the target cluster, and what in it. */
export interface Owner {
  readonly cluster: string;
  readonly key: string;
}

/**
 * Who owns an object (rule A6), or undefined if it is not ours.
 * @param namespace the operator's own, where probe Services are
 */
export function ownerOf(object: KubeObject, namespace: string): Owner | undefined {
  const { labels = {}, name, namespace: within = '' } = object.metadata;
  const cluster = labels[Label.clusterName];
  if (cluster === undefined || cluster === '') return undefined;
  if (labels[Label.mirroredService] === Value.true) {
    const mirror = labels[Label.headlessMirrorSvcName] ?? serviceOf(object);
    const suffix = `-${cluster}`;
    const remote = mirror.endsWith(suffix) ? mirror.slice(0, -suffix.length) : '';
    return { cluster, key: `${within}/${remote === '' ? STRAY + name : remote}` };
  }
  // The Endpoints of a probe Service carry no more than the cluster's name.
  const probe = labels[Label.mirroredGateway] === Value.true || (object as Service).spec === undefined;
  return probe && within === namespace && serviceOf(object).startsWith('probe-')
    ? { cluster, key: PROBE_KEY }
    : undefined;
}

/** Name of the Service that an object is, or is the endpoints of. */
const serviceOf = (object: KubeObject | EndpointSlice): string =>
  ('addressType' in object ? object.metadata.labels?.[Label.serviceName] : undefined) ?? object.metadata.name;

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
  /** Something that is, or was, ours changed. */
  readonly onChange: (owner: Owner, by: 'endpoints' | 'service') => void;
  /** A namespace came or went, can be read or cannot any more. */
  readonly onNamespace: (name: string) => void;
  /** One of several namespaces may not be read, with this error; undefined: it may be after all. */
  readonly onRefused?: (namespace: string, error: unknown) => void;
  /** A list completed, or was refused for one of several namespaces: everything may be known now. */
  readonly onRelisted?: () => void;
  readonly onState: (what: string, state: ReflectorState) => void;
}

/** A namespace is looked at for doubts of its being there at most so often. */
const DOUBT_PERIOD_MS = 10_000;

export class SourceCluster {
  readonly services: Store<Service>;
  readonly endpoints: Store<Endpoints>;
  readonly slices: Store<EndpointSlice>;
  readonly #namespaces: WatchedNamespaces | ListedNamespaces;
  readonly #options: SourceOptions;
  /** The namespaces that are read; undefined: all. */
  readonly #within: ReadonlySet<string> | undefined;
  readonly #reflectors = new Map<string, { reconnect(): void }[]>();
  /** Namespaces in which a resource cannot be read for other reasons than that it is refused, by plural. */
  readonly #failing = new Map<string, Set<string>>();
  /** When a namespace was last in doubt, on the monotonic clock. */
  readonly #doubted = new Map<string, number>();

  constructor(options: SourceOptions) {
    this.#options = options;
    const { namespace, mirrorNamespaces, onNamespace } = options;
    this.#within = mirrorNamespaces && new Set([namespace, ...mirrorNamespaces]);
    this.services = this.#owned<Service>('service', trimService);
    this.endpoints = this.#owned<Endpoints>('endpoints', trimEndpoints);
    this.slices = this.#owned<EndpointSlice>('endpoints', trimSlice);
    const onRelisted = () => options.onRelisted?.();
    this.#namespaces =
      this.#within === undefined
        ? new WatchedNamespaces({ onChange: onNamespace, onRelisted })
        : new ListedNamespaces({
            names: this.#within,
            required: namespace,
            isListed: (name) => this.#stores.every((store) => store.syncedPart(name)),
            onChange: onNamespace,
            onRefused: (name, error) => {
              options.onRefused?.(name, error);
              onRelisted();
            },
          });
  }

  /** Whether everything that can be read has been listed. */
  get synced(): boolean {
    const isRead = this.#within !== undefined || this.#stores.every(({ synced }) => synced);
    return isRead && this.#namespaces.synced;
  }

  /** Namespaces that cannot be read: what of ours is in them is not known. */
  get unreadable(): readonly string[] {
    return this.#namespaces.unreadable;
  }

  /** Watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const mine = { labelSelector: Label.clusterName };
    const written = `${Label.clusterName},${Label.endpointSliceManagedBy}=${ENDPOINT_SLICE_MANAGER}`;
    const namespaces = this.#namespaces;
    await Promise.all([
      ...this.#watch(SERVICES, this.services, mine, signal),
      ...this.#watch(ENDPOINTS, this.endpoints, mine, signal),
      ...this.#watch(ENDPOINT_SLICES, this.slices, { labelSelector: written }, signal),
      ...(namespaces instanceof WatchedNamespaces ? this.#watch(NAMESPACES, namespaces.store, {}, signal) : []),
    ]);
  }

  /** What there is of one owner's. */
  ownedBy({ cluster, key }: Owner): OwnedObjects {
    const value = `${cluster}|${key}`;
    return {
      services: this.services.by('owner', value),
      endpoints: this.endpoints.by('owner', value),
      slices: this.slices.by('owner', value),
    };
  }

  /** Keys of everything in the cluster that is ours for one target cluster. */
  keysOf(cluster: string): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const store of this.#stores) {
      for (const object of store.by('cluster', cluster)) {
        const owner = ownerOf(object, this.#options.namespace);
        if (owner !== undefined) keys.add(owner.key);
      }
    }
    return keys;
  }

  /** Whether a namespace is there; one that is being deleted is not. */
  namespaceState(name: string): SourceNamespaceState {
    return this.#namespaces.stateOf(name);
  }

  /**
   * A write into a namespace was refused. Where namespaces are not watched, its watches are asked whether it can still be
   * read: one that is open goes on after the right to it, or the namespace, is gone.
   */
  doubt(namespace: string): void {
    const reflectors = this.#reflectors.get(namespace);
    const now = performance.now();
    if (reflectors === undefined || now - (this.#doubted.get(namespace) ?? -Infinity) < DOUBT_PERIOD_MS) return;
    this.#doubted.set(namespace, now);
    for (const reflector of reflectors) reflector.reconnect();
  }

  get #stores() {
    return [this.services, this.endpoints, this.slices] as const;
  }

  #owned<T extends Service | Endpoints | EndpointSlice>(by: 'service' | 'endpoints', trim: (object: T) => T): Store<T> {
    const owner = (object: T): Owner | undefined => ownerOf(object, this.#options.namespace);
    return new Store<T>({
      partitions: this.#within,
      trim,
      indexes: {
        owner: (object) => {
          const found = owner(object);
          return found === undefined ? [] : [`${found.cluster}|${found.key}`];
        },
        cluster: (object) => {
          const found = owner(object);
          return found === undefined ? [] : [found.cluster];
        },
      },
      onRelisted: () => this.#options.onRelisted?.(),
      onChange: ({ before, after }) => {
        const was = before === undefined ? undefined : owner(before);
        const is = after === undefined ? undefined : owner(after);
        if (was !== undefined) this.#options.onChange(was, by);
        if (is !== undefined && (is.cluster !== was?.cluster || is.key !== was.key)) this.#options.onChange(is, by);
      },
    });
  }

  /** One watch of a resource, or one in each namespace. */
  #watch<T extends KubeObject>(
    resource: Resource,
    store: Store<T>,
    select: { readonly labelSelector?: string },
    signal: AbortSignal,
  ): readonly Promise<void>[] {
    const { client, timings } = this.#options;
    return store.partitions.map((namespace) => {
      const reflector = new Reflector<T>({
        client: () => client,
        resource,
        select: { ...select, ...(namespace !== undefined && { namespace }) },
        sink: store.sink(namespace),
        ...(timings === undefined ? {} : { timings }),
        onState: (state) => this.#told(resource.plural, namespace, state),
      });
      if (namespace !== undefined) {
        this.#reflectors.set(namespace, [...(this.#reflectors.get(namespace) ?? []), reflector]);
      }
      return reflector.run(signal);
    });
  }

  /** Of many namespaces the first that fails is told of, as what ails it ails all; a refusal is its own affair. */
  #told(plural: string, namespace: string | undefined, state: ReflectorState): void {
    const { onState } = this.#options;
    const namespaces = this.#namespaces;
    if (namespace === undefined || !(namespaces instanceof ListedNamespaces)) {
      onState(plural, state);
      return;
    }
    namespaces.told(namespace, plural, state);
    const failing = this.#failing.get(plural) ?? new Set();
    this.#failing.set(plural, failing);
    const before = failing.size;
    if (state.connected || isForbidden(state.error)) failing.delete(namespace);
    else failing.add(namespace);
    if (before === 0 && failing.size > 0) onState(plural, state);
    if (before > 0 && failing.size === 0) onState(plural, { connected: true });
  }
}

const trimMetadata = ({ metadata }: KubeObject) => {
  const { name, namespace, uid, resourceVersion, labels, annotations } = metadata;
  return { name, namespace, uid, resourceVersion, labels, annotations };
};

const trimService = (object: Service): Service => {
  const { type, clusterIP, selector, externalName, externalIPs, internalTrafficPolicy, sessionAffinity } =
    object.spec ?? {};
  const { publishNotReadyAddresses, ports } = object.spec ?? {};
  return {
    metadata: trimMetadata(object),
    spec: {
      type,
      clusterIP,
      selector,
      externalName,
      externalIPs,
      internalTrafficPolicy,
      sessionAffinity,
      publishNotReadyAddresses,
      ports,
    },
  } as Service;
};

const trimEndpoints = (object: Endpoints): Endpoints =>
  ({ metadata: trimMetadata(object), subsets: object.subsets }) as Endpoints;

const trimSlice = (object: EndpointSlice): EndpointSlice =>
  ({
    metadata: trimMetadata(object),
    addressType: object.addressType,
    endpoints: object.endpoints,
    ports: object.ports,
  }) as EndpointSlice;
