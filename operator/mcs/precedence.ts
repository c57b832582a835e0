/**
 * The precedence of exports that disagree (rule K2): those that a ServiceImport already consists of, in their order,
 * come before new ones. A target can report any age, and must not take over an existing ServiceImport by it. The
 * order is recorded in an annotation of the ServiceImport, so that it outlives a restart. Read back it is foreign
 * data: entries that match no export are ignored. Pure.
 */
import { createHash } from 'node:crypto';
import { Annotation } from '../../crds/wire.ts';
import { isOfImport } from './membership.ts';
import { type Exporter, type ObservedImport, targetOf } from './observed.ts';

/** Characters of the hash that stands for the uid of a ServiceExport; a target may choose its uids. */
const HASH_LENGTH = 12;

/** Returns the entry of one export. Another export has another entry, even if the same cluster makes it. */
export const entryOf = (exporter: Exporter, uid: string): string => {
  const hash = createHash('sha256').update(uid).digest('hex').slice(0, HASH_LENGTH);
  return `${targetOf(exporter)?.link.cluster ?? ''}/${hash}`;
};

/** Reports whether an entry stands for an export of the local cluster. */
export const isLocalEntry = (entry: string): boolean => entry.startsWith('/');

/** Returns the recorded order; undefined if there is none. */
export const recordedOrder = ({ name, live }: Pick<ObservedImport, 'name' | 'live'>): string | undefined =>
  live !== undefined && isOfImport(name, live) ? live.metadata.annotations?.[Annotation.exports] : undefined;

/** Returns the recorded places, by entry. There are none while a ServiceImport is new. */
export function placesOf(observed: Pick<ObservedImport, 'name' | 'live' | 'isSettled'>): ReadonlyMap<string, number> {
  const entries = observed.isSettled ? (recordedOrder(observed) ?? '').split(',') : [];
  return new Map(entries.map((entry, place) => [entry, place] as const).reverse());
}
