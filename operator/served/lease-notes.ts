/**
 * Notes that the Lease of a Link keeps for the next leader, as annotations with JSON. A note that is read back is
 * foreign data. A note counts only for the very Link that it was written for, and only if nobody else has held the
 * Lease since the note was written.
 */
import { fieldsOf } from '../kube/conditions.ts';
import type { Lease } from '../kube/objects.ts';
import type { LeaseNotes } from '../runtime/lease-record.ts';

/** One kind of note. */
export interface Note {
  readonly annotation: string;
  /**
   * Maximum length in characters. It is limited because each renewal of the Lease stores the note. A longer note is
   * neither written nor read.
   */
  readonly maxLength: number;
}

/**
 * Returns the annotation that records a value on a Lease. The annotation is removed if the value is undefined or too
 * long.
 * @param leaseTransitions value of the Lease's field `leaseTransitions`, which changes with the next holder
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
 * Returns the fields of a note, unchecked; undefined if there is no note, or if it does not count.
 * @param uid uid of the Link
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
