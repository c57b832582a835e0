/**
 * Linkerd's own controller for one Link, beside the operator (rule H1): it contends for the Link's Lease as client-go
 * does, and while it holds it, writes mirrors as it would. It shares nothing with the operator but the cluster.
 */
import type { HistoryCluster } from './cluster.ts';
import { LinkerdLease } from './linkerd-lease.ts';
import type { World } from './world/world.ts';

const RETRY_MS = 2_000;

export interface LinkerdOptions {
  readonly world: World;
  readonly east: HistoryCluster;
  readonly namespace: string;
  readonly link: string;
  /** Name of the target cluster, if there is such a Link. */
  readonly cluster: () => string | undefined;
  /** Whether it finds the gateway alive. */
  readonly isAlive: () => boolean;
}

export class Linkerd {
  readonly #options: LinkerdOptions;
  readonly #lease: LinkerdLease;
  #state: 'stopped' | 'running' = 'stopped';
  /** Counts what was begun: an older loop ends. */
  #run = 0;
  #writes = 0;
  /** Names of the mirrors that it wrote, with their clusters. */
  readonly #written = new Map<string, string>();
  /** All that it ever wrote, removed or not: a backup may have it. */
  readonly #everWritten = new Map<string, string>();

  constructor(options: LinkerdOptions) {
    this.#options = options;
    const { world, east: cluster, namespace, link } = options;
    const name = `service-mirror-write-${link}`;
    const identity = `linkerd-service-mirror-${link}`;
    this.#lease = new LinkerdLease({ cluster, namespace, name, identity, nowMs: () => world.nowMs });
  }

  start(): void {
    if (this.#state === 'running') return;
    this.#state = 'running';
    this.#turn(++this.#run);
  }

  /** Releases the Lease; or, as when it is killed, leaves it to expire. */
  stop(how: 'release' | 'kill'): void {
    this.#state = 'stopped';
    this.#run += 1;
    this.#cleanUp();
    if (how === 'release') this.#lease.release();
  }

  /** The source cluster was restored from a backup: what it wrote may be there again. */
  restored(): void {
    for (const [name, cluster] of this.#everWritten) this.#written.set(name, cluster);
  }

  /**
   * Deletes what it wrote for a cluster that it does not serve any more, as whoever removes Linkerd's Link does: no Lease
   * of ours records it.
   */
  #cleanUp(): void {
    const { east } = this.#options;
    for (const [name, cluster] of [...this.#written]) {
      if (cluster === this.#options.cluster()) continue;
      this.#written.delete(name);
      for (const kind of ['Service', 'Endpoints']) {
        const object = east.get('v1', kind, 'shop', name);
        if (object?.metadata.labels?.['mirror.linkerd.io/cluster-name'] === cluster) {
          east.remove('v1', kind, 'shop', name);
        }
      }
    }
  }

  #turn(run: number): void {
    if (run !== this.#run) return;
    const { world, east } = this.#options;
    if (!east.isDown) {
      this.#cleanUp();
      if (this.#lease.acquire()) this.#write();
    }
    world.after(world.users, RETRY_MS, () => this.#turn(run));
  }

  /** A mirror with its endpoints, as Linkerd's controller writes them: of what the target may not export any more. */
  #write(): void {
    const { east, isAlive } = this.#options;
    const cluster = this.#options.cluster();
    const home = east.get('v1', 'Namespace', undefined, 'shop');
    if (cluster === undefined || home === undefined || home.metadata.deletionTimestamp !== undefined) return;
    const of = ['web', 'ghost'][this.#writes++ % 2]!;
    const name = `${of}-${cluster}`;
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': cluster };
    const there = east.get('v1', 'Service', 'shop', name) ?? east.get('v1', 'Endpoints', 'shop', name);
    if (there !== undefined && there.metadata.labels?.['mirror.linkerd.io/cluster-name'] !== cluster) return;
    this.#written.set(name, cluster);
    this.#everWritten.set(name, cluster);
    const annotations = { 'mirror.linkerd.io/remote-svc-fq-name': `${of}.shop.svc.cluster.local` };
    const metadata = { name, namespace: 'shop', labels, annotations };
    const { clusterIP } = (east.get('v1', 'Service', 'shop', name)?.spec ?? {}) as { clusterIP?: string };
    east.put({
      ...{ apiVersion: 'v1', kind: 'Service', metadata },
      spec: { ...(clusterIP === undefined ? {} : { clusterIP }), ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
    });
    east.put({
      ...{ apiVersion: 'v1', kind: 'Endpoints', metadata },
      subsets: isAlive()
        ? [{ addresses: [{ ip: '203.0.113.99' }], ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }]
        : [],
    });
  }
}
