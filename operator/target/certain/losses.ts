/**
 * The mass-deletion guard (rule E6). If a list of the target lacks more than ten keys of one aspect, and more than half
 * of all keys of the aspect, the deletions of all keys that the list lacks are held. Only keys with derived objects
 * count. Changed settings count like a list. A key that a watch reports as gone before a list lacks it is not held.
 *
 * A deletion is held until one of these things happens:
 * - the user confirms the loss;
 * - the target exports the key again;
 * - a list completes after the objects of the key are gone;
 * - the key is no longer counted, for example because it stands for a pod whose Service is gone.
 */
import { createHash } from 'node:crypto';
import { Confirmed, type Digest } from './confirmed.ts';

/** Number of an aspect's keys that can always be lost at once without being held. */
const ALWAYS = 10;
/**
 * Fraction of an aspect's keys that can be lost at once without being held, if this fraction amounts to more than
 * {@link ALWAYS} keys. Only keys with derived objects count.
 */
const PART = 0.5;

/** Maximum number of keys that a message names. */
const NAMED = 5;

/** Number of hexadecimal digits of the hash in a confirmation. */
const HASH_DIGITS = 8;

/**
 * State of one key, by the lists and watches of the target; undefined while it is not known. A list neither holds nor
 * releases a key whose state is not known.
 */
export type ExportState = 'exported' | 'gone' | undefined;

/** State of each key from which objects have been derived in the source cluster. */
export type ExportStates = ReadonlyMap<string, ExportState>;

/**
 * When a set of remembered keys reaches this size, the keys without derived objects are dropped from the set. After
 * each such cleanup, the set is next cleaned up at this size plus twice the number of keys that stayed.
 */
export const LOOKED_THROUGH = 1_000;

/**
 * The losses of one aspect. Each aspect is counted by itself. If all aspects were counted together, an aspect with few
 * keys could lose all of them, and no deletion would be held, because these keys are only a small part of all keys.
 */
export class SortLosses {
  /** Returns a name for a key. It must differ from the names of all keys of other aspects. */
  readonly nameOf: (key: string) => string;
  readonly #confirmed: Confirmed;
  readonly #held = new Set<string>();
  /** Total number of times that any held key has been released. */
  #letGo = 0;
  /** Leaving keys: a watch reported them as gone, and their objects are about to be deleted. */
  readonly #leaving = new Set<string>();
  /**
   * Keys that were missing from a list, but were too few to be held. If such a key still has objects when the next list
   * completes, it is counted again, together with the keys that are missing from that list.
   */
  readonly #lacked = new Set<string>();
  /** Size of `#leaving` at which keys without derived objects are dropped from it. */
  #mostLeaving = LOOKED_THROUGH;

  /**
   * @param nameOf returns a name for a key, which must differ from the names of all keys of other aspects
   * @param confirmed names of the keys whose deletion the user has confirmed, of this aspect and all others
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
   * Total number of times that any held key has been released. The number goes into the confirmation of a loss. So if
   * the same keys are held again later, the earlier confirmation does not confirm the new loss.
   */
  get letGo(): number {
    return this.#letGo;
  }

  /** Names of the keys that are held. */
  get names(): readonly string[] {
    return [...this.#held].map(this.nameOf);
  }

  /**
   * Whether nothing is remembered about any key: no key is held, leaving or missing from a list, and no key of any
   * aspect is confirmed or on record as confirmed. If so, {@link changed} has an effect only for a key that is gone.
   */
  get isIdle(): boolean {
    const sizes = [this.#held.size, this.#leaving.size, this.#lacked.size];
    return this.#confirmed.isEmpty && sizes.every((size) => size === 0);
  }

  /** Whether so many keys are leaving that {@link forgetGone} should be called. */
  get isCrowded(): boolean {
    return this.#leaving.size >= this.#mostLeaving;
  }

  isHeld(key: string): boolean {
    return this.#held.has(key);
  }

  /**
   * Notes that one key has changed.
   * @returns whether the key was held and no longer is, because the target exports it again
   */
  changed(key: string, state: ExportState): boolean {
    if (state === 'gone') {
      // A held key stays held. A key in `#lacked` is counted again by the next list. Neither becomes a leaving key.
      if (!this.#held.has(key) && !this.#lacked.has(key)) this.#leaving.add(key);
      return false;
    }
    this.#leaving.delete(key);
    if (state === 'exported') this.#lacked.delete(key);
    if (state === 'exported') this.#confirmed.forget(this.nameOf(key));
    return state === 'exported' && this.#letGoOf(key);
  }

  /**
   * Notes that a key is no longer counted, for example because it stands for a pod whose Service is gone.
   * @returns whether its deletion was held
   */
  forget(key: string): boolean {
    this.#leaving.delete(key);
    this.#lacked.delete(key);
    return this.#letGoOf(key);
  }

  /**
   * Forgets the leaving keys that have no derived objects any more.
   * @param made the keys from which objects are derived in the source cluster now
   */
  forgetGone(made: Pick<ReadonlySet<string>, 'has'>): void {
    for (const key of this.#leaving) if (!made.has(key)) this.#leaving.delete(key);
    this.#mostLeaving = LOOKED_THROUGH + 2 * this.#leaving.size;
  }

  /**
   * Forgets which keys are leaving. Called when watches are started anew because settings that decide what is read, for
   * example a selector, have changed. The deletions that the earlier watches reported no longer count.
   */
  restarted(): void {
    this.#leaving.clear();
  }

  /**
   * Counts the keys that a list lacks, and holds their deletions if there are too many.
   * @returns the keys that are no longer held, and whether keys are held that were not before
   */
  relisted(states: ExportStates): { readonly released: readonly string[]; readonly isMore: boolean } {
    this.forgetGone(states);
    for (const [key, state] of states) if (state === 'exported') this.#confirmed.forget(this.nameOf(key));
    const gone = [...states.keys()].filter((key) => states.get(key) === 'gone' && this.#isUnexpected(key));
    const going = gone.length > Math.max(ALWAYS, states.size * PART) ? gone : [];
    // A held key stays held even if few are lost now: a target that is being restored lists its Services bit by bit.
    const isOver = (key: string): boolean => !states.has(key) || states.get(key) === 'exported';
    const released = [...this.#held].filter((key) => isOver(key) && this.#letGoOf(key));
    const isMore = going.some((key) => !this.#held.has(key));
    for (const key of going) this.#held.add(key);
    // A key whose state is not known, for example a key of a namespace that is not counted now, stays in `#lacked`: the
    // next list might show that it is gone.
    for (const key of this.#lacked) if (isOver(key) || this.#held.has(key)) this.#lacked.delete(key);
    for (const key of gone) if (!this.#held.has(key)) this.#lacked.add(key);
    return { released, isMore };
  }

  /** Stops holding the deletions that the user has confirmed, and returns their keys. */
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

  /** Reports whether a key that is gone was neither reported as gone by a watch nor confirmed by the user. */
  #isUnexpected(key: string): boolean {
    return !this.#leaving.has(key) && !this.#confirmed.has(this.nameOf(key));
  }
}

/**
 * The losses of all aspects of one Link. Whether keys are held is decided for each aspect by itself. The user sees and
 * confirms all held deletions as one loss.
 */
export class Losses {
  /**
   * Names of the keys whose deletion the user has confirmed, now or before a restart. If a list lacks such a key, its
   * deletion is not held again.
   */
  readonly confirmed: Confirmed;
  readonly #sorts: SortLosses[] = [];
  /**
   * Text that goes into the hash of the confirmation, and distinguishes the present loss from earlier ones. It consists
   * of two values from the time when the present loss began, or when its confirmation was revoked:
   * - the confirmation that the Link had then, which belongs to an earlier loss; empty if it had none;
   * - the total of {@link SortLosses.letGo} of all aspects at that time. This value differs from that of an earlier
   *   loss even if the user confirmed the earlier loss while the operator could not read the Link.
   */
  #former = '';

  /** @param outdated called when the record of confirmed keys must be written anew; see {@link Confirmed} */
  constructor(outdated: () => void = () => undefined) {
    this.confirmed = new Confirmed(outdated);
  }

  /**
   * Adds an aspect, and returns its losses.
   * @param nameOf returns the name of a key of this aspect; it must differ from the names of all keys of other aspects
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

  /** Names of at most {@link NAMED} held keys: the first in alphabetical order. */
  get some(): readonly string[] {
    return this.#names.slice(0, NAMED);
  }

  /**
   * Text by which the user confirms the held deletions; undefined if nothing is held. It is `<count>-<hash>`: the
   * number of deletions, and a short hash of their names and of `#former`. Because of `#former`, the text that
   * confirmed an earlier loss, even of the same names, does not confirm this one.
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
   * Counts the keys that lists lack, and holds their deletions if there are too many.
   * @param states present state of keys, by aspect
   * @param confirmed confirmation that the Link has now; undefined if it has none
   * @returns the keys that are no longer held, by aspect
   */
  relisted(states: ReadonlyMap<SortLosses, ExportStates>, confirmed: string | undefined): Released {
    const released = new Map<SortLosses, readonly string[]>();
    for (const [sort, ofSort] of states) {
      const counted = sort.relisted(ofSort);
      released.set(sort, counted.released);
      // This is a new loss even if older keys are still held: the old and the new keys together may have the same names
      // as the keys of an earlier loss.
      if (counted.isMore) this.#former = `${confirmed ?? ''} ${this.#letGo}`;
    }
    return released;
  }

  /**
   * Reports whether a text confirms the held deletions. If so, remembers these deletions as confirmed, but still holds
   * them.
   */
  confirming(confirmed: string | undefined): boolean {
    // Names are hashed only if their number is that of the confirmation.
    const isOfCount = confirmed?.startsWith(`${this.count}-`) === true;
    const isConfirmed = isOfCount && confirmed === this.confirmation;
    if (isConfirmed) this.confirmed.add(this.#names);
    return isConfirmed;
  }

  /**
   * Applies the user's confirmation. Returns the keys that are no longer held. If the confirmation does not match the
   * held deletions, returns none, and forgets any earlier confirmation of these deletions.
   */
  confirm(confirmed: string | undefined): Released {
    if (this.confirming(confirmed)) return this.#release();
    for (const name of this.#names) this.confirmed.forget(name);
    return new Map();
  }

  /**
   * Forgets all confirmed keys. The text that confirmed those that are still held, because their confirmation is being
   * recorded, confirms nothing any more.
   */
  revoke(): void {
    if (this.confirmed.digests.size === 0) return;
    this.confirmed.retain([]);
    this.#former = `${this.confirmation ?? ''} ${this.#letGo}`;
  }

  /**
   * Remembers as confirmed the keys whose deletion the user confirmed before a restart. Returns the keys that are no
   * longer held.
   */
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
