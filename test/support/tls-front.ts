/** A load balancer before an API server that ends TLS with a certificate of its own, which can be replaced. */
import { type AddressInfo, connect as open } from 'node:net';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import type { Pair } from '../synth/kubeconfigs/certificates.ts';

export class TlsFront {
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();

  private constructor(to: URL, certificate: Pair) {
    this.#server = createServer(certificate, (client) => {
      const server = connect({ socket: open(Number(to.port), to.hostname), rejectUnauthorized: false });
      this.#sockets.add(client);
      client.pipe(server).pipe(client);
      for (const [socket, other] of [
        [client, server],
        [server, client],
      ] as const) {
        socket.on('error', () => other.destroy());
        socket.on('close', () => other.destroy());
      }
      client.on('close', () => this.#sockets.delete(client));
    });
    this.#server.on('tlsClientError', () => undefined);
  }

  /** @param to the API server */
  static async start(to: URL, certificate: Pair): Promise<TlsFront> {
    const front = new TlsFront(to, certificate);
    await new Promise<void>((resolve) => front.#server.listen(0, '127.0.0.1', resolve));
    return front;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Has another certificate from now on, for new connections: as an API server that reads its files again. */
  replace(certificate: Pair): void {
    this.#server.setSecureContext(certificate);
  }

  /** Ends the connections that are open, as an API server that starts anew. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.drop();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
