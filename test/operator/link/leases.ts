/** The Leases of a namespace as an API server keeps them, in memory. A request may be made to take its time. */
import { Annotation, linkOfWriteLease } from '../../../crds/wire.ts';
import { sleep } from '../../../operator/kube/backoff.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import type { Lease } from '../../../operator/kube/objects.ts';
import { fenceable } from '../../support/fenced.ts';

type Preconditions = Readonly<Record<string, unknown>>;

export class Leases {
  /** How long a deletion takes, in milliseconds. */
  deletionMs = 0;
  /** How long a change takes, in milliseconds. */
  changeMs = 0;
  /** Whether no Lease can be read. */
  unreadable = false;
  readonly #leases = new Map<string, Lease>();
  #version = 0;

  readonly client = fenceable({
    list: async () => ({ items: await Promise.resolve([...this.#leases.values()]) }),
    read: async (_of: unknown, _namespace: string, name: string) => {
      await Promise.resolve();
      if (this.unreadable) throw new ApiError(503, {}, 'get');
      return this.#there(name);
    },
    create: async (_of: unknown, lease: Lease) => {
      await Promise.resolve();
      const { name } = lease.metadata;
      if (this.#leases.has(name)) throw new ApiError(409, { reason: 'AlreadyExists' }, 'create');
      return this.#store(lease, `uid-${this.#version}`);
    },
    replace: async (_of: unknown, lease: Lease, signal: AbortSignal) => {
      if (this.changeMs > 0) await sleep(this.changeMs, signal);
      const { metadata } = this.#there(await Promise.resolve(lease.metadata.name));
      if (metadata.resourceVersion !== lease.metadata.resourceVersion) {
        throw new ApiError(409, { reason: 'Conflict' }, 'update');
      }
      return this.#store(lease, metadata.uid ?? '');
    },
    delete: async (_of: unknown, { name }: { name: string }, preconditions: Preconditions, signal: AbortSignal) => {
      if (this.deletionMs > 0) await sleep(this.deletionMs, signal);
      const { uid, resourceVersion } = this.#there(name).metadata;
      if (preconditions['uid'] !== uid || preconditions['resourceVersion'] !== resourceVersion) {
        throw new ApiError(409, { reason: 'Conflict' }, 'delete');
      }
      this.#leases.delete(name);
    },
  });

  /** Another's doing: the Lease of a Link, held by somebody (or nobody: ''), that records a cluster. */
  put(name: string, holderIdentity: string, annotations: Readonly<Record<string, string>> = {}): void {
    const spec = { holderIdentity, leaseDurationSeconds: 30 };
    this.#store({ metadata: { name, namespace: 'links', annotations }, spec }, `uid-${this.#version}`);
  }

  /** Has a Lease as it was elsewhere. */
  keep(lease: Lease): void {
    this.#store(lease, lease.metadata.uid ?? '');
  }

  get(name: string): Lease | undefined {
    return this.#leases.get(name);
  }

  /** Names of all, with their holders. */
  get holders(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#leases].map(([name, { spec }]) => [name, spec?.holderIdentity ?? '']));
  }

  /** The cluster that the Lease of each Link records, by the Link's name. */
  get records(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      [...this.#leases].flatMap(([name, { metadata }]) => {
        const cluster = metadata.annotations?.[Annotation.targetCluster];
        return cluster === undefined ? [] : [[linkOfWriteLease(name) ?? name, cluster]];
      }),
    );
  }

  #there(name: string): Lease {
    const lease = this.#leases.get(name);
    if (lease === undefined) throw new ApiError(404, { reason: 'NotFound' }, 'get');
    return lease;
  }

  #store(lease: Lease, uid: string): Lease {
    this.#version += 1;
    const stored = { ...lease, metadata: { ...lease.metadata, uid, resourceVersion: String(this.#version) } };
    this.#leases.set(lease.metadata.name, stored);
    return stored;
  }
}
