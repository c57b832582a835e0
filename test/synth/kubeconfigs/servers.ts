/**
 * Servers on loopback that record who asks them and on which way: two API servers, one without TLS, and proxies of each
 * kind. A proxy leads every name and address to one of the API servers, so that names need no DNS.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ONE, SERVER, TWO } from './certificates.ts';

/** What a server has seen of one request. */
export interface Seen {
  readonly server: string;
  /** Headers that say who asks: `authorization`, and those of impersonation. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Common name of the client certificate. */
  readonly client: string | undefined;
  readonly sni: string | undefined;
  /** The proxy, where it was asked to lead to, and who it was told is asking. */
  readonly via: string | undefined;
}

/** A token that the servers refuse. */
export const REFUSED = 'refused-token';

export class Servers {
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  /** By the port of a proxy's connection to a server. */
  readonly #ways = new Map<number, string>();
  readonly #seen = new Map<string, Seen[]>();
  /** What names in the table of cases stand for. */
  readonly names: Readonly<Record<string, string>> = {};

  async start(): Promise<void> {
    const tls = { cert: SERVER.cert, key: SERVER.key };
    const asking = { ...tls, requestCert: true, rejectUnauthorized: false };
    const first = await this.#listen(createTlsServer(asking, (from, to) => this.#answer('first', from, to)));
    const second = await this.#listen(createTlsServer(asking, (from, to) => this.#answer('second', from, to)));
    const plain = await this.#listen(createServer((from, to) => this.#answer('plain', from, to)));
    const upstream = (target: string): number => (/:(\d+)$/.exec(target)?.[1] === String(second) ? second : first);
    const http = createServer((from, to) => this.#forward('http', plain, from, to));
    const https = createTlsServer(tls, (from, to) => this.#forward('https', plain, from, to));
    for (const [kind, proxy] of Object.entries({ http, https })) {
      proxy.on('connect', (from: IncomingMessage, socket: Socket) => {
        const target = from.url ?? '';
        if (target.startsWith('refused.test')) {
          socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
          return;
        }
        const way = [kind, target, from.headers['proxy-authorization']];
        this.#join(socket, upstream(target), way, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      });
    }
    const socks = createSocketServer((socket) => void this.#socks(socket, upstream));
    const ports = {
      http: await this.#listen(http),
      https: await this.#listen(https),
      socks: await this.#listen(socks),
    };
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    Object.assign(this.names, {
      'FIRST-PORT': String(first),
      FIRST: `https://127.0.0.1:${first}`,
      SECOND: `https://127.0.0.1:${second}`,
      PLAIN: `http://127.0.0.1:${plain}`,
      'PLAIN-HOST': `127.0.0.1:${plain}`,
      HTTP: `127.0.0.1:${ports.http}`,
      HTTPS: `127.0.0.1:${ports.https}`,
      SOCKS: `127.0.0.1:${ports.socks}`,
      CA: base64(SERVER.cert),
      'OTHER-CA': base64(TWO.cert),
      CERT: base64(ONE.cert),
      KEY: base64(ONE.key),
      'KEY-OF-TWO': base64(TWO.key),
      'CA-PEM': SERVER.cert,
      'CERT-PEM': ONE.cert,
      'KEY-PEM': ONE.key,
      'CERT-PEM-JSON': ONE.cert.replaceAll('\n', '\\n'),
      'KEY-PEM-JSON': ONE.key.replaceAll('\n', '\\n'),
    });
  }

  /** A text in which names in braces become what they stand for. */
  filled(text: string, more: Readonly<Record<string, string>> = {}): string {
    const names = { ...this.names, ...more };
    return text.replaceAll(/\{([A-Z-]+)\}/g, (whole, name: string) => names[name] ?? whole);
  }

  /** What the servers have seen of requests to a path, the first first. */
  seen(path: string): readonly Seen[] {
    return this.#seen.get(path) ?? [];
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  async #listen(server: Server): Promise<number> {
    this.#servers.push(server);
    server.on('connection', (socket: Socket) => this.#kept(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  #kept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
  }

  #answer(server: string, from: IncomingMessage, to: ServerResponse): void {
    const socket = from.socket as Partial<TLSSocket> & Socket;
    const headers = Object.fromEntries(
      Object.entries(from.headersDistinct)
        .filter(([name]) => name === 'authorization' || name.startsWith('impersonate-'))
        .map(([name, values = []]) => [name, [...values].sort()]),
    );
    const seen: Seen = {
      server,
      headers,
      client: socket.getPeerCertificate?.()?.subject?.CN as string | undefined,
      sni: socket.servername || undefined,
      via: (from.headers['x-way'] as string | undefined) ?? this.#ways.get(socket.remotePort ?? 0),
    };
    // kubectl adds its timeout.
    const path = (from.url ?? '').replace(/\?.*/, '');
    this.#seen.set(path, [...(this.#seen.get(path) ?? []), seen]);
    const isRefused = headers['authorization']?.some((value) => value.includes(REFUSED)) === true;
    to.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' });
    to.end(
      JSON.stringify(isRefused ? { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' } : {}),
    );
  }

  /** A request to a server without TLS, which an http proxy is given whole. */
  #forward(kind: string, port: number, from: IncomingMessage, to: ServerResponse): void {
    const { host, pathname } = new URL(from.url ?? '', 'http://none');
    const { 'proxy-authorization': authorization = '', ...headers } = from.headers;
    const way = { 'x-way': [kind, host, authorization].join(' ') };
    const upstream = request({ host: '127.0.0.1', port, path: pathname, headers: { ...headers, ...way } }, (answer) => {
      to.writeHead(answer.statusCode ?? 0);
      answer.pipe(to);
    });
    upstream.end();
  }

  #join(socket: Socket, port: number, way: readonly (string | undefined)[], ready: () => void): void {
    this.#kept(socket);
    const upstream = connect(port, '127.0.0.1', () => {
      const { localPort = 0 } = upstream;
      this.#ways.set(localPort, way.map((part) => part ?? '').join(' '));
      // The kernel gives the port to another connection, which may come on no proxy's way.
      upstream.on('close', () => this.#ways.delete(localPort));
      ready();
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    this.#kept(upstream);
  }

  async #socks(socket: Socket, upstream: (target: string) => number): Promise<void> {
    const next = async (): Promise<Buffer> => {
      for (;;) {
        const chunk = socket.read() as Buffer | null;
        if (chunk !== null) return chunk;
        await once(socket, 'readable');
      }
    };
    const methods = [...(await next()).subarray(2)];
    let user = '';
    if (methods.includes(2)) {
      socket.write(Buffer.from([5, 2]));
      const login = await next();
      user = `${login.subarray(2, 2 + login[1]!).toString()}:${login.subarray(3 + login[1]!).toString()}`;
      socket.write(Buffer.from([1, 0]));
    } else {
      socket.write(Buffer.from([5, 0]));
    }
    const asked = await next();
    const isName = asked[3] === 3;
    const host = isName ? asked.subarray(5, 5 + asked[4]!).toString() : [...asked.subarray(4, -2)].join('.');
    const target = `${host}:${asked.readUInt16BE(asked.length - 2)}`;
    if (host === 'refused.test') return void socket.end(Buffer.from([5, 2, 0, 1, 0, 0, 0, 0, 0, 0]));
    this.#join(socket, upstream(target), ['socks5', target, user], () =>
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])),
    );
  }
}
