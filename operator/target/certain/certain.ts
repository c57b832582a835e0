/**
 * Adds checks to an aspect of a target. They must pass before an object made from a key of the aspect is deleted or
 * created. Before a deletion, the lists and watches must show that the key is gone, the deletion must not be held
 * (rule E6), and the target must have confirmed, when asked about this one key, that the key is gone (rule A2). A key
 * that the import policy of the Link does not admit needs no confirmation (rule N4). Before a creation, the limit must
 * admit the key (rule E10).
 */
import type { EndpointSlice } from '../../kube/objects.ts';
import type { Aspect } from '../aspect.ts';
import type { Candidate } from './cap.ts';
import { Counted, type CountedOptions } from './counted.ts';
import { type ExportState, type ExportStates, LOOKED_THROUGH } from './losses.ts';

/** @typeParam T what is known about one key */
export interface CertainOptions<T> extends CountedOptions {
  readonly aspect: Aspect<T>;
  /** Reports whether keys can be counted only by looking at each of them. @default - reports false */
  readonly isCountedOneByOne?: (() => boolean) | undefined;
  /**
   * Returns the keys that have derived objects in the source cluster, or might have them because a write is under way.
   */
  readonly made: () => Iterable<string>;
  /**
   * Reports whether a key is served already. Such a key stays admitted even beyond the limit.
   * @default - reports whether {@link made} has the key
   */
  readonly isServed?: ((key: string) => boolean) | undefined;
  /**
   * Returns the creation time of the export of this key, RFC 3339; an empty string if it is not known. The limit admits
   * older exports first.
   */
  readonly since: (key: string) => string;
}

export class Certain<T> extends Counted implements Aspect<T> {
  readonly #aspect: Aspect<T>;
  readonly #options: CertainOptions<T>;
  /**
   * Upper bound of the number of keys, for an aspect that is counted by looking at each key. The keys are counted only
   * if this bound exceeds the limit.
   */
  #atMost = Infinity;
  /**
   * Keys that were certainly gone ({@link isCertainlyGone}) and have not been exported again since. They are remembered
   * here because the answers of the target are forgotten after one attempt to delete.
   */
  readonly #gone = new Set<string>();
  /** Size of `#gone` at which keys without derived objects are dropped from it. */
  #mostGone = LOOKED_THROUGH;

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

  /**
   * Reports whether {@link get} can be relied on for a key: see {@link Aspect.decides}. False if the key is not
   * exported and its deletion is held.
   */
  decides(key: string): boolean {
    const isHeld = this.get(key) === undefined && this.losses.isHeld(key);
    return this.#aspect.decides(key) && !isHeld;
  }

  /**
   * Reports whether {@link get} can be relied on for a key. Unlike {@link decides}, ignores whether the deletion of the
   * key is held.
   */
  isListed(key: string): boolean {
    return this.#aspect.decides(key);
  }

  /** Reports whether the lists and watches show that a key is gone. False if the deletion of the key is held. */
  isGone(key: string): boolean {
    return this.#state(key) === 'gone' && !this.losses.isHeld(key);
  }

  /**
   * Reports whether {@link isGone} is true for a key, and the target, asked about this one key, has confirmed that the
   * key is gone. If no answer is needed ({@link Aspect.confirms}), {@link isGone} is enough.
   */
  isCertainlyGone(key: string): boolean {
    return this.isGone(key) && (this.#gone.has(key) || this.confirms(key));
  }

  /** Asks the target about a key for which {@link isGone} is true and {@link isCertainlyGone} is false. */
  askIfGone(key: string): void {
    if (this.isGone(key) && !this.isCertainlyGone(key)) this.ask(key);
  }

  confirms(key: string): boolean {
    return this.#aspect.confirms(key);
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
    if (this.get(key) !== undefined) this.#gone.delete(key);
    this.note(key, this.#state(key));
  }

  /** Called when the target might have answered about one key. Remembers the key if it is certainly gone. */
  answered(key: string): void {
    if (this.isCertainlyGone(key)) this.#gone.add(key);
    if (this.#gone.size >= this.#mostGone) this.#forgetGone();
  }

  override restarted(): void {
    this.#gone.clear();
    super.restarted();
  }

  override recount(): void {
    this.#atMost = Infinity;
    if (this.#gone.size > 0) this.#forgetGone();
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

  #forgetGone(): void {
    const made = new Set(this.#options.made());
    for (const key of this.#gone) if (!made.has(key) || this.get(key) !== undefined) this.#gone.delete(key);
    this.#mostGone = LOOKED_THROUGH + 2 * this.#gone.size;
  }

  #state(key: string): ExportState {
    if (this.get(key) !== undefined) return 'exported';
    return this.#aspect.decides(key) ? 'gone' : undefined;
  }
}
