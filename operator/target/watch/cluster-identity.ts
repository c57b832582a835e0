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
  /** The id has changed. */
  identityChanged(): void;
}

export interface ClusterIdentityOptions extends Omit<
  OptionalKindOptions,
  'partitions' | 'fieldSelector' | 'maxObjects'
> {
  readonly listener: IdentityListener;
}

/** Most objects that are read: there is one such object, but a server may ignore the field selector. */
const MAX_OBJECTS = 100;

export class ClusterIdentity {
  readonly #kind: OptionalKind<ClusterProperty>;
  /** The id as last reported. */
  #reported: string | null | undefined;

  constructor({ listener, ...options }: ClusterIdentityOptions) {
    // The id of one cluster concerns the ServiceImports of all: no other change of the object must.
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
   * The id. Undefined while not known; null if the cluster claims none, has no CRD for it, or may not be asked. A
   * known id stays until another is read: an id that goes and comes back would move everything that is imported.
   */
  get claimed(): string | null | undefined {
    const { store } = this.#kind;
    if (store.synced) return store.get(AboutApi.clusterId)?.spec.value ?? null;
    return this.#kind.isUnreadable ? null : undefined;
  }

  /** Reads it until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#kind.run(signal);
  }
}
