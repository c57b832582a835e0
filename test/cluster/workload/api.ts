/**
 * A small JSON client of the Kubernetes API for tests and the demo, the same for both backings. It knows nothing of
 * the operator's own client, so that neither can hide a mistake of the other.
 */
import { createSecureContext } from 'node:tls';
import { Agent, type Dispatcher } from 'undici';
import type { TestCluster } from '../types.ts';

/** What names an object: enough to address it. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Metadata as the API server returns it, as far as tests read it. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly {
    readonly manager: string;
    readonly operation: string;
    readonly subresource?: string;
    readonly fieldsV1?: unknown;
  }[];
}

/** An object as the API server returns it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** A collection: all namespaces when none is given. */
export interface Collection {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
}

/** An answer of the API server, whatever its status. */
export interface Answer<T> {
  readonly code: number;
  readonly body: T;
}

/** One event of a watch. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

/** Query parameters; those that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** How a request differs from a plain one. */
export interface RequestOptions {
  readonly query?: Query;
  readonly body?: unknown;
  /** @default application/json */
  readonly contentType?: string;
}

/** How an object is written. */
export interface WriteOptions {
  readonly subresource?: string;
  readonly fieldManager?: string;
}

/** How an object is deleted. */
export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
}

/** An answer other than 2xx. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly code: number;
  /** `reason` of the Status object; empty if there is none. */
  readonly reason: string;

  constructor(request: string, code: number, body: unknown) {
    const status = (typeof body === 'object' ? body : null) as { reason?: string; message?: string } | null;
    super(`${request}: ${code} ${status?.reason ?? ''}: ${status?.message ?? String(body)}`);
    this.code = code;
    this.reason = status?.reason ?? '';
  }
}

const TIMEOUT_MS = 30_000;

/** The plural that a kind is served under. */
const pluralOf = (kind: string): string => {
  const lower = kind.toLowerCase();
  if (lower === 'endpoints') return lower;
  if (/(s|x|ch|sh)$/.test(lower)) return `${lower}es`;
  return /[^aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`;
};

/** The URL path of a collection. */
export const collectionPath = ({ apiVersion, kind, namespace }: Collection): string => {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${pluralOf(kind)}`;
};

/** The URL path of an object, or of a subresource of it. */
export const objectPath = ({ apiVersion, kind, metadata }: ObjectRef, subresource?: string): string => {
  const { name, namespace } = metadata;
  const collection = collectionPath({ apiVersion, kind, ...(namespace !== undefined && { namespace }) });
  return `${collection}/${name}${subresource === undefined ? '' : `/${subresource}`}`;
};

/** A client of one cluster, with kept-alive connections. */
export class Api {
  readonly #server: string;
  readonly #agent: Agent;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(cluster: Pick<TestCluster, 'server' | 'caData'>, token: string, userAgent: string) {
    this.#server = cluster.server;
    this.#agent = new Agent({
      // Once, not for each connection: it costs more than the handshake.
      connect: { secureContext: createSecureContext({ ca: Buffer.from(cluster.caData, 'base64') }) },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: 0,
    });
    this.#headers = { authorization: `Bearer ${token}`, 'user-agent': userAgent, accept: 'application/json' };
  }

  /** Any request; resolves whatever the status. */
  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const { statusCode, body } = await this.#send(method, path, options);
    const text = await body.text();
    return { code: statusCode, body: (text.startsWith('{') ? JSON.parse(text) : text) as T };
  }

  /** The object, or undefined if there is none. */
  async get<T = KubeObject>(ref: ObjectRef, subresource?: string): Promise<T | undefined> {
    const path = objectPath(ref, subresource);
    const { code, body } = await this.request<T>('GET', path);
    return code === 404 ? undefined : accepted(`GET ${path}`, code, body);
  }

  /** The objects of a collection. */
  async list<T = KubeObject>(collection: Collection): Promise<readonly T[]> {
    return (await this.listAll<T>(collection)).items;
  }

  /** The objects of a collection and the resourceVersion to watch from. */
  async listAll<T = KubeObject>(
    collection: Collection,
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }> {
    const { apiVersion, kind, labelSelector } = collection;
    const { items, metadata } = await this.#accepted<{ items: T[]; metadata: { resourceVersion: string } }>(
      'GET',
      collectionPath(collection),
      { query: { labelSelector } },
    );
    // Items of a list have no apiVersion and kind.
    return {
      items: items.map((item) => ({ apiVersion, kind, ...item })),
      resourceVersion: metadata.resourceVersion,
    };
  }

  /** Events of a collection until the signal aborts or the server ends the watch. */
  async *watch<T = KubeObject>(
    collection: Collection,
    query: Query,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    const { labelSelector } = collection;
    const path = collectionPath(collection);
    const options = { query: { labelSelector, ...query, watch: true } };
    const { statusCode, body } = await this.#send('GET', path, options, signal);
    if (statusCode !== 200) throw new ApiError(`GET ${path}`, statusCode, await body.json());
    body.setEncoding('utf8');
    let rest = '';
    for await (const chunk of body as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as WatchEvent<T>;
    }
  }

  /** Creates an object; an ApiError 409 if there is one. */
  create<T = KubeObject>(object: ObjectRef, { subresource, fieldManager }: WriteOptions = {}): Promise<T> {
    const { apiVersion, kind, metadata } = object;
    const { namespace } = metadata;
    const path =
      subresource === undefined
        ? collectionPath({ apiVersion, kind, ...(namespace !== undefined && { namespace }) })
        : objectPath(object, subresource);
    return this.#accepted('POST', path, { query: { fieldManager }, body: object });
  }

  /** Server-side apply, forced; the field manager defaults to `test`. */
  apply<T = KubeObject>(object: ObjectRef, { subresource, fieldManager = 'test' }: WriteOptions = {}): Promise<T> {
    return this.#accepted('PATCH', objectPath(object, subresource), {
      query: { fieldManager, force: true },
      body: object,
      contentType: 'application/apply-patch+yaml',
    });
  }

  /** A JSON merge patch: null removes a field. */
  patch<T = KubeObject>(ref: ObjectRef, patch: object, { subresource, fieldManager }: WriteOptions = {}): Promise<T> {
    return this.#accepted('PATCH', objectPath(ref, subresource), {
      query: { fieldManager },
      body: patch,
      contentType: 'application/merge-patch+json',
    });
  }

  /** Writes the whole object. */
  replace<T = KubeObject>(object: ObjectRef, { subresource, fieldManager }: WriteOptions = {}): Promise<T> {
    return this.#accepted('PUT', objectPath(object, subresource), { query: { fieldManager }, body: object });
  }

  /** Deletes an object; nothing happens if there is none. */
  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const path = objectPath(ref);
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
    const answer = await this.request('DELETE', path, { body });
    if (answer.code !== 404) accepted(`DELETE ${path}`, answer.code, answer.body);
  }

  /** Closes the connections, also those of watches. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #accepted<T>(method: string, path: string, options: RequestOptions): Promise<T> {
    const { code, body } = await this.request<T>(method, path, options);
    return accepted(`${method} ${path}`, code, body);
  }

  #send(
    method: string,
    path: string,
    { query = {}, body, contentType = 'application/json' }: RequestOptions,
    signal?: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    return this.#agent.request({
      origin: this.#server,
      path,
      method: method,
      query: Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)),
      headers: { ...this.#headers, ...(body !== undefined && { 'content-type': contentType }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  }
}

const accepted = <T>(request: string, code: number, body: T): T => {
  if (code >= 200 && code < 300) return body;
  throw new ApiError(request, code, body);
};

/** A client of a cluster: the admin's, unless a token is given. */
export const api = (
  cluster: Pick<TestCluster, 'server' | 'caData' | 'adminToken'>,
  { token = cluster.adminToken, userAgent = 'linkspan-test' }: { token?: string; userAgent?: string } = {},
): Api => new Api(cluster, token, userAgent);
