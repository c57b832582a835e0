/**
 * Linkerd's own controller for one Link, beside the operator (rule H1): it contends for the Link's Lease as client-go
 * does, and while it holds it, writes mirrors as it would. It shares nothing with the operator but the cluster.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import type { World } from './world/world.ts';

const LEASE_API = 'coordination.k8s.io/v1';
const LEASE_SECONDS = 30;
const RETRY_MS = 2_000;

export interface LinkerdOptions {
  readonly world: World;
  readonly east: HistoryCluster;
  readonly namespace: string;
  readonly link: string;
  /** Name of the target cluster, if there is such a Link. */
  readonly cluster: () => string | undefined;
}

export class Linkerd {
  readonly #options: LinkerdOptions;
  readonly #identity: string;
  readonly #name: string;
  /** The Lease as it was last seen, and since when. */
  #observed: { readonly record: string; readonly atMs: number } | undefined;
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
    this.#name = `service-mirror-write-${options.link}`;
    this.#identity = `linkerd-service-mirror-${options.link}`;
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
    const lease = this.#lease();
    this.#cleanUp();
    if (how === 'release' && this.#holds(lease)) this.#put(lease, { holderIdentity: '', leaseDurationSeconds: 1 });
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
      this.#act();
    }
    world.after(world.users, RETRY_MS, () => this.#turn(run));
  }

  #act(): void {
    const lease = this.#lease();
    if (!this.#holds(lease) && !this.#mayTake(lease)) return;
    this.#put(lease, { holderIdentity: this.#identity, leaseDurationSeconds: LEASE_SECONDS });
    this.#write();
  }

  #lease(): KubeObject | undefined {
    return this.#options.east.get(LEASE_API, 'Lease', this.#options.namespace, this.#name);
  }

  #holds(lease: KubeObject | undefined): boolean {
    return (lease?.spec as { holderIdentity?: string } | undefined)?.holderIdentity === this.#identity;
  }

  #mayTake(lease: KubeObject | undefined): boolean {
    const { nowMs } = this.#options.world;
    const record = JSON.stringify([lease?.metadata.uid, lease?.spec]);
    if (this.#observed?.record !== record) this.#observed = { record, atMs: nowMs };
    const spec = (lease?.spec ?? {}) as { holderIdentity?: string; leaseDurationSeconds?: number };
    if ((spec.holderIdentity ?? '') === '') return true;
    return nowMs >= this.#observed.atMs + (spec.leaseDurationSeconds ?? 0) * 1000;
  }

  #put(lease: KubeObject | undefined, spec: object): void {
    const { world, east, namespace } = this.#options;
    const renewTime = new Date(world.nowMs).toISOString().replace('Z', '000Z');
    east.put({
      ...{ apiVersion: LEASE_API, kind: 'Lease' },
      metadata: { ...lease?.metadata, name: this.#name, namespace },
      spec: { ...(lease?.spec as object | undefined), ...spec, renewTime },
    });
  }

  /** A mirror with its endpoints, as Linkerd's controller writes them: of what the target may not export any more. */
  #write(): void {
    const { east } = this.#options;
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
      subsets: [{ addresses: [{ ip: '203.0.113.99' }], ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }],
    });
  }
}
