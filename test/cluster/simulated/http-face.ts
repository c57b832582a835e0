/**
 * The HTTP face of a simulated API server: over TLS on loopback with keep-alive, as client libraries and kubectl speak to
 * a real one.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { CERTIFICATE, PRIVATE_KEY } from '../certificate.ts';
import type { Exchange } from './exchange.ts';
import { isProtobuf, jsonOfProtobuf } from './kubectl/protobuf.ts';
import type { ApiServer } from './server.ts';

const HOST = '127.0.0.1';

/** A port that leads to a simulated API server. */
export class HttpFace {
  readonly #api: ApiServer;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(api: ApiServer) {
    this.#api = api;
  }

  /** `https://127.0.0.1:PORT`, once it listens. */
  get url(): string {
    return `https://${HOST}:${this.#port}`;
  }

  /** Listens: on a free port the first time, on the same one afterwards. */
  async listen(): Promise<void> {
    if (this.#server !== undefined) return;
    const options = { key: PRIVATE_KEY, cert: CERTIFICATE, keepAliveTimeout: 0, requestTimeout: 0 };
    const server = createServer(options, (message, response) => {
      response.on('error', () => undefined);
      void this.#api.handle(new HttpExchange(message, response));
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('secureConnection', (socket: Socket) => socket.setNoDelay(true));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, HOST, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Breaks every connection and listens no more. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    this.#api.close();
    await closed;
  }
}

class HttpExchange implements Exchange {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(message: IncomingMessage, response: ServerResponse) {
    this.#message = message;
    this.#response = response;
  }

  get method(): string {
    return this.#message.method ?? 'GET';
  }

  get url(): string {
    return this.#message.url ?? '/';
  }

  get headers(): Exchange['headers'] {
    return this.#message.headers;
  }

  get closed(): boolean {
    return this.#message.socket.destroyed;
  }

  get begun(): boolean {
    return this.#response.headersSent;
  }

  async text(): Promise<string> {
    if (this.method === 'GET') return '';
    const chunks: Buffer[] = [];
    for await (const chunk of this.#message) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    return isProtobuf(body) ? jsonOfProtobuf(body) : body.toString('utf8');
  }

  answer(code: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    this.#response.writeHead(code, { ...headers, 'Content-Length': body.length });
    this.#response.end(body);
  }

  begin(code: number, headers: Readonly<Record<string, string>>): void {
    this.#response.writeHead(code, headers);
    this.#response.flushHeaders();
  }

  write(text: string): void {
    this.#response.write(text);
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    this.#message.socket.destroy();
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }
}
