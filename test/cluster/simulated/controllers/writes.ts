/** How the controllers write: what is already right is not written again. */
import { mutable, type KubeObject } from '../storage/object.ts';
import type { Registry } from '../storage/registry.ts';
import { idOf, SERVICES, type Resource } from '../kinds/resources.ts';
import { matchesLabels } from '../storage/selectors.ts';
import { keyOf, type StorageEvent } from '../storage/storage.ts';

const MANAGER = 'kube-controller-manager';

/** An object as a controller wants it. */
export type Wanted = Pick<KubeObject, 'metadata'> & Readonly<Record<string, unknown>>;

/** Creates an object or replaces it. */
export function put(registry: Registry, resource: Resource, wanted: Wanted): void {
  const { namespace, name } = wanted.metadata;
  const options = { manager: MANAGER, version: resource.storageVersion };
  const live = registry.storage.collection(idOf(resource)).get(keyOf(namespace, name));
  const body = mutable(wanted);
  if (live === undefined) registry.create(resource, namespace, body, options);
  else {
    const { resourceVersion } = live.metadata;
    registry.update(resource, namespace, name, { ...body, metadata: { ...body.metadata, resourceVersion } }, options);
  }
}

/** Writes the status of an object. */
export function putStatus(registry: Registry, resource: Resource, object: KubeObject, status: object): void {
  const { namespace, name } = object.metadata;
  const options = { manager: MANAGER, version: resource.storageVersion, subresource: 'status' } as const;
  registry.update(resource, namespace, name, mutable({ ...object, status }), options);
}

/** Deletes an object, if it is there. */
export function remove(registry: Registry, resource: Resource, namespace: string, name: string): void {
  if (registry.storage.collection(idOf(resource)).get(keyOf(namespace, name)) !== undefined) {
    registry.delete(resource, namespace, name);
  }
}

/** The keys of the Services that select a Pod now or did before the event. */
export function servicesSelecting({ object, previous }: StorageEvent, registry: Registry): readonly string[] {
  return registry.storage
    .collection(idOf(SERVICES))
    .entries()
    .filter(([, { metadata, spec }]) => {
      const { selector } = spec as { selector?: Readonly<Record<string, string>> };
      if (selector === undefined || metadata.namespace !== object.metadata.namespace) return false;
      return [object, previous].some((pod) => pod !== undefined && matchesLabels(selector, pod.metadata.labels));
    })
    .map(([key]) => key);
}
