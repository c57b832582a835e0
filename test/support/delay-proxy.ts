/** A TCP proxy on loopback behind which a server takes its time: each of its answers arrives later than it was sent. */
import { type AddressInfo, createServer, connect, type Server, type Socket } from 'node:net';

export class DelayProxy {
  /** How much later answers arrive, in milliseconds. As many as before are under way at once. */
  delayMs = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(to: URL) {
    this.#server = createServer((client) => this.#join(client, connect(Number(to.port), to.hostname)));
  }

  /** @param to of the server */
  static async start(to: URL): Promise<DelayProxy> {
    const proxy = new DelayProxy(to);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(client: Socket, server: Socket): void {
    client.pipe(server);
    let dueMs = 0;
    server.on('data', (chunk) => {
      dueMs = Math.max(dueMs, performance.now() + this.delayMs);
      setTimeout(() => client.write(chunk), Math.max(0, dueMs - performance.now()));
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.end();
      });
    }
  }
}
