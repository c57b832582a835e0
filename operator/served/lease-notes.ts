/**
 * What the Lease of a Link records for whoever leads next, as an annotation of JSON. Read back, it is foreign data: it counts
 * only for the very Link that it was written for, and if nobody else has held the Lease since.
 */
import { fieldsOf } from '../kube/conditions.ts';
import type { Lease } from '../kube/objects.ts';
import type { LeaseNotes } from '../runtime/lease-record.ts';

/** A kind of note. */
export interface Note {
  readonly annotation: string;
  /** Most characters of it, since it is stored with each renewal of the Lease. A longer one is not written, and not read. */
  readonly maxLength: number;
}

/**
 * Returns the annotation for a Lease; a value that is undefined is to be removed.
 * @param leaseTransitions of the Lease: the next holder, whoever it is, has another number
 */
export function noteOf<T extends { readonly uid: string }>(
  { annotation, maxLength }: Note,
  value: T | undefined,
  leaseTransitions: number,
): ReturnType<LeaseNotes> {
  const text = value && JSON.stringify({ ...value, leaseTransitions });
  return { [annotation]: text !== undefined && text.length <= maxLength ? text : undefined };
}

/**
 * Returns the unchecked fields of a note; undefined if there is none, or if it does not count.
 * @param uid of the Link
 */
export function readNote(
  { annotation, maxLength }: Note,
  { metadata, spec: held }: Lease,
  uid: string,
): Readonly<Record<string, unknown>> | undefined {
  const { [annotation]: text = '' } = metadata.annotations ?? {};
  if (text.length > maxLength) return undefined;
  const fields = fieldsOf(parsed(text));
  const isOfLink = uid !== '' && fields['uid'] === uid;
  return isOfLink && fields['leaseTransitions'] === (held?.leaseTransitions ?? 0) ? fields : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
