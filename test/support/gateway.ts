/** A gateway's probe port, on loopback: answers while it is alive, and refuses connections while it is not. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class TestGateway {
  #server: Server | undefined;
  #port = 0;
  #probes = 0;
  readonly #hosts = new Set<string>();

  /** Where to connect: `127.0.0.1:PORT`, the same over its deaths. */
  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.#port };
  }

  /** Probes answered so far. */
  get probes(): number {
    return this.#probes;
  }

  /** The `Host` headers of probes so far: `name:port`, each once. */
  get hosts(): readonly string[] {
    return [...this.#hosts];
  }

  async revive(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer(({ headers }, response) => {
      this.#probes += 1;
      this.#hosts.add(headers.host ?? '');
      response.end('ok');
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async die(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else server.close(() => resolve());
    });
  }
}
