/**
 * Which of what a target exports is served, if it is more than a limit allows (rule E10): what is mirrored already, then
 * the oldest, then the first by key. That is decided from the state alone. While it is decided anew, which many changes
 * do only once, what is new is not served.
 */

export interface Candidate {
  readonly key: string;
  /** creationTimestamp of the target Service, RFC 3339. */
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

export interface CapOptions {
  readonly most: number;
  /** Returns how many candidates there are, or a few more; it is called often. */
  readonly count: () => number;
  readonly candidates: () => Iterable<Candidate>;
  /** Called with the keys of those that are served now and were not, or the other way round. */
  readonly onChange: (keys: readonly string[]) => void;
}

/** Time in which changes are collected before it is decided anew. */
const REVIEW_MS = 250;

export class Cap {
  readonly #options: CapOptions;
  /** Keys of those that are served. It is `undefined` while all are. */
  #admitted: ReadonlySet<string> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CapOptions) {
    this.#options = options;
  }

  /** Returns how many there are if they are more than the limit allows. */
  get excess(): number | undefined {
    const { count, most } = this.#options;
    return this.#admitted !== undefined && count() > most ? count() : undefined;
  }

  /** Whether all are served. */
  get admitsAll(): boolean {
    const { count, most } = this.#options;
    return this.#admitted === undefined && count() <= most;
  }

  admits(key: string): boolean {
    const { most, candidates } = this.#options;
    if (this.admitsAll) return true;
    this.#admitted ??= admitted(candidates(), most);
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
    const { count, most, candidates, onChange } = this.#options;
    const before = this.#admitted;
    const all = [...candidates()];
    const after = admitted(all, most);
    this.#admitted = count() <= most ? undefined : after;
    onChange(all.flatMap(({ key }) => ((before?.has(key) ?? true) === after.has(key) ? [] : [key])));
  }
}
