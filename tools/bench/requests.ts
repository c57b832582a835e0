/** The operator's requests to the source cluster, as its audit log has them. */
import { UserAgent } from '../../crds/wire.ts';
import type { AuditEntry, TestCluster } from '../../test/cluster/index.ts';

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Those that were answered since the audit log was last cleared; a watch counts when it has ended. */
export const operatorRequests = async (cluster: TestCluster): Promise<readonly AuditEntry[]> =>
  (await cluster.audit()).filter(({ userAgent }) => userAgent.startsWith(UserAgent.source));

export const isWrite = ({ verb }: AuditEntry): boolean => WRITES.has(verb);

/** Whether it concerns the objects that a mirror consists of, where mirrors are. */
export const isOfMirror = ({ resource, namespace }: AuditEntry, mirrorNamespace: string): boolean =>
  namespace === mirrorNamespace && ['services', 'endpoints', 'endpointslices'].includes(resource);

/** How many requests of each verb and resource there are, most first. */
export const byKind = (requests: readonly AuditEntry[]): readonly (readonly [kind: string, count: number])[] => {
  const counts = new Map<string, number>();
  for (const { verb, resource, subresource } of requests) {
    const kind = `${verb} ${resource === '' ? 'no resource' : resource}${subresource === undefined ? '' : `/${subresource}`}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
};
