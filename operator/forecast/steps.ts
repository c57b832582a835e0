/**
 * The operator's own steps, made against a model of the source cluster: without a controller, one key after another.
 */
import { ENDPOINTS, type KubeObject, type Resource, SERVICES } from '../kube/objects.ts';
import { Applier } from '../runtime/applier.ts';
import { type Derivation, stepOf, type Why } from '../runtime/derivation.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Reason } from '../runtime/tally.ts';
import { idOf } from '../runtime/plan.ts';
import type { ModelCluster } from './model.ts';

/** Passes of one key: each makes one step. */
const MAX_PASSES = 20;

/** What makes the steps of one sort of objects, or of one Link's mirrors. */
export interface Stepping {
  /** What the objects are, as `mirror`. */
  readonly sort: string;
  /** Whether anything is due besides what waits for others. */
  readonly isDue: boolean;
  /** Returns why an object of a key is created or deleted; undefined for mirrors, whose status says it. */
  why(key: string, of: Resource): Why | undefined;
  /** Has a key looked at again. */
  add(key: string): void;
  /** Takes the keys that are due, and those that wait, in the order of their names. */
  takeKeys(): readonly string[];
  /** Makes the steps of one key until there is none. Returns the ids of what was written. */
  settle(key: string): Promise<readonly string[]>;
}

export interface StepsOptions<O, D, R extends Reason> {
  readonly sort: string;
  readonly derivation: Derivation<O, D, R>;
  readonly model: ModelCluster;
  /** Whether an object that prevents a creation is ours after all. */
  readonly isOurs: (object: KubeObject) => boolean;
  /** The keys that have not come to what they should, which what others write may change. */
  readonly waiting: () => Iterable<string>;
}

/** The steps of one derivation: those of all its keys at first, then of those that are due. */
export class Steps<O, D, R extends Reason> implements Stepping {
  readonly #options: StepsOptions<O, D, R>;
  readonly #applier: Applier;
  readonly #due = new Set<string>();
  #hasBegun = false;

  constructor(options: StepsOptions<O, D, R>) {
    this.#options = options;
    // The model shows its writes by itself.
    this.#applier = new Applier({ client: options.model, stores: {}, isOurs: options.isOurs, mayWrite: () => true });
  }

  get sort(): string {
    return this.#options.sort;
  }

  add(key: string): void {
    this.#due.add(key);
  }

  get isDue(): boolean {
    return this.#due.size > 0;
  }

  why(key: string, of: Resource): Why | undefined {
    return this.#options.derivation.why?.(key, of);
  }

  takeKeys(): readonly string[] {
    const { derivation, waiting } = this.#options;
    const all = this.#hasBegun ? [] : derivation.keys();
    this.#hasBegun = true;
    const keys = [...new Set([...all, ...this.#due, ...waiting()])].sort();
    this.#due.clear();
    return keys;
  }

  async settle(key: string): Promise<readonly string[]> {
    const { derivation } = this.#options;
    const { signal } = new AbortController();
    const written: string[] = [];
    for (let passes = 0; passes < MAX_PASSES; passes += 1) {
      const observed = derivation.observe(key);
      const decision = derivation.decide(observed);
      derivation.decided?.(key, decision);
      if ((await derivation.prepare?.(key, observed, decision, signal)) !== undefined) break;
      const context = { applier: this.#applier, conflictRetryMs: 0 };
      const pass = await stepOf(derivation, { observed, decision }, context, signal);
      written.push(...pass.done.flatMap(({ of, object }) => idsOf(of, object)));
      if (pass.again) continue;
      await derivation.settled(key, observed, decision, pass, signal);
      break;
    }
    return written;
  }
}

/** With a Service, the API server deletes its Endpoints. */
const idsOf = (of: Resource, object: KubeObject): readonly string[] =>
  of === SERVICES ? [idOf(of, object), idOf(ENDPOINTS, object)] : [idOf(of, object)];

export const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
