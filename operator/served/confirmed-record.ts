/**
 * Records, on the Lease of a Link, the loss that the user has confirmed, before anything is deleted (rule E6). The next
 * leader continues the confirmed deletions and does not hold them again. The record counts only while the Link still
 * has the same confirmation, and asks the same of its target.
 */
import type { LinkSettings } from '../../crds/index.ts';
import { Annotation } from '../../crds/wire.ts';
import type { Lease } from '../kube/objects.ts';
import type { LeaseNotes } from '../runtime/lease-record.ts';
import type { Digest } from '../target/certain/confirmed.ts';
import { type Note, noteOf, readNote } from './lease-notes.ts';

/**
 * The note has room for about twelve thousand keys. If more keys are confirmed, nothing is recorded, and the deletions
 * of all these keys are held again after a restart.
 */
const NOTE: Note = { annotation: Annotation.confirmed, maxLength: 65_536 };

const BYTES = 4;

/** `asked` is a digest of what the Link asks of its target (`digestOfAsked` in selection.ts). */
type Link = Pick<LinkSettings, 'uid' | 'confirmPrune'> & { readonly asked: string };

/** Returns the annotation that records confirmed keys on a Lease. {@link noteOf} makes it. */
export function confirmedRecordOf(
  digests: ReadonlySet<Digest>,
  { uid, confirmPrune, asked }: Link,
  leaseTransitions: number,
): ReturnType<LeaseNotes> {
  if (digests.size === 0 || confirmPrune === undefined) return noteOf(NOTE, undefined, leaseTransitions);
  const bytes = Buffer.alloc(digests.size * BYTES);
  for (const [at, digest] of [...digests].entries()) bytes.writeUInt32BE(digest, at * BYTES);
  return noteOf(NOTE, { uid, confirmPrune, asked, digests: bytes.toString('base64') }, leaseTransitions);
}

/**
 * Returns the digests of the keys that a Lease records as confirmed. Returns an empty list in each of these cases:
 * - The record might belong to another Link or to another confirmation.
 * - The Link asks for something else now. The target might have exported the keys again meanwhile, which nobody can see
 *   any more, so their deletion would be another loss.
 */
export function readConfirmedRecord(lease: Lease, { uid, confirmPrune, asked }: Link): readonly Digest[] {
  const { digests, ...of } = readNote(NOTE, lease, uid) ?? {};
  const isSame = of['confirmPrune'] === confirmPrune && of['asked'] === asked;
  if (confirmPrune === undefined || !isSame || typeof digests !== 'string') return [];
  const bytes = Buffer.from(digests, 'base64');
  return Array.from({ length: Math.floor(bytes.length / BYTES) }, (_, at) => bytes.readUInt32BE(at * BYTES));
}
