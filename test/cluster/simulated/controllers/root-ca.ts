/** Gives each namespace the CA certificates of the API server. */
import { CERTIFICATE } from '../../certificate.ts';
import { CONFIG_MAPS, idOf, NAMESPACES } from '../kinds/resources.ts';
import type { Registry } from '../storage/registry.ts';
import { put } from './writes.ts';

const NAME = 'kube-root-ca.crt';
const data = { 'ca.crt': CERTIFICATE };

/** Reconciles one namespace. */
export function reconcileRootCa(registry: Registry, namespace: string): void {
  const found = registry.storage.collection(idOf(NAMESPACES)).get(namespace);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
  put(registry, CONFIG_MAPS, { metadata: { name: NAME, namespace }, data });
}
