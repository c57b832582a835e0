/**
 * The back door: objects of a simulated cluster read and written in process, by the same rules as over HTTP and
 * through the same log, so that watchers see these writes as any other.
 */
import type { KubeObject } from './storage/object.ts';
import { mutable } from './storage/object.ts';
import type { Registry } from './storage/registry.ts';
import { idOf, type Resource } from './kinds/resources.ts';
import { keyOf, type Snapshot } from './storage/storage.ts';

/** An object to be stored: what the server fills in may be left out. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** The objects of one cluster. Every read returns frozen objects. */
export class Store {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** All objects of a kind, by namespace and name; of one namespace if it is given. */
  list(apiVersion: string, kind: string, namespace?: string): readonly KubeObject[] {
    const resource = this.#resource(apiVersion, kind);
    return this.#registry.storage
      .collection(idOf(resource))
      .entries()
      .map(([, object]) => object)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  }

  /** One object; undefined if it is not there. */
  get(apiVersion: string, kind: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#registry.storage.collection(idOf(this.#resource(apiVersion, kind))).get(keyOf(namespace, name));
  }

  /**
   * Creates an object, or replaces all of it, status included.
   * @param manager the field manager of the write
   * @throws ApiError as a request would be refused
   */
  upsert(manifest: Manifest, manager = 'test'): KubeObject {
    const resource = this.#resource(manifest.apiVersion, manifest.kind);
    const options = { manager, version: manifest.apiVersion.split('/').at(-1)! };
    const { namespace, name } = manifest.metadata;
    const scope = resource.namespaced ? namespace : undefined;
    const { resourceVersion: _v, uid: _u, ...metadata } = manifest.metadata;
    const body = mutable({ ...manifest, metadata });
    const live = this.get(manifest.apiVersion, manifest.kind, scope, name);
    let object: KubeObject;
    if (live === undefined) object = this.#registry.create(resource, scope, body, options);
    else {
      const { resourceVersion } = live.metadata;
      object = this.#registry.update(
        resource,
        scope,
        name,
        { ...body, metadata: { ...metadata, resourceVersion } },
        options,
      ).object;
    }
    if (manifest.status === undefined || !resource.subresources.includes('status')) return object;
    const status = { ...mutable(object), status: mutable(manifest.status) };
    return this.#registry.update(resource, scope, name, status, { ...options, subresource: 'status' }).object;
  }

  /** Deletes an object, without a grace period. @returns whether it was there */
  delete(apiVersion: string, kind: string, namespace: string | undefined, name: string): boolean {
    if (this.get(apiVersion, kind, namespace, name) === undefined) return false;
    this.#registry.delete(this.#resource(apiVersion, kind), namespace, name, { gracePeriodSeconds: 0 });
    return true;
  }

  /** The resourceVersion of the latest write. */
  get resourceVersion(): string {
    return String(this.#registry.storage.revision);
  }

  /** All there is now, to go back to by a fault. */
  snapshot(): Snapshot {
    return this.#registry.storage.snapshot();
  }

  #resource(apiVersion: string, kind: string): Resource {
    const resource = this.#registry.byKind(apiVersion, kind);
    if (resource === undefined) throw new Error(`no kind ${kind} in ${apiVersion}: is its definition installed?`);
    return resource;
  }
}
