/**
 * Raw-JSON requests to one API server over pooled connections. They are made here, because client-node's object API
 * drops fields that it does not know and opens a TLS connection for each request. Every request has a deadline, and
 * every watch ends when it has been silent too long.
 */
import { type Dispatcher, Pool } from 'undici';
import { sleep } from './backoff.ts';
import type { ClusterAccess } from './access/access.ts';
import { ApiError, ConnectionError, describe, isUnauthorized, SilenceError, type StatusBody } from './errors.ts';
import { apiVersionOf, type KubeObject, type Resource } from './objects.ts';

/** Told of what goes over the wire; `host` is the API server's, with its port. */
export interface ClientHooks {
  /** A request was answered, or came to nothing: `code` is the HTTP status, or `<error>`. */
  readonly onResponse?: (host: string, method: string, code: string) => void;
  /** Bytes of a response body have arrived: a watch's as they come. */
  readonly onRead?: (host: string, bytes: number) => void;
}

export interface ClientOptions extends ClientHooks {
  readonly userAgent?: string;
  /** Deadline of a request that is not a watch. @default 10000 */
  readonly timeoutMs?: number;
  /** Requests under way at once. @default 32 */
  readonly connections?: number;
  /** Field manager of writes. @default linkspan */
  readonly fieldManager?: string;
}

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
  /** Told when the server has accepted the watch. */
  readonly onOpen?: () => void;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

/** What a write or delete insists on; the server answers 409 when it does not hold. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly what: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

/** How long requests under way may take when a client is closed, before they are cut off. */
const CLOSE_GRACE_MS = 500;

/** How long an Authorization header is reused before it is asked for again. */
const AUTH_REFRESH_MS = 30_000;

/** A server that asks to wait longer is asked again after this time (rule H4). */
const MAX_RETRY_AFTER_MS = 300_000;

export class KubeClient {
  /** URL of the API server, for messages. */
  readonly server: string;
  readonly #access: ClusterAccess;
  readonly #basePath: string;
  readonly #requests: Pool;
  readonly #watches: Pool;
  readonly #options: Required<ClientOptions>;
  readonly #host: string;
  #auth: { readonly headers: Record<string, string>; readonly untilMs: number } | undefined;

  constructor(access: ClusterAccess, options: ClientOptions = {}) {
    const { tls } = access;
    const server = new URL(access.server);
    this.#access = access;
    this.server = server.origin;
    this.#host = server.host;
    this.#basePath = server.pathname.replace(/\/$/, '');
    this.#options = {
      userAgent: options.userAgent ?? 'linkspan',
      timeoutMs: options.timeoutMs ?? 10_000,
      connections: options.connections ?? 32,
      fieldManager: options.fieldManager ?? 'linkspan',
      onResponse: options.onResponse ?? (() => undefined),
      onRead: options.onRead ?? (() => undefined),
    };
    const connect = {
      ca: tls.ca,
      cert: tls.cert,
      key: tls.key,
      servername: tls.servername,
      rejectUnauthorized: tls.rejectUnauthorized ?? true,
      timeout: this.#options.timeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
    } as NonNullable<Pool.Options['connect']>;
    // HTTP/1.1: a connection for each watch is meant, and undici's HTTP/2 sessions, destroyed while streams are open,
    // now and then emit an error that nobody can handle, which ends the process.
    const pool = { connect, allowH2: false, keepAliveTimeout: 60_000, bodyTimeout: 0, headersTimeout: 0 };
    this.#requests = new Pool(server.origin, { ...pool, connections: this.#options.connections });
    // A watch occupies its connection: they have a pool without a limit, so that none waits for another.
    this.#watches = new Pool(server.origin, { ...pool, connections: null });
  }

  /** The field manager of this client's writes. */
  get fieldManager(): string {
    return this.#options.fieldManager;
  }

  /** GET of any path, as JSON. */
  get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return this.#json<T>({ method: 'GET', path, what: `GET ${path}`, signal });
  }

  /** @throws ApiError 404 if there is none. */
  read<T extends KubeObject>(of: Resource, namespace: string | undefined, name: string, signal?: AbortSignal) {
    return this.#json<T>({
      method: 'GET',
      path: objectPath(of, namespace, name),
      what: `get ${of.kind} ${label(namespace, name)}`,
      signal,
    });
  }

  /** One page. Items carry no `kind`, as the API server sends them. */
  list<T extends KubeObject>(of: Resource, options: ListOptions, signal?: AbortSignal): Promise<List<T>> {
    const { namespace, ...query } = options;
    return this.#json<List<T>>({
      method: 'GET',
      path: collectionPath(of, namespace),
      what: `list ${of.plural}`,
      query,
      signal,
      timeoutMs: Math.max(this.#options.timeoutMs, 30_000),
    });
  }

  /**
   * Events after `resourceVersion`, bookmarks among them, until the server ends the watch.
   * @throws ApiError if it is refused, ConnectionError if the connection fails or is silent for `idleTimeoutMs`.
   */
  async *watch<T extends KubeObject>(of: Resource, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { namespace, idleTimeoutMs, signal, onOpen, ...query } = options;
    const what = `watch ${of.plural}`;
    const silence = new AbortController();
    let bytes = 0;
    const expire = () => {
      silence.abort(new SilenceError(`${what}: nothing heard for ${idleTimeoutMs / 1000} s`, bytes > 0));
    };
    let timer = setTimeout(expire, this.#options.timeoutMs);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(expire, idleTimeoutMs);
    };
    try {
      const path = collectionPath(of, namespace) + queryString({ ...query, watch: true, allowWatchBookmarks: true });
      const response = await this.#answered(this.#watches, {
        method: 'GET',
        path: this.#basePath + path,
        headers: await this.#headers(),
        signal: AbortSignal.any([signal, silence.signal]),
      });
      heard();
      if (response.statusCode !== 200) throw await this.#refusal(response, what);
      onOpen?.();
      // Lines are cut out of the bytes: no character of several bytes is ever cut in two.
      let rest: Buffer[] = [];
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        heard();
        bytes += chunk.length;
        this.#options.onRead(this.#host, chunk.length);
        let start = 0;
        for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
          const line = chunk.subarray(start, end);
          const whole = rest.length === 0 ? line : Buffer.concat([...rest, line]);
          rest = [];
          start = end + 1;
          if (whole.length > 0) yield JSON.parse(whole.toString('utf8')) as WatchEvent<T>;
        }
        if (start < chunk.length) rest.push(chunk.subarray(start));
      }
    } catch (error) {
      throw silence.signal.aborted ? silence.signal.reason : this.#explain(error, what, signal);
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  /**
   * Server-side apply, forced, under our field manager. With metadata.resourceVersion `"1"` it creates the object, or
   * answers 409 if there is one; with an observed uid and resourceVersion it changes just that object.
   */
  apply<T extends KubeObject>(of: Resource, object: KubeObject, signal?: AbortSignal): Promise<T> {
    const { namespace, name } = object.metadata;
    return this.#json<T>({
      method: 'PATCH',
      path: objectPath(of, namespace, name),
      what: `apply ${of.kind} ${label(namespace, name)}`,
      query: { fieldManager: this.#options.fieldManager, force: true },
      body: { apiVersion: apiVersionOf(of), kind: of.kind, ...object },
      contentType: 'application/apply-patch+yaml',
      signal,
    });
  }

  /** POST: creates an object. @throws ApiError 409 if it exists. */
  create<T extends KubeObject>(of: Resource, object: KubeObject, signal?: AbortSignal): Promise<T> {
    const { namespace, name } = object.metadata;
    return this.#json<T>({
      method: 'POST',
      path: collectionPath(of, namespace),
      what: `create ${of.kind} ${label(namespace, name)}`,
      query: { fieldManager: this.#options.fieldManager },
      body: { apiVersion: apiVersionOf(of), kind: of.kind, ...object },
      signal,
    });
  }

  /** PUT: replaces an object, guarded by its resourceVersion. */
  replace<T extends KubeObject>(of: Resource, object: KubeObject, signal?: AbortSignal): Promise<T> {
    const { namespace, name } = object.metadata;
    return this.#json<T>({
      method: 'PUT',
      path: objectPath(of, namespace, name),
      what: `update ${of.kind} ${label(namespace, name)}`,
      query: { fieldManager: this.#options.fieldManager },
      body: { apiVersion: apiVersionOf(of), kind: of.kind, ...object },
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
    return this.#json<T>({
      method: 'PATCH',
      path: objectPath(of, namespace, name) + (subresource === undefined ? '' : `/${subresource}`),
      what: `patch ${of.kind} ${label(namespace, name)}`,
      query: { fieldManager: this.#options.fieldManager },
      body: patch,
      contentType: Array.isArray(patch) ? 'application/json-patch+json' : 'application/merge-patch+json',
      signal,
    });
  }

  /** @throws ApiError 404 if it is gone, 409 if it is not the one the preconditions name. */
  async delete(
    of: Resource,
    target: { readonly namespace?: string | undefined; readonly name: string },
    preconditions: Preconditions,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#json<unknown>({
      method: 'DELETE',
      path: objectPath(of, target.namespace, target.name),
      what: `delete ${of.kind} ${label(target.namespace, target.name)}`,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: 'Background' },
      signal,
    });
  }

  /** Closes the connections; requests still under way after a grace fail. */
  async close(): Promise<void> {
    await Promise.all(
      [this.#requests, this.#watches].map(async (pool) => {
        // What is under way has mostly been given up by now: it gets the time to end by itself.
        const closed = pool.close().catch(() => undefined);
        const ended = new AbortController();
        await Promise.race([closed, sleep(CLOSE_GRACE_MS, ended.signal)]);
        ended.abort();
        await pool.destroy();
      }),
    );
  }

  async #json<T>(request: Request): Promise<T> {
    const deadline = AbortSignal.timeout(request.timeoutMs ?? this.#options.timeoutMs);
    try {
      const response = await this.#answered(this.#requests, {
        method: request.method,
        path: this.#basePath + request.path + queryString(request.query ?? {}),
        headers: { ...(await this.#headers()), 'content-type': request.contentType ?? 'application/json' },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]),
      });
      if (response.statusCode >= 300) throw await this.#refusal(response, request.what);
      return JSON.parse(await this.#text(response)) as T;
    } catch (error) {
      throw this.#explain(error, request.what, request.signal);
    }
  }

  /** One request, as far as its headers. */
  async #answered(pool: Pool, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    const { onResponse } = this.#options;
    try {
      const response = await pool.request(options);
      // Destroyed between its headers and the reading of its body, it would have nobody to tell, and end the process.
      response.body.on('error', () => undefined);
      onResponse(this.#host, options.method, String(response.statusCode));
      return response;
    } catch (error) {
      onResponse(this.#host, options.method, '<error>');
      throw error;
    }
  }

  async #text({ body }: Dispatcher.ResponseData): Promise<string> {
    const bytes = Buffer.from(await body.arrayBuffer());
    this.#options.onRead(this.#host, bytes.length);
    return bytes.toString('utf8');
  }

  async #refusal(response: Dispatcher.ResponseData, what: string): Promise<ApiError> {
    const text = await this.#text(response);
    let body: StatusBody;
    try {
      body = JSON.parse(text) as StatusBody;
    } catch {
      body = { message: text };
    }
    const seconds = Number(response.headers['retry-after'] ?? body.details?.retryAfterSeconds);
    const error = new ApiError(
      response.statusCode,
      body,
      what,
      seconds > 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : undefined,
    );
    if (isUnauthorized(error)) this.#auth = undefined;
    return error;
  }

  /** An ApiError, a ConnectionError that says what was tried, or the caller's own abort reason. */
  #explain(error: unknown, what: string, signal: AbortSignal | undefined): unknown {
    if (error instanceof ApiError || error instanceof ConnectionError) return error;
    if (signal?.aborted === true) return signal.reason;
    if (error instanceof SyntaxError) return new ConnectionError(`${what}: the answer is no JSON`);
    return new ConnectionError(`${what} at ${this.server}: ${describe(error)}`, { cause: error });
  }

  async #headers(): Promise<Record<string, string>> {
    if (this.#auth === undefined || this.#auth.untilMs < performance.now()) {
      const headers = {
        accept: 'application/json',
        'user-agent': this.#options.userAgent,
        ...(await this.#access.authorization()),
      };
      this.#auth = { headers, untilMs: performance.now() + AUTH_REFRESH_MS };
    }
    return this.#auth.headers;
  }
}

const label = (namespace: string | undefined, name: string): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

function collectionPath(of: Resource, namespace: string | undefined): string {
  const base = of.group === '' ? `/api/${of.version}` : `/apis/${of.group}/${of.version}`;
  return namespace === undefined || !of.namespaced
    ? `${base}/${of.plural}`
    : `${base}/namespaces/${encodeURIComponent(namespace)}/${of.plural}`;
}

const objectPath = (of: Resource, namespace: string | undefined, name: string): string =>
  `${collectionPath(of, namespace)}/${encodeURIComponent(name)}`;

function queryString(query: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string | number | boolean] => {
    return entry[1] !== undefined && entry[1] !== '';
  });
  if (given.length === 0) return '';
  return `?${given.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')}`;
}
