/**
 * Derivations, and the class of the controllers that run them. A derivation describes one kind of derived objects: how
 * their state is observed, what is decided from it, what is written, and what is reported. The order of these steps is
 * defined here, and so is the reaction to an interruption, a failed request, a Lease that might have expired, or a
 * namespace that might be gone. A forecast takes the same steps without a controller.
 */
import { jittered } from '../kube/backoff.ts';
import { keyOf, type Resource, SERVICES, splitKey } from '../kube/objects.ts';
import type { Applier } from './applier.ts';
import { Controller, type ControllerOptions } from './controller.ts';
import { FENCED_RETRY_MS, type MayWrite } from './fence.ts';
import { Gathering } from './gathering.ts';
import { merged, type Outcome } from './outcome.ts';
import { type Goal, takeStep } from './pass.ts';
import type { Pass, PassTexts, Reason } from './tally.ts';
import { ENDLESS, giveWay, type Turns } from './turns.ts';
import { UnderWay } from './under-way.ts';

/**
 * One kind of derived objects, by keys `namespace/name`.
 * @typeParam O everything that decides about a key, as a plain value
 * @typeParam D what is decided from it
 * @typeParam R why something cannot be written
 */
export interface Derivation<O, D, R extends Reason = Reason> {
  readonly texts: PassTexts<R>;
  /**
   * Returns why an object of a key is created or deleted, for a plan. @default - the plan takes the reasons from the
   * status of mirrors
   */
  why?(key: string, of: Resource): Why;
  /** Called when a reconcile of a key begins. @default - nothing is done */
  begins?(key: string): void;
  /** Returns all keys that may need work. */
  keys(): Iterable<string>;
  /** Returns the present state of a key. */
  observe(key: string): O;
  /**
   * Decides the desired state of a key. Called again after a turn of the event loop as long as {@link isUnfinished}
   * returns true. Pure, apart from caches and the claims on names (rule A7).
   */
  decide(observed: O): D;
  /** Reports whether a decision is incomplete, because it ran out of time. @default - reports false */
  isUnfinished?(decision: D): boolean;
  /**
   * Called with each complete decision, in the same turn of the event loop, so that no other key is decided in between.
   * @default - nothing is done
   */
  decided?(key: string, decision: D): void;
  /**
   * Does what must come before the writes of a key, such as asking whether another operator has taken over its object.
   * @returns the outcome of the reconcile if nothing must be written now; undefined otherwise
   * @default - nothing is done
   */
  prepare?(
    key: string,
    observed: O,
    decision: D,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> | Outcome | undefined;
  /** Returns the objects to write. */
  goal(observed: O, decision: D): Goal;
  /** Returns a check for each write of the key, in addition to the check that all writes must pass. @default - none */
  fence?(observed: O): MayWrite;
  /** Called after each pass, successful or not, with what the pass has written. @default - nothing is done */
  wrote?(key: string, observed: O, decision: D, pass: Pass<R>): Promise<void> | void;
  /**
   * Reports the result of a pass. Called when everything has been written, or something cannot be written. Not called
   * in these cases:
   * - {@link prepare} has returned an outcome.
   * - There is more to write.
   * - A write was not sent, because a Lease might have expired.
   * - The reconcile was interrupted or stopped.
   * @returns an outcome to add to that of the pass: when the key is reconciled again, and what failed in the report
   */
  settled(key: string, observed: O, decision: D, pass: Pass<R>, signal: AbortSignal): Promise<Outcome> | Outcome;
}

/** Why an object is created, and why it is deleted, as clauses for people. */
export interface Why {
  readonly create: string;
  readonly delete: string;
}

/** What the steps of all derivations use. */
export interface StepContext {
  readonly applier: Pick<Applier, 'execute' | 'under'>;
  /**
   * Time until the operator tries again to use a name that a foreign object has, or a namespace that is gone, in
   * milliseconds.
   */
  readonly conflictRetryMs: number;
  /** Turns of the event loop for long work. @default - all work is done in one turn */
  readonly turns?: Turns | undefined;
}

/**
 * Takes the next step towards what a derivation has decided.
 * @param decide decides anew after a failed request, which may have taken long. @default - the first decision stays
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

/** Options of the controller that do not depend on the derivation. */
export interface Deriving extends Omit<ControllerOptions, 'reconcile'>, StepContext {
  /** Asks for a new check whether a namespace exists and may be written to. @default - nothing is checked */
  readonly recheck?: (namespace: string) => void;
  /** Called when a Service was written or deleted. @default - nothing is done */
  readonly serviceWritten?: (key: string) => void;
  /**
   * Merges requests to reconcile all keys. Each waits `quietMs` milliseconds for another request. @default - requests
   * do not wait
   */
  readonly gathering?: { readonly quietMs: number | undefined };
}

export interface DerivationOptions<O, D, R extends Reason> extends Deriving {
  readonly derivation: Derivation<O, D, R>;
}

/** Keeps the objects of one derivation as they must be. */
export class DerivationController<O, D, R extends Reason> {
  readonly #options: DerivationOptions<O, D, R>;
  readonly #controller: Controller;
  readonly #gathering: Gathering | undefined;
  readonly #turns: Turns;
  /** What was last decided about each key that is being reconciled. */
  readonly #decided = new Map<string, D>();
  /** Reconciles under way. {@link interrupt} ends them before their next write. */
  readonly #underWay = new UnderWay();
  /** The signal that ends the reconciles; undefined before {@link run} is called. */
  #stop: AbortSignal | undefined;

  constructor(options: DerivationOptions<O, D, R>) {
    const { turns = ENDLESS, gathering } = options;
    this.#options = options;
    this.#turns = turns;
    this.#controller = new Controller({
      ...options,
      reconcile: (key, stop) =>
        this.#underWay
          .run((interrupted) => this.#reconcile(key, AbortSignal.any([stop, interrupted])))
          .finally(() => this.#decided.delete(key)),
    });
    this.#gathering =
      gathering &&
      new Gathering({
        ...gathering,
        all: () => this.keys(),
        add: (key) => this.#controller.add(key),
      });
  }

  add(key: string): void {
    (this.#gathering ?? this.#controller).add(key);
  }

  /**
   * Returns all keys that might need work, and all keys that are being reconciled. The derivation might not list a key
   * that is being reconciled: the reconcile works from an earlier observation, and the derivation does not know yet
   * what the reconcile has written.
   */
  keys(): ReadonlySet<string> {
    return new Set([...this.#options.derivation.keys(), ...this.#controller.underWay]);
  }

  /**
   * Returns the keys that are being reconciled and whose latest decision matches. Objects of these keys might have been
   * written already, although the stores do not show them yet.
   * @param isSuch reports whether a decision matches
   */
  underWay(isSuch: (decision: D) => boolean): readonly string[] {
    return [...this.#decided].flatMap(([key, decision]) => (isSuch(decision) ? [key] : []));
  }

  /** Reconciles all keys. Called when something that concerns all of them has changed. */
  addAll(): void {
    // Nothing is reconciled any more.
    if (this.#stop?.aborted === true) return;
    if (this.#gathering !== undefined) this.#gathering.addAll();
    else for (const key of this.keys()) this.#controller.add(key);
  }

  /**
   * Interrupts the reconciles under way before their next write, and reconciles all keys again. Resolves when the
   * interrupted reconciles have ended.
   * @param reason why the reconciles are interrupted. If it is a RevokedError, requests already sent are not awaited
   */
  async interrupt(reason: unknown): Promise<void> {
    const ended = this.#underWay.interrupt(reason);
    this.addAll();
    await ended;
  }

  /** Reconciles until the signal aborts. Resolves when the reconciles under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stop = signal;
    await this.#controller.run(signal);
    this.#gathering?.stop();
  }

  /**
   * Resolves when no key waits for a worker or is being reconciled. If a request to reconcile all keys is still held
   * back to be merged with later ones (runtime/gathering.ts), that request is carried out at once.
   */
  idle(): Promise<void> {
    this.#gathering?.flush();
    return this.#controller.idle();
  }

  /** Removes the controller's metrics. The controller must not run again. */
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
    // The key is neither settled nor refused, so what was last reported about it remains.
    if (pass.isFenced) return { isPending: true, requeueAfterMs: jittered(FENCED_RETRY_MS) };
    if (pass.again) return pass;
    return merged([pass, await derivation.settled(key, observed, decision, pass, signal)]);
  }

  /**
   * Decides about a key. A long decision is made in several turns of the event loop, each of them from the state at
   * that time.
   */
  async #decide(key: string): Promise<Decided<O, D>> {
    const { derivation } = this.#options;
    for (;;) {
      const observed = derivation.observe(key);
      const decision = derivation.decide(observed);
      if (derivation.isUnfinished?.(decision) !== true) {
        this.#decided.set(key, decision);
        derivation.decided?.(key, decision);
        return { observed, decision };
      }
      await this.#turns.next();
    }
  }
}
