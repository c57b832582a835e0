/** One sort of what a target exports, as watches of it show it, and as the target answers that is asked for one Service. */
import type { EndpointSlice, Service } from '../../kube/objects.ts';
import type { Aspect } from '../aspect.ts';
import type { Rereads } from '../certain/rereads.ts';
import type { SelectedServices } from './selected.ts';

export interface WatchedAspectOptions<T> {
  /** Whether a selector is there for it: what nobody selects is known not to be there. */
  readonly isSelected: boolean;
  /** The watches of it that run. */
  readonly watches: () => readonly SelectedServices[];
  /** What the watches show of a key. */
  readonly get: (key: string) => T | undefined;
  /** The slices behind a key, as {@link Aspect.slicesOf} has them. */
  readonly slicesOf: (key: string) => readonly EndpointSlice[] | undefined;
  /** What a Service comes to that the target has answered with. */
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

  /** Forgets what the target answered, and asks it again where that settled nothing. */
  askAnew(): void {
    this.#options.rereads.askAnew((key) => this.confirms(key));
  }
}
