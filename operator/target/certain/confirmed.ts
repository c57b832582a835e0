/**
 * The keys whose deletion the user has confirmed. A key is forgotten in these cases:
 * - its objects have been deleted;
 * - the target exports the key again;
 * - the confirmation on the Link no longer matches, and the deletion is still held;
 * - the Link is suspended.
 *
 * Keys are kept as digests, so that a record of ten thousand keys is small enough for a Lease.
 */
import { createHash } from 'node:crypto';

/**
 * Digest of one key, 32 bits. With ten thousand confirmed keys, the probability that another lost key has the same
 * digest as one of them is two in a million.
 */
export type Digest = number;

const digestOf = (key: string): Digest => createHash('sha256').update(key).digest().readUInt32BE(0);

export class Confirmed {
  readonly #digests = new Set<Digest>();
  readonly #outdated: () => void;
  /** The digests that were last recorded. Some of their keys might have been forgotten since. */
  #recorded: ReadonlySet<Digest> = new Set();

  /**
   * @param outdated called when a key of the record is no longer confirmed, because the target exports the key again,
   *   or because the confirmation on the Link no longer matches. Until the record is written anew, an operator that
   *   starts would take a loss of this key as confirmed
   */
  constructor(outdated: () => void) {
    this.#outdated = outdated;
  }

  get digests(): ReadonlySet<Digest> {
    return this.#digests;
  }

  /** Whether no key is confirmed, and no key is on record as confirmed. */
  get isEmpty(): boolean {
    return this.#digests.size === 0 && this.#recorded.size === 0;
  }

  /** Returns the digests to record. From now on, these digests count as recorded. */
  record(): ReadonlySet<Digest> {
    if (!this.isEmpty) this.#recorded = new Set(this.#digests);
    return this.#recorded;
  }

  has(key: string): boolean {
    return this.#digests.size > 0 && this.#digests.has(digestOf(key));
  }

  add(keys: Iterable<string>): void {
    for (const key of keys) this.#digests.add(digestOf(key));
  }

  addDigests(digests: Iterable<Digest>): void {
    for (const digest of digests) this.#digests.add(digest);
  }

  /**
   * Forgets that a key is confirmed. Called when the target exports the key again, or when the confirmation on the Link
   * no longer matches. If the key is lost once more, its deletion needs a new confirmation.
   */
  forget(key: string): void {
    if (this.isEmpty) return;
    const digest = digestOf(key);
    this.#digests.delete(digest);
    if (this.#recorded.has(digest)) this.#outdated();
  }

  /** Forgets all keys except these. */
  retain(keys: Iterable<string>): void {
    if (this.#digests.size === 0) return;
    const kept = new Set([...keys].map(digestOf));
    for (const digest of this.#digests) if (!kept.has(digest)) this.#digests.delete(digest);
  }
}
