/**
 * The network of a world: requests and answers take their time, in order on each connection, and whatever happens to
 * networks happens to these. Each process has a {@link Network} of its own on it, as the operator expects one.
 */
import type { ClusterAccess } from '../../../operator/kube/access/access.ts';
import type { ResolvedHost } from '../../../operator/kube/names.ts';
import type { Connections, Lane, Network, ProbeRequest } from '../../../operator/kube/network.ts';
import type { WireRequest, WireResponse } from '../../../operator/kube/wire.ts';
import type { Exchange } from '../../cluster/simulated/exchange.ts';
import { type Random, randomFor } from './random.ts';
import type { SimulatedProcess, World } from './world.ts';

/** Who sent a request, and when. */
export interface Sender {
  readonly process: SimulatedProcess;
  readonly sentMs: number;
}

/** What listens at a `host:port`. */
export interface Server {
  readonly process: SimulatedProcess;
  /** Begins to answer a request. */
  readonly serve: (exchange: Exchange & Sender) => void;
}

/** How a host can be reached at present. */
export type Weather =
  | 'fair'
  /** Everything takes up to a second. */
  | 'slow'
  /** Connections are refused. */
  | 'refused'
  /** Nothing arrives; what was sent arrives when the weather changes. */
  | 'stalled'
  /** Nothing arrives, ever: connections that are used meanwhile stay dead, and neither end learns of it. */
  | 'lost';

/** What is known of the path to one host. */
interface Route {
  weather: Weather;
  /** What waits for the weather to change. */
  readonly stalled: (() => void)[];
  /** Answers are cut off after so many bytes, so many times. */
  cut: { readonly bytes: number; times: number } | undefined;
  /** How often it was mended: an answer that has begun before is not cut off any more. */
  mended: number;
}

export class Internet {
  readonly world: World;
  readonly #random: Random;
  readonly #servers = new Map<string, Server>();
  readonly #routes = new Map<string, Route>();
  readonly #calls = new Map<SimulatedProcess, Set<Call>>();
  /** Told of each request and each answer, in order. */
  onMessage: ((text: string) => void) | undefined;
  /** Who answers a probe, at `host:port`: an HTTP status, or undefined if nobody does. */
  probed: (at: string, request: ProbeRequest) => number | undefined = () => undefined;
  /** The addresses of a name; undefined: no answer ever comes. @throws Error if it has none */
  named: (host: string) => readonly string[] | undefined = () => [];

  constructor(world: World) {
    this.world = world;
    this.#random = randomFor(world.seed, 'network');
  }

  /** Lets a server listen, or nobody any more. */
  listen(at: string, server: Server | undefined): void {
    if (server === undefined) this.#servers.delete(at);
    else this.#servers.set(at, server);
  }

  serverAt(at: string): Server | undefined {
    return this.#servers.get(at);
  }

  /** Changes the weather on the way to a host. */
  weather(at: string, weather: Weather): void {
    const route = this.route(at);
    route.weather = weather;
    if (weather === 'stalled') return;
    for (const deliver of route.stalled.splice(0)) deliver();
  }

  /** Answers from a host break off after so many bytes, so many times; with none, also those under way are whole again. */
  cut(at: string, bytes: number, times: number): void {
    const route = this.route(at);
    route.cut = times > 0 ? { bytes, times } : undefined;
    if (times === 0) route.mended += 1;
  }

  route(at: string): Route {
    let route = this.#routes.get(at);
    if (route === undefined)
      this.#routes.set(at, (route = { weather: 'fair', stalled: [], cut: undefined, mended: 0 }));
    return route;
  }

  /** Delivers something over a route. @param onLost called instead if it never arrives */
  send(at: string, to: SimulatedProcess, deliver: () => void, onLost: () => void): void {
    const route = this.route(at);
    const go = (): void => void this.world.after(to, this.#latencyMs(route.weather), deliver);
    if (route.weather === 'lost') onLost();
    else if (route.weather === 'stalled') route.stalled.push(go);
    else go();
  }

  /** Mostly a fraction of a millisecond, now and then many. */
  #latencyMs(weather: Weather): number {
    const usual = 0.1 - Math.log(1 - this.#random()) * 0.5;
    return weather === 'slow' ? usual + this.#random() * 500 : usual;
  }

  /** All connections of a process break: it is gone. */
  disconnect(process: SimulatedProcess): void {
    for (const call of this.#calls.get(process) ?? []) call.abandon();
    this.#calls.delete(process);
  }

  opened(process: SimulatedProcess, call: Call): void {
    const calls = this.#calls.get(process) ?? new Set();
    this.#calls.set(process, calls.add(call));
  }

  closed(process: SimulatedProcess, call: Call): void {
    this.#calls.get(process)?.delete(call);
  }

  /** The network as a process has it. */
  networkOf(process: SimulatedProcess): Network {
    return {
      connect: (access) => new SimulatedConnections(this, process, access),
      resolve: (host, signal) => this.#resolve(process, host, signal),
      probe: (request, signal) => this.#probe(process, request, signal),
    };
  }

  #resolve(process: SimulatedProcess, host: string, signal: AbortSignal): Promise<ResolvedHost> {
    return this.#until(signal, (resolve, reject) => {
      this.send(
        'dns',
        process,
        () => {
          try {
            const found = this.named(host);
            if (found !== undefined) resolve({ addresses: found });
          } catch (error) {
            reject(error as Error);
          }
        },
        nothing,
      );
    });
  }

  #probe(process: SimulatedProcess, request: ProbeRequest, signal: AbortSignal): Promise<number> {
    const { host, port } = request;
    const at = `${host}:${port}`;
    return this.#until(signal, (resolve, reject) => {
      this.send(
        at,
        process,
        () => {
          const status = this.probed(at, request);
          if (status === undefined || this.route(at).weather === 'refused') {
            reject(new Error(`connect ECONNREFUSED ${at}`));
          } else resolve(status);
        },
        nothing,
      );
    });
  }

  #until<T>(
    signal: AbortSignal,
    begin: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const abort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      const over = (): void => signal.removeEventListener('abort', abort);
      begin(
        (value) => {
          over();
          resolve(value);
        },
        (error) => {
          over();
          reject(error);
        },
      );
    });
  }
}

const nothing = (): void => undefined;

/** How long requests under way may take before closing the connections cuts them off. */
const CLOSE_GRACE_MS = 500;

/** The operator's transport limits how many requests are under way; the connections let none wait. */
class SimulatedConnections implements Connections {
  readonly internet: Internet;
  readonly process: SimulatedProcess;
  readonly at: string;
  readonly #calls = new Set<Call>();
  #whenIdle: (() => void) | undefined;
  #isClosed = false;

  constructor(internet: Internet, process: SimulatedProcess, { server }: ClusterAccess) {
    this.internet = internet;
    this.process = process;
    const { protocol, hostname, port } = new URL(server);
    this.at = `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
  }

  async request(_lane: Lane, request: WireRequest): Promise<WireResponse> {
    request.signal.throwIfAborted();
    if (this.#isClosed) throw new Error('The client is closed');
    const call = new Call(this, request);
    this.#calls.add(call);
    this.internet.opened(this.process, call);
    return call.answered;
  }

  over(call: Call): void {
    if (!this.#calls.delete(call)) return;
    this.internet.closed(this.process, call);
    if (this.#calls.size === 0) this.#whenIdle?.();
  }

  async close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    this.#isClosed = true;
    if (this.#calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
        setTimeout(resolve, graceMs);
      });
    }
    for (const call of [...this.#calls]) call.break(new Error('The client is destroyed'));
  }
}

/** What arrives at the client, in order. */
type Arrival =
  | { readonly code: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly chunk: Buffer }
  | { readonly end: true }
  | { readonly error: Error };

/** One request on its way, and its answer on its way back. */
class Call implements Exchange, Sender {
  readonly process: SimulatedProcess;
  readonly sentMs: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly answered: Promise<WireResponse>;
  readonly #connections: SimulatedConnections;
  readonly #request: WireRequest;
  readonly #route: Route;
  readonly #answer = Promise.withResolvers<WireResponse>();
  readonly #arrivals: Arrival[] = [];
  readonly #closeListeners: (() => void)[] = [];
  readonly #body = new Body(() => this.#leave(new Error('the body is not read any further')));
  #server: Server | undefined;
  /** Nothing arrives any more, either way. */
  #isDead = false;
  /** The client has its answer, or waits for it no longer. */
  #isOver = false;
  #bytesLeft = Infinity;
  /** Of the route, when the answer began. */
  #mended = 0;
  begun = false;
  closed = false;

  constructor(connections: SimulatedConnections, request: WireRequest) {
    this.process = connections.process;
    this.sentMs = connections.internet.world.nowMs;
    this.#connections = connections;
    this.#request = request;
    this.#route = connections.internet.route(connections.at);
    this.method = request.method;
    this.url = request.path;
    this.headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    this.answered = this.#answer.promise;
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
    const { internet, at } = connections;
    this.#server = internet.serverAt(at);
    if (this.#server === undefined || this.#route.weather === 'refused') {
      internet.world.after(connections.process, 0.1, () => this.break(new Error(`connect ECONNREFUSED ${at}`)));
      return;
    }
    this.#toServer(() => {
      if (this.closed) return;
      // A connection ends with the process that accepted it, though another one listens there by now.
      if (internet.serverAt(at) !== this.#server) {
        this.destroy();
        return;
      }
      internet.onMessage?.(`${this.#whereAndWhen} ${this.method} ${this.url} ${request.body ?? ''}`);
      this.#server!.serve(this);
    });
  }

  get #whereAndWhen(): string {
    const { internet, at } = this.#connections;
    return `${internet.world.nowMs} ${this.process.name} ${at}`;
  }

  // What the server does.

  text(): Promise<string> {
    return Promise.resolve(this.#request.body ?? '');
  }

  answer(code: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    this.begin(code, headers);
    this.#send(body);
    this.end();
  }

  begin(code: number, headers: Readonly<Record<string, string>>): void {
    this.begun = true;
    const { cut } = this.#route;
    if (cut !== undefined) {
      this.#bytesLeft = cut.bytes;
      this.#mended = this.#route.mended;
      if (--cut.times === 0) this.#route.cut = undefined;
    }
    this.#connections.internet.onMessage?.(`${this.#whereAndWhen} ${code} ${this.url}`);
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    this.#toClient({ code, headers: lower });
  }

  write(text: string): void {
    this.#send(Buffer.from(text));
  }

  end(): void {
    if (this.closed) return;
    this.#toClient({ end: true });
    this.#close();
  }

  destroy(): void {
    if (this.closed) return;
    this.#toClient({ error: new Error('other side closed') });
    this.#close();
  }

  onClose(listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  #send(chunk: Buffer): void {
    if (this.closed) return;
    if (chunk.length <= this.#bytesLeft || this.#mended < this.#route.mended) {
      this.#bytesLeft -= chunk.length;
      this.#toClient({ chunk });
      return;
    }
    this.#toClient({ chunk: chunk.subarray(0, this.#bytesLeft) });
    this.destroy();
  }

  #close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const listener of this.#closeListeners) listener();
  }

  // On the way.

  #toServer(deliver: () => void): void {
    const { internet, at } = this.#connections;
    if (this.#isDead || this.#server === undefined) return;
    internet.send(
      at,
      this.#server.process,
      () => !this.#isDead && deliver(),
      () => (this.#isDead = true),
    );
  }

  #toClient(arrival: Arrival): void {
    if (this.#isDead || this.closed) return;
    this.#arrivals.push(arrival);
    // What belongs together is sent together.
    if (this.#arrivals.length > 1) return;
    const { internet, at, process } = this.#connections;
    const deliver = (): void => {
      for (const each of this.#arrivals.splice(0)) if (!this.#isDead) this.#arrived(each);
    };
    internet.send(at, process, deliver, () => (this.#isDead = true));
  }

  // What the client sees.

  #arrived(arrival: Arrival): void {
    if (this.#isOver) return;
    if ('code' in arrival) {
      const { code, headers } = arrival;
      this.#answer.resolve({ statusCode: code, headers, body: this.#body });
    } else if ('chunk' in arrival) this.#body.push(arrival.chunk);
    else if ('error' in arrival) this.break(arrival.error);
    else {
      this.#finish();
      this.#body.end();
    }
  }

  /** The client sees the connection break, or breaks it. */
  break(error: Error): void {
    if (this.#isOver) return;
    this.#finish();
    this.#answer.reject(error);
    this.answered.catch(nothing);
    this.#body.fail(error);
  }

  /** The client is gone. */
  abandon(): void {
    this.#isOver = true;
    this.#toServer(() => this.#close());
  }

  readonly #onAbort = (): void => this.#leave(this.#request.signal.reason as Error);

  #leave(error: Error): void {
    if (this.#isOver) return;
    this.break(error);
    this.#toServer(() => this.#close());
  }

  #finish(): void {
    this.#isOver = true;
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#connections.over(this);
  }
}

/** The body of an answer, as its chunks arrive. */
class Body implements AsyncIterable<Buffer>, AsyncIterator<Buffer, undefined> {
  readonly #chunks: Buffer[] = [];
  readonly #onLeft: () => void;
  #ended = false;
  #error: Error | undefined;
  #waiting: PromiseWithResolvers<IteratorResult<Buffer, undefined>> | undefined;

  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
  }

  push(chunk: Buffer): void {
    if (this.#waiting === undefined) this.#chunks.push(chunk);
    else this.#settle()?.resolve({ done: false, value: chunk });
  }

  end(): void {
    this.#ended = true;
    this.#settle()?.resolve({ done: true, value: undefined });
  }

  fail(error: Error): void {
    this.#error = error;
    this.#settle()?.reject(error);
  }

  #settle(): PromiseWithResolvers<IteratorResult<Buffer, undefined>> | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, undefined> {
    return this;
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return Promise.resolve({ done: false, value: chunk });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#onLeft();
    return Promise.resolve({ done: true, value: undefined });
  }
}
