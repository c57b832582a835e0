/**
 * The memory that several lists take together, where the target decides how many there are: what each of them takes
 * counts towards the limit of all (rule E10).
 */
import type { KubeObject } from '../../kube/objects.ts';
import type { Sink } from '../../runtime/store.ts';

/** What one list takes of it. */
export interface Share {
  /** Sets how many bytes the list takes. */
  take(bytes: number): void;
  /** Takes nothing any more: nobody reads the list. */
  leave(): void;
}

export class SharedBytes {
  #bytes = 0;

  /** What all take together. */
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

/** Returns a sink that weighs what all take together, as their limit is meant. */
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
