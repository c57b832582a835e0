/**
 * What the operator derives, as values, and the controller that is one for all of them. A derivation says what is observed
 * of a key, what follows from it, what is to be written for that, and what people learn of it; in which order this is done,
 * and what comes after an interruption, a conflict or a namespace that may be gone, is written here, once. A forecast makes
 * the same steps of the same values, without a controller.
 */
import { jittered } from '../kube/backoff.ts';
import { keyOf, type Resource, SERVICES, splitKey } from '../kube/objects.ts';
import type { Applier } from './applier.ts';
import { Controller, type ControllerOptions } from './controller.ts';
import type { MayWrite } from './fence.ts';
import { Gathering } from './gathering.ts';
import { merged, type Outcome } from './outcome.ts';
import { type Goal, type Pass, type PassTexts, type Reason, takeStep } from './pass.ts';
import { ENDLESS, giveWay, type Turns } from './turns.ts';
import { UnderWay } from './under-way.ts';

/**
 * One sort of objects that are derived, by keys `namespace/name`.
 * @typeParam O all that decides about a key, as a plain value
 * @typeParam D what follows from it
 * @typeParam R why something cannot be written
 */
export interface Derivation<O, D, R extends Reason = Reason> {
  readonly texts: PassTexts<R>;
  /** Returns why an object of a key is created or deleted, for a plan. @default - the plan knows it by the status of a mirror */
  why?(key: string, of: Resource): Why;
  /** Takes notice that a reconcile of a key begins. @default - nobody does */
  begins?(key: string): void;
  /** Returns the keys of all that may need work. */
  keys(): Iterable<string>;
  /** Returns what is known of a key at this moment. */
  observe(key: string): O;
  /** Decides what must be; called again after a turn of the event loop while that takes longer than one. Pure, but for what it remembers to be faster. */
  decide(observed: O): D;
  /** Whether only a part has been decided, for want of time. @default all is */
  isUnfinished?(decision: D): boolean;
  /**
   * Does what comes before the writes of a key, such as asking whether another has it.
   * @returns what the reconcile comes to if nothing is to be written now
   * @default - nothing
   */
  prepare?(
    key: string,
    observed: O,
    decision: D,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> | Outcome | undefined;
  /** Returns what is to be written. */
  goal(observed: O, decision: D): Goal;
  /** Returns what must hold at each write of the key, beside what must at all writes. @default - nothing */
  fence?(observed: O): MayWrite;
  /** Takes notice of what a pass wrote, whatever else came of it. @default - nobody does */
  wrote?(key: string, observed: O, decision: D, pass: Pass<R>): Promise<void> | void;
  /**
   * Reports what a pass came to after which the key is settled, or cannot be; not called while there is more to do.
   * @returns what comes beside the pass: when the key is looked at again, and what failed here
   */
  settled(key: string, observed: O, decision: D, pass: Pass<R>, signal: AbortSignal): Promise<Outcome> | Outcome;
}

/** Why an object comes and goes, as clauses for people. */
export interface Why {
  readonly create: string;
  readonly delete: string;
}

/** How the steps of a derivation are made. */
export interface StepContext {
  readonly applier: Pick<Applier, 'execute' | 'under'>;
  /** Time until a name that a foreign object has is tried again, in milliseconds. */
  readonly conflictRetryMs: number;
  /** @default - it is all made in one */
  readonly turns?: Turns | undefined;
}

/**
 * Makes the next step towards what a derivation has decided.
 * @param decide decides anew, after a request that may have taken long; by default nothing has changed meanwhile
 */
export function stepOf<O, D, R extends Reason>(
  derivation: Derivation<O, D, R>,
  { observed, decision }: Decided<O, D>,
  { applier, conflictRetryMs, turns }: StepContext,
  signal: AbortSignal,
  decide?: () => Promise<Decided<O, D>>,
): Promise<Pass<R>> {
  const fence = derivation.fence?.(observed);
  const renewed =
    decide &&
    (async () => {
      const now = await decide();
      return derivation.goal(now.observed, now.decision);
    });
  const context = { applier: fence === undefined ? applier : applier.under(fence), conflictRetryMs, turns, renewed };
  return takeStep(derivation.goal(observed, decision), { ...context, texts: derivation.texts }, signal);
}

interface Decided<O, D> {
  readonly observed: O;
  readonly decision: D;
}

/** What the controller of any derivation is given. */
export interface Deriving extends Omit<ControllerOptions, 'reconcile'>, StepContext {
  /** Has it found out whether a namespace is there, and may be written to. @default - nobody does */
  readonly recheck?: (namespace: string) => void;
  /** Takes notice that a Service was written or deleted. @default - nobody does */
  readonly serviceWritten?: (key: string) => void;
  /** Gathers requests for all keys: each waits this long for another, in milliseconds. @default - none waits */
  readonly gathering?: { readonly quietMs: number | undefined };
}

export interface DerivationOptions<O, D, R extends Reason> extends Deriving {
  readonly derivation: Derivation<O, D, R>;
}

/** Time until what a Lease in doubt kept from being written is tried again, whatever failed before (rule H4). */
const FENCED_RETRY_MS = 1_000;

/** Keeps all that a derivation is about true. */
export class DerivationController<O, D, R extends Reason> {
  readonly #options: DerivationOptions<O, D, R>;
  readonly #controller: Controller;
  readonly #gathering: Gathering | undefined;
  readonly #turns: Turns;
  /** What was decided while something held that does so no longer is ended before its next write. */
  readonly #underWay = new UnderWay();
  /** Ends the reconciles; undefined before they begin. */
  #stop: AbortSignal | undefined;

  constructor(options: DerivationOptions<O, D, R>) {
    const { turns = ENDLESS, gathering, derivation } = options;
    this.#options = options;
    this.#turns = turns;
    this.#controller = new Controller({
      ...options,
      reconcile: (key, stop) =>
        this.#underWay.run((interrupted) => this.#reconcile(key, AbortSignal.any([stop, interrupted]))),
    });
    this.#gathering =
      gathering &&
      new Gathering({
        ...gathering,
        all: () => derivation.keys(),
        add: (key) => this.#controller.add(key),
      });
  }

  add(key: string): void {
    (this.#gathering ?? this.#controller).add(key);
  }

  /** Reconciles all keys: something that concerns them all has changed. */
  addAll(): void {
    // Nothing is reconciled any more.
    if (this.#stop?.aborted === true) return;
    if (this.#gathering !== undefined) this.#gathering.addAll();
    else for (const key of this.#options.derivation.keys()) this.#controller.add(key);
  }

  /**
   * Ends the reconciles under way before their next write, and begins all anew. Resolves when they have ended.
   * @param reason for which they end: after a RevokedError, what has been sent is not waited for
   */
  async interrupt(reason: unknown): Promise<void> {
    const ended = this.#underWay.interrupt(reason);
    this.addAll();
    await ended;
  }

  /** Reconciles until the signal aborts and the reconciles under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stop = signal;
    await this.#controller.run(signal);
    this.#gathering?.stop();
  }

  /** Resolves when no key waits for a worker or is being reconciled; those that are being gathered do not wait for others. */
  idle(): Promise<void> {
    this.#gathering?.flush();
    return this.#controller.idle();
  }

  /** Removes its metrics: it will not run again. */
  forget(): Promise<void> {
    return this.#controller.forget();
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { derivation, recheck, serviceWritten } = this.#options;
    derivation.begins?.(key);
    const decided = await this.#decide(key);
    const { observed, decision } = decided;
    const ended = await derivation.prepare?.(key, observed, decision, signal);
    if (ended !== undefined) return ended;
    await giveWay(this.#turns);
    const pass = await stepOf(derivation, decided, this.#options, signal, () => this.#decide(key));
    if (pass.namespaceInDoubt) recheck?.(splitKey(key).namespace);
    await derivation.wrote?.(key, observed, decision, pass);
    for (const { of, object } of pass.done) if (of === SERVICES) serviceWritten?.(keyOf(object));
    if (signal.aborted) return { again: true };
    // It is neither as it must be nor refused: what was reported of it stands.
    if (pass.isFenced) return { isPending: true, requeueAfterMs: jittered(FENCED_RETRY_MS) };
    if (pass.again) return pass;
    return merged([pass, await derivation.settled(key, observed, decision, pass, signal)]);
  }

  /** Decides about a key as it is now. What takes long is decided in several turns, each time of what is known by then. */
  async #decide(key: string): Promise<Decided<O, D>> {
    const { derivation } = this.#options;
    for (;;) {
      const observed = derivation.observe(key);
      const decision = derivation.decide(observed);
      if (derivation.isUnfinished?.(decision) !== true) return { observed, decision };
      await this.#turns.next();
    }
  }
}
