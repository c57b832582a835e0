/**
 * What the source cluster holds of a target cluster, object by object: identities that must survive, and versions that
 * show that nothing was written.
 */
import type { ServiceObject } from './objects.ts';
import type { TwoClusters } from './two-clusters.ts';

/** One object: what changes when it is replaced, and what changes when it is written. */
export interface InventoryEntry {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Of Services. */
  readonly clusterIP?: string;
}

/** By `Kind namespace/name`. */
export type Inventory = Readonly<Record<string, InventoryEntry>>;

/** The Services and Endpoints mirrored from a cluster, its probe Service left out. */
export async function inventory(clusters: Pick<TwoClusters, 'east'>, cluster = 'west'): Promise<Inventory> {
  const labelSelector = `mirror.linkerd.io/cluster-name=${cluster},mirror.linkerd.io/mirrored-service=true`;
  const [services, endpoints] = await Promise.all(
    ['Service', 'Endpoints'].map((kind) => clusters.east.list({ apiVersion: 'v1', kind, labelSelector })),
  );
  const entries = [...(services ?? []), ...(endpoints ?? [])].map((object) => {
    const { namespace = '', name, uid, resourceVersion } = object.metadata;
    const { spec } = object as Partial<ServiceObject>;
    const entry = { uid, resourceVersion, ...(spec !== undefined && { clusterIP: spec.clusterIP }) };
    return [`${object.kind} ${namespace}/${name}`, entry] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** An inventory without versions: who is there, not whether it was written. */
export const identities = (of: Inventory): Readonly<Record<string, Omit<InventoryEntry, 'resourceVersion'>>> =>
  Object.fromEntries(Object.entries(of).map(([name, { resourceVersion: _, ...identity }]) => [name, identity]));
