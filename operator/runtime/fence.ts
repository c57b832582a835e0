/** What keeps a process that was paused, and has lost its Lease meanwhile, from writing (rule H2). */
import { ConnectionError } from '../kube/errors.ts';

/** Reports whether the Lease of what is written is certainly held at this moment. */
export type MayWrite = () => boolean;

/**
 * Stands right before each write.
 * @throws ConnectionError if the Lease may have expired: the write is tried again once it is renewed
 */
export function fence(mayWrite: MayWrite): void {
  if (!mayWrite()) throw new ConnectionError('nothing is written while the Lease may have expired');
}
