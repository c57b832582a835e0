/**
 * An aspect of a target, with everything that must be certain before something derived from it is removed or added:
 * enough is known, no deletion is held (rule E6), the target has confirmed it when asked for the one key (rule A2),
 * and the limit allows it (rule E10).
 */
import type { EndpointSlice } from '../../kube/objects.ts';
import { type Aspect, type Certainty, confirmsGone } from '../aspect.ts';
import type { Candidate } from './cap.ts';
import { Counted, type CountedOptions } from './counted.ts';
import type { ExportState, ExportStates } from './losses.ts';

/** @typeParam T what is known of one key */
export interface CertainOptions<T> extends CountedOptions {
  readonly aspect: Aspect<T>;
  /** Reports whether the number of keys is known only by looking at each of them. @default - it is always known */
  readonly isCountedOneByOne?: (() => boolean) | undefined;
  /** Returns the keys from which something is derived here. */
  readonly made: () => Iterable<string>;
  /**
   * Reports whether a key is served already, so that the limit admits it before new ones.
   * @default - reports whether something is derived from it
   */
  readonly isServed?: ((key: string) => boolean) | undefined;
  /** Returns when the export of a key was created, RFC 3339. The oldest come first. */
  readonly since: (key: string) => string;
}

export class Certain<T> extends Counted implements Aspect<T>, Certainty {
  readonly #aspect: Aspect<T>;
  readonly #options: CertainOptions<T>;
  /**
   * Upper bound of the number of keys, for an aspect that is counted one by one: its keys are counted only if this
   * exceeds the limit.
   */
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

  /** Reports whether enough is known to decide about a key, and no deletion of it is held. */
  decides(key: string): boolean {
    const isHeld = this.get(key) === undefined && this.losses.isHeld(key);
    return this.#aspect.decides(key) && !isHeld;
  }

  /** Reports whether enough is known to decide about a key, held or not. */
  isListed(key: string): boolean {
    return this.#aspect.decides(key);
  }

  /** Reports whether a key is gone by all lists and watches, and its deletion is not held. */
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

  /** Notes that one key has changed. */
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
