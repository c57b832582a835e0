/**
 * What the source cluster's clients see: the Services and Endpoints of all mirrors, watched. A mirror is there when both
 * are, whichever is written first. The same watch stands beside every measurement, the operator's and the raw one.
 */
import { type Api, type KubeObject } from '../../test/cluster/workload/index.ts';
import type { EndpointsObject } from '../../test/support/objects.ts';

const CLUSTER = 'mirror.linkerd.io/cluster-name';
const MIRRORED = 'mirror.linkerd.io/mirrored-service=true';
const KINDS = ['Service', 'Endpoints'] as const;
type Kind = (typeof KINDS)[number];

export type Readiness = 'ready' | 'notReady' | 'empty';

interface Mirror {
  readonly cluster: string;
  readonly hasService: boolean;
  /** As its Endpoints say; undefined if there are none. */
  readonly readiness: Readiness | undefined;
}

interface Waiting {
  readonly isSo: () => boolean;
  readonly resolve: (atMs: number) => void;
}

const readinessOf = ({ subsets = [] }: EndpointsObject): Readiness => {
  if (subsets.some(({ addresses = [] }) => addresses.length > 0)) return 'ready';
  return subsets.some(({ notReadyAddresses = [] }) => notReadyAddresses.length > 0) ? 'notReady' : 'empty';
};

const isWhole = ({ hasService, readiness }: Mirror): boolean => hasService && readiness !== undefined;

export class MirrorWatch {
  readonly #east: Api;
  readonly #stopping = new AbortController();
  readonly #mirrors = new Map<string, Mirror>();
  readonly #counts = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #running: readonly Promise<void>[] = [];

  private constructor(east: Api) {
    this.#east = east;
  }

  static async start(east: Api): Promise<MirrorWatch> {
    const watch = new MirrorWatch(east);
    const listed = await Promise.all(KINDS.map((kind) => watch.#list(kind)));
    watch.#running = KINDS.map((kind, at) => watch.#run(kind, listed[at] ?? ''));
    return watch;
  }

  /** How many mirrors of a target cluster there are in this state. */
  count(cluster: string, readiness: Readiness): number {
    return this.#counts.get(`${cluster} ${readiness}`) ?? 0;
  }

  /** How one mirror is; undefined if it is not there, or not yet whole. */
  readiness(name: string): Readiness | undefined {
    const mirror = this.#mirrors.get(name);
    return mirror !== undefined && isWhole(mirror) ? mirror.readiness : undefined;
  }

  /** When it was first seen to be so, in milliseconds since the epoch. */
  async until(what: string, isSo: () => boolean, timeoutMs = 300_000): Promise<number> {
    if (isSo()) return Date.now();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${what}: not so after ${timeoutMs / 1000} s`)), timeoutMs);
      this.#waiting.add({
        isSo,
        resolve: (atMs) => {
          clearTimeout(timer);
          resolve(atMs);
        },
      });
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  /** An API server ends the watch of a client that is too slow for it, as this one is on a busy machine. */
  async #run(kind: Kind, listed: string): Promise<void> {
    const { signal } = this.#stopping;
    let resourceVersion = listed;
    while (!signal.aborted) {
      try {
        for await (const { type, object } of this.#east.watch(collection(kind), { resourceVersion }, signal)) {
          if (type === 'ERROR') break;
          this.#see(kind, object, type !== 'DELETED');
          this.#notify();
        }
        resourceVersion = await this.#list(kind);
        this.#notify();
      } catch (error) {
        if (!signal.aborted) process.stderr.write(`the mirrors are watched anew: ${String(error)}\n`);
      }
    }
  }

  async #list(kind: Kind): Promise<string> {
    const { items, resourceVersion } = await this.#east.listAll(collection(kind));
    const listed = new Set(items.map(({ metadata }) => metadata.name));
    for (const [name, mirror] of [...this.#mirrors]) if (!listed.has(name)) this.#set(name, without(mirror, kind));
    for (const object of items) this.#see(kind, object, true);
    return resourceVersion;
  }

  #notify(): void {
    const now = Date.now();
    for (const waiting of this.#waiting) {
      if (!waiting.isSo()) continue;
      this.#waiting.delete(waiting);
      waiting.resolve(now);
    }
  }

  #see(kind: Kind, object: KubeObject, isThere: boolean): void {
    const { name, labels = {} } = object.metadata;
    const before = this.#mirrors.get(name) ?? { cluster: '', hasService: false, readiness: undefined };
    const mirror = { ...before, cluster: labels[CLUSTER] ?? '' };
    if (!isThere) this.#set(name, without(mirror, kind));
    else if (kind === 'Service') this.#set(name, { ...mirror, hasService: true });
    else this.#set(name, { ...mirror, readiness: readinessOf(object) });
  }

  #set(name: string, mirror: Mirror): void {
    const before = this.#mirrors.get(name);
    if (before !== undefined) this.#add(before, -1);
    this.#add(mirror, 1);
    if (mirror.hasService || mirror.readiness !== undefined) this.#mirrors.set(name, mirror);
    else this.#mirrors.delete(name);
  }

  #add(mirror: Mirror, by: number): void {
    const { cluster, readiness } = mirror;
    if (readiness === undefined || !isWhole(mirror)) return;
    this.#counts.set(`${cluster} ${readiness}`, this.count(cluster, readiness) + by);
  }
}

const collection = (kind: Kind) => ({ apiVersion: 'v1', kind, labelSelector: MIRRORED });

const without = (mirror: Mirror, kind: Kind): Mirror =>
  kind === 'Service' ? { ...mirror, hasService: false } : { ...mirror, readiness: undefined };
