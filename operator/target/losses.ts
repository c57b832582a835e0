/**
 * The mass-deletion guard (rule E6): when a list of the target's exports would take away more than a Link may lose at
 * once, nothing of it is deleted until the user confirms the count or the target lists the Services again. Services
 * that go one by one, as a watch tells of them, are never held.
 */

/** So many mirrors may always go at once. */
const ALWAYS = 10;
/** And so large a part of all. */
const PART = 0.5;

export class PruneGuard {
  readonly #held = new Set<string>();
  /** A confirmation that was there before what it would confirm is about something else. */
  #ignored: number | undefined;

  /** How many mirrors are held. */
  get count(): number {
    return this.#held.size;
  }

  isHeld(key: string): boolean {
    return this.#held.has(key);
  }

  /**
   * The exports were listed anew.
   * @param mirrored keys that have mirrors now
   * @param isGone whether a key is no longer exported; undefined: not known now, and what is held stays held
   * @param confirmed count that the user has confirmed, if any
   * @returns keys that were held and are held no longer
   */
  relisted(
    mirrored: ReadonlySet<string>,
    isGone: (key: string) => boolean | undefined,
    confirmed: number | undefined,
  ): readonly string[] {
    const going = [...mirrored].filter((key) => isGone(key) === true);
    const before = [...this.#held];
    const isTooMuch = going.length > Math.max(ALWAYS, mirrored.size * PART);
    // What is held stays held: a target that is being restored lists its Services bit by bit.
    const stays = [...mirrored].filter((key) => this.#held.has(key) && isGone(key) !== false);
    const keep = isTooMuch ? [...going, ...stays] : stays;
    if (isTooMuch && before.length === 0) this.#ignored = confirmed;
    this.#held.clear();
    for (const key of keep) this.#held.add(key);
    return before.filter((key) => !this.#held.has(key));
  }

  /** A Service is exported again. */
  returned(key: string): boolean {
    return this.#held.delete(key);
  }

  /** The user confirmed a count. @returns the keys that may go now; none if it is not the count that is held. */
  confirm(count: number | undefined): readonly string[] {
    if (count === undefined || count !== this.#held.size || count === this.#ignored) {
      if (count !== this.#ignored) this.#ignored = undefined;
      return [];
    }
    const released = [...this.#held];
    this.#held.clear();
    return released;
  }
}
