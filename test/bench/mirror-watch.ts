/**
 * What the source cluster's clients see: the Endpoints of all mirrors, watched, each event with its time of arrival.
 * The same watch stands beside every measurement, the operator's and the raw one.
 */
import { type Api, type KubeObject } from '../cluster/workload/index.ts';
import type { EndpointsObject } from '../support/objects.ts';

const CLUSTER = 'mirror.linkerd.io/cluster-name';
const MIRRORED = 'mirror.linkerd.io/mirrored-service=true';
const ENDPOINTS = { apiVersion: 'v1', kind: 'Endpoints', labelSelector: MIRRORED };

export type Readiness = 'ready' | 'notReady' | 'empty';

interface Waiting {
  readonly isSo: () => boolean;
  readonly resolve: (atMs: number) => void;
}

const readinessOf = ({ subsets = [] }: EndpointsObject): Readiness => {
  if (subsets.some(({ addresses = [] }) => addresses.length > 0)) return 'ready';
  return subsets.some(({ notReadyAddresses = [] }) => notReadyAddresses.length > 0) ? 'notReady' : 'empty';
};

export class MirrorWatch {
  readonly #stopping = new AbortController();
  readonly #mirrors = new Map<string, { readonly cluster: string; readonly readiness: Readiness }>();
  readonly #counts = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #running: Promise<void> = Promise.resolve();

  static async start(east: Api): Promise<MirrorWatch> {
    const watch = new MirrorWatch();
    watch.#running = watch.#run(east, await watch.#list(east));
    return watch;
  }

  /** How many mirrors of a target cluster there are in this state. */
  count(cluster: string, readiness: Readiness): number {
    return this.#counts.get(`${cluster} ${readiness}`) ?? 0;
  }

  /** How the Endpoints of one mirror are; undefined: there are none. */
  readiness(name: string): Readiness | undefined {
    return this.#mirrors.get(name)?.readiness;
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
    await this.#running;
  }

  /** An API server ends the watch of a client that is too slow for it, as this one is on a busy machine. */
  async #run(east: Api, listed: string): Promise<void> {
    const { signal } = this.#stopping;
    let resourceVersion = listed;
    while (!signal.aborted) {
      try {
        for await (const { type, object } of east.watch<EndpointsObject>(ENDPOINTS, { resourceVersion }, signal)) {
          if (type === 'ERROR') break;
          if (type === 'DELETED') this.#forget(object);
          else this.#see(object);
          this.#tell();
        }
        resourceVersion = await this.#list(east);
        this.#tell();
      } catch (error) {
        if (!signal.aborted) process.stderr.write(`the mirrors are watched anew: ${String(error)}\n`);
      }
    }
  }

  async #list(east: Api): Promise<string> {
    const { items, resourceVersion } = await east.listAll<EndpointsObject>(ENDPOINTS);
    this.#mirrors.clear();
    this.#counts.clear();
    for (const object of items) this.#see(object);
    return resourceVersion;
  }

  #tell(): void {
    const now = Date.now();
    for (const waiting of this.#waiting) {
      if (!waiting.isSo()) continue;
      this.#waiting.delete(waiting);
      waiting.resolve(now);
    }
  }

  #see(object: EndpointsObject): void {
    this.#forget(object);
    const { name, labels = {} } = object.metadata;
    const mirror = { cluster: labels[CLUSTER] ?? '', readiness: readinessOf(object) };
    this.#mirrors.set(name, mirror);
    this.#add(mirror, 1);
  }

  #forget({ metadata: { name } }: KubeObject): void {
    const before = this.#mirrors.get(name);
    if (before === undefined) return;
    this.#mirrors.delete(name);
    this.#add(before, -1);
  }

  #add({ cluster, readiness }: { readonly cluster: string; readonly readiness: Readiness }, by: number): void {
    this.#counts.set(`${cluster} ${readiness}`, this.count(cluster, readiness) + by);
  }
}
