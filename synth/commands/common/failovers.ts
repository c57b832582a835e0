/**
 * The ServiceFailovers of a cluster, and what each reports, read from whatever the API server has stored. Only what is
 * reported of a ServiceFailover as it is now counts, and only while an operator serves it. Pure, but for reading them.
 */
import { cut } from '../../../operator/kube/errors.ts';
import { keyOf, type KubeObject } from '../../../operator/kube/objects.ts';
import type { Cluster } from './cluster.ts';
import { SERVICE_FAILOVERS } from './kinds.ts';
import type { Unserved } from './lease.ts';
import { conditionOf, isStale, type LinkCondition, NOT_REPORTED } from './link-status.ts';
import { ifAllowed, type Readable } from './readable.ts';

/** A ServiceFailover as it was read: only its metadata is certain. */
export interface FailoverObject extends KubeObject {
  readonly spec?: { readonly service?: unknown };
  readonly status?: { readonly active?: unknown; readonly operator?: unknown };
}

/** What a ServiceFailover reports. */
export interface FailoverReport {
  /** `namespace/name` */
  readonly key: string;
  /** The Service that clients call. */
  readonly service: string;
  /** The backends that requests go to, joined by commas. */
  readonly active: string;
  readonly ready: LinkCondition;
}

/** Reads all, sorted by `namespace/name`; undefined if the API server does not serve them. */
export const readFailovers = async (
  source: Pick<Cluster, 'list' | 'serves'>,
): Promise<Readable<readonly FailoverObject[]> | undefined> => {
  const read = await ifAllowed(() => source.list<FailoverObject>(SERVICE_FAILOVERS, {}));
  if ('found' in read && read.found.length > 0) {
    return { found: read.found.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)) };
  }
  // Who may not read a resource is refused whether it is served or not.
  return (await source.serves(SERVICE_FAILOVERS)) ? read : undefined;
};

/**
 * Reads what a ServiceFailover reports.
 * @param unservedBy why the operator that reports it is not to be relied on; undefined if it is
 */
export const failoverReport = (failover: FailoverObject, unservedBy?: Unserved): FailoverReport => {
  const reported = conditionOf(failover, 'Ready');
  const ready = reported === undefined || isStale(reported, failover) ? { ...NOT_REPORTED, type: 'Ready' } : reported;
  return {
    key: keyOf(failover),
    service: textOf(failover.spec?.service),
    active: textOf(failover.status?.active),
    ready: unservedBy !== undefined && ready.status === 'True' ? { ...ready, status: 'Unknown', ...unservedBy } : ready,
  };
};

const textOf = (value: unknown): string => (typeof value === 'string' ? cut(value) : '');
