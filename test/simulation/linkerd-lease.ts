/** A Lease for which a controller of Linkerd's contends as client-go does, in a cluster whose storage is open to it. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';

const LEASE_API = 'coordination.k8s.io/v1';
const LEASE_SECONDS = 30;

/** The storage of a cluster, as those write to it who are not the operator. */
export interface OpenCluster {
  get(apiVersion: string, kind: string, namespace: string | undefined, name: string): KubeObject | undefined;
  list(apiVersion: string, kind: string): readonly KubeObject[];
  put(manifest: object): void;
  remove(apiVersion: string, kind: string, namespace: string | undefined, name: string): void;
}

export interface LinkerdLeaseOptions {
  readonly cluster: OpenCluster;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly nowMs: () => number;
}

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
}

export class LinkerdLease {
  readonly #options: LinkerdLeaseOptions;
  /** The Lease as it was last seen, and since when. */
  #observed: { readonly record: string; readonly atMs: number } | undefined;

  constructor(options: LinkerdLeaseOptions) {
    this.#options = options;
  }

  /** Takes the Lease if it is free, or renews it. @returns whether it is held */
  acquire(): boolean {
    const lease = this.#read();
    if (!this.#holds(lease) && !this.#mayTake(lease)) return false;
    const { leaseTransitions: before = 0 } = (lease?.spec ?? {}) as LeaseSpec;
    const leaseTransitions = before + (this.#holds(lease) || lease === undefined ? 0 : 1);
    const { identity: holderIdentity } = this.#options;
    this.#put(lease, { holderIdentity, leaseDurationSeconds: LEASE_SECONDS, leaseTransitions });
    return true;
  }

  release(): void {
    const lease = this.#read();
    if (this.#holds(lease)) this.#put(lease, { holderIdentity: '', leaseDurationSeconds: 1 });
  }

  #read(): KubeObject | undefined {
    const { cluster, namespace, name } = this.#options;
    return cluster.get(LEASE_API, 'Lease', namespace, name);
  }

  #holds(lease: KubeObject | undefined): boolean {
    return (lease?.spec as LeaseSpec | undefined)?.holderIdentity === this.#options.identity;
  }

  #mayTake(lease: KubeObject | undefined): boolean {
    const nowMs = this.#options.nowMs();
    const record = JSON.stringify([lease?.metadata.uid, lease?.spec]);
    if (this.#observed?.record !== record) this.#observed = { record, atMs: nowMs };
    const spec = (lease?.spec ?? {}) as LeaseSpec;
    if ((spec.holderIdentity ?? '') === '') return true;
    return nowMs >= this.#observed.atMs + (spec.leaseDurationSeconds ?? 0) * 1000;
  }

  #put(lease: KubeObject | undefined, spec: LeaseSpec): void {
    const { cluster, namespace, name, nowMs } = this.#options;
    const renewTime = new Date(nowMs()).toISOString().replace('Z', '000Z');
    cluster.put({
      ...{ apiVersion: LEASE_API, kind: 'Lease' },
      metadata: { ...lease?.metadata, name, namespace },
      spec: { ...(lease?.spec as object | undefined), ...spec, renewTime },
    });
  }
}
