/**
 * A target cluster as one Link reads it: as a whole, or namespace by namespace, each by watches of its own, so that one
 * that may not be read stops no other. A session of its own for each Link: own connections, own backoff; what happens
 * to it happens to no other.
 *
 * A list that takes Services away says how many only if all namespaces are counted (rule E6). So when one namespace
 * has lost any, all are listed anew, and until that is done nothing is known to be gone.
 */
import type { KubeClient } from '../kube/client.ts';
import { isForbidden, obstacleOf } from '../kube/errors.ts';
import { splitKey, type EndpointSlice, type Service } from '../kube/objects.ts';
import type { MirrorMode } from '../mirror/observed.ts';
import { TargetPart, type TargetPartOptions } from './export-watch.ts';

/** What is in the way of reading a target. */
export interface TargetObstacle {
  readonly error: unknown;
  /** Of several namespaces those that refuse to be read; empty: the whole target cannot be read. */
  readonly namespaces: readonly string[];
}

export interface TargetOptions extends Omit<
  TargetPartOptions,
  'namespace' | 'onRelisted' | 'onSlicesRelisted' | 'onState'
> {
  /** The only namespaces that are read. @default - all, with one watch for each kind */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Exported Services, or only what is behind them, were listed anew, and every one that can be known is. Services that
   * went one by one before a list of slices may still have their mirrors: only a list of Services takes any away.
   */
  readonly onRelisted: (what: 'services' | 'slices') => void;
  /** The target can be read (undefined), or not all of it; said on each change. */
  readonly onReachable: (obstacle: TargetObstacle | undefined) => void;
}

/** In place of a namespace: all of them. */
const WHOLE = '';

export class Target {
  readonly #options: TargetOptions;
  readonly #parts: ReadonlyMap<string, TargetPart>;
  /** What each part was last told to be kept by. */
  readonly #errors = new Map<string, unknown>();
  #synced = false;
  /** What was last told: who is kept by what. */
  #said: string | undefined;

  constructor(options: TargetOptions) {
    this.#options = options;
    this.#parts = new Map((options.namespaces ?? [WHOLE]).map((namespace) => [namespace, this.#part(namespace)]));
  }

  /** Whether every exported Service that can be known is known. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Whether a Service's mirror can be decided about: the Service is known, or is known not to be exported. */
  decides(key: string): boolean {
    const part = this.#partOf(key);
    // What is in a namespace that the Link does not name is not exported to it.
    if (part?.synced === false) return false;
    return this.#synced && (this.#isCounted || part?.get(key) !== undefined);
  }

  /** The exported Service, and how; flat mode wins (rule A1). */
  get(key: string): { readonly service: Service; readonly mode: MirrorMode } | undefined {
    return this.#partOf(key)?.get(key);
  }

  /** Keys of all exported Services, in either mode. */
  keys(): ReadonlySet<string> {
    const whole = this.#parts.get(WHOLE);
    return whole?.keys() ?? new Set([...this.#parts.values()].flatMap((part) => [...part.keys()]));
  }

  /** The slices behind a Service; undefined while it is not known which there are. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.#partOf(key)?.slicesOf(key);
  }

  /** Starts watching; with what client is up to `use`. */
  run(client: KubeClient, signal: AbortSignal): void {
    for (const part of this.#parts.values()) part.run(client, signal);
  }

  /** Goes on with another client, from where the watches are. */
  use(client: KubeClient): void {
    for (const part of this.#parts.values()) part.use(client);
  }

  stop(): void {
    for (const part of this.#parts.values()) part.stop();
  }

  #part(namespace: string): TargetPart {
    const { selectors, timings, labelCopyMs, onChange, onMalformed } = this.#options;
    return new TargetPart({
      selectors,
      timings,
      labelCopyMs,
      onChange,
      onMalformed,
      namespace: namespace === WHOLE ? undefined : namespace,
      onRelisted: (lost) => {
        if (lost) this.#recount(namespace);
        if (this.#isCounted) this.#relisted('services');
      },
      onSlicesRelisted: () => {
        if (this.#isCounted) this.#relisted('slices');
      },
      onState: (error) => this.#told(namespace, error),
    });
  }

  #partOf(key: string): TargetPart | undefined {
    return this.#parts.get(WHOLE) ?? this.#parts.get(splitKey(key).namespace);
  }

  /** Whether every part has given all it can: what it was asked for, or a refusal. */
  get #isCounted(): boolean {
    return [...this.#parts].every(([namespace, part]) => (part.synced && part.current) || this.#isRefused(namespace));
  }

  #isRefused(namespace: string): boolean {
    return namespace !== WHOLE && isForbidden(this.#errors.get(namespace));
  }

  #recount(lossy: string): void {
    for (const [namespace, part] of this.#parts) {
      if (namespace !== lossy && !this.#isRefused(namespace)) part.relist();
    }
  }

  #relisted(what: 'services' | 'slices'): void {
    // Refused by all, nothing is known of what is exported.
    this.#synced ||= [...this.#parts.values()].some(({ synced }) => synced);
    if (this.#synced) this.#options.onRelisted(what);
  }

  #told(namespace: string, error: unknown): void {
    const wasCounted = this.#isCounted;
    this.#errors.set(namespace, error);
    if (!wasCounted && this.#isCounted) this.#relisted('services');
    const failing = [...this.#errors].filter(([, each]) => each !== undefined);
    const refused = failing.filter(([each]) => this.#isRefused(each)).map(([each]) => each);
    // What keeps all of them is told before what keeps some.
    const [first] = failing.filter(([each]) => !refused.includes(each)).concat(failing);
    const namespaces = refused.length === failing.length ? refused : [];
    const news = first === undefined ? 'reachable' : `${obstacleOf(first[1])} ${namespaces.join(' ')}`;
    if (news === this.#said) return;
    this.#said = news;
    this.#options.onReachable(first && { error: first[1], namespaces });
  }
}
