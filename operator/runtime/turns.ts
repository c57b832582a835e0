/**
 * Turns of the event loop (rule E10). Work that takes long gives the loop back now and then, so that Leases are
 * renewed, and probes and other Links go on; of those who wait for it, one goes on in each turn.
 */

export interface Turns {
  /** Reports whether this turn has taken so long that the loop is to be given back. */
  isOver(): boolean;
  /** Waits for a turn. */
  next(): Promise<void>;
}

/** How long a turn may take before others go first. */
const TURN_MS = 10;

/** Those of one event loop. */
export class EventLoop implements Turns {
  /** When the present turn began, on the monotonic clock; undefined if nobody has asked in it. */
  #beganMs: number | undefined;
  readonly #waiting: (() => void)[] = [];

  isOver(): boolean {
    return performance.now() - (this.#beganMs ?? this.#begin()) >= TURN_MS;
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(() => this.#pass());
    });
  }

  #begin(): number {
    setImmediate(() => (this.#beganMs = undefined));
    return (this.#beganMs = performance.now());
  }

  #pass(): void {
    this.#begin();
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#pass());
  }
}

/** The turns of this process. */
export const eventLoop: Turns = new EventLoop();

/** For what is not a process of its own, and virtual time: no turn is ever over. */
export const ENDLESS: Turns = { isOver: () => false, next: () => Promise.resolve() };

/** Gives the loop back if this turn is over. */
export async function giveWay(turns: Turns): Promise<void> {
  if (turns.isOver()) await turns.next();
}

/** Work that is done in parts: others may have a turn after each. */
export type InParts<T> = Generator<undefined, T, undefined>;

/** Objects that are looked at in one part. */
const PART = 100;

/** Looks at each of many objects, in parts. */
export function* each<T>(objects: readonly T[], look: (object: T) => void): InParts<void> {
  let looked = 0;
  for (const object of objects) {
    look(object);
    looked += 1;
    if (looked % PART === 0) yield;
  }
}

/** Does work that is done in parts, in as many turns as it takes. */
export async function inTurns<T>(work: InParts<T>, turns: Turns): Promise<T> {
  for (;;) {
    await giveWay(turns);
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
