/** A store and the reflector that fills it. The reflector runs from construction until it is stopped. */
import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject, Resource } from '../../kube/objects.ts';
import type { Interruptions } from '../../runtime/interruptions.ts';
import { Reflector, type ReflectorTimings } from '../../runtime/reflector.ts';
import type { Store } from '../../runtime/store.ts';
import { type SharedBytes, sharing } from '../read/shared-bytes.ts';
import type { ReadingListener } from './listeners.ts';

export interface WatchedStoreOptions<T extends KubeObject> {
  /** Name by which the reflector reports its state to the listener. */
  readonly name: string;
  readonly store: Store<T>;
  readonly resource: Resource;
  /** @default - all objects */
  readonly labelSelector?: string | undefined;
  /** @default - the whole cluster */
  readonly namespace?: string | undefined;
  /** Maximum number of objects that are read. */
  readonly maxObjects: number;
  /** Maximum total size of the objects that are read, in bytes, as the store weighs them. */
  readonly maxBytes: number;
  /**
   * Sum of the bytes of several stores. If it is given, `maxBytes` limits the sum.
   * @default - `maxBytes` limits this store alone
   */
  readonly shared?: SharedBytes | undefined;
  /** Returns the client for the next list or watch. */
  readonly client: () => KubeClient;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly interruptions?: Interruptions | undefined;
  readonly listener: Pick<ReadingListener, 'state' | 'heard'>;
  /**
   * Stops the reflector. Unlike {@link WatchedStore.stop}, an abort is not reported to the listener, and the bytes of
   * the store stay counted in `shared`.
   */
  readonly signal: AbortSignal;
}

export class WatchedStore<T extends KubeObject> {
  readonly store: Store<T>;
  readonly #reflector: Reflector<T>;
  readonly #stopped = new AbortController();
  readonly #options: Pick<WatchedStoreOptions<T>, 'name' | 'listener'>;
  readonly #leave: (() => void) | undefined;
  #connected = false;

  constructor(options: WatchedStoreOptions<T>) {
    const { store, resource, labelSelector, namespace, maxObjects, maxBytes, shared } = options;
    const { name, client, timings, interruptions, listener, signal } = options;
    this.store = store;
    this.#options = { name, listener };
    const counted = shared && sharing(store.sink(), shared);
    this.#leave = counted?.leave;
    this.#reflector = new Reflector<T>({
      client,
      resource,
      select: { labelSelector, namespace },
      sink: counted ?? store.sink(),
      maxObjects,
      maxBytes,
      onHeard: () => listener.heard?.(),
      interruptions,
      ...(timings === undefined ? {} : { timings }),
      onState: (state) => {
        this.#connected = state.connected;
        listener.state(name, state);
      },
    });
    void this.#reflector.run(AbortSignal.any([signal, this.#stopped.signal]));
  }

  /**
   * Whether a watch is open, according to the last report of the reflector. The reflector does not report a failure
   * that is normal, for example a watch that falls silent, unless the next attempt fails too. So this can be true for a
   * short time although no watch is open.
   */
  get connected(): boolean {
    return this.#connected;
  }

  /** Lists everything anew. */
  relist(): void {
    this.#reflector.reconnect({ resume: false });
  }

  stop(): void {
    this.#stopped.abort();
    this.#leave?.();
    this.#options.listener.state(this.#options.name, undefined);
  }
}
