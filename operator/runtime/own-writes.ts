/**
 * Writes of ours that a watch has not reported yet. A store shows them at once; until the watch catches up, this
 * decides which of its reports are newer than what is shown. Versions are opaque: the report of our write is recognized
 * by its version, and everything that the watch reports before it is older.
 */
import type { ObjectMeta } from '../kube/objects.ts';

type Version = Pick<ObjectMeta, 'uid' | 'resourceVersion' | 'deletionTimestamp'>;

interface Pending {
  readonly uid: string | undefined;
  /** Undefined for a deletion. */
  readonly resourceVersion: string | undefined;
  /** Whether the watch has reported any version of this very object: what it reports of others is then newer. */
  readonly isReported: boolean;
  /** Whether the watch has reported, after our deletion, that a finalizer still holds the object. */
  readonly isHeld?: boolean;
}

/** How many removals are remembered, for answers to our creations that arrive after them. */
const MAX_GONE = 1000;

export class OwnWrites {
  readonly #pending = new Map<string, Pending>();
  /** When the watch reported an object as removed, by uid, on the monotonic clock; the latest last. */
  readonly #gone = new Map<string, number>();

  /**
   * Records the answer to a write.
   * @param basedOn what is shown under the key; undefined for nothing
   * @param sentMs when the request was sent, on the monotonic clock
   * @returns whether the answer is newer than what is shown
   */
  wrote(key: string, answer: Version, basedOn: Version | undefined, sentMs = -Infinity): boolean {
    const { uid, resourceVersion } = answer;
    // Others deleted what we created, and the watch reported both before the answer came. What was removed before the
    // request was sent, or is shown, is there again: its labels are ours again, or the server was restored from a backup.
    const goneMs = basedOn?.uid === uid ? undefined : this.#gone.get(uid ?? '');
    if (goneMs !== undefined && goneMs >= sentMs) return false;
    this.#gone.delete(uid ?? '');
    // The write changed nothing.
    if (basedOn !== undefined && basedOn.resourceVersion === resourceVersion) return false;
    const isReported = basedOn?.uid === uid && this.#isReported(key);
    this.#pending.set(key, { uid, resourceVersion, isReported });
    return true;
  }

  /** Records an accepted deletion of the object that is shown under the key. */
  deleted(key: string, { uid }: Version): void {
    this.#pending.set(key, { uid, resourceVersion: undefined, isReported: this.#isReported(key) });
  }

  /** Whether a reported version of an object is newer than what is shown; a report of our own write is not. */
  isNewer(key: string, { uid, resourceVersion, deletionTimestamp }: Version): boolean {
    const pending = this.#pending.get(key);
    if (pending !== undefined) {
      const isDeletion = pending.resourceVersion === undefined;
      const isCaughtUp = isDeletion
        ? uid !== pending.uid && pending.isReported
        : resourceVersion === pending.resourceVersion;
      if (isCaughtUp) this.#pending.delete(key);
      else if (uid === pending.uid) {
        const isHeld = isDeletion && deletionTimestamp !== undefined;
        this.#pending.set(key, { ...pending, isReported: true, ...(isHeld && { isHeld }) });
      }
      if (!isCaughtUp || !isDeletion) return false;
    }
    // What left the selection may enter it again.
    if (uid !== undefined) this.#gone.delete(uid);
    return true;
  }

  /** Whether a finalizer still held, after our deletion of it, an object whose removal is reported now. */
  wasHeld(key: string, { uid }: Version): boolean {
    const pending = this.#pending.get(key);
    return pending?.isHeld === true && pending.uid === uid;
  }

  /** Whether a reported removal is newer than what is shown. */
  isNewerRemoval(key: string, { uid }: Version): boolean {
    this.#remember(uid);
    const pending = this.#pending.get(key);
    if (pending === undefined) return true;
    if (pending.uid !== uid) return false;
    this.#pending.delete(key);
    return true;
  }

  /**
   * Forgets all writes, as a list was completed. It may be older or newer than a write answered while it was made, and
   * if newer the watch will never report that write. So the list is believed: at worst one reconcile plans against the
   * past and is answered 409.
   */
  clear(): void {
    this.#pending.clear();
  }

  /** Whether what is shown under the key, be it from the watch or from a write, has been reported by the watch. */
  #isReported(key: string): boolean {
    return this.#pending.get(key)?.isReported ?? true;
  }

  #remember(uid: string | undefined): void {
    if (uid === undefined) return;
    this.#gone.delete(uid);
    this.#gone.set(uid, performance.now());
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > MAX_GONE && oldest !== undefined) this.#gone.delete(oldest);
  }
}
