/**
 * The Lease of local memberships (rule I7). Only its holder writes local memberships in flat mode. This operator
 * creates federated Services in gateway mode, or changes them to that mode, only while it holds the Lease. Linkerd's
 * local service mirror takes the same Lease.
 */
import { LOCAL_WRITE_LEASE } from '../../crds/wire.ts';
import { RevokedError } from '../kube/abort.ts';
import { LeaseLock } from '../runtime/lease.ts';
import { leaseRemedy } from '../source/advice.ts';
import { type LeaseSurroundings, sharedLease } from '../source/shared-lease.ts';
import type { SharedEnvironment } from '../served/environment.ts';

/** What {@link LocalLease} needs to acquire the Lease and to log its changes. */
export type LocalLeaseEnvironment = LeaseSurroundings & Pick<SharedEnvironment, 'log'>;

export class LocalLease {
  readonly #env: LocalLeaseEnvironment;
  readonly #lock: LeaseLock;
  readonly #stopped = new AbortController();
  #isHeld = false;
  #locked: Promise<void> = Promise.resolve();

  constructor(env: LocalLeaseEnvironment) {
    this.#env = env;
    this.#lock = new LeaseLock(sharedLease(LOCAL_WRITE_LEASE, env));
  }

  /**
   * Whether this operator counts as the holder: it has acquired the Lease, and has neither noticed its loss nor
   * released it.
   */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether this operator certainly holds the Lease at this moment. Ask right before each write. */
  get mayWrite(): boolean {
    return this.#lock.mayWrite;
  }

  /**
   * Acquires the Lease, and acquires it again whenever it is lost.
   * @param onChange called without an argument each time the Lease is acquired, and with the reason each time it is
   *   lost
   */
  run(onChange: (lost?: RevokedError) => void): void {
    const { log, config } = this.#env;
    const lease = LOCAL_WRITE_LEASE;
    const setHeld = (isHeld: boolean, lost?: RevokedError): void => {
      this.#isHeld = isHeld;
      onChange(lost);
    };
    this.#locked = this.#lock.run(this.#stopped.signal, {
      held: () => {
        log.info({ lease }, 'the Lease of local memberships is held: local Services join federated Services');
        setHeld(true);
      },
      heldByAnother: (holder) =>
        log.info(
          { lease, holder },
          'another holds the Lease of local memberships: they are left to it, and no Service begins to lead through gateways',
        ),
      lost: (reason) => {
        log.warn({ lease, error: reason }, 'the Lease of local memberships is lost: they are no longer written');
        setHeld(false, new RevokedError(reason));
      },
      failing: (message, error) =>
        log.warn(
          { lease, error: `${message}${leaseRemedy(error, config.namespace)}` },
          'the Lease of local memberships cannot be acquired or renewed',
        ),
    });
  }

  /** Releases the Lease. All writes under the Lease must have ended before. */
  async release(): Promise<void> {
    this.#stopped.abort(new Error('the Lease is released'));
    await this.#locked;
    this.#isHeld = false;
  }
}
