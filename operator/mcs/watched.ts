/**
 * The watch of ServiceImports in the source cluster (rule K5). Their CRD is optional: without it no ServiceImport is
 * known, and the operator looks for the CRD again from time to time. The objects that are derived from ServiceImports
 * are in the stores of `source/stores.ts`.
 */
import type { KubeObject } from '../kube/objects.ts';
import { OptionalKind, type OptionalKindOptions } from '../runtime/optional-kind.ts';
import { isOfImport, recordedClusters } from './membership.ts';
import { readServiceImport, SERVICE_IMPORTS, type ServiceImport } from './objects.ts';

/**
 * How the store keeps ServiceImports: cut to the fields that are read, and indexed by the clusters that their status
 * names, and by those that the recorded order of their exports lists.
 */
export const KEPT = { trim: trimImport, indexes: { cluster: clustersOf, recorded: recordedIn } } as const;

/** Listener for changes of ServiceImports. */
export interface ImportListener {
  /** Called when a ServiceImport has changed. */
  add(key: string): void;
  /** Called when ServiceImports were listed anew, or have become readable or unreadable. */
  stateChanged(): void;
}

export interface WatchedImportsOptions extends OptionalKindOptions {
  readonly listener: ImportListener;
}

export class WatchedImports {
  readonly kind: OptionalKind<ServiceImport>;
  readonly #partitions: OptionalKindOptions['partitions'];

  constructor({ listener, ...options }: WatchedImportsOptions) {
    this.#partitions = options.partitions;
    this.kind = new OptionalKind<ServiceImport>(SERVICE_IMPORTS, options, KEPT, {
      changed: ({ key }) => listener.add(key),
      stateChanged: () => listener.stateChanged(),
    });
  }

  /** Whether ServiceImports can be read in at least one namespace. */
  get isReadable(): boolean {
    return this.#partitions.some((namespace) => this.isReadableIn(namespace ?? ''));
  }

  isReadableIn(namespace: string): boolean {
    return this.kind.stateIn(namespace) === 'readable';
  }

  /**
   * Whether ServiceImports of a namespace certainly cannot be read, because the API server does not serve them or
   * forbids access to them.
   */
  isRefusedIn(namespace: string): boolean {
    return ['missing', 'forbidden'].includes(this.kind.stateIn(namespace));
  }
}

/** Returns the ids of the clusters that the status of a ServiceImport names; none if the ServiceImport is not ours. */
function clustersOf(object: ServiceImport): readonly string[] {
  return isOfImport(object.metadata.name, object) ? (object.status?.clusters ?? []).map(({ cluster }) => cluster) : [];
}

/**
 * Returns the names of the target clusters that the recorded order of a ServiceImport lists; none if the ServiceImport
 * is not ours, or records no order.
 */
function recordedIn(object: ServiceImport): readonly string[] {
  return recordedClusters({ name: object.metadata.name, live: object }).filter((cluster) => cluster !== '');
}

function trimImport(object: ServiceImport): ServiceImport {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, labels, annotations } = object.metadata;
  const metadata = { name, namespace, uid, resourceVersion, generation, creationTimestamp, labels, annotations };
  return readServiceImport({ ...object, metadata: metadata as KubeObject['metadata'] });
}
