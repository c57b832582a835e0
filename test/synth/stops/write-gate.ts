/**
 * A door in front of an API server that counts writes, and does something at one of them: the place where a test stops a
 * program between two of its requests. It passes everything else on as it is, watches too.
 */
import { type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { CERTIFICATE, PRIVATE_KEY } from '../../cluster/certificate.ts';
import type { TestCluster } from '../../cluster/index.ts';

/** A write that has reached a gate. */
export interface GatedWrite {
  /** As in `PATCH /api/v1/namespaces/shop/services/web`. */
  readonly what: string;
}

/** What a gate does with a write. */
export interface GateActions {
  /** Reports whether requests are refused from now on, at once and for good: with 401, which nobody tries again. */
  isCut(): boolean;
  /** Reports whether a request is refused, since its user may not make it. */
  isDenied(method: string, url: string): boolean;
  /** Before it is passed on. */
  before(write: GatedWrite): void | Promise<void>;
  /** When it is answered, before the answer is passed on. False: it never is. */
  after(write: GatedWrite): Promise<boolean>;
}

/** Reports whether a request changes something. */
const isWrite = (method: string, url: string): boolean =>
  !['GET', 'HEAD', 'OPTIONS'].includes(method) &&
  !url.includes('dryRun=') &&
  !/\/(\w*accessreviews|tokenreviews)$/.test(url);

const DENIED = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message: 'denied by the gate',
  reason: 'Forbidden',
  code: 403,
};

export class WriteGate {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async open(cluster: TestCluster, actions: GateActions): Promise<WriteGate> {
    const server = createServer({ key: PRIVATE_KEY, cert: CERTIFICATE, keepAliveTimeout: 0, requestTimeout: 0 });
    server.on('request', (message: IncomingMessage, response: ServerResponse) => {
      void pass(cluster, actions, message, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new WriteGate(server);
  }

  /** `https://127.0.0.1:PORT` */
  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

const pass = async (
  { server }: TestCluster,
  actions: GateActions,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { method = 'GET', url = '/' } = message;
  const write = isWrite(method, url) ? { what: `${method} ${url.split('?')[0] ?? ''}` } : undefined;
  const body: Buffer[] = [];
  for await (const chunk of message) body.push(chunk as Buffer);
  const refuse = (): void => void response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
  if (actions.isCut()) {
    refuse();
    return;
  }
  if (actions.isDenied(method, url)) {
    response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(DENIED));
    return;
  }
  if (write) await actions.before(write);
  const target = new URL(url, server);
  const send = target.protocol === 'https:' ? request : plainRequest;
  const upstream = send(target, {
    method,
    headers: { ...message.headers, host: target.host },
    rejectUnauthorized: false,
  });
  // One that was answered leaves its connection to the next.
  response.on('close', () => {
    if (!response.writableFinished) upstream.destroy();
  });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve);
    upstream.once('error', reject);
    upstream.end(Buffer.concat(body));
  });
  if (write) {
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    if (!(await actions.after(write))) {
      if (actions.isCut()) refuse();
      return;
    }
    response.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(chunks));
    return;
  }
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  response.flushHeaders();
  answer.on('error', () => response.destroy());
  answer.pipe(response);
};
