/** What keeps a process that was paused, and has lost its Lease meanwhile, from writing (rule H2). */
import type { Fence } from '../kube/client.ts';
import { ConnectionError } from '../kube/errors.ts';

/** Reports whether the Lease of what is written is certainly held at this moment. */
export type MayWrite = () => boolean;

/** A client whose writes can be fenced. */
export interface Fenceable<T> {
  fenced(fence: Fence): T;
}

/**
 * Returns a client whose writes are only sent while the Lease is certainly held. However long one waited for its turn,
 * it fails with a ConnectionError if the Lease may have expired by then: it is tried again once the Lease is renewed.
 */
export const fenced = <T>(client: Fenceable<T>, mayWrite: MayWrite): T =>
  client.fenced(() => {
    if (!mayWrite()) throw new ConnectionError('nothing is written until the Lease is renewed');
  });
