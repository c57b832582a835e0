/**
 * An API server that lags behind etcd: its watches deliver later, in order, and it answers `Too large resource version` to a
 * list that must not be older than what it has not seen yet. Lists without a version, reads of one object and writes go
 * to etcd, as those of a real one do.
 */
import { ApiError } from '../cluster/simulated/storage/status.ts';
import type { Exchange } from '../cluster/simulated/exchange.ts';
import type { HistoryCluster, Request } from '../simulation/cluster.ts';
import { Passing } from '../simulation/manners.ts';

export class Lag {
  readonly #cluster: HistoryCluster;
  readonly #watches = new Set<HeldWatch>();
  #isBehind = false;

  /** From now on, the cluster can be made to lag. */
  constructor(cluster: HistoryCluster) {
    this.#cluster = cluster;
    cluster.wrap = (request) => this.#wrap(request);
  }

  /** Nothing is applied any more. @param moved whether all connections come from a server that does not lag */
  begin({ moved }: { readonly moved: boolean }): void {
    this.#isBehind = true;
    for (const watch of this.#watches) watch.hold();
    if (moved) this.#cluster.faults.dropWatches();
  }

  /** Everything is applied. */
  catchUp(): void {
    this.#isBehind = false;
    for (const watch of this.#watches) watch.release();
  }

  #wrap(request: Request): Exchange | undefined {
    const query = new URLSearchParams(request.url.split('?')[1]);
    if (query.get('watch') === 'true') {
      const watch = new HeldWatch(request);
      if (this.#isBehind) watch.hold();
      this.#watches.add(watch);
      request.onClose(() => this.#watches.delete(watch));
      return watch;
    }
    if (!this.#isBehind || query.get('resourceVersionMatch') !== 'NotOlderThan') return undefined;
    return new TooLarge(request);
  }
}

/** A watch whose events may be kept back. */
class HeldWatch extends Passing {
  #held: string[] | undefined;

  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const text of held) this.inner.write(text);
  }

  override write(text: string): void {
    if (this.#held === undefined) this.inner.write(text);
    else this.#held.push(text);
  }
}

/** A list that is answered as by a server that has not seen the version yet. */
class TooLarge extends Passing {
  override answer(): void {
    const { body, code } = new ApiError(504, 'Timeout', 'Too large resource version: it has not been seen yet', {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
    const headers = { 'Content-Type': 'application/json', 'Retry-After': '1' };
    this.inner.answer(code, headers, Buffer.from(JSON.stringify(body)));
  }
}
