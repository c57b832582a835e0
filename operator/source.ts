/**
 * What the operator keeps in the source cluster: the mirrors of all Links and their endpoints, watched by label, and
 * the Namespaces they may live in. One set of watches serves every Link; objects are filed by who owns them.
 */
import { ENDPOINT_SLICE_MANAGER, Label, Value } from '../crds/wire.ts';
import type { KubeClient } from './kube/client.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  NAMESPACES,
  SERVICES,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  type Namespace,
  type Resource,
  type Service,
} from './kube/objects.ts';
import { Reflector, type ReflectorState, type ReflectorTimings } from './kube/reflector.ts';
import { Store } from './kube/store.ts';
import type { OwnedObjects } from './mirror/observe.ts';

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
  readonly timings?: Partial<ReflectorTimings> | undefined;
  /** Something that is, or was, ours changed. */
  readonly onChange: (owner: Owner, by: 'endpoints' | 'service') => void;
  readonly onNamespace: (name: string) => void;
  /** A list completed: everything may be known now. */
  readonly onRelisted?: () => void;
  readonly onState: (what: string, state: ReflectorState) => void;
}

export class SourceCluster {
  readonly services: Store<Service>;
  readonly endpoints: Store<Endpoints>;
  readonly slices: Store<EndpointSlice>;
  readonly namespaces: Store<Namespace>;
  readonly #options: SourceOptions;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.services = this.#owned<Service>('service', trimService);
    this.endpoints = this.#owned<Endpoints>('endpoints', trimEndpoints);
    this.slices = this.#owned<EndpointSlice>('endpoints', trimSlice);
    this.namespaces = new Store<Namespace>({
      trim: ({ metadata: { name, resourceVersion, deletionTimestamp } }) =>
        ({ metadata: { name, resourceVersion, deletionTimestamp } }) as Namespace,
      onRelisted: () => options.onRelisted?.(),
      onChange: ({ key, before, after }) => {
        if (isLive(before) !== isLive(after)) options.onNamespace(key);
      },
    });
  }

  get synced(): boolean {
    return [this.services, this.endpoints, this.slices, this.namespaces].every(({ synced }) => synced);
  }

  /** Watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const mine = { labelSelector: Label.clusterName };
    const written = `${Label.clusterName},${Label.endpointSliceManagedBy}=${ENDPOINT_SLICE_MANAGER}`;
    await Promise.all([
      this.#reflector(SERVICES, this.services, mine).run(signal),
      this.#reflector(ENDPOINTS, this.endpoints, mine).run(signal),
      this.#reflector(ENDPOINT_SLICES, this.slices, { labelSelector: written }).run(signal),
      this.#reflector(NAMESPACES, this.namespaces, {}).run(signal),
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
    for (const store of [this.services, this.endpoints, this.slices] as const) {
      for (const object of store.by('cluster', cluster)) {
        const owner = ownerOf(object, this.#options.namespace);
        if (owner !== undefined) keys.add(owner.key);
      }
    }
    return keys;
  }

  /** Whether a namespace is there and not being deleted. */
  hasNamespace(name: string): boolean {
    return isLive(this.namespaces.get(name));
  }

  #owned<T extends Service | Endpoints | EndpointSlice>(by: 'service' | 'endpoints', trim: (object: T) => T): Store<T> {
    const owner = (object: T): Owner | undefined => ownerOf(object, this.#options.namespace);
    return new Store<T>({
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

  #reflector<T extends KubeObject>(
    resource: Resource,
    sink: Store<T>,
    select: { readonly labelSelector?: string },
  ): Reflector<T> {
    const { client, timings, onState } = this.#options;
    return new Reflector<T>({
      client: () => client,
      resource,
      select,
      sink,
      ...(timings === undefined ? {} : { timings }),
      onState: (state) => onState(resource.plural, state),
    });
  }
}

const isLive = (namespace: Namespace | undefined): boolean =>
  namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;

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
