/**
 * The mass-deletion guard (rule E6). If a list of the target removes more of one aspect than a Link may lose at once,
 * none of it is deleted until the user confirms the loss or the target lists it again. What a watch reports as gone,
 * one by one, is never held.
 */
import { createHash } from 'node:crypto';
import { Confirmed, type Digest } from './confirmed.ts';

/** Number of keys that may always go at once. */
const ALWAYS = 10;
/** Part of all keys that may go at once, if it is more than {@link ALWAYS}. */
const PART = 0.5;

/** Most keys that a message names. */
const NAMED = 5;

/** Digits of a hash that people compare. */
const HASH_DIGITS = 8;

/** State of one key by the lists of the target. While it is `undefined`, a held key stays held. */
export type ExportState = 'exported' | 'gone' | undefined;

/** State of each key from which something is derived here. */
export type ExportStates = ReadonlyMap<string, ExportState>;

/** Once this many keys are noted as about to go, those that are gone are forgotten. */
const LOOKED_THROUGH = 1_000;

/** The losses of one aspect. Each aspect is counted apart, so that no loss is hidden by the number of another. */
export class SortLosses {
  /** Returns the name of a key that is unique among all aspects. */
  readonly nameOf: (key: string) => string;
  readonly #confirmed: Confirmed;
  readonly #held = new Set<string>();
  /** Number of keys that were held and no longer are. */
  #letGo = 0;
  /** Keys that a watch reported as gone, and whose mirrors are about to be deleted. */
  readonly #leaving = new Set<string>();
  /** Once `#leaving` has this many keys, those that are gone are forgotten. */
  #mostLeaving = LOOKED_THROUGH;

  /**
   * @param nameOf returns the name of a key that is unique among all aspects
   * @param confirmed what the user has confirmed, of all aspects
   */
  constructor(nameOf: (key: string) => string, confirmed: Confirmed) {
    this.nameOf = nameOf;
    this.#confirmed = confirmed;
  }

  /** Number of deletions that are held. */
  get count(): number {
    return this.#held.size;
  }

  /**
   * Number of times that a key ceased to be held. Keys that are held later are another loss, even if they were held
   * before.
   */
  get letGo(): number {
    return this.#letGo;
  }

  /** Names of what is held. */
  get names(): readonly string[] {
    return [...this.#held].map(this.nameOf);
  }

  /** Whether nothing is held, confirmed or about to go, so that changes of exports have no effect here. */
  get isIdle(): boolean {
    return this.#held.size === 0 && this.#leaving.size === 0 && this.#confirmed.digests.size === 0;
  }

  /** Whether so many keys are noted as about to go that {@link forgetGone} should be called. */
  get isCrowded(): boolean {
    return this.#leaving.size >= this.#mostLeaving;
  }

  isHeld(key: string): boolean {
    return this.#held.has(key);
  }

  /**
   * Notes that one key has changed.
   * @returns whether it was held and no longer is, since the target exports it again
   */
  changed(key: string, state: ExportState): boolean {
    if (state === 'gone') {
      // What is held is counted with what the next list takes.
      if (!this.#held.has(key)) this.#leaving.add(key);
      return false;
    }
    this.#leaving.delete(key);
    if (state === 'exported') this.#confirmed.forget(this.nameOf(key));
    return state === 'exported' && this.#letGoOf(key);
  }

  /**
   * Notes that a key is no longer counted, for example a pod whose Service is gone.
   * @returns whether it was held
   */
  forget(key: string): boolean {
    this.#leaving.delete(key);
    return this.#letGoOf(key);
  }

  /**
   * Forgets keys that are gone.
   * @param made keys from which something is derived here now
   */
  forgetGone(made: Pick<ReadonlySet<string>, 'has'>): void {
    for (const key of this.#leaving) if (!made.has(key)) this.#leaving.delete(key);
    this.#mostLeaving = LOOKED_THROUGH + 2 * this.#leaving.size;
  }

  /** Forgets what watches reported: they are started anew with other selectors. */
  restarted(): void {
    this.#leaving.clear();
  }

  /**
   * Counts what a list removes.
   * @returns the keys that are no longer held, and whether more are held now
   */
  relisted(states: ExportStates): { readonly released: readonly string[]; readonly isMore: boolean } {
    this.forgetGone(states);
    for (const [key, state] of states) if (state === 'exported') this.#confirmed.forget(this.nameOf(key));
    const gone = [...states.keys()].filter((key) => states.get(key) === 'gone' && this.#isUnexpected(key));
    const going = gone.length > Math.max(ALWAYS, states.size * PART) ? gone : [];
    // What is held stays held: a target that is being restored lists its Services bit by bit.
    const isOver = (key: string): boolean => !states.has(key) || states.get(key) === 'exported';
    const released = [...this.#held].filter((key) => isOver(key) && this.#letGoOf(key));
    const isMore = going.some((key) => !this.#held.has(key));
    for (const key of going) this.#held.add(key);
    return { released, isMore };
  }

  /** Stops holding what the user has confirmed. Returns those keys. */
  release(): readonly string[] {
    const keys = [...this.#held].filter((key) => this.#confirmed.has(this.nameOf(key)));
    for (const key of keys) this.#letGoOf(key);
    return keys;
  }

  #letGoOf(key: string): boolean {
    const wasHeld = this.#held.delete(key);
    if (wasHeld) this.#letGo += 1;
    return wasHeld;
  }

  /** Reports whether a key is gone although no watch reported it and no user confirmed it. */
  #isUnexpected(key: string): boolean {
    return !this.#leaving.has(key) && !this.#confirmed.has(this.nameOf(key));
  }
}

/** The losses of one Link, of all aspects together: what the user sees and confirms. */
export class Losses {
  /** What the user has confirmed, now or before a restart. No list holds it again. */
  readonly confirmed = new Confirmed();
  readonly #sorts: SortLosses[] = [];
  /**
   * State when the present loss began: the confirmation that the Link had, which belongs to an earlier loss, and the
   * number of keys that had been held and let go by then. The number tells the two losses apart even if the user
   * confirmed the earlier one while the Link could not be read.
   */
  #former = '';

  /**
   * Adds an aspect.
   * @param nameOf returns the name of a key, which no key of another aspect has
   */
  sort(nameOf: (key: string) => string): SortLosses {
    const sort = new SortLosses(nameOf, this.confirmed);
    this.#sorts.push(sort);
    return sort;
  }

  /** Number of deletions that are held. */
  get count(): number {
    return this.#sorts.reduce((sum, { count }) => sum + count, 0);
  }

  /** First held keys, by name. */
  get some(): readonly string[] {
    return this.#names.slice(0, NAMED);
  }

  /**
   * Text that confirms the held deletions: their number, and a short hash of their names. It differs from the text
   * that confirmed an earlier loss, even of the same names. Undefined if nothing is held.
   */
  get confirmation(): string | undefined {
    const names = this.#names;
    if (names.length === 0) return undefined;
    const hash = createHash('sha256')
      .update([this.#former, ...names].join('\n'))
      .digest('hex');
    return `${names.length}-${hash.slice(0, HASH_DIGITS)}`;
  }

  /**
   * Counts what lists remove.
   * @param states present state of keys, by aspect
   * @param confirmed what the user has confirmed, if anything
   * @returns the keys that are no longer held, by aspect
   */
  relisted(states: ReadonlyMap<SortLosses, ExportStates>, confirmed: string | undefined): Released {
    const released = new Map<SortLosses, readonly string[]>();
    for (const [sort, ofSort] of states) {
      const counted = sort.relisted(ofSort);
      released.set(sort, counted.released);
      // Also beside what is still held: together they may be what an earlier loss was.
      if (counted.isMore) this.#former = `${confirmed ?? ''} ${this.#letGo}`;
    }
    return released;
  }

  /** Reports whether a text confirms what is held. If so, it is remembered as confirmed, and still held. */
  confirming(confirmed: string | undefined): boolean {
    // Names are hashed only if their number is that of the confirmation.
    const isOfCount = confirmed?.startsWith(`${this.count}-`) === true;
    const isConfirmed = isOfCount && confirmed === this.confirmation;
    if (isConfirmed) this.confirmed.add(this.#names);
    return isConfirmed;
  }

  /**
   * Handles that the user has confirmed a loss. Returns the keys that may go now; none if other keys are held by now.
   */
  confirm(confirmed: string | undefined): Released {
    if (this.confirming(confirmed)) return this.#release();
    for (const name of this.#names) this.confirmed.forget(name);
    return new Map();
  }

  /** Restores what was confirmed before a restart. Returns the keys that may go now. */
  resume(confirmed: Iterable<Digest>): Released {
    this.confirmed.addDigests(confirmed);
    return this.#release();
  }

  get #letGo(): number {
    return this.#sorts.reduce((sum, { letGo }) => sum + letGo, 0);
  }

  get #names(): readonly string[] {
    return this.#sorts.flatMap(({ names }) => names).sort();
  }

  #release(): Released {
    return new Map(this.#sorts.map((sort) => [sort, sort.release()]));
  }
}

/** Keys that are no longer held, by aspect. */
export type Released = ReadonlyMap<SortLosses, readonly string[]>;
