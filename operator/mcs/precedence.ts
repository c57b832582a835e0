/**
 * Which exports come first where they disagree (rule K2): those that a ServiceImport is made of, in their order, before those
 * that are newly seen. A target can report any age, and must not take over by it what a ServiceImport has. An annotation of
 * the ServiceImport has that order, so that it outlives a restart. Read back, it is foreign data: entries that are those of
 * no export say nothing. Pure.
 */
import { createHash } from 'node:crypto';
import { Annotation } from '../../crds/wire.ts';
import { isOfImport } from './membership.ts';
import { type Exporter, type ObservedImport, targetOf } from './observed.ts';

/** Characters of a hash that stand for the uid of a ServiceExport, which a target may choose. */
const HASH_LENGTH = 12;

/** Returns what stands for one export of a cluster: another one, also of the same cluster, has another entry. */
export const entryOf = (exporter: Exporter, uid: string): string => {
  const hash = createHash('sha256').update(uid).digest('hex').slice(0, HASH_LENGTH);
  return `${targetOf(exporter)?.link.cluster ?? ''}/${hash}`;
};

/** Reports whether an entry is that of an export of the cluster itself. */
export const isLocalEntry = (entry: string): boolean => entry.startsWith('/');

/** Returns the order that is recorded; undefined if there is none. */
export const recordedOrder = ({ name, live }: Pick<ObservedImport, 'name' | 'live'>): string | undefined =>
  live !== undefined && isOfImport(name, live) ? live.metadata.annotations?.[Annotation.exports] : undefined;

/** Returns the places of those that come first, by entry. There are none while a ServiceImport is new. */
export function placesOf(observed: Pick<ObservedImport, 'name' | 'live' | 'isSettled'>): ReadonlyMap<string, number> {
  const entries = observed.isSettled ? (recordedOrder(observed) ?? '').split(',') : [];
  return new Map(entries.map((entry, place) => [entry, place] as const).reverse());
}
