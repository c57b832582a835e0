/**
 * JSON over pooled connections to one API server. Every request has a deadline, and every stream ends when it has been
 * silent too long. Requests are authenticated here, and every failure becomes an error that names what was tried.
 */
import { createHash } from 'node:crypto';
import type { ClusterAccess, TlsMaterial } from './access/access.ts';
import {
  ApiError,
  ConnectionError,
  describe,
  isUnauthorized,
  LimitError,
  SilenceError,
  type StatusBody,
} from './errors.ts';
import { LineCutter } from './lines.ts';
import {
  type Connections,
  type Lane,
  machineNetwork,
  type Network,
  type WireRequest,
  type WireResponse,
} from './network.ts';
import { type Query, queryString } from './paths.ts';

/** Called for what goes over the wire; `host` is the API server's, with its port. */
export interface ClientHooks {
  /** Called when a request was answered, or failed without an answer: `code` is the HTTP status, or `<error>`. */
  readonly onResponse?: (host: string, method: string, code: string) => void;
  /** Called when bytes of a response body have arrived: those of a watch as they come. */
  readonly onRead?: (host: string, bytes: number) => void;
}

export interface TransportOptions extends ClientHooks {
  readonly userAgent: string;
  /** Deadline of a request that is not a stream. @default 10000 */
  readonly timeoutMs?: number;
  /** Requests under way at once. @default 32 */
  readonly connections?: number;
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
  /** Whether it has connections of its own, so that it never waits for other requests. @default false */
  readonly isUrgent?: boolean;
}

export interface StreamRequest {
  readonly path: string;
  readonly what: string;
  readonly query: Query;
  /** How long without a byte until the stream counts as dead. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the server has accepted the request. */
  readonly onOpen?: (() => void) | undefined;
}

/** How long an Authorization header is reused before a new one is requested. */
const AUTH_REFRESH_MS = 30_000;

/** Longest wait that a server is granted (rule H4). */
const MAX_RETRY_AFTER_MS = 300_000;

const digest = (ca: TlsMaterial['ca'] = ''): string => createHash('sha256').update(ca).digest('hex');

export class Transport {
  /** URL of the API server, for messages. */
  readonly server: string;
  /** Identity of the API server: its URL, and a digest of the CA that it is known by. */
  readonly apiServer: string;
  readonly #access: ClusterAccess;
  readonly #basePath: string;
  readonly #connections: Connections;
  readonly #options: Required<TransportOptions>;
  readonly #host: string;
  #auth: { readonly headers: Record<string, string>; readonly untilMs: number } | undefined;

  constructor(access: ClusterAccess, options: TransportOptions) {
    const server = new URL(access.server);
    this.#access = access;
    this.server = server.origin;
    this.apiServer = `${access.server} ${digest(access.tls.ca)}`;
    this.#host = server.host;
    this.#basePath = server.pathname.replace(/\/$/, '');
    this.#options = {
      userAgent: options.userAgent,
      timeoutMs: options.timeoutMs ?? 10_000,
      connections: options.connections ?? 32,
      network: options.network ?? machineNetwork,
      onResponse: options.onResponse ?? (() => undefined),
      onRead: options.onRead ?? (() => undefined),
    };
    const { timeoutMs, connections, network } = this.#options;
    this.#connections = network.connect(access, { timeoutMs, connections });
  }

  /**
   * One request and its answer.
   * @throws ApiError if the answer is an error, ConnectionError if there is none, the reason of `signal` if it aborts
   */
  async json<T>(request: Request): Promise<T> {
    const deadline = AbortSignal.timeout(Math.max(this.#options.timeoutMs, request.minTimeoutMs ?? 0));
    try {
      const response = await this.#answered(request.isUrgent === true ? 'urgent' : 'ordinary', {
        method: request.method,
        path: this.#basePath + request.path + queryString(request.query ?? {}),
        headers: { ...(await this.#headers()), 'content-type': request.contentType ?? 'application/json' },
        body: request.body === undefined ? undefined : JSON.stringify(request.body),
        signal: request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]),
      });
      if (response.statusCode >= 300) throw await this.#refusal(response, request.what);
      return JSON.parse(await this.#text(response)) as T;
    } catch (error) {
      throw this.#explain(error, request.what, request.signal);
    }
  }

  /**
   * A GET whose answer is a stream of JSON values, one a line, until the server ends it.
   * @throws ApiError if it is refused, ConnectionError if the connection fails or is silent for `idleTimeoutMs`
   */
  async *stream<T>({ path, what, query, idleTimeoutMs, signal, onOpen }: StreamRequest): AsyncGenerator<T> {
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
      const response = await this.#answered('watches', {
        method: 'GET',
        path: this.#basePath + path + queryString(query),
        headers: await this.#headers(),
        signal: AbortSignal.any([signal, silence.signal]),
      });
      heard();
      if (response.statusCode !== 200) throw await this.#refusal(response, what);
      onOpen?.();
      const lines = new LineCutter();
      for await (const chunk of response.body) {
        heard();
        bytes += chunk.length;
        this.#options.onRead(this.#host, chunk.length);
        for (const line of lines.push(chunk)) yield JSON.parse(line) as T;
      }
    } catch (error) {
      throw silence.signal.aborted ? silence.signal.reason : this.#explain(error, what, signal);
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  /** Closes the connections; requests still under way after a grace fail. */
  async close(): Promise<void> {
    await this.#connections.close();
  }

  /** One request, as far as its headers. */
  async #answered(lane: Lane, request: WireRequest): Promise<WireResponse> {
    const { onResponse } = this.#options;
    try {
      const response = await this.#connections.request(lane, request);
      onResponse(this.#host, request.method, String(response.statusCode));
      return response;
    } catch (error) {
      onResponse(this.#host, request.method, '<error>');
      throw error;
    }
  }

  async #text({ body }: WireResponse): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    this.#options.onRead(this.#host, bytes.length);
    return bytes.toString('utf8');
  }

  async #refusal(response: WireResponse, what: string): Promise<ApiError> {
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

  /** An ApiError, a ConnectionError that names what was tried, or the caller's own abort reason. */
  #explain(error: unknown, what: string, signal: AbortSignal | undefined): unknown {
    if (error instanceof ApiError || error instanceof ConnectionError || error instanceof LimitError) return error;
    if (signal?.aborted === true) return signal.reason;
    if (error instanceof SyntaxError) return new ConnectionError(`${what}: the answer is not JSON`);
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
