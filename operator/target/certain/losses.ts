/**
 * The mass-deletion guard (rule E6). When a list of the target would take away more of one sort than a Link may lose at
 * once, none of that is deleted until the user confirms the count or the target lists it again. What goes one by one, as a
 * watch reports it, is never held.
 */
import { createHash } from 'node:crypto';
import { Confirmed, type Digest } from './confirmed.ts';

/** So many mirrors may always go at once. */
const ALWAYS = 10;
/** And so large a part of all. */
const PART = 0.5;

/** So many are named in messages. */
const NAMED = 5;

/** Digits of a hash that a person can compare. */
const HASH_DIGITS = 8;

/** What a list of the target says of one key. While that is `undefined`, what is held stays held. */
export type ExportState = 'exported' | 'gone' | undefined;

/** What the target says of each key that something has been made of here. */
export type ExportStates = ReadonlyMap<string, ExportState>;

/** So many keys may be about to go before those that are gone are looked for. */
const LOOKED_THROUGH = 1_000;

/** The losses of one sort. They are counted apart: no sort of loss hides behind the number of another. */
export class SortLosses {
  /** Returns the name of a key among those of all sorts. */
  readonly nameOf: (key: string) => string;
  readonly #confirmed: Confirmed;
  readonly #held = new Set<string>();
  /** How often a key was held no longer. */
  #letGo = 0;
  /** Keys that a watch reported as gone, and whose mirrors are about to go. */
  readonly #leaving = new Set<string>();
  /** Number of those at which they are looked through. */
  #mostLeaving = LOOKED_THROUGH;

  /**
   * @param nameOf returns the name of a key among those of all sorts
   * @param confirmed what the user has confirmed of all sorts
   */
  constructor(nameOf: (key: string) => string, confirmed: Confirmed) {
    this.nameOf = nameOf;
    this.#confirmed = confirmed;
  }

  /** Number of deletions that are held. */
  get count(): number {
    return this.#held.size;
  }

  /** How often a key was held no longer: what comes to be held after that is another loss, also of the same keys. */
  get letGo(): number {
    return this.#letGo;
  }

  /** Names of what is held. */
  get names(): readonly string[] {
    return [...this.#held].map(this.nameOf);
  }

  /** Whether nothing is held, was confirmed or is about to go: what the target exports changes nothing then. */
  get isIdle(): boolean {
    return this.#held.size === 0 && this.#leaving.size === 0 && this.#confirmed.digests.size === 0;
  }

  /** Whether so many keys were about to go that those that are gone are to be forgotten. */
  get isCrowded(): boolean {
    return this.#leaving.size >= this.#mostLeaving;
  }

  isHeld(key: string): boolean {
    return this.#held.has(key);
  }

  /**
   * Notes a change of one key.
   * @returns whether it was held and is not any more, since the target exports it again
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
   * Notes that a key is not counted any more: a pod whose Service is gone.
   * @returns whether it was held
   */
  forget(key: string): boolean {
    this.#leaving.delete(key);
    return this.#letGoOf(key);
  }

  /** Forgets what is gone. @param made keys that something has been made of here, and is there now */
  forgetGone(made: Pick<ReadonlySet<string>, 'has'>): void {
    for (const key of this.#leaving) if (!made.has(key)) this.#leaving.delete(key);
    this.#mostLeaving = LOOKED_THROUGH + 2 * this.#leaving.size;
  }

  /** Forgets what watches reported: they are made anew, for other selectors. */
  restarted(): void {
    this.#leaving.clear();
  }

  /**
   * Counts what a list takes away.
   * @returns the keys that are held no longer, and whether others are held now
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

  /** Holds no longer what the user has confirmed. Returns those keys. */
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

  /** Whether no watch reported a key as gone, and no user confirmed that it is. */
  #isUnexpected(key: string): boolean {
    return !this.#leaving.has(key) && !this.#confirmed.has(this.nameOf(key));
  }
}

/** The losses of one Link, of all sorts: what the user sees of them, and confirms. */
export class Losses {
  /** What the user has confirmed, now or before a restart: no list holds it again. */
  readonly confirmed = new Confirmed();
  readonly #sorts: SortLosses[] = [];
  /**
   * What was there when something came to be held: a confirmation, of another loss, and how much had been held and let go by
   * then. The user may have confirmed that, and the Link cannot be read yet.
   */
  #former = '';

  /**
   * Adds a sort of what may be lost.
   * @param nameOf returns the name of a key, which no key of another sort has
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

  /** The first of what is held, by name. */
  get some(): readonly string[] {
    return this.#names.slice(0, NAMED);
  }

  /**
   * What confirms the deletions that are held: their number, and a short hash of their names. It differs from what confirmed
   * an earlier loss, also of the same names. It is undefined if nothing is held.
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
   * Counts what lists take away.
   * @param states what the target says now, by sort
   * @param confirmed what the user has confirmed, if anything
   * @returns the keys that are held no longer, by sort
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

  /** Reports whether this confirms what is held. What is held is remembered as confirmed, and still held. */
  confirming(confirmed: string | undefined): boolean {
    // Names are hashed only if their number is that of the confirmation.
    const isOfCount = confirmed?.startsWith(`${this.count}-`) === true;
    const isConfirmed = isOfCount && confirmed === this.confirmation;
    if (isConfirmed) this.confirmed.add(this.#names);
    return isConfirmed;
  }

  /** The user confirmed a loss. Returns the keys that may go now; none if what is held is, by now, another loss. */
  confirm(confirmed: string | undefined): Released {
    if (this.confirming(confirmed)) return this.#release();
    for (const name of this.#names) this.confirmed.forget(name);
    return new Map();
  }

  /** Takes what was confirmed before a restart. Returns the keys that may go now. */
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

/** Keys that are held no longer, by sort. */
export type Released = ReadonlyMap<SortLosses, readonly string[]>;
