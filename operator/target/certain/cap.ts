/**
 * Chooses the exports that are served if a target exports more than a limit allows (rule E10): first those that are
 * mirrored already, then the others from the oldest to the newest, in the order of their keys if they are equally old.
 * The choice depends on the present state alone. Changes are collected for a moment before the choice is made again.
 * Until then, the earlier choice stands.
 */

export interface Candidate {
  readonly key: string;
  /** `creationTimestamp` of the target Service, RFC 3339. */
  readonly since: string;
  readonly isMirrored: boolean;
}

/**
 * Returns the keys of the candidates that are served. Those that are mirrored already are served even beyond the limit.
 * @param most the limit
 */
export function admitted(candidates: Iterable<Candidate>, most: number): ReadonlySet<string> {
  const all = [...candidates];
  const mirrored = all.filter(({ isMirrored }) => isMirrored);
  const others = all
    .filter(({ isMirrored }) => !isMirrored)
    .sort((a, b) => compare(a.since, b.since) || compare(a.key, b.key))
    .slice(0, Math.max(0, most - mirrored.length));
  return new Set([...mirrored, ...others].map(({ key }) => key));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Candidates that a limit applies to. */
export interface Capped {
  /** Limit on the number of candidates that are served. Those that are mirrored already are served even beyond it. */
  readonly most: number;
  /** Number of candidates, or a few more. It is read often, so it must be cheap to compute. */
  readonly size: number;
  candidates(): Iterable<Candidate>;
  /**
   * Called when the choice has changed.
   * @param keys keys that are served now and were not before, and keys that were served before and are not now
   */
  readmitted(keys: readonly string[]): void;
}

/** Time for which changes are collected before the choice is made anew. */
const REVIEW_MS = 250;

export class Cap {
  readonly #of: Capped;
  /** Keys that are served; undefined if all keys are served, or if no choice has been made yet. */
  #admitted: ReadonlySet<string> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(of: Capped) {
    this.#of = of;
  }

  /** Number of candidates if it exceeds the limit and a choice has been made; undefined otherwise. */
  get excess(): number | undefined {
    const { size, most } = this.#of;
    return this.#admitted !== undefined && size > most ? size : undefined;
  }

  /** Whether all candidates are served without a choice: they are within the limit, and no earlier choice stands. */
  get admitsAll(): boolean {
    return this.#admitted === undefined && this.#of.size <= this.#of.most;
  }

  admits(key: string): boolean {
    if (this.admitsAll) return true;
    this.#admitted ??= admitted(this.#of.candidates(), this.#of.most);
    return this.#admitted.has(key);
  }

  /** Notes that candidates have come or gone. */
  changed(): void {
    if (this.admitsAll) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#review();
    }, REVIEW_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #review(): void {
    const before = this.#admitted;
    const all = [...this.#of.candidates()];
    const after = admitted(all, this.#of.most);
    this.#admitted = this.#of.size <= this.#of.most ? undefined : after;
    this.#of.readmitted(all.flatMap(({ key }) => ((before?.has(key) ?? true) === after.has(key) ? [] : [key])));
  }
}
