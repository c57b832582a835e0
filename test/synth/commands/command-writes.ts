/** What commands wrote to clusters, by the audit logs of their API servers. */
import { COMMAND_LINE } from '../../../crds/wire.ts';
import type { AuditEntry, TestCluster } from '../../cluster/index.ts';

/** Requests of the command line that changed something: no reads, no questions, and no dry runs. */
export const commandWrites = async (...clusters: readonly TestCluster[]): Promise<readonly AuditEntry[]> => {
  const entries = await Promise.all(clusters.map((cluster) => cluster.audit()));
  return entries
    .flat()
    .filter(
      ({ verb, userAgent, resource, uri }) =>
        userAgent === COMMAND_LINE &&
        !['get', 'list'].includes(verb) &&
        resource !== 'tokenreviews' &&
        !uri.includes('dryRun=All'),
    );
};
