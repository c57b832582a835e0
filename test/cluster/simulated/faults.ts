/**
 * Everything that can go wrong with an API server, as switches that a test flips at run time. Each switch returns its
 * disposer; one-shot faults (a compaction, a restore) just happen.
 */
import type { KubeObject } from './storage/object.ts';
import type { Registry } from './storage/registry.ts';
import type { RequestInfo } from './request.ts';
import type { Snapshot } from './storage/storage.ts';
import type { Watch } from './storage/watch.ts';

/** Turns a fault off again; may be called twice. */
export type Disposer = () => void;

/** Which requests a fault befalls. */
export type RequestMatcher = (request: RequestInfo) => boolean;

/** How a request fails. */
export type Failure =
  /** Answered with this status, and not carried out. */
  | { readonly kind: 'status'; readonly code: number; readonly retryAfterSeconds?: number; readonly message?: string }
  /** The connection breaks before the request is carried out, or after. */
  | { readonly kind: 'drop'; readonly effect: 'before' | 'after' }
  /** No answer comes; carried out or not. */
  | { readonly kind: 'hang'; readonly effect: 'before' | 'after' };

/** A rule by which requests fail. */
export interface Refusal {
  readonly failure: Failure;
  /** @default every request */
  readonly match?: RequestMatcher;
  /**
   * The share of matching requests that fail, 0 to 1.
   * @default 1
   */
  readonly fraction?: number;
  /**
   * How many requests fail before the rule ends by itself.
   * @default no limit
   */
  readonly times?: number;
}

interface ActiveRefusal extends Refusal {
  left: number;
}

/** A watch that a client has open. */
export interface OpenWatch {
  readonly request: RequestInfo;
  readonly watch: Watch;
  /** Breaks its connection. */
  readonly drop: () => void;
}

const ANY: RequestMatcher = () => true;

/** The faults of one simulated cluster. */
export class Faults {
  readonly #registry: Registry;
  readonly #watches: ReadonlySet<OpenWatch>;
  readonly #random: () => number;
  readonly #refusals = new Set<ActiveRefusal>();
  readonly #latencies = new Set<{ readonly latencyMs: number; readonly match: RequestMatcher }>();
  readonly #silences = new Set<RequestMatcher>();

  /** @param random from 0 up to 1, for refusals of a fraction; seeded, it makes a history repeatable */
  constructor(registry: Registry, watches: ReadonlySet<OpenWatch>, random: () => number) {
    this.#registry = registry;
    this.#watches = watches;
    this.#random = random;
  }

  /** Delays matching requests. */
  latency(latencyMs: number, match: RequestMatcher = ANY): Disposer {
    const fault = { latencyMs, match };
    this.#latencies.add(fault);
    return () => void this.#latencies.delete(fault);
  }

  /** Refuses Services whose names begin with a digit, as API servers before Kubernetes 1.36 do. */
  refuseDigits(): Disposer {
    this.#registry.hasStrictNames = true;
    return () => void (this.#registry.hasStrictNames = false);
  }

  /** Makes requests fail. */
  refuse(refusal: Refusal): Disposer {
    const active = { ...refusal, left: refusal.times ?? Infinity };
    this.#refusals.add(active);
    return () => void this.#refusals.delete(active);
  }

  /** Breaks the connections of open watches, once. */
  dropWatches(match: RequestMatcher = ANY): void {
    for (const { request, drop } of [...this.#watches]) if (match(request)) drop();
  }

  /** Watches, open and new, stay open but hear nothing more, not even bookmarks; disposing does not revive them. */
  silenceWatches(match: RequestMatcher = ANY): Disposer {
    this.#silences.add(match);
    for (const { request, watch } of this.#watches) if (match(request)) watch.silence();
    return () => void this.#silences.delete(match);
  }

  /** Compacts: every version seen so far, list pages under way included, is too old from now on. */
  compact(): void {
    this.#registry.storage.advance();
    this.#registry.storage.compact();
  }

  /** Compacts, and tells open watches that they have expired. */
  expireWatches(): void {
    this.compact();
    for (const { watch } of [...this.#watches]) watch.expire(0);
  }

  /** Restores a backup: what came after it is gone without an event, and the resourceVersion goes back. */
  restoreFrom(snapshot: Snapshot): void {
    this.#registry.restore(snapshot);
    this.dropWatches();
  }

  /** Makes matching objects vanish without an event, as a restore of a backup without them does. */
  wipe(match: (object: KubeObject) => boolean): void {
    const { revision, collections } = this.#registry.storage.snapshot();
    const kept = [...collections].map(
      ([id, objects]) => [id, new Map([...objects].filter(([, object]) => !match(object)))] as const,
    );
    this.restoreFrom({ revision: revision + 1, collections: new Map(kept) });
  }

  /** Turns off every fault that can be turned off. */
  clear(): void {
    this.#refusals.clear();
    this.#latencies.clear();
    this.#silences.clear();
  }

  /** How long a request is to wait, in milliseconds. */
  latencyOf(request: RequestInfo): number {
    let latencyMs = 0;
    for (const fault of this.#latencies) if (fault.match(request)) latencyMs += fault.latencyMs;
    return latencyMs;
  }

  /** How a request is to fail, if it is. */
  failureOf(request: RequestInfo): Failure | undefined {
    for (const refusal of this.#refusals) {
      const { match = ANY, fraction = 1, failure } = refusal;
      if (!match(request) || (fraction < 1 && this.#random() >= fraction)) continue;
      if (--refusal.left <= 0) this.#refusals.delete(refusal);
      return failure;
    }
    return undefined;
  }

  /** Whether a new watch is to hear nothing. */
  isSilent(request: RequestInfo): boolean {
    return [...this.#silences].some((match) => match(request));
  }
}
