/**
 * Stores what the operator knows of the source cluster: the mirrors of all Links and their endpoints, indexed by owner,
 * and the names of other Services. The stores cover the whole cluster, or only the namespaces that the operator is
 * limited to. Each change is reported to the session of the target cluster that owns the object. Reflectors (source.ts)
 * or lists (forecast) fill the stores.
 */
import { federatedName, KUBERNETES_SLICE_MANAGERS, Label, probeName } from '../../crds/wire.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  SERVICES,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  type Service,
  splitKey,
} from '../kube/objects.ts';
import type { OwnedObjects } from '../mirror/observed.ts';
import type { WriteThrough } from '../runtime/applier.ts';
import { type Change, Store } from '../runtime/store.ts';
import { SourceListeners } from './listeners.ts';
import { ListedNamespaces, type SourceNamespaces, WatchedNamespaces } from './namespaces.ts';
import {
  federationOf,
  importedClusters,
  importOf,
  importsOf,
  indexValueOf,
  isExportedHere,
  isFederated,
  isOfFederation,
  memberClusters,
  type Owner,
  ownerOf,
  PROBE_KEY,
  sameOwner,
  serviceOf,
} from './owner.ts';
import { servicesOf, SlicesOfOthers } from './slices-of-others.ts';
import { trimDerivedService, trimEndpoints, trimForeignService, trimService, trimSlice } from './trim.ts';

export interface SourceStoresOptions {
  /** The operator's own namespace. */
  readonly namespace: string;
  /**
   * The only namespaces that are read, besides the operator's own.
   * @default - all
   */
  readonly mirrorNamespaces?: readonly string[] | undefined;
}

/**
 * Label selector of all slices but those that Kubernetes' own controllers make of pods and of Endpoints. It selects a
 * slice of ours even if somebody has changed the label `endpointslice.kubernetes.io/managed-by` of that slice to a
 * value that these controllers do not use.
 */
export const WRITTEN_SLICES = `${Label.endpointSliceManagedBy} notin (${KUBERNETES_SLICE_MANAGERS.join(',')})`;

/** The only value in the index of exported Services. */
const EXPORTED = 'here';

export class SourceStores extends SourceListeners {
  readonly services: Store<Service>;
  readonly endpoints: Store<Endpoints>;
  readonly slices: Store<EndpointSlice>;
  /** Slices that others give our Services. */
  readonly foreign: SlicesOfOthers;
  readonly namespaces: SourceNamespaces;
  /** All namespaces; undefined if only some are read. */
  protected readonly watched: WatchedNamespaces | undefined;
  /** The namespaces that are read; undefined if all are. */
  protected readonly listed: ListedNamespaces | undefined;
  readonly #namespace: string;
  /** The namespaces that are read; undefined for all. */
  readonly #within: ReadonlySet<string> | undefined;

  constructor({ namespace, mirrorNamespaces }: SourceStoresOptions) {
    super();
    this.#namespace = namespace;
    this.#within = mirrorNamespaces && new Set([namespace, ...mirrorNamespaces]);
    this.services = this.#store(SERVICES, 'service', (service) => this.#trimmed(service));
    this.endpoints = this.#store(ENDPOINTS, 'endpoints', trimEndpoints);
    this.slices = this.#store(ENDPOINT_SLICES, 'endpoints', (slice) => trimSlice(slice, this.#belonging(slice)));
    this.foreign = new SlicesOfOthers({
      ...{ namespace, within: this.#within, written: this.slices },
      listener: { slicesChanged: (service) => this.#foreignChanged(service) },
    });
    if (this.#within === undefined) {
      this.watched = new WatchedNamespaces({ relisted: () => this.checkSynced() });
      this.namespaces = this.watched;
    } else {
      const resources = [SERVICES, ENDPOINTS, ENDPOINT_SLICES].map(({ plural }) => plural);
      this.listed = new ListedNamespaces({ names: this.#within, required: namespace, resources });
      this.namespaces = this.listed;
    }
  }

  /** Whether everything that can be read has been listed. */
  get synced(): boolean {
    const isListed = this.#within !== undefined || this.stores.every(({ synced }) => synced);
    return isListed && this.namespaces.synced;
  }

  /**
   * Returns the Services and slices whose labels mark them as derived from one ServiceImport, and the slices that
   * others give these Services.
   */
  import(key: string): Omit<OwnedObjects, 'endpoints'> {
    const services = this.services.by('import', key);
    return { services, slices: this.slices.by('import', key), foreign: this.foreign.of(services, true) };
  }

  /** Returns the keys of all ServiceImports from which anything is derived. */
  imports(): ReadonlySet<string> {
    return new Set([...this.services.indexed('import'), ...this.slices.indexed('import')]);
  }

  /** Returns the keys of the ServiceImports that have derived objects leading to a target cluster. */
  importsFrom(cluster: string): ReadonlySet<string> {
    const derived = [this.services, this.slices].flatMap((store): readonly KubeObject[] => store.by('source', cluster));
    return new Set(derived.map(importOf).filter((key) => key !== undefined));
  }

  /**
   * Returns the Service that has the name of a federated Service, whoever owns it, the slices whose labels mark them as
   * slices of the federated Service, and the slices that others give it.
   * @param key `namespace/name` of the members
   */
  federation(key: string): Pick<OwnedObjects, 'slices' | 'foreign'> & { readonly live: Service | undefined } {
    const { namespace, name } = splitKey(key);
    const live = this.services.get(`${namespace}/${federatedName(name)}`);
    return {
      live,
      slices: this.slices.by('federation', key),
      foreign: live !== undefined && isFederated(live) ? this.foreign.of([live], true) : undefined,
    };
  }

  /** Returns the keys of all federated Services that exist, or have slices left. */
  federations(): ReadonlySet<string> {
    return new Set([...this.services.indexed('federation'), ...this.slices.indexed('federation')]);
  }

  /** Returns the keys of the federated Services that a target cluster is a member of. */
  membershipsOf(cluster: string): ReadonlySet<string> {
    const members = [this.services, this.slices].flatMap((store): readonly KubeObject[] => store.by('member', cluster));
    return new Set(members.map(federationOf).filter((key) => key !== undefined));
  }

  /** Returns the Services whose labels export them through the gateway. Mirrors are never among them. */
  exportedServices(): readonly Service[] {
    return this.services.by('exported', EXPORTED);
  }

  /** Returns the objects of one owner, and the slices that others give its Services. */
  ownedBy(owner: Owner): OwnedObjects {
    const value = indexValueOf(owner);
    const services = this.services.by('owner', value);
    return {
      services,
      endpoints: this.endpoints.by('owner', value),
      slices: this.slices.by('owner', value),
      foreign: this.foreign.of(services, false),
    };
  }

  /**
   * Returns the probe Services of a target cluster and the probe Service of a Link, with their endpoints. The Link's
   * probe Service is found by its name. If the Link named another cluster before, the Service has the label of that
   * cluster until the session for the present cluster writes it.
   */
  probesOf(cluster: string, link: string): OwnedObjects {
    const isOfLink = (object: KubeObject): boolean => serviceOf(object) === probeName(link);
    const { services, endpoints, slices, foreign } = this.ownedBy({ cluster, key: PROBE_KEY });
    const others = [...this.clusters()].filter((each) => each !== cluster);
    const owned = others.map((each) => this.ownedBy({ cluster: each, key: PROBE_KEY }));
    return {
      services: [...services, ...owned.flatMap((of) => of.services.filter(isOfLink))],
      endpoints: [...endpoints, ...owned.flatMap((of) => of.endpoints.filter(isOfLink))],
      slices: [...slices, ...owned.flatMap((of) => of.slices.filter(isOfLink))],
      foreign,
    };
  }

  /** Returns the target clusters that own objects in the source cluster. */
  clusters(): ReadonlySet<string> {
    return new Set(this.stores.flatMap((store) => [...store.indexed('cluster')]));
  }

  /** Returns the keys of all objects that one target cluster owns in the source cluster. */
  keysOf(cluster: string): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const store of this.stores) {
      for (const object of store.by('cluster', cluster)) {
        const owner = this.ownerOf(object);
        if (owner !== undefined) keys.add(owner.key);
      }
    }
    return keys;
  }

  /** Reports whether a Service with this name exists that the target cluster does not own. */
  isTaken(namespace: string, name: string, cluster: string): boolean {
    const service = this.services.get(`${namespace}/${name}`);
    return service !== undefined && this.ownerOf(service)?.cluster !== cluster;
  }

  /**
   * The stores that must show our own writes at once, by the plural of the resource, or, for slices that Kubernetes
   * makes, by the label selector of their watch.
   */
  get written(): Readonly<Record<string, WriteThrough>> {
    const { services, endpoints, slices, foreign } = this;
    const selected = foreign.all.map(({ labelSelector, store }) => [labelSelector, store] as const);
    return { services, endpoints, endpointslices: slices, ...Object.fromEntries(selected) };
  }

  /** Called when a list has completed. */
  protected checkSynced(): void {
    // Nobody waits for lists here.
  }

  protected get stores() {
    return [this.services, this.endpoints, this.slices] as const;
  }

  protected ownerOf(object: KubeObject): Owner | undefined {
    return ownerOf(object, this.#namespace);
  }

  /** Returns `namespace/name` of the Service that an object names, if the object is a slice that is not ours. */
  #namedByOthers(object: KubeObject | EndpointSlice): readonly string[] {
    return 'addressType' in object && this.#belonging(object) === undefined ? servicesOf(object) : [];
  }

  /** Returns what a slice belongs to, by its labels; undefined if the slice is not ours. */
  #belonging(slice: EndpointSlice): unknown {
    return this.ownerOf(slice) ?? federationOf(slice) ?? importOf(slice);
  }

  /** Called when slices that others give a Service have changed. Notifies whoever writes that Service. */
  #foreignChanged(key: string): void {
    const service = this.services.get(key);
    if (service !== undefined) this.#changed({ key, before: service, after: service }, 'endpoints');
  }

  #trimmed(service: Service): Service {
    if (importOf(service) !== undefined) return trimDerivedService(service);
    return this.ownerOf(service) === undefined && !isFederated(service)
      ? trimForeignService(service)
      : trimService(service);
  }

  #isForeign(object: KubeObject | undefined): boolean {
    return object !== undefined && this.ownerOf(object) === undefined;
  }

  #store<T extends Service | Endpoints | EndpointSlice>(
    { plural }: Resource,
    by: 'service' | 'endpoints',
    trim: (object: T) => T,
  ): Store<T> {
    const ownersOf = (object: T): readonly Owner[] => [this.ownerOf(object)].filter((owner) => owner !== undefined);
    return new Store<T>({
      partitions: this.#within,
      trim,
      indexes: {
        owner: (object) => ownersOf(object).map(indexValueOf),
        cluster: (object) => ownersOf(object).map(({ cluster }) => cluster),
        federation: (object) => (isOfFederation(object) ? [federationOf(object) ?? ''] : []),
        member: (object) => (isOfFederation(object) ? memberClusters(object) : []),
        import: (object) => [importOf(object)].filter((key) => key !== undefined),
        source: (object) => (importOf(object) === undefined ? [] : importedClusters(object)),
        foreign: (object) => this.#namedByOthers(object),
        exported: (object) => ('addressType' in object || !isExportedHere(object) ? [] : [EXPORTED]),
      },
      listener: {
        relisted: (_first, _lost, namespace) => {
          if (namespace !== undefined) this.listed?.listed(namespace, plural);
          this.checkSynced();
        },
        changed: (change) => this.#changed(change, by),
        freed: (object) => this.#freed(object),
      },
    });
  }

  #changed({ key, before, after }: Change<Service | Endpoints | EndpointSlice>, by: 'endpoints' | 'service'): void {
    if (by === 'service') for (const listener of this.ofServices) listener(key);
    for (const object of [before, after]) {
      for (const each of object ? this.#namedByOthers(object) : []) this.#foreignChanged(each);
    }
    for (const each of new Set([before, after].map((object) => object && federationOf(object))))
      if (each !== undefined) this.ofFederations?.(each);
    for (const each of new Set([before, after].flatMap((object) => (object ? importsOf(object) : []))))
      this.ofImports?.(each);
    const was = before && this.ownerOf(before);
    const is = after && this.ownerOf(after);
    const affected = [was, is].filter((owner) => owner !== undefined);
    // A name was taken or given up, by somebody else's object, or by one of ours that came, went or changed hands.
    const [object] = [before, after].filter((each) => each !== undefined);
    const isPassedOn = this.#isForeign(before) !== this.#isForeign(after) || was?.cluster !== is?.cluster;
    if (object !== undefined && !('addressType' in object) && isPassedOn) this.#passedOn(object, is ?? was);
    affected.forEach((owner, at) => {
      if (affected.findIndex((each) => sameOwner(each, owner)) === at)
        this.ofClusters.get(owner.cluster)?.(owner.key, by);
    });
  }

  /**
   * Notifies others that may wait for the name of an object that we have deleted. The session that deleted it knows,
   * and the watch reports nothing more to the others, since the store no longer shows the object.
   */
  #freed(object: Service | Endpoints | EndpointSlice): void {
    if ('addressType' in object) return;
    this.#passedOn(object, this.ownerOf(object));
    const joined = isFederated(object) ? undefined : federationOf(object);
    if (joined !== undefined) this.ofFederations?.(joined);
    if (importOf(object) === undefined) for (const each of importsOf(object)) this.ofImports?.(each);
  }

  /**
   * Reports that the name of a Service or Endpoints object was taken or given up.
   * @param by who owns the object, or owned it; undefined if it is of no target cluster
   */
  #passedOn({ metadata: { namespace = '', name } }: Service | Endpoints, by: Owner | undefined): void {
    this.ofNames?.(namespace, name, by);
  }
}
