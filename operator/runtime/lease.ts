/**
 * Mutual exclusion by a coordination.k8s.io/v1 Lease, with the protocol of client-go's leader election: a LeaseLock and
 * another user of that protocol, such as Linkerd's controller, never hold one Lease at once. Time is measured on this
 * process' monotonic clock, so a wall clock that jumps or differs neither ends a Lease early nor prolongs it. That clock
 * stands still while a machine sleeps, so whether the Lease may be written under is decided by both clocks.
 */
import { sleep } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { describe, isConflict, isNotFound } from '../kube/errors.ts';
import { LEASES, type Lease } from '../kube/objects.ts';
import { within } from '../kube/within.ts';

export interface LeaseLockOptions {
  readonly client: Pick<KubeClient, 'read' | 'create' | 'replace' | 'delete'>;
  readonly namespace: string;
  readonly name: string;
  /** Our `spec.holderIdentity`: the name of the pod. The same identity after a restart is the same holder. */
  readonly identity: string;
  /** How long a Lease that is not renewed remains its holder's. On the wire it is rounded up to whole seconds. */
  readonly leaseDurationMs: number;
  /** How long a renewal is retried before the Lease counts as lost; less than `leaseDurationMs`. */
  readonly renewDeadlineMs: number;
  /** Wait between tries to acquire, and between tries of one renewal; less than `renewDeadlineMs`. */
  readonly retryPeriodMs: number;
  /** Wait between renewals. @default retryPeriodMs */
  readonly renewEveryMs?: number;
  /** Set on the Lease with each renewal, beside the annotations that it has; they stay when it is released. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface LeaseHandlers {
  /** We hold the Lease until `lost` aborts, which it does before the Lease can have expired and before it is released. */
  held(lost: AbortSignal): void;
  /** Another holds the Lease. Called once for each holder. */
  heldByAnother?(holder: string): void;
  /** The Lease was lost and not released; `lost` has aborted, and it is being acquired again. */
  lost(reason: string): void;
  /**
   * A request failed and will be retried. Called for each failure that differs from the one before, and every minute
   * while it is the same.
   */
  failing?(message: string, error: unknown): void;
}

/** A Lease that is ours. */
interface Held {
  readonly holder: 'us';
  readonly lease: Lease;
  /** When the write that acquired or renewed it was sent, on the monotonic clock. */
  readonly sinceMs: number;
  /** The same on the wall clock, which goes on while the machine sleeps. */
  readonly sinceWallMs: number;
}

interface HeldByAnother {
  readonly holder: 'another';
  readonly identity: string;
  /** How long until it expires, unless it is renewed. */
  readonly remainingMs: number;
}

/** The part of a Lease's duration after which it counts as lost in any case; in the rest, writers finish. */
const LOST_AFTER = 0.9;

/** Deadline of a release or removal. */
const LEAVE_DEADLINE_MS = 2_000;

/** Time until a failure that lasts is reported again. */
const REPEAT_MS = 60_000;

/** Candidates try to acquire an expired Lease within this time. */
const CONTENTION_MS = 100;

/** Waits grow by up to this part, at random, so that candidates do not act in step. */
const JITTER = 0.2;

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  readonly #renewEveryMs: number;
  /** Without a renewal for this long the Lease counts as lost. */
  readonly #lostAfterMs: number;
  /** Deadline of one attempt; as in client-go, two of them fit into a renewal. */
  readonly #attemptMs: number;
  readonly #removal = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Another's Lease as it was last read, and when it was first read with that content. */
  #observed: { readonly record: string; readonly atMs: number } | undefined;
  #held: Held | undefined;
  #heardMs: number | undefined;

  /** @throws RangeError if the durations contradict each other */
  constructor(options: LeaseLockOptions) {
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, renewEveryMs = retryPeriodMs } = options;
    if (!(renewDeadlineMs < leaseDurationMs) || !(retryPeriodMs < renewDeadlineMs) || !(retryPeriodMs > 0)) {
      throw new RangeError('a Lease needs retryPeriodMs < renewDeadlineMs < leaseDurationMs');
    }
    if (!(renewEveryMs < leaseDurationMs * LOST_AFTER)) {
      throw new RangeError(`a Lease of ${leaseDurationMs} ms cannot be renewed only every ${renewEveryMs} ms`);
    }
    this.#options = options;
    this.#renewEveryMs = renewEveryMs;
    this.#lostAfterMs = Math.min(renewEveryMs + renewDeadlineMs, leaseDurationMs * LOST_AFTER);
    this.#attemptMs = renewDeadlineMs / 2;
  }

  /**
   * Whether the Lease is certainly held at this moment: ask right before each write. After a pause of the process or the
   * machine it is false at once, while `lost` aborts only when a timer fires.
   */
  get mayWrite(): boolean {
    if (this.#held === undefined) return false;
    const { sinceMs, sinceWallMs } = this.#held;
    return this.#leftMs(sinceMs) > 0 && Date.now() < sinceWallMs + this.#lostAfterMs;
  }

  /** When the Lease was last read or written with success, on the monotonic clock; undefined: never. */
  get heardMs(): number | undefined {
    return this.#heardMs;
  }

  /**
   * Acquires the Lease, keeps it, and acquires it again when it was lost, until `signal` aborts; then releases it, within
   * 2 s. Never rejects because of a cluster. Stop what writes under the Lease before aborting `signal`: the `lost` signal
   * aborts then, but the release does not wait for its listeners.
   */
  async run(signal: AbortSignal, handlers: LeaseHandlers): Promise<void> {
    this.#running = this.#hold(AbortSignal.any([signal, this.#removal.signal]), handlers);
    await this.#running;
    if (this.#removal.signal.aborted) return;
    await this.#leave('release').catch((error: unknown) => handlers.failing?.(describe(error), error));
  }

  /**
   * Ends {@link run} for good and deletes the Lease, if it is ours. Aborting `signal` ends the attempt.
   * @throws ApiError or ConnectionError if it could not be deleted within 2 s; it then expires by itself
   */
  async remove(signal: AbortSignal): Promise<void> {
    this.#removal.abort();
    await this.#running;
    await this.#leave('delete', signal);
  }

  async #hold(stop: AbortSignal, handlers: LeaseHandlers): Promise<void> {
    for (;;) {
      const held = await this.#acquire(stop, handlers);
      if (held === undefined) return;
      const lost = new AbortController();
      this.#held = held;
      handlers.held(lost.signal);
      const reason = await this.#keep(held, stop, handlers);
      this.#held = undefined;
      lost.abort(new Error(`Lease ${this.#key}: ${reason ?? 'released'}`));
      if (reason === undefined) return;
      handlers.lost(reason);
    }
  }

  /** Tries until the Lease is ours. @returns undefined if it was stopped */
  async #acquire(stop: AbortSignal, handlers: LeaseHandlers): Promise<Held | undefined> {
    let holder: string | undefined;
    const failing = onceEach(handlers);
    while (!stop.aborted) {
      let waitMs = jittered(this.#options.retryPeriodMs);
      try {
        const attempt = await within(this.#attemptMs, stop, (signal) => this.#attempt(signal));
        if (attempt.holder === 'us') return attempt;
        if (attempt.identity !== holder) handlers.heldByAnother?.((holder = attempt.identity));
        waitMs = Math.min(waitMs, attempt.remainingMs + Math.random() * CONTENTION_MS);
        failing.over();
      } catch (error) {
        if (!isConflict(error) && !isAborted(stop)) failing.by(error);
      }
      await sleep(waitMs, stop);
    }
    return undefined;
  }

  /** Renews until the Lease is lost. @returns why it was lost; undefined if it was stopped */
  async #keep(held: Held, stop: AbortSignal, handlers: LeaseHandlers): Promise<string | undefined> {
    let { sinceMs } = held;
    let known: Lease | undefined = held.lease;
    let waitMs = this.#renewEveryMs;
    const failing = onceEach(handlers);
    for (;;) {
      await sleep(Math.max(0, Math.min(waitMs, this.#leftMs(sinceMs))), stop);
      if (stop.aborted) return undefined;
      const leftMs = this.#leftMs(sinceMs);
      if (leftMs <= 0) return `not renewed for ${this.#lostAfterMs / 1000} s${failing.suffix()}`;
      try {
        const renewal = await within(Math.min(this.#attemptMs, leftMs), stop, (signal) =>
          this.#attempt(signal, held, known),
        );
        if (renewal.holder === 'another') return `taken by ${renewal.identity}`;
        this.#held = renewal;
        known = renewal.lease;
        sinceMs = renewal.sinceMs;
        waitMs = this.#renewEveryMs;
        failing.over();
      } catch (error) {
        if (isAborted(stop)) return undefined;
        // The write may have succeeded all the same: the Lease is read before the next one.
        known = undefined;
        const changed = isConflict(error) || isNotFound(error);
        waitMs = jittered(changed ? this.#options.retryPeriodMs / 4 : this.#options.retryPeriodMs);
        if (!changed) failing.by(error);
      }
    }
  }

  #leftMs(sinceMs: number): number {
    return sinceMs + this.#lostAfterMs - performance.now();
  }

  /**
   * One attempt to acquire the Lease, or to renew it if it was `held`: a Lease that another has taken since is not taken
   * back here, since that would hide that it was lost. `known` saves a read.
   * @throws ApiError or ConnectionError
   */
  async #attempt(signal: AbortSignal, held?: Held, known?: Lease): Promise<Held | HeldByAnother> {
    const { client, namespace, name, annotations } = this.#options;
    const lease = known ?? (await this.#read(signal));
    const identity = lease?.spec?.holderIdentity ?? '';
    if (lease !== undefined && identity !== '' && identity !== this.#options.identity) {
      const remainingMs = this.#remainingMs(lease);
      if (held !== undefined || remainingMs > 0) {
        this.#heardMs = performance.now();
        return { holder: 'another', identity, remainingMs };
      }
    }
    const [sinceMs, sinceWallMs] = [performance.now(), Date.now()];
    const spec = this.#heldSpec(lease?.spec);
    const written =
      lease === undefined
        ? await client.create<Lease>(
            LEASES,
            named({ namespace, name, ...(annotations && { annotations }) }, spec),
            signal,
          )
        : await client.replace<Lease>(
            LEASES,
            named({ ...lease.metadata, annotations: { ...lease.metadata.annotations, ...annotations } }, spec),
            signal,
          );
    this.#heardMs = performance.now();
    return { holder: 'us', lease: written, sinceMs, sinceWallMs };
  }

  #heldSpec(before: Lease['spec']): NonNullable<Lease['spec']> {
    const now = microTime(new Date());
    const ours = before?.holderIdentity === this.#options.identity;
    return {
      ...before,
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#options.leaseDurationMs / 1000),
      acquireTime: (ours ? before.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (ours || before === undefined ? 0 : 1),
    };
  }

  /** How long another's Lease must remain unchanged before we may take it. */
  #remainingMs(lease: Lease): number {
    const record = JSON.stringify([lease.metadata.uid, lease.spec]);
    if (this.#observed?.record !== record) this.#observed = { record, atMs: performance.now() };
    const seconds = lease.spec?.leaseDurationSeconds ?? 0;
    const durationMs = seconds > 0 ? seconds * 1000 : this.#options.leaseDurationMs;
    return this.#observed.atMs + durationMs - performance.now();
  }

  /** Releases or deletes the Lease if it is ours, with retries until the deadline. */
  async #leave(how: 'release' | 'delete', signal?: AbortSignal): Promise<void> {
    let failure: unknown;
    try {
      await within(LEAVE_DEADLINE_MS, signal, async (leaving) => {
        while (!leaving.aborted) {
          try {
            await this.#leaveOnce(how, leaving);
            return;
          } catch (error) {
            if (isNotFound(error)) return;
            if (!isAborted(leaving)) failure = error;
            await sleep(jittered(50), leaving);
          }
        }
      });
    } catch (error) {
      throw failure ?? error;
    }
  }

  async #leaveOnce(how: 'release' | 'delete', signal: AbortSignal): Promise<void> {
    const { client, identity, namespace, name } = this.#options;
    const lease = await this.#read(signal);
    if (lease?.spec?.holderIdentity !== identity) return;
    if (how === 'delete') {
      const { uid, resourceVersion } = lease.metadata;
      await client.delete(LEASES, { namespace, name }, { uid, resourceVersion }, signal);
      return;
    }
    const now = microTime(new Date());
    const vacant = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    await client.replace<Lease>(LEASES, named(lease.metadata, { ...lease.spec, ...vacant }), signal);
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#options.client.read<Lease>(LEASES, this.#options.namespace, this.#options.name, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  get #key(): string {
    return `${this.#options.namespace}/${this.#options.name}`;
  }
}

const named = (metadata: Lease['metadata'], spec: NonNullable<Lease['spec']>): Lease => ({ metadata, spec });

const jittered = (ms: number): number => ms * (1 + JITTER * Math.random());

/** For a check after an await: TypeScript takes `signal.aborted` for what it was before. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** RFC 3339 with microseconds: `metav1.MicroTime` accepts no other number of digits. */
const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z');

/** Reports a failure if it differs from the one before, or was reported a minute ago. */
function onceEach(handlers: LeaseHandlers) {
  let last: string | undefined;
  let reportedMs = -Infinity;
  return {
    by: (error: unknown) => {
      const message = describe(error);
      const isDue = message !== last || performance.now() - reportedMs >= REPEAT_MS;
      last = message;
      if (!isDue) return;
      reportedMs = performance.now();
      handlers.failing?.(message, error);
    },
    over: () => {
      last = undefined;
    },
    suffix: () => (last === undefined ? '' : `: ${last}`),
  };
}
