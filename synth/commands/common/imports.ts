/** What a cluster has of the MCS API, as it is there: ServiceImports, and the ServiceExports of its own Services. */
import { keyOf, type KubeObject } from '../../../operator/kube/objects.ts';
import { isOfImport } from '../../../operator/mcs/membership.ts';
import { readServiceImport, SERVICE_IMPORTS, type ServiceImport } from '../../../operator/mcs/objects.ts';
import { readServiceExport, SERVICE_EXPORTS, type ServiceExport } from '../../../operator/target/read/mcs-objects.ts';
import type { Cluster } from './cluster.ts';
import { conditionOf, isStale, type LinkCondition, NOT_REPORTED } from './link-status.ts';
import { ifAllowed, type Readable } from './readable.ts';

/** Name of both objects, which is that of the Services. */
interface Ref {
  readonly namespace: string;
  readonly name: string;
}

/** The ServiceImport of a name; undefined if there is none, or it may not be read. */
export const findImport = async (source: Pick<Cluster, 'find'>, ref: Ref): Promise<ServiceImport | undefined> => {
  const found = foundIn(await ifAllowed(() => source.find<ServiceImport>(SERVICE_IMPORTS, ref)));
  return found && readServiceImport(found);
};

/** The ServiceExport of a name; undefined if there is none, or it may not be read. */
export const findExport = async (source: Pick<Cluster, 'find'>, ref: Ref): Promise<ServiceExport | undefined> => {
  const found = foundIn(await ifAllowed(() => source.find<ServiceExport>(SERVICE_EXPORTS, ref)));
  return found && readServiceExport(found);
};

const foundIn = <T>(read: Readable<T>): T | undefined => ('found' in read ? read.found : undefined);

/** All of them, sorted by `namespace/name`; undefined if they may not be read. */
export interface McsObjects {
  readonly imports: readonly ServiceImport[] | undefined;
  readonly exports: readonly ServiceExport[] | undefined;
  /** Why they may not be read; one reason, if there are two. */
  readonly obstacle: string | undefined;
}

/** Reads all of them; undefined if the API server does not serve ServiceImports. */
export const readMcs = async (source: Pick<Cluster, 'list' | 'serves'>): Promise<McsObjects | undefined> => {
  const [imports, exports] = await Promise.all([
    ifAllowed(() => source.list<ServiceImport>(SERVICE_IMPORTS, {})),
    ifAllowed(() => source.list<ServiceExport>(SERVICE_EXPORTS, {})),
  ]);
  const read = {
    imports: foundIn(imports)?.toSorted(byKey).map(readServiceImport),
    exports: foundIn(exports)?.toSorted(byKey).map(readServiceExport),
    obstacle: [imports, exports].flatMap((each) => ('obstacle' in each ? [each.obstacle] : []))[0],
  };
  if ([...(read.imports ?? []), ...(read.exports ?? [])].length > 0) return read;
  // Who may not read a resource is refused whether it is served or not.
  return (await source.serves(SERVICE_IMPORTS)) ? read : undefined;
};

const byKey = (one: KubeObject, other: KubeObject): number => (keyOf(one) < keyOf(other) ? -1 : 1);

/** Why the Services of a ServiceExport are not imported, or not as they are. */
export type ExportFinding =
  { readonly what: 'unreported' } | { readonly what: 'invalid' | 'conflict'; readonly condition: LinkCondition };

/** What is wrong with a ServiceExport; undefined if it is valid, and conflicts with no other. */
export const exportFinding = (serviceExport: ServiceExport): ExportFinding | undefined => {
  const [valid, conflict] = ['Valid', 'Conflict'].map((type) => conditionOf(serviceExport, type));
  if (valid === undefined || valid.status === 'Unknown' || isStale(valid, serviceExport)) return { what: 'unreported' };
  if (valid.status === 'False') return { what: 'invalid', condition: valid };
  return conflict?.status === 'True' ? { what: 'conflict', condition: conflict } : undefined;
};

/**
 * The condition Ready of a ServiceImport that is not True; undefined if it is ready. Of one that is not the operator's nothing
 * need be reported.
 */
export const importFinding = (serviceImport: ServiceImport): LinkCondition | undefined => {
  const ready = conditionOf(serviceImport, 'Ready');
  if (ready?.status === 'False') return ready;
  if (!isOfImport(serviceImport.metadata.name, serviceImport)) return undefined;
  return ready?.status === 'True' && !isStale(ready, serviceImport) ? undefined : { ...NOT_REPORTED, type: 'Ready' };
};
