/**
 * A world of processes under one virtual clock. All that happens is an event of a process at a time: a timer that is
 * due, a message that arrives. Events run one by one, each with all the microtasks that it causes, in an order that the
 * seed decides alone; no time passes in them, unless they spend it. So hours play in a moment, and a seed replays exactly.
 */
import { installGlobals } from './globals.ts';
import { type Entry, EventQueue } from './queue.ts';
import { type Random, randomFor } from './random.ts';

/** How the clock of a process differs from true time. */
export interface Clock {
  /** By how much its wall clock is ahead, in milliseconds. @default 0 */
  readonly aheadMs?: number;
  /** How fast it runs. @default 1 */
  readonly rate?: number;
}

/** When every world begins. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

/** Events that run before the thread looks for anything else: each of its turns costs a system call. */
const EVENTS_A_TURN = 64;

/** Before all orders that are drawn. */
const DEFERRED = Number.MIN_SAFE_INTEGER;

/** The thread's own, since those of a world take their place. */
const { setImmediate } = globalThis;

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** A process of the world: what it has begun happens in it, until it is killed. */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Required<Clock>;
  readonly random: Random;
  /** Its events while it is paused. */
  held: Entry<SimulatedProcess>[] | undefined;
  /** Until when it computes, by true time: nothing else happens in it before. */
  busyUntilMs = 0;
  isKilled = false;

  constructor(name: string, { aheadMs = 0, rate = 1 }: Clock, random: Random) {
    this.name = name;
    this.clock = { aheadMs, rate };
    this.random = random;
  }
}

export class World {
  readonly seed: number;
  /** The process in which a world is driven. */
  readonly users: SimulatedProcess;
  readonly #queue = new EventQueue<SimulatedProcess>();
  readonly #order: Random;
  readonly #failures: { readonly process: string; readonly error: unknown }[] = [];
  #current: SimulatedProcess;
  #nowMs = 0;
  #events = 0;
  #isOver = false;
  /** Number of events that waited for their process. */
  #deferred = 0;
  /** When the event that runs began. */
  #beganMs = 0;
  /** Told how long one event kept its process busy, in milliseconds, if it spent any time. */
  onHeld: ((process: SimulatedProcess, ms: number) => void) | undefined;

  constructor(seed: number) {
    this.seed = seed;
    this.#order = randomFor(seed, 'order');
    this.users = this.process('users');
    this.#current = this.users;
  }

  /** True time since the world began, in milliseconds. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** The process in which things are happening. */
  get current(): SimulatedProcess {
    return this.#current;
  }

  /** How much has happened. */
  get events(): number {
    return this.#events;
  }

  /** What was thrown out of events: each would have ended its process. */
  get failures(): readonly { readonly process: string; readonly error: unknown }[] {
    return this.#failures;
  }

  process(name: string, clock: Clock = {}): SimulatedProcess {
    return new SimulatedProcess(name, clock, randomFor(this.seed, name));
  }

  /** The time that it is for the process in which things are happening, which may have spent some. */
  get #localMs(): number {
    return Math.max(this.#nowMs, this.#current.busyUntilMs);
  }

  /** Keeps the process in which things are happening busy for a true time: what is due in it meanwhile comes late. */
  spend(ms: number): void {
    this.#current.busyUntilMs = this.#localMs + ms;
  }

  /** Lets something happen in a process after a true time. @returns calls it off */
  after(owner: SimulatedProcess, delayMs: number, run: () => void): () => void {
    const entry: Entry<SimulatedProcess> = { atMs: this.#localMs + delayMs, order: this.#order(), owner, run };
    this.#queue.push(entry);
    return () => {
      entry.run = undefined;
      this.#queue.calledOff();
    };
  }

  /** Nothing happens in the process any more, ever. */
  kill(process: SimulatedProcess): void {
    process.isKilled = true;
    process.held = undefined;
  }

  /** As SIGSTOP does. */
  pause(process: SimulatedProcess): void {
    process.held ??= [];
  }

  /** As SIGCONT does: what was missed happens now, in any order. */
  resume(process: SimulatedProcess): void {
    const held = process.held ?? [];
    process.held = undefined;
    for (const entry of held) this.#queue.push(Object.assign(entry, { atMs: this.#nowMs, order: this.#order() }));
  }

  /** Does something at once in another process: what it begins happens there. */
  as<T>(process: SimulatedProcess, work: () => T): T {
    const caller = this.#current;
    this.#current = process;
    try {
      return work();
    } finally {
      this.#current = caller;
    }
  }

  /** Runs work in another process. Its outcome is an event of the process that called. */
  in<T>(process: SimulatedProcess, work: () => Promise<T>): Promise<T> {
    const caller = this.#current;
    return new Promise<T>((resolve, reject) => {
      this.after(process, 0, () => {
        work().then(
          (value) => this.after(caller, 0, () => resolve(value)),
          (error: unknown) => this.after(caller, 0, () => reject(asError(error))),
        );
      });
    });
  }

  /**
   * Lets everything happen until `main` has settled.
   * @throws Error if it never will: nothing is left to happen
   */
  async run<T>(main: () => Promise<T>): Promise<T> {
    const restore = installGlobals({
      monotonicMs: () => this.#localMs * this.#current.clock.rate,
      wallMs: () => {
        const { aheadMs, rate } = this.#current.clock;
        return Math.trunc(EPOCH_MS + aheadMs + this.#localMs * rate);
      },
      random: () => this.#current.random(),
      after: (delayMs, run) => this.after(this.#current, delayMs / this.#current.clock.rate, run),
    });
    try {
      return await new Promise<T>((resolve, reject) => {
        const end = (settle: () => void): void => {
          this.#isOver = true;
          settle();
        };
        main().then(
          (value) => end(() => resolve(value)),
          (error: unknown) => end(() => reject(asError(error))),
        );
        const turn = (left: number): void => {
          if (this.#isOver) return;
          if (left === 0) {
            for (let index = 1; index <= EVENTS_A_TURN; index += 1) setImmediate(turn, index % EVENTS_A_TURN);
          }
          if (!this.#step()) end(() => reject(new Error('nothing is left to happen, and the history is not over')));
        };
        setImmediate(turn, 0);
      });
    } finally {
      restore();
    }
  }

  /** Runs the next event. @returns whether there was one */
  #step(): boolean {
    const { busyUntilMs } = this.#current;
    if (busyUntilMs > this.#beganMs) this.onHeld?.(this.#current, busyUntilMs - this.#beganMs);
    for (;;) {
      const entry = this.#queue.pop();
      if (entry === undefined) return false;
      const { owner, run } = entry;
      if (run === undefined || owner.isKilled) continue;
      this.#nowMs = Math.max(this.#nowMs, entry.atMs);
      if (owner.held !== undefined) {
        owner.held.push(entry);
        continue;
      }
      if (owner.busyUntilMs > this.#nowMs) {
        // In the order in which they were due, and before what is due then.
        this.#queue.push(Object.assign(entry, { atMs: owner.busyUntilMs, order: DEFERRED + ++this.#deferred }));
        continue;
      }
      this.#events += 1;
      this.#current = owner;
      this.#beganMs = this.#nowMs;
      try {
        run();
      } catch (error) {
        this.#failures.push({ process: owner.name, error });
      }
      return true;
    }
  }
}
