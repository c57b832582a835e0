/**
 * One aspect of a target, as the present reader shows it. New credentials or new selectors replace the reader. While
 * there is no reader, nothing is known.
 */
import type { EndpointSlice } from '../kube/objects.ts';
import type { Aspect, PodAnswers } from '../target/aspect.ts';

export class CurrentAspect<T> implements Aspect<T> {
  readonly #current: () => Aspect<T> | undefined;

  constructor(current: () => Aspect<T> | undefined) {
    this.#current = current;
  }

  get isRead(): boolean {
    return this.#current() !== undefined;
  }

  get size(): number {
    return this.#current()?.size ?? 0;
  }

  keys(): ReadonlySet<string> {
    return this.#current()?.keys() ?? new Set();
  }

  get(key: string): T | undefined {
    return this.#current()?.get(key);
  }

  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.#current()?.slicesOf(key);
  }

  decides(key: string): boolean {
    return this.#current()?.decides(key) === true;
  }

  confirms(key: string): boolean {
    return this.#current()?.confirms(key) === true;
  }

  ask(key: string): void {
    this.#current()?.ask(key);
  }

  forget(key: string): void {
    this.#current()?.forget(key);
  }
}

/** Returns the answers about pods from the present reader of the target. */
export const currentPods = (current: () => PodAnswers | undefined): PodAnswers => ({
  lacks: (key, hostname) => current()?.lacks(key, hostname) === true,
  ask: (key) => current()?.ask(key),
  forget: (key) => current()?.forget(key),
});
