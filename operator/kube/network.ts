/**
 * What leaves the process: the one place that opens sockets. The operator runs on Node's; a simulation gives it a
 * network of its own, and everything above this file stays the same.
 */
import { isIP, type LookupFunction } from 'node:net';
import { type buildConnector, Pool } from 'undici';
import type { ClusterAccess } from './access/access.ts';
import { sleep } from './backoff.ts';
import { request } from './http.ts';
import { Names, type ResolvedHost } from './names.ts';
import { routeTo } from './route.ts';
import type { WireRequest, WireResponse } from './wire.ts';

export interface Network {
  /** Opens nothing yet: connections are made by requests. */
  connect(access: ClusterAccess, limits: ConnectionLimits): Connections;
  /**
   * Returns the addresses of a host name.
   * @throws Error if it has none or is not answered, or the reason of the signal
   */
  resolve(host: string, signal: AbortSignal): Promise<ResolvedHost>;
  /**
   * One GET over a new connection, without TLS. Returns the HTTP status of its answer.
   * @throws Error of the connection, or the reason of the signal
   */
  probe(request: ProbeRequest, signal: AbortSignal): Promise<number>;
}

export interface ProbeRequest {
  /** Address or name to connect to. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ConnectionLimits {
  /** Deadline of making a connection. */
  readonly timeoutMs: number;
  /** Requests under way at once. */
  readonly connections: number;
}

/**
 * Which connections a request takes, each lane with a limit of its own, so that no lane waits for another: a watch
 * occupies its connection, an urgent request (of a Lease) never waits behind ordinary ones, and neither does a report
 * (a status or an Event).
 */
export type Lane = RequestLane | 'watches';

/** The lanes of requests that are answered at once. */
export type RequestLane = 'ordinary' | 'urgent' | 'reports';

/** The connections to one API server. */
export interface Connections {
  /**
   * One request, as far as the headers of its answer.
   * @throws Error of the connection, or the reason of the signal
   */
  request(lane: Lane, request: WireRequest): Promise<WireResponse>;
  /**
   * Closes them; requests still under way after a grace fail.
   * @param graceMs @default 500; a later call may shorten it
   */
  close(graceMs?: number): Promise<void>;
}

/** Requests of each lane under way at once; null: no limit. */
export const laneLimits = (connections: number): Readonly<Record<Lane, number | null>> => ({
  ordinary: connections,
  urgent: 4,
  reports: 4,
  watches: null,
});

/** How long requests under way may take before closing the connections cuts them off. */
const CLOSE_GRACE_MS = 500;

const names = new Names();

/** The network of the machine. */
export const machineNetwork: Network = {
  connect: (access, limits) => new PooledConnections(access, limits),
  resolve: (host, signal) => names.resolve(host, signal),
  probe: ({ host, port, path, headers }, signal) =>
    new Promise((resolve, reject) => {
      const options = { host, port, path, headers: { ...headers }, agent: false, signal, lookup: lookupUntil(signal) };
      const outgoing = request(options, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      outgoing.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error));
      outgoing.end();
    }),
};

/** What sockets look names up by. A lookup ends with the signal, or after `timeoutMs`. */
const lookupUntil =
  (signal: AbortSignal, timeoutMs?: number): LookupFunction =>
  (host, { all, family }, callback) => {
    const until = timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    names.resolve(host, until).then(
      ({ addresses }) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const usable = found.filter((each) => (family !== 4 && family !== 6 ? true : each.family === family));
        const [first] = usable;
        if (first === undefined) callback(new Error(`${host} has no IPv${family} address`), []);
        else if (all === true) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as Error, []),
    );
  };

class PooledConnections implements Connections {
  readonly #pools: Readonly<Record<Lane, Pool>>;
  /** Ends the grace of an earlier call of `close`. */
  #grace = new AbortController();
  readonly #closed = new AbortController();

  readonly #rewritten: (request: WireRequest) => WireRequest;

  constructor({ server, tls, proxy }: ClusterAccess, { timeoutMs, connections }: ConnectionLimits) {
    const options = {
      ca: tls.ca,
      cert: tls.cert,
      key: tls.key,
      servername: tls.servername,
      rejectUnauthorized: tls.rejectUnauthorized ?? true,
      timeout: timeoutMs,
      lookup: lookupUntil(this.#closed.signal, timeoutMs),
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
    } as buildConnector.BuildOptions;
    const { origin, connect, rewritten } = routeTo(new URL(server), proxy, options);
    this.#rewritten = rewritten;
    // HTTP/1.1: each watch is to have its own connection, and undici's HTTP/2 sessions, destroyed while streams are
    // open, now and then emit an error that nobody can handle, which ends the process.
    const pool = { connect, allowH2: false, keepAliveTimeout: 60_000, bodyTimeout: 0, headersTimeout: 0 };
    const limits = laneLimits(connections);
    const of = (lane: Lane): Pool => new Pool(origin, { ...pool, connections: limits[lane] });
    this.#pools = { ordinary: of('ordinary'), urgent: of('urgent'), reports: of('reports'), watches: of('watches') };
  }

  async request(lane: Lane, request: WireRequest): Promise<WireResponse> {
    const { body = null, headers, ...rest } = this.#rewritten(request);
    // undici takes lists of values, but not readonly ones.
    const response = await this.#pools[lane].request({
      ...rest,
      body,
      headers: headers as Record<string, string | string[]>,
    });
    // A body that is destroyed before it is read emits an error; without a listener it would end the process.
    response.body.on('error', () => undefined);
    return response;
  }

  async close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    this.#grace.abort();
    const grace = (this.#grace = new AbortController());
    const pools = Object.values(this.#pools);
    // Most of what is under way has been given up by now, and ends by itself if it gets the time.
    const closed = Promise.all(pools.map((pool) => pool.close().catch(() => undefined)));
    await Promise.race([closed, sleep(graceMs, grace.signal)]);
    grace.abort();
    this.#closed.abort(new Error('the connections are closed'));
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}
