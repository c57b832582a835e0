/**
 * The mirrors as clients of the source cluster see them, watched: how they are, which were deleted, and for how long one
 * that must be ready was not.
 */
import type { Api, KubeObject } from '../../test/cluster/workload/index.ts';
import type { EndpointsObject } from '../../test/support/objects.ts';
import type { MirrorState, Model, Readiness } from './model.ts';

/** What has no cluster is a federated Service. */
const MIRRORED = 'mirror.linkerd.io/mirrored-service=true,mirror.linkerd.io/cluster-name';
const KINDS = ['Service', 'Endpoints'] as const;
type Kind = (typeof KINDS)[number];
const TICK_MS = 250;

interface ServiceObject extends KubeObject {
  readonly spec?: { readonly ports?: readonly { readonly port: number }[] };
}

interface Parts {
  readonly uid?: string | undefined;
  readonly port?: number | undefined;
  readonly readiness?: Readiness | undefined;
}

/** The longest time that a mirror was not ready although it must have been. */
export interface NotReady {
  readonly mirror: string;
  readonly seconds: number;
}

export class Seen {
  readonly #east: Api;
  readonly #model: Model;
  readonly #mirrors = new Map<string, Parts>();
  /** Since when a mirror has not been ready that must be, in milliseconds of the monotonic clock. */
  readonly #since = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #lost: string[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #longest: NotReady = { mirror: '', seconds: 0 };

  constructor(east: Api, model: Model) {
    this.#east = east;
    this.#model = model;
  }

  /** Mirrors that were deleted although their Service had been exported for long. */
  get lost(): readonly string[] {
    return this.#lost;
  }

  get longestNotReady(): NotReady {
    return this.#longest;
  }

  /** Those of which both the Service and its Endpoints are there. */
  get mirrors(): ReadonlyMap<string, MirrorState> {
    return new Map(
      [...this.#mirrors].flatMap(([name, { port, readiness }]) =>
        port === undefined || readiness === undefined ? [] : [[name, { port, readiness }] as const],
      ),
    );
  }

  start(): void {
    this.#running = Promise.all(KINDS.map((kind) => this.#run(kind)));
  }

  /** From now on it counts how long mirrors are not ready. */
  count(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#running;
  }

  async #run(kind: Kind): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const { items, resourceVersion } = await this.#east.listAll(collection(kind));
        const listed = new Set(items.map(({ metadata }) => metadata.name));
        for (const name of [...this.#mirrors.keys()]) if (!listed.has(name)) this.#gone(kind, name);
        for (const object of items) this.#see(kind, object);
        for await (const { type, object } of this.#east.watch(collection(kind), { resourceVersion }, signal)) {
          if (type === 'ERROR') break;
          if (type === 'DELETED') this.#gone(kind, object.metadata.name);
          else this.#see(kind, object);
        }
      } catch {
        // The API server is down: it is tried again.
        await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      }
    }
  }

  #see(kind: Kind, object: KubeObject): void {
    const { name, uid } = object.metadata;
    const before = this.#mirrors.get(name) ?? {};
    if (kind === 'Endpoints') {
      this.#mirrors.set(name, { ...before, readiness: readinessOf(object) });
      return;
    }
    if (before.uid !== undefined && before.uid !== uid) this.#gone(kind, name);
    this.#mirrors.set(name, { ...before, uid, port: (object as ServiceObject).spec?.ports?.[0]?.port });
  }

  #gone(kind: Kind, name: string): void {
    const before = this.#mirrors.get(name);
    if (before === undefined) return;
    if (kind === 'Endpoints') this.#mirrors.set(name, { ...before, readiness: undefined });
    else {
      this.#mirrors.set(name, { ...before, uid: undefined, port: undefined });
      if (before.uid !== undefined && this.#model.isLasting(name)) this.#lost.push(name);
    }
  }

  #tick(): void {
    const now = performance.now();
    for (const mirror of this.#model.services.keys()) {
      const { readiness, uid } = this.#mirrors.get(mirror) ?? {};
      const isRight = readiness === 'ready' && uid !== undefined;
      if (isRight || this.#model.expected(mirror)?.readiness !== 'ready') {
        this.#since.delete(mirror);
        continue;
      }
      const since = this.#since.get(mirror) ?? now;
      this.#since.set(mirror, since);
      const seconds = (now - since) / 1000;
      if (seconds > this.#longest.seconds) this.#longest = { mirror, seconds };
    }
  }
}

const collection = (kind: Kind) => ({ apiVersion: 'v1', kind, labelSelector: MIRRORED, namespace: 'shop' });

const readinessOf = ({ subsets = [] }: EndpointsObject): Readiness => {
  if (subsets.some(({ addresses = [] }) => addresses.length > 0)) return 'ready';
  return subsets.some(({ notReadyAddresses = [] }) => notReadyAddresses.length > 0) ? 'notReady' : 'empty';
};
