/**
 * The Lease under which the mirrors of one Link are written (rule H1). Linkerd's controller takes the same Lease. The
 * session writes only while this operator holds the Lease, and all its writes end before the Lease is released or
 * deleted.
 */
import { Annotation, writeLeaseName } from '../../../crds/wire.ts';
import { isForbidden, isInvalid, isNotFound } from '../../kube/errors.ts';
import { endOfWrites } from '../../runtime/fence.ts';
import { LeaseLock } from '../../runtime/lease.ts';
import type { LeaseNotes } from '../../runtime/lease-record.ts';
import { leaseRemedy } from '../../source/advice.ts';
import { type LeaseSurroundings, sharedLease } from '../../source/shared-lease.ts';
import type { LinkReport, SharedEnvironment } from '../../served/environment.ts';
import { isSameSpec, recordOf, type ServedSpec } from './served-spec.ts';

export interface WriteLeaseOptions {
  /**
   * Reports whether the Lease of another Link records a cluster, so that this Lease need not record it any more.
   * @default () => false
   */
  readonly isAnothers?: (cluster: string) => boolean;
  /** Spec to record on the Lease for the next leader. @default - an existing record is removed */
  readonly served?: ServedSpec;
  /**
   * Returns further annotations to record. Its argument `before` is the Lease as the last holder left it; undefined if
   * there is no Lease yet, or once we have held the Lease.
   */
  readonly notes?: LeaseNotes;
}

/** The part of the environment that the Lease uses. */
type LeaseEnvironment = LeaseSurroundings & Pick<SharedEnvironment, 'mayWrite' | 'log'>;

export class WriteLease {
  readonly #link: string;
  readonly #env: LeaseEnvironment;
  readonly #report: LinkReport;
  readonly #lock: LeaseLock;
  /** Ends the work before the Lease is released or deleted. */
  readonly #quiet = new AbortController();
  readonly #stopped = new AbortController();
  readonly #answer = Promise.withResolvers<void>();
  readonly #recorded = Promise.withResolvers<void>();
  readonly #replaced = Promise.withResolvers<string>();
  #served: ServedSpec | undefined;
  #isHeld = false;
  #isRecorded = false;
  #heldBy: string | undefined;
  #problem: string | undefined;
  #working: Promise<void> = Promise.resolve();
  #locked: Promise<void> = Promise.resolve();

  /**
   * @param cluster target cluster to record on the Lease. After a restart, the record shows for which cluster a deleted
   *   Link might have left mirrors (rule E5)
   */
  constructor(
    link: string,
    cluster: string,
    env: LeaseEnvironment,
    report: LinkReport,
    { isAnothers = () => false, served, notes }: WriteLeaseOptions = {},
  ) {
    this.#link = link;
    this.#env = env;
    this.#report = report;
    this.#served = served;
    this.#lock = new LeaseLock({
      ...sharedLease(writeLeaseName(link), env),
      annotations: { [Annotation.targetCluster]: cluster },
      mayReplace: ({ [Annotation.targetCluster]: other = cluster }) => {
        if (isAnothers(other)) return true;
        this.#replaced.resolve(other);
        return false;
      },
      notes: (leaseTransitions, before) => ({
        ...recordOf(this.#served, leaseTransitions),
        ...notes?.(leaseTransitions, this.#isRecorded ? undefined : before),
      }),
    });
  }

  /** Resolves once we hold the Lease, or know that somebody else does. */
  get answered(): Promise<void> {
    return this.#answer.promise;
  }

  /** Resolves once the Lease records the cluster, that is, once we have acquired the Lease. */
  get recorded(): Promise<void> {
    return this.#recorded.promise;
  }

  get isRecorded(): boolean {
    return this.#isRecorded;
  }

  /**
   * Resolves with the recorded cluster if the Lease turns out to record a cluster other than that of the session, and
   * no Lease of another Link records that other cluster. This happens, for example, after a restore of the source
   * cluster from a backup. This Lease can then be neither acquired nor renewed until the mirrors of the recorded
   * cluster are removed, or until the Lease of another Link records that cluster.
   */
  get replaced(): Promise<string> {
    return this.#replaced.promise;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether this operator is allowed to write mirrors of the Link at this moment. Checked right before each write. */
  get mayWrite(): boolean {
    return !this.#quiet.signal.aborted && this.#lock.mayWrite && this.#env.mayWrite();
  }

  /**
   * Identity of the holder of the Lease, if the holder is not this operator. Undefined if this operator or nobody holds
   * the Lease, or if the holder is not known.
   */
  get heldBy(): string | undefined {
    return this.#heldBy;
  }

  /**
   * Why the Lease cannot be acquired, and what to do about it. Undefined if nothing prevents the acquisition, if
   * somebody else holds the Lease, or if the problem passes by itself.
   */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Acquires the Lease, and acquires it again whenever it is lost.
   * @param work runs while the Lease is held; must end when its signal aborts
   */
  run(work: (until: AbortSignal) => Promise<void>): void {
    const { log } = this.#env;
    const link = this.#link;
    this.#locked = this.#lock.run(this.#stopped.signal, {
      held: (lost) => {
        this.#isHeld = true;
        this.#isRecorded = true;
        this.#recorded.resolve();
        this.#problem = undefined;
        this.#answer.resolve();
        this.#heldBy = undefined;
        log.info({ link }, 'the Lease of the Link is held: its mirrors are written');
        const before = this.#working;
        this.#working = before.then(() => work(AbortSignal.any([lost, this.#quiet.signal])));
        this.#report.statusChanged();
      },
      heldByAnother: (holder) => {
        this.#heldBy = holder;
        this.#problem = undefined;
        this.#answer.resolve();
        log.info({ link, holder }, 'another holds the Lease of the Link: its mirrors are not written');
        this.#report.event('Warning', 'HeldByAnother', `${holder} writes for this Link and holds its Lease`);
        this.#report.statusChanged();
      },
      free: () => {
        this.#heldBy = undefined;
        this.#report.statusChanged();
      },
      lost: (reason) => {
        this.#isHeld = false;
        log.warn({ link, error: reason }, 'the Lease of the Link is lost: its mirrors are no longer written');
        this.#report.statusChanged();
      },
      failing: (message, error) => this.#failing(message, error),
    });
  }

  /**
   * Records the spec by which the Link is served from now on: at once if we hold the Lease, otherwise when we acquire
   * it.
   */
  record(served: ServedSpec): void {
    if (isSameSpec(served, this.#served)) return;
    this.#served = served;
    void this.#lock.renew();
  }

  /**
   * Writes the annotations of the Lease anew, at once. The promise resolves when they have been written, or when the
   * Lease is lost. Returns undefined if we do not hold the Lease: the annotations are then written later, when we
   * acquire the Lease and before anything else is written.
   */
  noted(): Promise<void> | undefined {
    return this.#isHeld ? this.#lock.renew() : undefined;
  }

  /** Ends the work, then releases the Lease. The Lease still records the cluster. */
  async release(): Promise<void> {
    await this.#rest();
    this.#stopped.abort(new Error('the Lease is released'));
    this.#isHeld = false;
    await this.#locked;
  }

  /**
   * Ends the work, then deletes the Lease if we hold it.
   * @param isNothingLeft reports whether there are certainly no leftovers of the cluster that the Lease records. Called
   *   right before the deletion. If it returns false, the Lease is released instead
   */
  async remove(isNothingLeft: () => boolean): Promise<void> {
    await this.#rest();
    // If the deletion fails, the Lease is found again at the next start.
    await this.#lock.remove(this.#stopped.signal, isNothingLeft);
    this.#isHeld = false;
    this.#stopped.abort(new Error('the Lease is deleted'));
  }

  #failing(message: string, error: unknown): void {
    const { log, config } = this.#env;
    const problem = `${message}${leaseRemedy(error, config.namespace)}`;
    log.warn({ link: this.#link, error: problem }, 'the Lease of the Link cannot be acquired or renewed');
    // If the API server does not answer, the status cannot be written either, and the problem passes by itself.
    const isLasting = isForbidden(error) || isInvalid(error) || isNotFound(error);
    if (!isLasting || this.#isHeld || this.#heldBy !== undefined || this.#stopped.signal.aborted) return;
    this.#problem = problem;
    this.#report.event('Warning', 'LeaseUnavailable', problem);
    this.#report.statusChanged();
  }

  async #rest(): Promise<void> {
    this.#quiet.abort(endOfWrites(this.#env.mayWrite));
    await this.#working;
  }
}
