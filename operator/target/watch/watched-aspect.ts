/** One aspect as the watches show it, with the target's answers about single Services. */
import type { EndpointSlice, Service } from '../../kube/objects.ts';
import type { Aspect } from '../aspect.ts';
import type { Rereads } from '../certain/rereads.ts';
import type { SelectedServices } from './selected.ts';

export interface WatchedAspectOptions<T> {
  /** Whether this aspect has a selector. Without a selector, nothing is exported, and no answer is needed. */
  readonly isSelected: boolean;
  /** Returns the watches of this aspect that have been started. */
  readonly watches: () => readonly SelectedServices[];
  /** Returns what the watches show for a key. */
  readonly get: (key: string) => T | undefined;
  /** Returns the slices of a key as {@link Aspect.slicesOf} does. */
  readonly slicesOf: (key: string) => readonly EndpointSlice[] | undefined;
  /**
   * Returns what {@link get} would return if the watches showed this Service.
   * @param service the target's answer; undefined if the Service does not exist or is invalid
   */
  readonly readAs: (service: Service | undefined) => T | undefined;
  readonly isSame: (a: T | undefined, b: T | undefined) => boolean;
  readonly rereads: Rereads<Service>;
}

export class WatchedAspect<T> implements Omit<Aspect<T>, 'decides' | 'isRead'> {
  readonly #options: WatchedAspectOptions<T>;

  constructor(options: WatchedAspectOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.watches().reduce((sum, { size }) => sum + size, 0);
  }

  keys(): ReadonlySet<string> {
    return new Set(this.#options.watches().flatMap((each) => each.keys()));
  }

  get(key: string): T | undefined {
    return this.#options.get(key);
  }

  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.#options.slicesOf(key);
  }

  confirms(key: string): boolean {
    const { isSelected, readAs, isSame, rereads } = this.#options;
    if (!isSelected) return true;
    const answer = rereads.answer(key);
    return answer !== undefined && isSame(readAs(answer.object), this.get(key));
  }

  ask(key: string): void {
    this.#options.rereads.ask(key);
  }

  forget(key: string): void {
    this.#options.rereads.forget(key);
  }

  /**
   * Forgets all answers. Asks again about keys whose answer has not arrived yet, or differs from what the watches show.
   */
  askAnew(): void {
    this.#options.rereads.askAnew((key) => this.confirms(key));
  }
}
