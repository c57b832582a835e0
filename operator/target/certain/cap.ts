/**
 * Chooses what is served if a target exports more than a limit allows (rule E10): what is mirrored already, then the
 * oldest, then the first by key. The choice depends on the present state alone. It is made anew some time after a
 * change, for many changes together; until then, nothing new is served.
 */

export interface Candidate {
  readonly key: string;
  /** `creationTimestamp` of the target Service, RFC 3339. */
  readonly since: string;
  readonly isMirrored: boolean;
}

/** Returns the keys of those that are served. */
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
  /** Most that are served. */
  readonly most: number;
  /** Number of candidates, or a few more. It is read often. */
  readonly size: number;
  candidates(): Iterable<Candidate>;
  /** Handles that the choice has changed: these keys are served and were not, or the other way round. */
  readmitted(keys: readonly string[]): void;
}

/** Time for which changes are collected before the choice is made anew. */
const REVIEW_MS = 250;

export class Cap {
  readonly #of: Capped;
  /** Keys that are served; undefined while all are. */
  #admitted: ReadonlySet<string> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(of: Capped) {
    this.#of = of;
  }

  /** Number of candidates if they exceed the limit. */
  get excess(): number | undefined {
    const { size, most } = this.#of;
    return this.#admitted !== undefined && size > most ? size : undefined;
  }

  /** Whether all are served. */
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
