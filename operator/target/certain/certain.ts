/**
 * One aspect of a target, with what must be certain before something that was made of it goes: enough is known, no deletion
 * of it is held (rule E6), the target, asked for it alone, says so (rule A2), and the limit allows it (rule E10).
 */
import type { EndpointSlice } from '../../kube/objects.ts';
import { type Aspect, type Certainty, confirmsGone } from '../aspect.ts';
import type { Candidate } from './cap.ts';
import { Counted, type CountedOptions } from './counted.ts';
import type { ExportState, ExportStates } from './losses.ts';

/** @typeParam T what there is of one key */
export interface CertainOptions<T> extends CountedOptions {
  readonly aspect: Aspect<T>;
  /** Whether to count the keys of the aspect is to look at each of them. @default - their number is known */
  readonly isCountedOneByOne?: (() => boolean) | undefined;
  /** Returns the keys that something has been made of here. */
  readonly made: () => Iterable<string>;
  /** Reports whether something made of a key is served, so that it stays within the limit. @default - all that was made is */
  readonly isServed?: ((key: string) => boolean) | undefined;
  /** Returns when what is exported under a key was created, RFC 3339: the oldest come first. */
  readonly since: (key: string) => string;
}

export class Certain<T> extends Counted implements Aspect<T>, Certainty {
  readonly #aspect: Aspect<T>;
  readonly #options: CertainOptions<T>;
  /** How many there are at most, where they are counted one by one: that is done when this exceeds the limit. */
  #atMost = Infinity;

  constructor(options: CertainOptions<T>) {
    super(options);
    this.#aspect = options.aspect;
    this.#options = options;
  }

  get isRead(): boolean {
    return this.#aspect.isRead;
  }

  get size(): number {
    if (this.#options.isCountedOneByOne?.() !== true) return this.#aspect.size;
    if (this.#atMost > this.most) this.#atMost = this.#aspect.size;
    return this.#atMost;
  }

  keys(): ReadonlySet<string> {
    return this.#aspect.keys();
  }

  get(key: string): T | undefined {
    return this.#aspect.get(key);
  }

  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.#aspect.slicesOf(key);
  }

  /** Whether enough is known to decide about a key, and no deletion of it is held. */
  decides(key: string): boolean {
    const isHeld = this.get(key) === undefined && this.losses.isHeld(key);
    return this.#aspect.decides(key) && !isHeld;
  }

  /** Whether enough is known of a key, be it held or not. */
  isListed(key: string): boolean {
    return this.#aspect.decides(key);
  }

  /** Whether a key is certainly not exported, as far as lists and watches show, and what was made of it may go. */
  isGone(key: string): boolean {
    return this.#state(key) === 'gone' && !this.losses.isHeld(key);
  }

  confirms(key: string): boolean {
    return this.#aspect.confirms(key);
  }

  confirmsGone(key: string): boolean {
    return confirmsGone(this.#aspect, key);
  }

  ask(key: string): void {
    this.#aspect.ask(key);
  }

  forget(key: string): void {
    this.#aspect.forget(key);
  }

  /** Notes a change of one key. */
  noted(key: string): void {
    this.#atMost += 1;
    this.note(key, this.#state(key));
  }

  override recount(): void {
    this.#atMost = Infinity;
    super.recount();
  }

  *candidates(): Generator<Candidate> {
    const { made, since, isServed } = this.#options;
    const all = isServed === undefined ? new Set(made()) : undefined;
    const isMirrored = (key: string): boolean => isServed?.(key) ?? all?.has(key) === true;
    for (const key of this.keys()) yield { key, since: since(key), isMirrored: isMirrored(key) };
  }

  states(): ExportStates {
    return new Map([...this.#options.made()].map((key) => [key, this.#state(key)]));
  }

  #state(key: string): ExportState {
    if (this.get(key) !== undefined) return 'exported';
    return this.#aspect.decides(key) ? 'gone' : undefined;
  }
}
