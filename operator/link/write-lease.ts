/**
 * The Lease under which mirrors of one Link are written (rule H1), the one that Linkerd's controller takes: work runs
 * while it is held, and has come to rest before it is given up.
 */
import { Annotation, writeLeaseName } from '../../crds/wire.ts';
import { LeaseLock } from '../runtime/lease.ts';
import type { Environment, LinkReport } from './environment.ts';

export class WriteLease {
  readonly #link: string;
  readonly #env: Environment;
  readonly #report: LinkReport;
  readonly #lock: LeaseLock;
  /** Ends the work ahead of the Lease. */
  readonly #quiet = new AbortController();
  readonly #stopped = new AbortController();
  #isHeld = false;
  #heldBy: string | undefined;
  #working: Promise<void> = Promise.resolve();
  #locked: Promise<void> = Promise.resolve();

  /** @param cluster noted on the Lease: what is left of it is known by that when the Link is gone (rule E5) */
  constructor(link: string, cluster: string, env: Environment, report: LinkReport) {
    const { config, client } = env;
    this.#link = link;
    this.#env = env;
    this.#report = report;
    this.#lock = new LeaseLock({
      client,
      namespace: config.namespace,
      name: writeLeaseName(link),
      identity: config.identity,
      leaseDurationMs: config.leaseDurationMs,
      renewDeadlineMs: config.renewDeadlineMs,
      retryPeriodMs: config.retryPeriodMs,
      renewEveryMs: config.leaseDurationMs / 3,
      annotations: { [Annotation.targetCluster]: cluster },
    });
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Who else holds it. */
  get heldBy(): string | undefined {
    return this.#heldBy;
  }

  /** Acquires the Lease, again and again, and works each time until it is lost or given up. */
  run(work: (until: AbortSignal) => Promise<void>): void {
    const { log } = this.#env;
    const link = this.#link;
    this.#locked = this.#lock.run(this.#stopped.signal, {
      held: (lost) => {
        this.#isHeld = true;
        this.#heldBy = undefined;
        log.info({ link }, 'writing for this Link');
        const before = this.#working;
        this.#working = before.then(() => work(AbortSignal.any([lost, this.#quiet.signal])));
        this.#report.statusChanged();
      },
      heldByAnother: (holder) => {
        this.#heldBy = holder;
        log.info({ link, holder }, 'another writes for this Link; standing by');
        this.#report.event('Warning', 'HeldByAnother', `${holder} writes for this Link and holds its Lease`);
        this.#report.statusChanged();
      },
      lost: (reason) => {
        this.#isHeld = false;
        log.warn({ link, reason }, 'no longer writing for this Link');
        this.#report.statusChanged();
      },
      failing: (message) => log.warn({ link, error: message }, 'the Lease of the Link cannot be renewed'),
    });
  }

  /** Ends the work, then releases the Lease. What it says of the cluster stays. */
  async release(): Promise<void> {
    await this.#rest();
    this.#stopped.abort(new Error('the Lease is released'));
    await this.#locked;
  }

  /** Ends the work, then deletes the Lease if it is ours: nothing of the Link is left under it. */
  async remove(): Promise<void> {
    await this.#rest();
    // The Lease is the only record of what may be left: it is deleted or, if that fails, found again at a restart.
    await this.#lock.remove(this.#stopped.signal);
    this.#stopped.abort(new Error('the Lease is deleted'));
  }

  async #rest(): Promise<void> {
    this.#quiet.abort();
    await this.#working;
  }
}
