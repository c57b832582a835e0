/**
 * The watch of ServiceImports in the source cluster (rule K5). Their CRD is optional: without it nothing is known of
 * them, and it is looked for again and again. The objects derived from them are in the stores of the source.
 */
import type { KubeObject } from '../kube/objects.ts';
import { OptionalKind, type OptionalKindOptions } from '../runtime/optional-kind.ts';
import { isOfImport } from './membership.ts';
import { readServiceImport, SERVICE_IMPORTS, type ServiceImport } from './objects.ts';

/** How ServiceImports are kept. */
export const KEPT = { trim: trimImport, indexes: { cluster: clustersOf } } as const;

/** Learns what becomes of the ServiceImports. */
export interface ImportListener {
  /** A ServiceImport has changed. */
  add(key: string): void;
  /** They were listed anew, or can be read, or not any more. */
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

  /** Whether ServiceImports can be read anywhere. */
  get isReadable(): boolean {
    return this.#partitions.some((namespace) => this.isReadableIn(namespace ?? ''));
  }

  isReadableIn(namespace: string): boolean {
    return this.kind.stateIn(namespace) === 'readable';
  }

  /** Whether ServiceImports of a namespace certainly cannot be read: the API server does not serve them, or refuses. */
  isRefusedIn(namespace: string): boolean {
    return ['missing', 'forbidden'].includes(this.kind.stateIn(namespace));
  }
}

/** The clusters that the status of a ServiceImport of ours names. */
function clustersOf(object: ServiceImport): readonly string[] {
  return isOfImport(object.metadata.name, object) ? (object.status?.clusters ?? []).map(({ cluster }) => cluster) : [];
}

function trimImport(object: ServiceImport): ServiceImport {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, labels, annotations } = object.metadata;
  const metadata = { name, namespace, uid, resourceVersion, generation, creationTimestamp, labels, annotations };
  return readServiceImport({ ...object, metadata: metadata as KubeObject['metadata'] });
}
