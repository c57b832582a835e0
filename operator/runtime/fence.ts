/** What keeps a process that was paused, and has lost its Lease meanwhile, from writing (rule H2). */
import type { Fence } from '../kube/client.ts';
import { RevokedError } from '../kube/abort.ts';
import { ConnectionError } from '../kube/errors.ts';

/** Reports whether the Lease of what is written is certainly held at this moment. */
export type MayWrite = () => boolean;

/** A client whose writes can be fenced. */
export interface Fenceable<T> {
  fenced(fence: Fence): T;
}

/** The Lease may have expired: nothing was sent. It is renewed soon, or lost; what was to be written has not failed. */
export class FencedError extends ConnectionError {}

/**
 * Time until the operator tries again to send a write that it held back because a Lease may have been lost, in
 * milliseconds. Earlier failures do not prolong this time (rule H4).
 */
export const FENCED_RETRY_MS = 1_000;

/**
 * Returns a client whose writes are only sent while the Lease is certainly held. However long one waited for its turn,
 * it fails with a FencedError if the Lease may have expired by then: it is tried again once the Lease is renewed.
 */
export const fenced = <T>(client: Fenceable<T>, mayWrite: MayWrite): T =>
  client.fenced(() => {
    if (!mayWrite()) throw new FencedError('nothing is written until the Lease is renewed');
  });

/**
 * The reason for which what writes is to end: what has been sent is waited for, unless the Lease may have expired, and
 * somebody else may write.
 */
export const endOfWrites = (mayWrite: MayWrite): Error =>
  mayWrite() ? new Error('the Lease is given up') : new RevokedError('the Lease may have expired');
