/**
 * Reads the id that a cluster claims by its ClusterProperty `cluster.clusterset.k8s.io` (rule K2). The CRD is
 * optional.
 */
import { AboutApi } from '../../../crds/wire.ts';
import { OptionalKind, type OptionalKindOptions } from '../../runtime/optional-kind.ts';
import { weightOf } from '../../runtime/weight.ts';
import type { ReadingListener } from './listeners.ts';
import { CLUSTER_PROPERTIES, type ClusterProperty, readClusterId } from '../read/mcs-objects.ts';

/** Receives changes of the id. */
export interface IdentityListener extends Pick<ReadingListener, 'heard' | 'malformed'> {
  /** Called when {@link ClusterIdentity.claimed} has changed. */
  identityChanged(): void;
}

export interface ClusterIdentityOptions extends Omit<
  OptionalKindOptions,
  'partitions' | 'fieldSelector' | 'maxObjects'
> {
  readonly listener: IdentityListener;
}

/** Maximum number of objects that are read. The field selector selects one object, but a server might ignore it. */
const MAX_OBJECTS = 100;

export class ClusterIdentity {
  readonly #kind: OptionalKind<ClusterProperty>;
  /** The id when the listener was last notified. */
  #reported: string | null | undefined;

  constructor({ listener, ...options }: ClusterIdentityOptions) {
    // Each report causes all ServiceImports to be reconciled, so other changes of the object are not reported.
    const changed = (): void => {
      const { claimed } = this;
      if (claimed === this.#reported) return;
      this.#reported = claimed;
      listener.identityChanged();
    };
    this.#kind = new OptionalKind<ClusterProperty>(
      CLUSTER_PROPERTIES,
      {
        ...options,
        partitions: [undefined],
        fieldSelector: `metadata.name=${AboutApi.clusterId}`,
        maxObjects: MAX_OBJECTS,
      },
      {
        weigh: weightOf,
        trim: (object) => {
          const read = readClusterId(object);
          if ('object' in read) return read.object;
          listener.malformed(read.malformed);
          return undefined;
        },
      },
      { changed, stateChanged: changed, heard: () => listener.heard?.() },
    );
  }

  /**
   * The id that the cluster claims. Undefined until the cluster has answered. Null if the cluster claims no valid id,
   * or if the id could never be read because the CRD is missing or reading is forbidden. Once an id has been read, it
   * is kept while it cannot be read: if it were dropped, everything imported would change, and change again when the id
   * can be read again.
   */
  get claimed(): string | null | undefined {
    const { store } = this.#kind;
    if (store.synced) return store.get(AboutApi.clusterId)?.spec.value ?? null;
    return this.#kind.isUnreadable ? null : undefined;
  }

  /** Reads the id until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#kind.run(signal);
  }
}
