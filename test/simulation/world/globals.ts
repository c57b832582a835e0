/**
 * Node's globals for time and chance, replaced by those of a simulation while it runs. Only one simulation runs at a
 * time in a thread. A timer made before the simulation stays Node's.
 */
import { getEventListeners } from 'node:events';

/** What the globals lead to. */
export interface TimeSource {
  /** Milliseconds since the process began, on its monotonic clock. */
  monotonicMs(): number;
  /** Milliseconds since 1970, by its wall clock. */
  wallMs(): number;
  random(): number;
  /** @returns calls it off */
  after(delayMs: number, run: () => void): () => void;
}

/** Longest delay of Node's timers; a longer one counts as 1 ms. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** One for all: its stack would cost more than all else that a deadline does. */
const TIMED_OUT = new DOMException('The operation was aborted due to timeout', 'TimeoutError');

/** A timer as Node's are, as far as programs use them. */
class Timer {
  #callOff: (() => void) | undefined;

  constructor(source: TimeSource, delay: number | undefined, run: () => void, repeats: boolean) {
    const delayMs = delay !== undefined && delay >= 1 && delay <= MAX_DELAY_MS ? Math.trunc(delay) : 1;
    const arm = (): void => {
      this.#callOff = source.after(delayMs, () => {
        if (repeats) arm();
        else this.#callOff = undefined;
        run();
      });
    };
    arm();
  }

  clear(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/** @returns puts Node's own back */
export function installGlobals(source: TimeSource): () => void {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, Date: RealDate } = globalThis;
  const { random } = Math;
  const any = Object.getOwnPropertyDescriptor(AbortSignal, 'any')!;
  const compose = AbortSignal.any.bind(AbortSignal);
  const timeout = Object.getOwnPropertyDescriptor(AbortSignal, 'timeout')!;
  const composed: AbortSignal[] = [];
  const timer =
    (repeats: boolean) =>
    (run: (...args: unknown[]) => void, delay?: number, ...args: unknown[]): Timer =>
      new Timer(source, delay, args.length === 0 ? run : () => run(...args), repeats);
  const clear =
    (real: (timer: NodeJS.Timeout | undefined) => void) =>
    (of: unknown): void => {
      if (of instanceof Timer) of.clear();
      else real(of as NodeJS.Timeout | undefined);
    };
  class SimulatedDate extends RealDate {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(source.wallMs());
      else super(...(args as [number]));
    }

    static override now(): number {
      return source.wallMs();
    }
  }
  const expiring = (delay: number): AbortSignal => {
    const controller = new AbortController();
    source.after(delay, () => controller.abort(TIMED_OUT));
    return controller.signal;
  };
  Object.assign(globalThis, {
    setTimeout: timer(false),
    setInterval: timer(true),
    clearTimeout: clear(clearTimeout),
    clearInterval: clear(clearInterval),
    setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) => source.after(0, () => run(...args)),
    Date: SimulatedDate,
  });
  Math.random = () => source.random();
  AbortSignal.timeout = expiring;
  AbortSignal.any = (signals) => {
    const signal = compose(signals);
    composed.push(signal);
    return signal;
  };
  Object.defineProperty(performance, 'now', { configurable: true, writable: true, value: () => source.monotonicMs() });
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, Date: RealDate });
    Math.random = random;
    Object.defineProperty(AbortSignal, 'timeout', timeout);
    Object.defineProperty(AbortSignal, 'any', any);
    composed.forEach(leave);
    Reflect.deleteProperty(performance, 'now');
  };
}

/** Node keeps a signal of AbortSignal.any while somebody listens to it, as a process that was killed does for ever. */
function leave(signal: AbortSignal): void {
  for (const listener of getEventListeners(signal, 'abort')) {
    signal.removeEventListener('abort', listener as (event: Event) => void);
  }
}
