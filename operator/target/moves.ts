/**
 * Services that left one of the two watches of Services and may be about to enter the other, as one that changes from
 * gateway mode to flat mode does (rule A1). Nothing is known of such a Service until both watches have been connected
 * for a moment: the other one may be late, and the mirror must not be deleted in between.
 */

/** How far behind the other a watch that is connected may be. */
const SETTLE_MS = 250;

export class Moves {
  readonly #onGone: (key: string) => void;
  /** When each left, on the monotonic clock. */
  readonly #leftMs = new Map<string, number>();
  /** Since when both watches have been connected, on the monotonic clock; undefined: one of them is not. */
  #connectedMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onGone called with a key that entered neither watch in time */
  constructor(onGone: (key: string) => void) {
    this.#onGone = onGone;
  }

  /** Whether it is not known yet what became of a Service. */
  has(key: string): boolean {
    return this.#leftMs.has(key);
  }

  left(key: string): void {
    this.#leftMs.set(key, performance.now());
    this.#schedule();
  }

  entered(key: string): void {
    this.#leftMs.delete(key);
  }

  /** Notes whether both watches are connected, as far as is known. */
  connected(both: boolean): void {
    if (both === (this.#connectedMs !== undefined)) return;
    this.#connectedMs = both ? performance.now() : undefined;
    this.#schedule();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs.clear();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const [first] = this.#leftMs.values();
    if (this.#connectedMs === undefined || first === undefined) return;
    const restMs = Math.max(this.#connectedMs, first) + SETTLE_MS - performance.now();
    this.#timer = setTimeout(
      () => {
        // What has arrived while the process was busy is read first.
        setImmediate(() => this.#settle());
      },
      Math.max(restMs, 0),
    );
  }

  #settle(): void {
    if (this.#connectedMs === undefined) return;
    const now = performance.now();
    for (const [key, leftMs] of this.#leftMs) {
      if (now - leftMs < SETTLE_MS) continue;
      this.#leftMs.delete(key);
      this.#onGone(key);
    }
    this.#schedule();
  }
}
