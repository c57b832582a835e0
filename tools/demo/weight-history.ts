/** What a route went through, however short it was: its weights in every version that a watch sees. */
import { RouteApi } from '../../crds/wire.ts';
import type { TestCluster } from '../../test/cluster/index.ts';
import { type Api, api } from '../../test/cluster/workload/index.ts';
import type { HttpRoute } from './kubectl.ts';

const ROUTES = { apiVersion: RouteApi.HTTPRoute, kind: 'HTTPRoute', namespace: 'default' };

/** Weights of a route, by backend, in its order. */
export type Weights = Readonly<Record<string, number>>;

/** Weights of one version, or of several in succession. */
export interface WeightsSeen {
  readonly weights: Weights;
  /** When the first of them was seen, in milliseconds, as of `performance.now()`. */
  readonly atMs: number;
}

/** A watch that takes notes until it is stopped. */
export class WeightHistory {
  readonly #seen: WeightsSeen[] = [];
  readonly #stop = new AbortController();
  readonly #client: Api;
  readonly #watching: Promise<void>;

  private constructor(client: Api, name: string, resourceVersion: string) {
    this.#client = client;
    this.#watching = this.#watch(name, resourceVersion);
    // stop() reports it.
    this.#watching.catch(() => undefined);
  }

  /** Watches from now on a route that is not there yet, by its name, in namespace default. */
  static async start(cluster: TestCluster, name: string): Promise<WeightHistory> {
    const client = api(cluster, { userAgent: 'linkspan-demo' });
    const { resourceVersion } = await client.listAll<HttpRoute>(ROUTES);
    return new WeightHistory(client, name, resourceVersion);
  }

  /** Stops watching. @returns what was seen, oldest first @throws Error if the watch ended before */
  async stop(): Promise<readonly WeightsSeen[]> {
    this.#stop.abort();
    try {
      await this.#watching;
    } finally {
      await this.#client.close();
    }
    return this.#seen;
  }

  async #watch(name: string, resourceVersion: string): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const { object } of this.#client.watch<HttpRoute>(ROUTES, { resourceVersion }, signal)) {
        this.#note(name, object);
      }
      throw new Error('the watch of HTTPRoutes has ended by itself');
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #note(name: string, route: HttpRoute): void {
    if (route.metadata.name !== name) return;
    const weights = weightsOf(route);
    const last = this.#seen.at(-1);
    if (last !== undefined && JSON.stringify(last.weights) === JSON.stringify(weights)) return;
    this.#seen.push({ weights, atMs: performance.now() });
  }
}

const weightsOf = ({ spec: { rules } }: HttpRoute): Weights =>
  Object.fromEntries(rules.flatMap(({ backendRefs }) => backendRefs).map(({ name, weight }) => [name, weight]));
