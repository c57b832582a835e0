/**
 * Chooses the exports that are served if a target exports more than a limit allows (rule E10): first those that are
 * mirrored already, then the others from the oldest to the newest, in the order of their keys if they are equally old.
 * The choice depends on the present state alone. It is made again 250 ms after a change. Until then, the earlier choice
 * applies.
 */

export interface Candidate {
  readonly key: string;
  /** `creationTimestamp` of the target Service or its ServiceExport, RFC 3339; an empty string if it is not known. */
  readonly since: string;
  readonly isMirrored: boolean;
}

/**
 * Returns the keys of the candidates that are served. Those that are mirrored already are served even beyond the limit.
 * @param most limit on the number of candidates that are served
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
  /**
   * Number of candidates. It can be too high, for example because a Service that the selectors of both modes select
   * can count twice. It is read often, so it must be cheap to compute.
   */
  readonly size: number;
  candidates(): Iterable<Candidate>;
  /**
   * Called when the choice has been made again after a change.
   * @param keys candidates that are served now and were not before, and candidates that were served before and are not
   *   now; empty if there are none
   */
  readmitted(keys: readonly string[]): void;
}

/** How a limit is exceeded. */
export interface Excess {
  /** Number of candidates. */
  readonly exported: number;
  /** Number of candidates that are served. */
  readonly served: number;
}

/** Which candidates are served. */
interface Choice {
  readonly served: ReadonlySet<string>;
  /** Number of candidates that the choice was made from. */
  readonly total: number;
}

/** How long changes are collected before the choice is made again, in milliseconds. */
const REVIEW_MS = 250;

export class Cap {
  readonly #of: Capped;
  /** The latest choice. Undefined if none has been made, or if the latest review has found that none is needed. */
  #choice: Choice | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(of: Capped) {
    this.#of = of;
  }

  /**
   * How the limit is exceeded, by the latest choice. Undefined in these cases:
   * - no choice applies;
   * - the latest choice was made from no more candidates than the limit;
   * - {@link Capped.size} is within the limit now.
   */
  get excess(): Excess | undefined {
    const { total = 0, served } = this.#choice ?? {};
    const { most, size } = this.#of;
    return served !== undefined && Math.min(total, size) > most ? { exported: total, served: served.size } : undefined;
  }

  /**
   * Whether all candidates are served without a choice, because their number is within the limit and no earlier choice
   * applies.
   */
  get admitsAll(): boolean {
    return this.#choice === undefined && this.#of.size <= this.#of.most;
  }

  admits(key: string): boolean {
    if (this.admitsAll) return true;
    this.#choice ??= this.#choose([...this.#of.candidates()]);
    return this.#choice.served.has(key);
  }

  /**
   * Called when candidates might have come or gone. Makes the choice again after {@link REVIEW_MS}. Does nothing if all
   * candidates are served without a choice: see {@link admitsAll}.
   */
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

  #choose(all: readonly Candidate[]): Choice {
    return { served: admitted(all, this.#of.most), total: all.length };
  }

  #review(): void {
    const before = this.#choice?.served;
    const all = [...this.#of.candidates()];
    const choice = this.#choose(all);
    this.#choice = this.#of.size <= this.#of.most ? undefined : choice;
    this.#of.readmitted(all.flatMap(({ key }) => ((before?.has(key) ?? true) === choice.served.has(key) ? [] : [key])));
  }
}
