/**
 * A target that is hostile, or broken: a server that answers lists and watches as no API server does, each kind of
 * it under a path of its own. It runs in a thread of its own, so that what it sends costs the measurement no time.
 */
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { CERTIFICATE, PRIVATE_KEY } from '../../test/cluster/certificate.ts';
import { renderKubeconfig } from '../../test/cluster/kubeconfig.ts';

/** What can be wrong with a target, by the path under which it is. */
export const KINDS = {
  'endless-line': 'a watch sends one event that never ends',
  'endless-list': 'a list has one page more, for ever',
  'huge-list': 'a list of 50,000 Services of 100 kB',
  'many-values': 'a Service with a million labels',
  'short-watches': 'each watch ends after one event',
  malformed: '94,000 Services that no API server would store',
  headless: 'a headless Service with 0.25 MB of annotations and 10,000 pods',
} as const;
export type Kind = keyof typeof KINDS;

const PAGE = 500;
const HUGE = { count: 50_000, bytes: 100_000 };
const LABELS = 1_000_000;
const MALFORMED = 94_000;
const HEADLESS = { bytes: 250_000, slices: 100, podsOfSlice: 100 };
const CHUNK = Buffer.alloc(1 << 20, 'a');

const exported = { 'mirror.linkerd.io/exported': 'true' };
const service = (name: string, bytes = 0): object => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: name,
    resourceVersion: '1',
    labels: exported,
    ...(bytes > 0 && { annotations: { a: 'x'.repeat(bytes) } }),
  },
  spec: { ports: [{ port: 80 }] },
});

/** Writes what `next` returns until that is undefined, no faster than it is read. */
const stream = (response: ServerResponse, next: () => string | Buffer | undefined): void => {
  const push = (): void => {
    while (!response.destroyed) {
      const chunk = next();
      if (chunk === undefined) {
        response.end();
        return;
      }
      if (!response.write(chunk)) return;
    }
  };
  response.on('drain', push);
  push();
};

const listOf = (items: readonly object[], metadata: object = {}): string =>
  JSON.stringify({ metadata: { resourceVersion: '1', ...metadata }, items });

/** A list that is written item by item. */
const streamList = (response: ServerResponse, count: number, item: (at: number) => object): void => {
  let at = -1;
  stream(response, () => {
    at += 1;
    if (at === 0) return `{"metadata":{"resourceVersion":"1"},"items":[`;
    if (at > count) return undefined;
    return `${at > 1 ? ',' : ''}${JSON.stringify(item(at))}${at === count ? ']}' : ''}`;
  });
};

let page = 0;
let version = 1;

const list = (kind: Kind, response: ServerResponse): void => {
  switch (kind) {
    case 'endless-list': {
      const items = Array.from({ length: PAGE }, (_, at) => service(`s-${page}-${at}`, 2_000));
      page += 1;
      response.end(listOf(items, { continue: `page-${page}` }));
      return;
    }
    case 'huge-list':
      streamList(response, HUGE.count, (at) => service(`huge-${at}`, HUGE.bytes));
      return;
    case 'many-values': {
      const labels = Object.fromEntries(Array.from({ length: LABELS }, (_, at) => [`k${at}`, '1']));
      response.end(
        listOf([
          { metadata: { name: 'many', namespace: 'shop', uid: 'many', resourceVersion: '1', labels }, spec: {} },
        ]),
      );
      return;
    }
    case 'malformed':
      streamList(response, MALFORMED, (at) => ({
        metadata: {
          name: `Not A Name ${at}`,
          namespace: 'shop',
          uid: `m${at}`,
          resourceVersion: '1',
          labels: exported,
        },
        spec: { ports: 'none' },
      }));
      return;
    case 'headless': {
      const set = service('set', HEADLESS.bytes) as { readonly spec: object };
      response.end(listOf([{ ...set, spec: { ...set.spec, clusterIP: 'None' } }]));
      return;
    }
    default:
      response.end(listOf([]));
  }
};

/** The slices of the headless Service. */
const slices = (): readonly object[] =>
  Array.from({ length: HEADLESS.slices }, (_, at) => ({
    metadata: {
      name: `set-${at}`,
      namespace: 'shop',
      uid: `slice-${at}`,
      resourceVersion: '1',
      labels: { ...exported, 'kubernetes.io/service-name': 'set' },
    },
    addressType: 'IPv4',
    endpoints: Array.from({ length: HEADLESS.podsOfSlice }, (_each, pod) => ({
      addresses: [`10.${at}.0.${pod + 1}`],
      conditions: { ready: true },
      hostname: `set-${at * HEADLESS.podsOfSlice + pod}`,
    })),
    ports: [{ name: '', port: 80, protocol: 'TCP' }],
  }));

const watch = (kind: Kind, response: ServerResponse): void => {
  switch (kind) {
    case 'endless-line':
      response.write('{"type":"ADDED","object":{"x":"');
      stream(response, () => CHUNK);
      return;
    case 'short-watches': {
      version += 1;
      const object = {
        ...service('web'),
        metadata: { ...(service('web') as { metadata: object }).metadata, resourceVersion: String(version) },
      };
      response.end(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
      return;
    }
    default:
      response.flushHeaders();
  }
};

if (!isMainThread && parentPort !== null) {
  const counts: Record<string, number> = {};
  const server = createServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, ({ url = '/' }, response) => {
    const [, kind = ''] = url.split('/');
    counts[kind] = (counts[kind] ?? 0) + 1;
    response.setHeader('content-type', 'application/json');
    response.on('error', () => undefined);
    // It would be flat as well, which goes first.
    const isFlat = kind === 'headless' && url.includes('remote-discovery');
    const isOfSlices = kind === 'headless' && url.includes('endpointslices');
    if (isFlat && !url.includes('watch=true')) response.end(listOf([]));
    else if (isOfSlices && url.includes('watch=true')) response.flushHeaders();
    else if (isOfSlices) response.end(listOf(slices()));
    else if (!(kind in KINDS) || !url.includes('services')) response.end(listOf([]));
    else if (url.includes('watch=true')) watch(kind as Kind, response);
    else list(kind as Kind, response);
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage({ port: (server.address() as AddressInfo).port }));
  parentPort.on('message', () => parentPort?.postMessage({ counts }));
}

export class HostileTarget {
  readonly #worker: Worker;
  readonly #port: number;

  private constructor(worker: Worker, port: number) {
    this.#worker = worker;
    this.#port = port;
  }

  static async start(): Promise<HostileTarget> {
    const worker = new Worker(new URL(import.meta.url));
    const { port } = await new Promise<{ port: number }>((resolve) => worker.once('message', resolve));
    return new HostileTarget(worker, port);
  }

  kubeconfig(kind: Kind): string {
    const server = `https://127.0.0.1:${this.#port}/${kind}`;
    const caData = Buffer.from(CERTIFICATE).toString('base64');
    return renderKubeconfig({ name: kind, server, caData, token: 'token' });
  }

  /** Requests that it has got, by kind. */
  async requests(kind: Kind): Promise<number> {
    const answer = new Promise<{ counts: Readonly<Record<string, number>> }>((resolve) =>
      this.#worker.once('message', resolve),
    );
    this.#worker.postMessage('counts');
    return (await answer).counts[kind] ?? 0;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
