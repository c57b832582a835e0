/**
 * The precedence of exports that disagree (rule K2). The exports that a ServiceImport already consists of come before
 * new exports, and keep their order. Without this rule, a target could take over an existing ServiceImport by reporting
 * a false age.
 *
 * The order is a list with one entry for each export. An annotation of the ServiceImport records the list, so that the
 * order outlives a restart. The annotation is not trusted: entries that match no export are ignored. Pure.
 */
import { createHash } from 'node:crypto';
import { clusterOf, recordedOrder } from './membership.ts';
import { type Exporter, type ObservedImport, targetOf } from './observed.ts';

/**
 * Length of the hash that stands for the uid of a ServiceExport, in hexadecimal digits. The hash is recorded instead of
 * the uid, because a target can choose any text as the uid.
 */
const HASH_LENGTH = 12;

/**
 * Returns the entry of one export in the recorded order, `<cluster name>/<hash of the uid>`. The local cluster has an
 * empty cluster name. A ServiceExport that is deleted and created again gets a different entry.
 */
export const entryOf = (exporter: Exporter, uid: string): string => {
  const hash = createHash('sha256').update(uid).digest('hex').slice(0, HASH_LENGTH);
  return `${targetOf(exporter)?.link.cluster ?? ''}/${hash}`;
};

/** Reports whether an entry of the recorded order stands for an export of the local cluster. */
export const isLocalEntry = (entry: string): boolean => entry.startsWith('/');

/**
 * Returns the recorded order, reduced to the entries in `known` and the entries of the clusters in `stays`. Undefined
 * if no order is recorded. The result is recorded while the present content of the ServiceImport stays. If the entry of
 * an export that has ended stayed in the order, the cluster of this export would count as part of the ServiceImport
 * again as soon as no cluster has a session (L187).
 * @param stays clusters of the ServiceImport whose exports or ids are not known
 * @param known entries of the known valid exports
 */
export function remainingOrder(
  observed: Pick<ObservedImport, 'name' | 'live'>,
  stays: readonly Exporter[],
  known: ReadonlySet<string>,
): string | undefined {
  const clusters = new Set<string | undefined>(stays.map((each) => targetOf(each)?.link.cluster ?? ''));
  return recordedOrder(observed)
    ?.split(',')
    .filter((entry) => known.has(entry) || clusters.has(clusterOf(entry)))
    .join(',');
}

/**
 * Returns the place of each entry in the recorded order, starting at 0. The result is empty while the ServiceImport is
 * new (see {@link ObservedImport.isSettled}).
 */
export function placesOf(observed: Pick<ObservedImport, 'name' | 'live' | 'isSettled'>): ReadonlyMap<string, number> {
  const entries = observed.isSettled ? (recordedOrder(observed) ?? '').split(',') : [];
  return new Map(entries.map((entry, place) => [entry, place] as const).reverse());
}
