/** Requests of an application, bounded in number and time, and how each of them ended. */
import { Resolver } from 'node:dns/promises';
import { Agent, request as httpRequest } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Batch, Latency, Outcomes } from './messages.ts';

const REQUEST_MS = 8_000;
const MAX_REQUESTS = 5_000;
const NOTHING = Buffer.alloc(5);

/** One kind of request to one place; {@link close} ends its connections. */
interface Client {
  /** Resolves with the name of the pod, or with the status of a refusal; rejects when the connection breaks. */
  ask(): Promise<string>;
  close(): void;
}

export class Requests {
  readonly #resolver = new Resolver({ timeout: 1_000, tries: 3 });

  /** @param dns address of the server that names are asked of */
  constructor(dns: string) {
    this.#resolver.setServers([dns]);
  }

  /** Makes the requests of a batch. @throws Error if the name does not resolve */
  async make(batch: Batch): Promise<{ readonly outcomes: Outcomes; readonly latency: Latency }> {
    const { host, port, count, concurrency = 1, pauseMs = 0, deadlineMs = Infinity } = batch;
    if (count > MAX_REQUESTS) throw new Error(`count must be at most ${MAX_REQUESTS}, is ${count}`);
    const address = isIP(host) ? host : (await this.#resolver.resolve4(host))[0];
    if (address === undefined) throw new Error(`${host} has no address`);
    const outcomes: Record<string, number> = {};
    const tookMs: number[] = [];
    const until = performance.now() + deadlineMs;
    let left = count;
    const work = async (): Promise<void> => {
      const client = clientOf(batch, address, batch.authority ?? `${host}:${port}`);
      while (left > 0 && performance.now() < until) {
        left -= 1;
        const asked = performance.now();
        const outcome = await within(client.ask()).catch(causeOf);
        tookMs.push(performance.now() - asked);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        if (pauseMs > 0) await sleep(pauseMs);
      }
      client.close();
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    tookMs.sort((a, b) => a - b);
    const part = (of: number): number => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * of))] ?? 0;
    return { outcomes, latency: { p50Ms: part(0.5), p99Ms: part(0.99) } };
  }
}

const within = async (asked: Promise<string>): Promise<string> => {
  const late = new AbortController();
  const timeout = sleep(REQUEST_MS, 'timeout', { signal: late.signal }).catch(() => 'timeout');
  try {
    return await Promise.race([asked, timeout]);
  } finally {
    late.abort();
  }
};

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
};

const clientOf = ({ protocol, port }: Batch, address: string, authority: string): Client => {
  switch (protocol) {
    case 'http1':
      return new Http1Client(address, port, authority);
    case 'http2':
      return new Http2Client(address, port, authority, askPlain);
    case 'grpc':
      return new Http2Client(address, port, authority, askGrpc);
    case 'tcp':
      return { ask: () => askTcp(address, port), close: () => undefined };
  }
};

class Http1Client implements Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #target: { readonly host: string; readonly port: number; readonly headers: { readonly host: string } };

  constructor(host: string, port: number, authority: string) {
    this.#target = { host, port, headers: { host: authority } };
  }

  ask(): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({ ...this.#target, agent: this.#agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('end', () => resolve(response.statusCode === 200 ? text : String(response.statusCode)));
        response.once('error', reject);
      });
      request.once('error', reject);
      request.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

type AskHttp2 = (session: ClientHttp2Session) => Promise<string>;

class Http2Client implements Client {
  readonly #address: string;
  readonly #port: number;
  readonly #authority: string;
  readonly #ask: AskHttp2;
  #session: ClientHttp2Session | undefined;

  constructor(address: string, port: number, authority: string, ask: AskHttp2) {
    this.#address = address;
    this.#port = port;
    this.#authority = authority;
    this.#ask = ask;
  }

  ask(): Promise<string> {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connectHttp2(`http://${this.#authority}`, {
        createConnection: () => connect(this.#port, this.#address),
      });
      this.#session.on('error', () => undefined);
    }
    return this.#ask(this.#session);
  }

  close(): void {
    this.#session?.destroy();
  }
}

const askPlain: AskHttp2 = (session) =>
  new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/' });
    let [status, text] = [0, ''];
    stream.on('response', (headers) => (status = headers[':status'] ?? 0));
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    stream.once('end', () => resolve(status === 200 ? text : status === 0 ? 'closed' : String(status)));
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('closed')));
    stream.end();
  });

const askGrpc: AskHttp2 = (session) =>
  new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/linkspan.Test/Who',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let [http, grpc, text] = [0, '', Buffer.alloc(0)];
    const note = (headers: Readonly<Record<string, unknown>>): void => {
      if (typeof headers['grpc-status'] === 'string') grpc = headers['grpc-status'];
    };
    stream.on('response', (headers) => {
      http = headers[':status'] ?? 0;
      note(headers);
    });
    stream.on('trailers', note);
    stream.on('data', (chunk: Buffer) => (text = Buffer.concat([text, chunk])));
    stream.once('end', () =>
      resolve(
        grpc === '0' ? text.toString('utf8', 5) : grpc === '' ? (http === 0 ? 'closed' : `${http}`) : `grpc ${grpc}`,
      ),
    );
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('closed')));
    stream.end(NOTHING);
  });

const askTcp = (address: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, address);
    let text = '';
    socket.setTimeout(REQUEST_MS, () => socket.destroy(new Error('timeout')));
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.once('end', () => resolve(text === '' ? 'closed' : text.trim()));
    socket.once('error', reject);
    socket.once('connect', () => socket.write('who\n'));
  });
