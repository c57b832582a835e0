/**
 * The mass-deletion guard (rule E6). When a list of the target would take away more Services, more pods that have an
 * endpoint mirror, more members of federated Services, or more parts of ServiceImports than a Link may lose at once, none
 * of them is deleted until the user confirms the count or the target lists them again. What goes one by one, as a watch
 * reports it, is never held.
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

/** What a list of the target says of one key; undefined: nothing now, and what is held stays held. */
export type ExportState = 'exported' | 'gone' | undefined;

/** So many keys may be about to go before those that are gone are looked for. */
const LOOKED_THROUGH = 1_000;

/** Returns the key of a pod among those of Services. */
export const podKey = (service: string, hostname: string): string => `${service}#${hostname}`;

/** Returns the key of a membership of a federated Service among those of Services. */
export const membershipKey = (service: string, cluster: string): string => `${service}@${cluster}`;

/** Returns the key of the part that a cluster has in a ServiceImport among those of Services. */
export const importKey = (service: string, cluster: string): string => `${service}!${cluster}`;

/** Returns the key of the Service that a key is of. */
export const serviceOf = (key: string): string => key.replace(/[#@!].*/, '');

/** What is counted apart: no kind of loss hides behind the number of another. */
const KINDS: readonly ((key: string) => boolean)[] = [
  (key) => !/[#@!]/.test(key),
  (key) => key.includes('#'),
  (key) => key.includes('@'),
  (key) => key.includes('!'),
];

export class Losses {
  readonly #held = new Set<string>();
  /** Keys that a watch reported as gone, and whose mirrors are about to go. */
  readonly #leaving = new Set<string>();
  /** Number of those at which they are looked through. */
  #mostLeaving = LOOKED_THROUGH;
  /** What the user has confirmed, now or before a restart: no list holds it again. */
  readonly confirmed = new Confirmed();
  /** The confirmation that was there when something came to be held: it was of another loss. */
  #former = '';

  /** Number of deletions that are held, of Services, pods, memberships and parts of ServiceImports. */
  get count(): number {
    return this.#held.size;
  }

  /** The first of what is held, by key. */
  get some(): readonly string[] {
    return [...this.#held].sort().slice(0, NAMED);
  }

  /**
   * What confirms the deletions that are held: their number, and a short hash of their keys. It differs from what confirmed
   * an earlier loss, also of the same keys. Undefined if nothing is held.
   */
  get confirmation(): string | undefined {
    if (this.#held.size === 0) return undefined;
    const text = [this.#former, ...[...this.#held].sort()].join('\n');
    return `${this.#held.size}-${createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)}`;
  }

  /** Whether nothing is held, was confirmed or is about to go: what the target exports changes nothing then. */
  get isIdle(): boolean {
    return this.#held.size === 0 && this.#leaving.size === 0 && this.confirmed.digests.size === 0;
  }

  isHeld(key: string): boolean {
    return this.#held.has(key);
  }

  /**
   * Notes a change of one Service.
   * @returns whether it was held and is not any more, since the target exports it again
   */
  changed(key: string, state: ExportState): boolean {
    if (state === 'gone') {
      // What is held is counted with what the next list takes.
      if (!this.#held.has(key)) this.#leaving.add(key);
      return false;
    }
    this.#leaving.delete(key);
    if (state === 'exported') this.confirmed.forget(key);
    return state === 'exported' && this.#held.delete(key);
  }

  /**
   * Notes that a key is not counted any more: a pod whose Service is gone.
   * @returns whether it was held
   */
  forget(key: string): boolean {
    this.#leaving.delete(key);
    return this.#held.delete(key);
  }

  /** Whether so many keys were about to go that those that are gone are to be forgotten. */
  get isCrowded(): boolean {
    return this.#leaving.size >= this.#mostLeaving;
  }

  /** Forgets what is gone. @param mirrored keys that have mirrors, or are memberships or parts of ServiceImports, now */
  forgetGone(mirrored: ReadonlySet<string>): void {
    for (const key of this.#leaving) if (!mirrored.has(key)) this.#leaving.delete(key);
    this.#mostLeaving = LOOKED_THROUGH + 2 * this.#leaving.size;
  }

  /** Forgets what watches reported: they are made anew, for other selectors. */
  restarted(): void {
    this.#leaving.clear();
  }

  /**
   * Counts what a list takes away, of Services, pods, memberships and parts of ServiceImports.
   * @param mirrored keys that have mirrors, or are memberships or parts of ServiceImports, now
   * @param confirmed what the user has confirmed, if anything
   * @returns keys that were held and are held no longer
   */
  relisted(
    mirrored: ReadonlySet<string>,
    stateOf: (key: string) => ExportState,
    confirmed: string | undefined,
  ): readonly string[] {
    this.forgetGone(mirrored);
    const all = [...mirrored];
    for (const key of all) if (stateOf(key) === 'exported') this.confirmed.forget(key);
    const isGone = (key: string): boolean =>
      stateOf(key) === 'gone' && !this.#leaving.has(key) && !this.confirmed.has(key);
    const going = KINDS.flatMap((isOfKind) => {
      const ofKind = all.filter(isOfKind);
      const gone = ofKind.filter(isGone);
      return gone.length > Math.max(ALWAYS, ofKind.length * PART) ? gone : [];
    });
    const before = new Set(this.#held);
    // What is held stays held: a target that is being restored lists its Services bit by bit.
    const stays = [...before].filter((key) => mirrored.has(key) && stateOf(key) !== 'exported');
    // Also beside what is still held: together they may be what an earlier loss was.
    if (going.some((key) => !before.has(key))) this.#former = confirmed ?? '';
    this.#held.clear();
    for (const key of [...going, ...stays]) this.#held.add(key);
    return [...before].filter((key) => !this.#held.has(key));
  }

  /** Reports whether this confirms what is held. What is held is remembered as confirmed, and still held. */
  confirming(confirmed: string | undefined): boolean {
    const isConfirmed = confirmed !== undefined && confirmed === this.confirmation;
    if (isConfirmed) this.confirmed.add(this.#held);
    return isConfirmed;
  }

  /** The user confirmed a loss. Returns the keys that may go now; none if what is held is, by now, another one. */
  confirm(confirmed: string | undefined): readonly string[] {
    if (this.confirming(confirmed)) return this.#release([...this.#held]);
    for (const key of this.#held) this.confirmed.forget(key);
    return [];
  }

  /** What was confirmed before a restart. Returns the keys that may go now. */
  resume(confirmed: Iterable<Digest>): readonly string[] {
    this.confirmed.addDigests(confirmed);
    return this.#release([...this.#held].filter((key) => this.confirmed.has(key)));
  }

  #release(keys: readonly string[]): readonly string[] {
    for (const key of keys) this.#held.delete(key);
    return keys;
  }
}
