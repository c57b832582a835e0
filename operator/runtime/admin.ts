/**
 * The admin port: liveness and readiness for the kubelet, metrics for Prometheus. It answers from memory only, so it
 * stays fast when a cluster is not, and closing it never waits for a scraper that keeps its connection open.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { createServer } from '../kube/http.ts';

/** One condition of readiness. */
export interface ReadyCheck {
  readonly name: string;
  readonly ok: boolean;
  /** Why the check failed. */
  readonly message?: string;
}

export interface Readiness {
  readonly ok: boolean;
  readonly checks: readonly ReadyCheck[];
}

export interface AdminOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly registry: Registry;
  readonly ready: () => Readiness;
}

export interface AdminServer {
  /** The address that is listened on, with the port that was picked. */
  readonly address: { readonly host: string; readonly port: number };
  close(): Promise<void>;
}

const ROUTES = ['/healthz', '/readyz', '/metrics'] as const;

interface Answer {
  readonly code: number;
  readonly body: string;
  readonly type?: string;
}

/**
 * Starts the admin server.
 * @throws Error of node:net if the address cannot be bound
 */
export async function startAdmin(options: AdminOptions): Promise<AdminServer> {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 5_000 });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void answer(request, options)
      .catch((error: unknown): Answer => ({ code: 500, body: `${String(error)}\n` }))
      .then(({ code, body, type = 'text/plain; charset=utf-8' }) => {
        if (code === 405) response.setHeader('allow', 'GET, HEAD');
        response.writeHead(code, {
          'content-type': type,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        });
        response.end(request.method === 'HEAD' ? undefined : body);
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    address: { host: address, port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, { registry, ready }: AdminOptions): Promise<Answer> {
  const url = URL.parse(request.url ?? '/', 'http://admin');
  const route = ROUTES.find((path) => path === url?.pathname);
  if (url === null || route === undefined) return { code: 404, body: `not found: try ${ROUTES.join(', ')}\n` };
  if (request.method !== 'GET' && request.method !== 'HEAD') return { code: 405, body: 'method not allowed\n' };
  switch (route) {
    case '/healthz':
      return { code: 200, body: 'ok\n' };
    case '/readyz':
      return readyz(ready(), url.searchParams.has('verbose'));
    case '/metrics':
      return { code: 200, body: await registry.metrics(), type: registry.contentType };
  }
}

/** In the format of the API server's own: failing checks are always listed, passing ones if requested. */
function readyz({ ok, checks }: Readiness, verbose: boolean): Answer {
  const lines =
    ok && !verbose
      ? []
      : checks.map((check) => {
          if (check.ok) return `[+]${check.name} ok`;
          return `[-]${check.name} failed${check.message === undefined ? '' : `: ${check.message}`}`;
        });
  return { code: ok ? 200 : 503, body: [...lines, ok ? 'ok' : 'not ready', ''].join('\n') };
}
