/**
 * JSON over pooled connections to one API server. Every request has a deadline, which begins when its turn has come;
 * every stream ends when it has been silent too long; and no answer is read beyond a limit. Requests are authenticated
 * here, and every failure becomes an error that names what was tried.
 */
import { withDeadline } from './abort.ts';
import type { ClusterAccess, Headers, TlsMaterial } from './access/access.ts';
import { MAX_OBJECT_BYTES, type Reading, readList, readObject, readPlainText, readRefusal } from './answers.ts';
import { Authenticator } from './authenticator.ts';
import { ApiError, ConnectionError, describe, isUnauthorized, LimitError, SilenceError } from './errors.ts';
import { parseJson } from './json.ts';
import { LineCutter } from './lines.ts';
import { type Connections, type Lane, laneLimits, machineNetwork, type Network, type RequestLane } from './network.ts';
import { type Query, queryString } from './paths.ts';
import { FairSemaphore } from './semaphore.ts';
import type { WireRequest, WireResponse } from './wire.ts';

/** Called for what goes over the wire; `host` is the API server's, with its port. */
export interface ClientHooks {
  /** Called when a client is made. */
  readonly onOpen?: (host: string) => void;
  /** Called when a request was answered, or failed without an answer: `code` is the HTTP status, or `<error>`. */
  readonly onResponse?: (host: string, method: string, code: string) => void;
  /** Called when bytes of a response body have arrived: those of a watch as they come. */
  readonly onRead?: (host: string, bytes: number) => void;
  /** Called once, when a client has been closed; a request that was under way may yet fail. */
  readonly onClose?: (host: string) => Promise<void>;
}

export interface TransportOptions extends ClientHooks {
  readonly userAgent: string;
  /** Deadline of a request that is not a stream, from when it is sent. @default 10000 */
  readonly timeoutMs?: number;
  /** Ordinary requests under way at once. @default 32 */
  readonly connections?: number;
  /** Most values in one object that the server sends, see json.ts. @default - no limit */
  readonly maxValues?: number;
  /** @default the machine's */
  readonly network?: Network;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** What is tried, for errors. */
  readonly what: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** Minimum deadline, for requests that take longer than others. @default 0 */
  readonly minTimeoutMs?: number;
  /**
   * Called right before it is sent, when its turn has come: what it throws ends it. Once such a request is sent,
   * `signal` ends it only with a RevokedError: the server may carry it out all the same, and whoever gives up what the
   * fence guards must know when that can no longer happen.
   */
  readonly fence?: (() => void) | undefined;
  /** Which connections it takes. @default ordinary */
  readonly lane?: RequestLane;
}

export interface StreamRequest {
  readonly path: string;
  readonly what: string;
  readonly query: Query;
  /**
   * How long without a value until the stream counts as dead. Bytes alone are not a sign of life: a middlebox that
   * keeps a dead connection open may send some.
   */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the server has accepted the request. */
  readonly onOpen?: (() => void) | undefined;
}

/**
 * Why what is left of a stream that has ended is given up; an error of its own for each would cost more than the rest.
 */
const ENDED = new Error('the stream has ended');

/** How long connections may be used after the CA or the client certificate was rotated: longer than a watch lives. */
const RETIREMENT_MS = 300_000;

export class Transport {
  /** URL of the API server, for messages. */
  readonly server: string;
  /** Ordinary requests under way at once. */
  readonly connections: number;
  readonly #access: ClusterAccess;
  readonly #basePath: string;
  readonly #authenticator: Authenticator;
  #tls: TlsMaterial;
  #connections: Connections;
  /** Connections made with an older CA or client certificate. */
  readonly #retired = new Set<Connections>();
  /** The turns of requests; the connections themselves never let one wait. */
  readonly #turns: Readonly<Record<RequestLane, FairSemaphore>>;
  readonly #options: Required<TransportOptions>;
  readonly #host: string;
  #isOpen = true;

  constructor(access: ClusterAccess, options: TransportOptions) {
    const server = new URL(access.server);
    this.#access = access;
    this.server = server.origin;
    this.#host = server.host;
    this.#basePath = server.pathname.replace(/\/$/, '');
    this.#options = {
      userAgent: options.userAgent,
      timeoutMs: options.timeoutMs ?? 10_000,
      connections: options.connections ?? 32,
      maxValues: options.maxValues ?? Infinity,
      network: options.network ?? machineNetwork,
      onOpen: options.onOpen ?? (() => undefined),
      onResponse: options.onResponse ?? (() => undefined),
      onRead: options.onRead ?? (() => undefined),
      onClose: options.onClose ?? (() => Promise.resolve()),
    };
    this.connections = this.#options.connections;
    this.#authenticator = new Authenticator(access);
    this.#tls = access.tls;
    this.#connections = this.#connect();
    const limits = laneLimits(this.connections);
    const turns = (lane: Lane): FairSemaphore => new FairSemaphore(limits[lane] ?? Infinity);
    this.#turns = { ordinary: turns('ordinary'), urgent: turns('urgent'), reports: turns('reports') };
    this.#options.onOpen(this.#host);
  }

  /**
   * One request and its answer.
   * @throws ApiError if the answer is an error, ConnectionError if there is none, LimitError if it is too long, the
   *   reason of `signal` if it aborts
   */
  json<T>(request: Request): Promise<T> {
    return this.#exchange(request, (response) => readObject<T>(response, this.#reading(request.what)));
  }

  /** One request whose answer is text. @throws like `json` */
  text(request: Request): Promise<string> {
    return this.#exchange(request, (response) => readPlainText(response, request.what));
  }

  /**
   * One request whose answer is a list. Its items are parsed and taken one by one, as they arrive.
   * @returns the list without its items
   * @throws like `json`; what `take` throws
   */
  list<T, L>(request: Request, take: (item: T) => void): Promise<L> {
    return this.#exchange(request, (response) => readList<T, L>(response, this.#reading(request.what), take));
  }

  /**
   * A GET whose answer is a stream of JSON values, one a line, until the server ends it.
   * @throws ApiError if it is refused, ConnectionError if the connection fails or is silent for `idleTimeoutMs`
   */
  async *stream<T>({ path, what, query, idleTimeoutMs, signal, onOpen }: StreamRequest): AsyncGenerator<T> {
    const silence = new AbortController();
    const stop = () => silence.abort(signal.reason);
    const { timeoutMs } = this.#options;
    let timer = setTimeout(() => {
      silence.abort(new ConnectionError(`${what} at ${this.server}: no answer in ${timeoutMs / 1000} s`));
    }, timeoutMs);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        silence.abort(new SilenceError(`${what}: nothing heard for ${idleTimeoutMs / 1000} s`));
      }, idleTimeoutMs);
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      const response = await this.#answered('watches', {
        method: 'GET',
        path: this.#basePath + path + queryString(query),
        headers: await this.#headers(what, silence.signal),
        signal: silence.signal,
      });
      heard();
      if (response.statusCode !== 200) throw await this.#refusal(response, what);
      onOpen?.();
      const lines = new LineCutter(what, MAX_OBJECT_BYTES);
      for await (const chunk of response.body) {
        for (const line of lines.push(chunk)) {
          heard();
          yield parseJson<T>(line, what, this.#options.maxValues);
        }
      }
    } catch (error) {
      throw silence.signal.aborted ? silence.signal.reason : this.#explain(error, what, signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      silence.abort(ENDED);
    }
  }

  /** Closes the connections; requests still under way after a grace fail. */
  async close(): Promise<void> {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    await Promise.all([this.#connections, ...this.#retired].map((connections) => connections.close()));
    if (wasOpen) await this.#options.onClose(this.#host);
  }

  /** One request, when its turn has come, and what is read of its answer within the deadline. */
  async #exchange<R>(request: Request, read: (response: WireResponse) => Promise<R>): Promise<R> {
    const { method, path, what, query = {}, body, lane = 'ordinary', signal, fence } = request;
    const limitMs = Math.max(this.#options.timeoutMs, request.minTimeoutMs ?? 0);
    const exchange = async (until: AbortSignal, commit: () => void): Promise<R> => {
      const headers = await this.#headers(what, until);
      if (fence !== undefined) {
        fence();
        commit();
      }
      const response = await this.#answered(lane, {
        method,
        path: this.#basePath + path + queryString(query),
        headers: { ...headers, 'content-type': request.contentType ?? 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: until,
      });
      if (response.statusCode >= 300) throw await this.#refusal(response, what);
      return await read(response);
    };
    try {
      return await this.#turns[lane].run('', signal, () => withDeadline(limitMs, signal, exchange));
    } catch (error) {
      throw this.#explain(error, what, signal);
    }
  }

  /** One request, as far as its headers. */
  async #answered(lane: Lane, request: WireRequest): Promise<WireResponse> {
    const { onResponse } = this.#options;
    try {
      const response = await this.#current.request(lane, request);
      onResponse(this.#host, request.method, String(response.statusCode));
      return { ...response, body: this.#counted(response.body) };
    } catch (error) {
      onResponse(this.#host, request.method, '<error>');
      throw error;
    }
  }

  async #refusal(response: WireResponse, what: string): Promise<ApiError> {
    // Old and new credentials may lead to two servers: whose answer it is must be seen.
    const error = await readRefusal(response, response.statusCode === 401 ? `${what} at ${this.server}` : what);
    if (isUnauthorized(error)) this.#authenticator.forget();
    return error;
  }

  /** An ApiError, a ConnectionError that names what was tried, or the caller's own abort reason. */
  #explain(error: unknown, what: string, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted === true) return signal.reason;
    if (error instanceof ApiError || error instanceof ConnectionError || error instanceof LimitError) return error;
    if (error instanceof SyntaxError) return new ConnectionError(`${what}: the answer is not JSON`);
    return new ConnectionError(`${what} at ${this.server}: ${describe(error)}`, { cause: error });
  }

  /**
   * The connections for a request. When the TLS options have changed, they are new ones, and the old ones are closed
   * when what is under way on them has ended.
   */
  get #current(): Connections {
    const { tls } = this.#authenticator;
    if (tls.ca === this.#tls.ca && tls.cert === this.#tls.cert && tls.key === this.#tls.key) return this.#connections;
    const retired = this.#connections;
    this.#tls = tls;
    this.#connections = this.#connect();
    this.#retired.add(retired);
    void retired.close(RETIREMENT_MS).finally(() => this.#retired.delete(retired));
    return this.#connections;
  }

  #connect(): Connections {
    const { timeoutMs, connections, network } = this.#options;
    return network.connect({ ...this.#access, tls: this.#tls }, { timeoutMs, connections });
  }

  #reading(what: string): Reading {
    return { what, maxValues: this.#options.maxValues };
  }

  /** Headers that say who asks. */
  async #headers(what: string, signal: AbortSignal): Promise<Headers> {
    const authorization = await this.#authenticator.headers(what, signal);
    return { accept: 'application/json', 'user-agent': this.#options.userAgent, ...authorization };
  }

  /** Reports the bytes of a body as they are read. */
  async *#counted(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      this.#options.onRead(this.#host, chunk.length);
      yield chunk;
    }
  }
}
