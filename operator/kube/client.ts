/**
 * The verbs of the Kubernetes API, on raw JSON. client-node's object API is not used: it drops fields that it does not
 * know, and opens a TLS connection for each request.
 */
import type { ClusterAccess } from './access/access.ts';
import type { RequestLane } from './network.ts';
import { apiVersionOf, EVENTS, type KubeObject, LEASES, type Resource } from './objects.ts';
import { collectionPath, objectPath } from './paths.ts';
import { type Request, Transport, type TransportOptions } from './transport.ts';

export type { ClientHooks } from './transport.ts';

export interface ClientOptions extends TransportOptions {
  /** Field manager of writes. */
  readonly fieldManager: string;
  /** Writes are answered, and not carried out. @default - they are */
  readonly dryRun?: 'All';
}

/** Called right before a write is sent: what it throws ends the write. */
export type Fence = () => void;

export interface ListOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
}

export interface List<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  readonly resourceVersion: string;
  /** When the server is asked to end the watch. */
  readonly timeoutSeconds: number;
  /** How long without a byte until the watch counts as dead. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the server has accepted the watch. */
  readonly onOpen?: () => void;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

/** What must hold for a write or delete; the server answers 409 if it does not. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

const DELETE_OPTIONS = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };

export class KubeClient {
  /** The field manager of this client's writes. */
  readonly fieldManager: string;
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  readonly #fence: Fence | undefined;

  /** @param to how to reach the cluster, or the connections of another client to share */
  constructor(to: ClusterAccess | Transport, options: ClientOptions, fence?: Fence) {
    this.fieldManager = options.fieldManager;
    this.#options = options;
    this.#transport = to instanceof Transport ? to : new Transport(to, options);
    this.#fence = fence;
  }

  /** Returns a client on the same connections whose writes are fenced; it is closed with this one. */
  fenced(fence: Fence): KubeClient {
    return new KubeClient(this.#transport, this.#options, fence);
  }

  /** Returns a client on the same connections whose writes are dry runs; it is closed with this one. */
  trial(fieldManager = this.fieldManager): KubeClient {
    return new KubeClient(this.#transport, { ...this.#options, fieldManager, dryRun: 'All' }, this.#fence);
  }

  /** URL of the API server, for messages. */
  get server(): string {
    return this.#transport.server;
  }

  /** Ordinary requests under way at once. */
  get connections(): number {
    return this.#transport.connections;
  }

  /** GET of one object. @throws ApiError 404 if there is none */
  read<T extends KubeObject>(of: Resource, namespace: string | undefined, name: string, signal?: AbortSignal) {
    return this.#transport.json<T>({
      method: 'GET',
      path: objectPath(of, namespace, name),
      what: `get ${of.kind} ${label(namespace, name)}`,
      lane: laneOf(of),
      signal,
    });
  }

  /** GET of something other than an object, such as what the API server serves. @param what is tried, for errors */
  get<T>(path: string, what: string, signal?: AbortSignal): Promise<T> {
    return this.#transport.json<T>({ method: 'GET', path, what, signal });
  }

  /** GET of text, which may take longer than other answers. @param what is tried, for errors */
  text(path: string, what: string, timeoutMs: number): Promise<string> {
    const signal = AbortSignal.timeout(timeoutMs);
    return this.#transport.text({ method: 'GET', path, what, signal, minTimeoutMs: timeoutMs });
  }

  /**
   * One page of a list, and no more items than were asked for, however many the server sends. They carry no `kind`, as
   * the API server has it.
   */
  async list<T extends KubeObject>(of: Resource, options: ListOptions, signal?: AbortSignal): Promise<List<T>> {
    const { limit = Infinity } = options;
    const items: T[] = [];
    const take = (item: T): void => {
      if (items.length < limit) items.push(item);
    };
    const metadata = await this.listEach<T>(of, options, take, signal);
    return { metadata, items };
  }

  /**
   * One page of a list, whose items are taken one by one as they arrive, so that not all of them are in memory at once.
   * @returns the metadata of the list
   * @throws LimitError if the page or an item is longer than any API server's; what `take` throws
   */
  async listEach<T extends KubeObject>(
    of: Resource,
    options: ListOptions,
    take: (item: T) => void,
    signal?: AbortSignal,
  ): Promise<List<T>['metadata']> {
    const { namespace, ...query } = options;
    const { metadata } = await this.#transport.list<T, Pick<List<T>, 'metadata'>>(
      {
        method: 'GET',
        path: collectionPath(of, namespace),
        what: `list ${of.plural}`,
        query,
        signal,
        // A page takes longer than one object.
        minTimeoutMs: options.limit === 1 ? 0 : 30_000,
      },
      take,
    );
    return metadata;
  }

  /**
   * Events after `resourceVersion`, bookmarks among them, until the server ends the watch.
   * @throws ApiError if it is refused, ConnectionError if the connection fails or is silent for `idleTimeoutMs`
   */
  watch<T extends KubeObject>(of: Resource, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { namespace, idleTimeoutMs, signal, onOpen, ...query } = options;
    return this.#transport.stream({
      path: collectionPath(of, namespace),
      what: `watch ${of.plural}`,
      query: { ...query, watch: true, allowWatchBookmarks: true },
      idleTimeoutMs,
      signal,
      onOpen,
    });
  }

  /**
   * Server-side apply, forced, under our field manager. With metadata.resourceVersion `"1"` it creates the object, or
   * answers 409 if there is one; with an observed uid and resourceVersion it changes just that object.
   */
  apply<T extends KubeObject>(of: Resource, object: KubeObject, signal?: AbortSignal): Promise<T> {
    const { namespace, name } = object.metadata;
    return this.#write<T>({
      method: 'PATCH',
      path: objectPath(of, namespace, name),
      what: `apply ${of.kind} ${label(namespace, name)}`,
      query: { fieldManager: this.fieldManager, force: true },
      body: { apiVersion: apiVersionOf(of), kind: of.kind, ...object },
      contentType: 'application/apply-patch+yaml',
      signal,
    });
  }

  /** What {@link apply} would make of the object, by a field manager; nothing is written. */
  tryApply<T extends KubeObject>(of: Resource, object: KubeObject, fieldManager: string, signal?: AbortSignal) {
    return this.trial(fieldManager).apply<T>(of, object, signal);
  }

  /** POST: creates an object. @throws ApiError 409 if it exists */
  create<T extends KubeObject>(of: Resource, object: KubeObject, signal?: AbortSignal): Promise<T> {
    const { namespace, name } = object.metadata;
    return this.#write<T>({
      method: 'POST',
      path: collectionPath(of, namespace),
      what: `create ${of.kind} ${label(namespace, name)}`,
      query: { fieldManager: this.fieldManager },
      body: { apiVersion: apiVersionOf(of), kind: of.kind, ...object },
      lane: laneOf(of),
      signal,
    });
  }

  /** POST of what is answered and not kept, such as a review. @param to where it is posted; of itself by default */
  ask<T extends KubeObject>(
    of: Resource,
    question: object,
    to:
      | { readonly of: Resource; readonly namespace: string; readonly name: string; readonly subresource: string }
      | undefined,
    signal?: AbortSignal,
  ): Promise<T> {
    const path =
      to === undefined
        ? collectionPath(of, undefined)
        : `${objectPath(to.of, to.namespace, to.name)}/${to.subresource}`;
    return this.#transport.json<T>({
      method: 'POST',
      path,
      what: `create ${of.kind}${to === undefined ? '' : ` of ${to.of.kind} ${label(to.namespace, to.name)}`}`,
      query: { dryRun: this.#options.dryRun },
      body: { apiVersion: apiVersionOf(of), kind: of.kind, ...question },
      signal,
    });
  }

  /** PUT: replaces an object, guarded by its resourceVersion. */
  replace<T extends KubeObject>(of: Resource, object: KubeObject, signal?: AbortSignal): Promise<T> {
    const { namespace, name } = object.metadata;
    return this.#write<T>({
      method: 'PUT',
      path: objectPath(of, namespace, name),
      what: `update ${of.kind} ${label(namespace, name)}`,
      query: { fieldManager: this.fieldManager },
      body: { apiVersion: apiVersionOf(of), kind: of.kind, ...object },
      lane: laneOf(of),
      signal,
    });
  }

  /** A merge patch (an object) or a JSON patch (a list of operations), of the object or a subresource. */
  patch<T extends KubeObject>(
    of: Resource,
    target: { readonly namespace?: string | undefined; readonly name: string; readonly subresource?: string },
    patch: object,
    signal?: AbortSignal,
  ): Promise<T> {
    const { namespace, name, subresource } = target;
    return this.#write<T>({
      method: 'PATCH',
      path: objectPath(of, namespace, name) + (subresource === undefined ? '' : `/${subresource}`),
      what: `patch ${of.kind} ${label(namespace, name)}`,
      query: { fieldManager: this.fieldManager },
      body: patch,
      contentType: Array.isArray(patch) ? 'application/json-patch+json' : 'application/merge-patch+json',
      lane: subresource === 'status' ? 'reports' : laneOf(of),
      signal,
    });
  }

  /** DELETE of one object. @throws ApiError 404 if it is gone, 409 if the preconditions do not hold */
  async delete(
    of: Resource,
    target: { readonly namespace?: string | undefined; readonly name: string },
    preconditions: Preconditions,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#write<unknown>({
      method: 'DELETE',
      path: objectPath(of, target.namespace, target.name),
      what: `delete ${of.kind} ${label(target.namespace, target.name)}`,
      // API servers do not read the query of a deletion that has a body.
      body: { ...DELETE_OPTIONS, preconditions, ...(this.#options.dryRun && { dryRun: [this.#options.dryRun] }) },
      lane: laneOf(of),
      signal,
    });
  }

  #write<T>(request: Request): Promise<T> {
    const query = { ...request.query, dryRun: this.#options.dryRun };
    return this.#transport.json<T>({ ...request, query, fence: this.#fence });
  }

  /** Closes the connections; requests still under way after a grace fail. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}

/** A Lease is lost if its renewal waits behind the writes of thousands of mirrors, and Events tell of them too late. */
function laneOf({ group, plural }: Resource): RequestLane {
  if (group === LEASES.group && plural === LEASES.plural) return 'urgent';
  return group === EVENTS.group && plural === EVENTS.plural ? 'reports' : 'ordinary';
}

const label = (namespace: string | undefined, name: string): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
