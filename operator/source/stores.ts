/**
 * What the operator knows of the source cluster: the mirrors of all Links and their endpoints, filed by who owns them,
 * and the names that other Services have; in the whole cluster, or in each of the namespaces that the operator is
 * limited to. Changes are reported to the Link whose they are. Who fills the stores is the business of others.
 */
import { derivingName } from '../../crds/mcs/derived-name.ts';
import { federatedName, KUBERNETES_SLICE_MANAGERS, Label } from '../../crds/wire.ts';
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
import { type Change, Store } from '../runtime/store.ts';
import { ListedNamespaces, type SourceNamespaces, WatchedNamespaces } from './namespaces.ts';
import {
  federationOf,
  importedClusters,
  importOf,
  indexValueOf,
  isFederated,
  memberClusters,
  mirroredName,
  type Owner,
  ownerOf,
  sameOwner,
} from './owner.ts';
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

/** Called with the key of a Link whose objects changed, or whose mirror's name another Service took or gave up. */
export type SourceListener = (key: string, by: 'endpoints' | 'service') => void;

/**
 * Selects the slices that an operator writes, and not those that Kubernetes makes of Endpoints and of pods: whatever else
 * somebody writes into that label does not hide one of ours.
 */
export const WRITTEN_SLICES = `${Label.endpointSliceManagedBy} notin (${KUBERNETES_SLICE_MANAGERS.join(',')})`;

export class SourceStores {
  readonly services: Store<Service>;
  readonly endpoints: Store<Endpoints>;
  readonly slices: Store<EndpointSlice>;
  readonly namespaces: SourceNamespaces;
  /** Set if all namespaces are read. */
  protected readonly watched: WatchedNamespaces | undefined;
  /** Set if only some namespaces are read. */
  protected readonly listed: ListedNamespaces | undefined;
  readonly #namespace: string;
  /** The namespaces that are read; undefined: all. */
  readonly #within: ReadonlySet<string> | undefined;
  readonly #listeners = new Map<string, SourceListener>();
  #federations: ((key: string) => void) | undefined;
  #ofServices: ((key: string) => void) | undefined;
  #imports: ((key: string) => void) | undefined;

  constructor({ namespace, mirrorNamespaces }: SourceStoresOptions) {
    this.#namespace = namespace;
    this.#within = mirrorNamespaces && new Set([namespace, ...mirrorNamespaces]);
    this.services = this.#store(SERVICES, 'service', (service) => this.#trimmed(service));
    this.endpoints = this.#store(ENDPOINTS, 'endpoints', trimEndpoints);
    this.slices = this.#store(ENDPOINT_SLICES, 'endpoints', (slice) =>
      trimSlice(slice, this.ownerOf(slice) ?? federationOf(slice) ?? importOf(slice)),
    );
    if (this.#within === undefined) {
      this.watched = new WatchedNamespaces(() => this.checkSynced());
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
   * Reports the changes of one target cluster's objects.
   * @returns ends the subscription
   * @throws Error if the cluster has a listener: two would write the same mirrors
   */
  subscribe(cluster: string, listener: SourceListener): () => void {
    if (this.#listeners.has(cluster)) throw new Error(`the mirrors of cluster "${cluster}" already have a listener`);
    this.#listeners.set(cluster, listener);
    return () => void this.#listeners.delete(cluster);
  }

  /**
   * Reports the changes of federated Services, and of the Services that have their names: `namespace/name` of the members.
   * @returns ends the subscription
   * @throws Error if there is a listener: two would write the same Services
   */
  subscribeFederations(listener: (key: string) => void): () => void {
    if (this.#federations !== undefined) throw new Error('the federated Services already have a listener');
    this.#federations = listener;
    return () => void (this.#federations = undefined);
  }

  /**
   * Reports the changes of all Services: `namespace/name`.
   * @returns ends the subscription
   */
  subscribeServices(listener: (key: string) => void): () => void {
    this.#ofServices = listener;
    return () => void (this.#ofServices = undefined);
  }

  /**
   * Reports the changes of Services and slices that are derived from ServiceImports, and of the Services that have the
   * name of a derived one: `namespace/name` of the ServiceImport.
   * @returns ends the subscription
   */
  subscribeImports(listener: (key: string) => void): () => void {
    this.#imports = listener;
    return () => void (this.#imports = undefined);
  }

  /** The Services and slices that are marked as derived from one ServiceImport. */
  import(key: string): { readonly services: readonly Service[]; readonly slices: readonly EndpointSlice[] } {
    return { services: this.services.by('import', key), slices: this.slices.by('import', key) };
  }

  /** The keys of all ServiceImports from which anything is derived. */
  imports(): ReadonlySet<string> {
    return new Set([...this.services.indexed('import'), ...this.slices.indexed('import')]);
  }

  /** The keys of the ServiceImports of which something that is derived leads to a target cluster. */
  importsFrom(cluster: string): ReadonlySet<string> {
    const derived = [this.services, this.slices].flatMap((store): readonly KubeObject[] => store.by('source', cluster));
    return new Set(derived.map(importOf).filter((key) => key !== undefined));
  }

  /** The Service that has the name of a federated one, whoever's it is, and the slices that are marked as its own. */
  federation(key: string): { readonly live: Service | undefined; readonly slices: readonly EndpointSlice[] } {
    const { namespace, name } = splitKey(key);
    return {
      live: this.services.get(`${namespace}/${federatedName(name)}`),
      slices: this.slices.by('federation', key),
    };
  }

  /** The keys of all federated Services that there are. */
  federations(): ReadonlySet<string> {
    return new Set([...this.services.indexed('federation'), ...this.slices.indexed('federation')]);
  }

  /** The keys of the federated Services that a target cluster is a member of. */
  membershipsOf(cluster: string): ReadonlySet<string> {
    const members = [this.services, this.slices].flatMap((store): readonly KubeObject[] => store.by('member', cluster));
    return new Set(members.map(federationOf).filter((key) => key !== undefined));
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
    return new Set(this.stores.flatMap((store) => [...store.indexed('cluster')]));
  }

  /** The keys of everything that one target cluster owns here. */
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

  /** Whether a Service of that name exists that was not mirrored from a target cluster. */
  isTaken(namespace: string, name: string, cluster: string): boolean {
    const service = this.services.get(`${namespace}/${name}`);
    return service !== undefined && this.ownerOf(service)?.cluster !== cluster;
  }

  /** Called when a list has completed. */
  protected checkSynced(): void {
    // Nobody waits.
  }

  protected get stores() {
    return [this.services, this.endpoints, this.slices] as const;
  }

  protected ownerOf(object: KubeObject): Owner | undefined {
    return ownerOf(object, this.#namespace);
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
      },
      onRelisted: (_first, _lost, namespace) => {
        if (namespace !== undefined) this.listed?.listed(namespace, plural);
        this.checkSynced();
      },
      onChange: (change) => this.#changed(change, by),
    });
  }

  #changed({ key, before, after }: Change<Service | Endpoints | EndpointSlice>, by: 'endpoints' | 'service'): void {
    if (by === 'service') this.#ofServices?.(key);
    const federation = [before, after].map((each) => each && federationOf(each)).find((key) => key !== undefined);
    if (federation !== undefined) this.#federations?.(federation);
    for (const each of new Set([before, after].flatMap((object) => (object ? importsOf(object) : []))))
      this.#imports?.(each);
    const was = before && this.ownerOf(before);
    const is = after && this.ownerOf(after);
    const affected = [was, is].filter((owner) => owner !== undefined);
    // A name is taken or given up: by a Service of others, or by the mirror of another cluster, with its Endpoints.
    const [object] = [before, after].filter((each) => each !== undefined);
    const isPassedOn = this.#isForeign(before) !== this.#isForeign(after) || was?.cluster !== is?.cluster;
    if (object !== undefined && !('addressType' in object) && isPassedOn) affected.push(...this.#whoWants(object));
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
}

/** Reports whether an object is a federated Service, or a slice of one. */
const isOfFederation = (object: KubeObject): boolean =>
  federationOf(object) !== undefined && ('addressType' in object || isFederated(object));

/** The ServiceImport that an object is derived from, or, if it is a Service of anybody else, whose name it has. */
function importsOf(object: KubeObject): readonly string[] {
  const derivedFrom = importOf(object);
  if (derivedFrom !== undefined) return [derivedFrom];
  const { name, namespace = '' } = object.metadata;
  const service = 'addressType' in object ? undefined : derivingName(name);
  return service === undefined ? [] : [`${namespace}/${service}`];
}
