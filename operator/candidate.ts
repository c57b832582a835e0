/** A replica that leads once, or stands by until it can: the Lease of the operator (rule H1). */
import { OPERATOR_LEASE } from '../crds/wire.ts';
import type { OperatorConfig } from './config/config.ts';
import { aborted } from './kube/abort.ts';
import type { KubeClient } from './kube/client.ts';
import type { ReadyCheck } from './runtime/admin.ts';
import type { Interruptions } from './runtime/interruptions.ts';
import { LeaseLock } from './runtime/lease.ts';
import type { Logger } from './runtime/logger.ts';
import { leaseRemedy } from './source/advice.ts';

export interface CandidateOptions {
  readonly config: OperatorConfig;
  readonly client: KubeClient;
  readonly log: Logger;
  /** Of the source cluster. */
  readonly interruptions: Interruptions;
}

/** Thrown when the Lease was lost: another replica may lead now, and this process must end. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
}

export class Candidate {
  readonly #options: CandidateOptions;
  readonly #lock: LeaseLock;
  /** Why the Lease cannot be acquired or renewed; undefined while nothing is known to be wrong. */
  #problem: string | undefined;

  constructor(options: CandidateOptions) {
    const { config, client, interruptions } = options;
    const { namespace, identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = config;
    this.#options = options;
    const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs, interruptions };
    this.#lock = new LeaseLock({ client, namespace, name: OPERATOR_LEASE, identity, ...times });
  }

  /** Whether this replica certainly leads at this moment. */
  get mayWrite(): boolean {
    return this.#lock.mayWrite;
  }

  /**
   * Whether a replica has certainly ceased to write (rule H1): this one has taken the Lease from it, since it had
   * expired, and holds it at this moment. Whatever a replica writes, also under the Leases of Links, it writes only
   * while it certainly holds the Lease of the operator, by its own clocks. So the Leases of Links that it holds yet
   * keep nobody from writing, and this replica need not wait until they expire as well.
   */
  hasCeased(identity: string): boolean {
    return this.#lock.mayWrite && this.#lock.predecessor === identity;
  }

  /** Reports whether this replica can take over: a standby that cannot read the Lease is none (rule H5). */
  check(): ReadyCheck {
    const { heardMs } = this.#lock;
    const ok = heardMs !== undefined && performance.now() - heardMs < this.#options.config.leaseDurationMs;
    return { name: 'standing by', ok, message: this.#problem ?? `Lease ${OPERATOR_LEASE} has not been read yet` };
  }

  /**
   * Leads once, until the signal aborts or the Lease is lost.
   * @param onFailure called when it stops although the signal has not aborted
   * @throws LeadershipLostError, or what `lead` throws
   */
  async run(
    signal: AbortSignal,
    lead: (until: AbortSignal) => Promise<void>,
    onFailure: (failure: Error) => void,
  ): Promise<void> {
    const { config, log } = this.#options;
    const ended = new AbortController();
    let leading: Promise<void> = Promise.resolve();
    let failure: Error | undefined;
    const fail = (error: Error): void => {
      failure ??= error;
      onFailure(failure);
      ended.abort();
    };
    const running = this.#lock.run(ended.signal, {
      held: (lost) => {
        log.info({ lease: OPERATOR_LEASE, identity: config.identity }, 'leading');
        leading = lead(AbortSignal.any([lost, signal])).catch((error: unknown) =>
          fail(error instanceof Error ? error : new Error(String(error))),
        );
      },
      heldByAnother: (holder) => log.info({ holder }, 'standing by'),
      lost: (reason) => fail(new LeadershipLostError(`lost Lease ${OPERATOR_LEASE}: ${reason}`)),
      failing: (message, error) => {
        this.#problem = `${message}${leaseRemedy(error, config.namespace)}`;
        log.warn({ lease: OPERATOR_LEASE, error: this.#problem }, 'the Lease cannot be acquired or renewed');
      },
    });
    await Promise.race([aborted(signal), aborted(ended.signal)]);
    // All writes end before the Lease is released.
    await leading;
    ended.abort();
    await running;
    if (failure !== undefined) throw failure;
  }
}
