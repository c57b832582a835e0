/**
 * Adds up the bytes that several lists take. The target decides how many lists there are, so one limit applies to the
 * bytes of all of them together (rule E10).
 */
import type { KubeObject } from '../../kube/objects.ts';
import type { Sink } from '../../runtime/store.ts';

/** The bytes that one list contributes to the total. */
export interface Share {
  /** Sets how many bytes the list takes. */
  take(bytes: number): void;
  /**
   * Takes the bytes of the list out of the total, for good: later calls of {@link take} have no effect. Called when
   * nobody reads the list any more.
   */
  leave(): void;
}

export class SharedBytes {
  #bytes = 0;

  /** Number of bytes that all lists take together. */
  get bytes(): number {
    return this.#bytes;
  }

  share(): Share {
    let taken = 0;
    let hasLeft = false;
    const take = (bytes: number): void => {
      if (hasLeft) return;
      this.#bytes += bytes - taken;
      taken = bytes;
    };
    return {
      take,
      leave: () => {
        take(0);
        hasLeft = true;
      },
    };
  }
}

/**
 * Returns a sink that passes everything on to the given one. Its `bytes` are those of all lists together, so that one
 * limit applies to all of them.
 */
export function sharing<T extends KubeObject>(sink: Sink<T>, all: SharedBytes): Sink<T> & Pick<Share, 'leave'> {
  const share = all.share();
  const counted =
    <A extends readonly unknown[]>(pass: (...args: A) => void) =>
    (...args: A): void => {
      pass(...args);
      share.take(sink.bytes);
    };
  return {
    get size() {
      return sink.size;
    },
    get bytes() {
      return all.bytes;
    },
    init: counted(() => sink.init()),
    listed: counted((object: T) => sink.listed(object)),
    initDone: counted(() => sink.initDone()),
    applied: counted((object: T) => sink.applied(object)),
    removed: counted((object: T) => sink.removed(object)),
    leave: () => share.leave(),
  };
}
