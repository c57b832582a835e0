/** Empties a namespace that is being deleted, and then removes it. */
import type { KubeObject } from '../storage/object.ts';
import type { Registry } from '../storage/registry.ts';
import { idOf, NAMESPACES } from '../kinds/resources.ts';

/** Deletes what is in a namespace. @returns whether nothing is left */
function empty(registry: Registry, namespace: string): boolean {
  let left = 0;
  for (const resource of registry.resources().filter(({ namespaced }) => namespaced)) {
    for (const [, { metadata }] of registry.storage.collection(idOf(resource)).entries()) {
      if (metadata.namespace !== namespace) continue;
      if (!registry.delete(resource, namespace, metadata.name, { gracePeriodSeconds: 0 }).gone) left++;
    }
  }
  return left === 0;
}

/** Whether a namespace is on its way out. */
const isTerminating = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/**
 * Reconciles one namespace.
 * @throws Error while finalizers hold some of its content, so that it is tried again
 */
export function reconcileNamespace(registry: Registry, name: string): void {
  const namespace = registry.storage.collection(idOf(NAMESPACES)).get(name);
  if (namespace === undefined || !isTerminating(namespace)) return;
  if (!empty(registry, name)) throw new Error(`namespace ${name} still has content`);
  registry.finalizeNamespace(name);
}
