/**
 * A target cluster as one Link reads it: as a whole, or namespace by namespace, each by watches of its own, so that one
 * that may not be read stops no other. Each Link has connections and backoff of its own: what happens to its target
 * affects no other Link.
 *
 * A list that takes Services away reports how many only if all namespaces are counted (rule E6). So when one namespace
 * has lost any, all are listed anew, and until that is done nothing is known to be gone.
 */
import type { KubeClient } from '../kube/client.ts';
import { splitKey, type EndpointSlice, type Service } from '../kube/objects.ts';
import { ReadHealth, type ReadObstacle } from '../runtime/health.ts';
import type { ReflectorState } from '../runtime/reflector.ts';
import type { Exported } from './read/exported.ts';
import { ExportWatch, type ExportWatchOptions } from './watch/export-watch.ts';

/** What is in the way of reading a target. */
export type TargetObstacle = ReadObstacle;

export interface TargetOptions extends Omit<
  ExportWatchOptions,
  'namespace' | 'onRelisted' | 'onSlicesRelisted' | 'onState'
> {
  /** The only namespaces that are read. @default - all, with one watch for each kind */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Called when Services, exported ones or members, or only what is behind them, were listed anew, and every one that can
   * be known is.
   * Services that went one by one before a list of slices may still have their mirrors: only a list of Services takes
   * any away.
   */
  readonly onRelisted: (what: 'services' | 'slices') => void;
  /** Called when all that can be read is listed and watched: at first, and whenever a watch has been opened anew. */
  readonly onOpen?: (() => void) | undefined;
  /** Called on change: the target can be read (undefined), or not all of it. */
  readonly onReachable: (obstacle: TargetObstacle | undefined) => void;
}

/** What a target exports, as far as it is known at a moment. */
export type TargetView = Pick<
  Target,
  'decides' | 'confirms' | 'lacksPod' | 'get' | 'size' | 'keys' | 'slicesOf' | 'decidesMember' | 'member'
>;

/** What of a target is federated, as far as it is known at a moment. */
export type MembersView = Pick<Target, 'decidesMember' | 'member' | 'memberCount' | 'memberKeys' | 'memberSlicesOf'>;

/** In place of a namespace: all of them. */
const WHOLE = '';

export class Target {
  readonly #options: TargetOptions;
  readonly #watches: ReadonlyMap<string, ExportWatch>;
  readonly #health: ReadHealth;
  #synced = false;

  constructor(options: TargetOptions) {
    this.#options = options;
    this.#health = new ReadHealth(options.onReachable);
    const namespaces = options.namespaces ?? [WHOLE];
    this.#watches = new Map(namespaces.map((namespace) => [namespace, this.#exportWatch(namespace)]));
  }

  /** Whether every exported Service, and every member, that can be known is known. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Whether a Service's mirror can be decided about: the Service is known, or is known not to be exported. */
  decides(key: string): boolean {
    const watch = this.#watchOf(key);
    // What is in a namespace that the Link does not name is not exported to it.
    if (watch?.synced === false) return false;
    return this.#synced && (this.#isCounted || watch?.get(key) !== undefined);
  }

  /** Whether a Service's membership can be decided about: it is a member, or is known to be none. */
  decidesMember(key: string): boolean {
    const watch = this.#watchOf(key);
    return watch?.synced !== false && this.#synced && (this.#isCounted || watch?.member(key) !== undefined);
  }

  /**
   * Whether the target, asked for the one Service, has answered what {@link get} returns. Watches and lists may be behind,
   * so nothing is taken away before.
   */
  confirms(key: string): boolean {
    return this.#watchOf(key)?.confirms(key) ?? true;
  }

  /** Asks the target for one Service, unless it has been asked. */
  ask(key: string): void {
    this.#watchOf(key)?.ask(key);
  }

  /** Forgets what the target answers when it is asked for one Service. */
  forgetAnswer(key: string): void {
    this.#watchOf(key)?.forgetAnswer(key);
  }

  /** Whether the target, asked for the pods behind one Service, has answered that this is not among them (rule D5). */
  lacksPod(key: string, hostname: string): boolean {
    return this.#watchOf(key)?.lacksPod(key, hostname) ?? true;
  }

  /** Asks the target for the pods behind one Service, unless it has been asked. */
  askForPods(key: string): void {
    this.#watchOf(key)?.askForPods(key);
  }

  /** Forgets what the target answers when it is asked for the pods behind one Service. */
  forgetPods(key: string): void {
    this.#watchOf(key)?.forgetPods(key);
  }

  /** Whether the target, asked for the one Service, has answered that it is no member. */
  confirmsNoMember(key: string): boolean {
    return this.#watchOf(key)?.confirmsNoMember(key) ?? true;
  }

  /** Asks the target for one Service as a member, unless it has been asked. */
  askForMember(key: string): void {
    this.#watchOf(key)?.askForMember(key);
  }

  /** Forgets what the target answers when it is asked for one Service as a member. */
  forgetMemberAnswer(key: string): void {
    this.#watchOf(key)?.forgetMemberAnswer(key);
  }

  /** Forgets what the target answered, and asks it again where that settled nothing. */
  askAnew(): void {
    for (const watch of this.#watches.values()) watch.askAnew();
  }

  /** The exported Service, and how; flat mode wins (rule A1). */
  get(key: string): Exported | undefined {
    return this.#watchOf(key)?.get(key);
  }

  /** The Service, if it is selected as a member of a federated Service. */
  member(key: string): Service | undefined {
    return this.#watchOf(key)?.member(key);
  }

  /** Number of exported Services; one that is exported in both modes counts twice. */
  get size(): number {
    return [...this.#watches.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Keys of all exported Services, in either mode. */
  keys(): ReadonlySet<string> {
    const whole = this.#watches.get(WHOLE);
    return whole?.keys() ?? new Set([...this.#watches.values()].flatMap((watch) => [...watch.keys()]));
  }

  /** Number of members of federated Services. */
  get memberCount(): number {
    return [...this.#watches.values()].reduce((sum, watch) => sum + watch.memberCount, 0);
  }

  /** Keys of all members of federated Services. */
  memberKeys(): ReadonlySet<string> {
    return new Set([...this.#watches.values()].flatMap((watch) => [...watch.memberKeys()]));
  }

  /** The slices behind an exported Service; undefined while it is not known which there are. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.#watchOf(key)?.slicesOf(key);
  }

  /** Reads the slices behind what is exported in flat mode from now on. */
  readFlatSlices(): void {
    for (const watch of this.#watches.values()) watch.readFlatSlices();
  }

  /** The slices behind a member; undefined while it is not known which there are. */
  memberSlicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.#watchOf(key)?.memberSlicesOf(key);
  }

  /** Starts watching. */
  run(client: KubeClient, signal: AbortSignal): void {
    for (const watch of this.#watches.values()) watch.run(client, signal);
    if (this.#isOpen) this.#options.onOpen?.();
  }

  /** Whether everything in a namespace is read: listed, and being watched. */
  isRead(namespace: string): boolean {
    return this.#watches.get(namespace)?.open === true;
  }

  /** The namespaces that refuse to be read. */
  get refused(): readonly string[] {
    return [...this.#watches.keys()].filter((namespace) => this.#health.isRefused(namespace));
  }

  stop(): void {
    for (const watch of this.#watches.values()) watch.stop();
  }

  #exportWatch(namespace: string): ExportWatch {
    const { selectors, timings, labelCopyMs, readSlice, onChange, onMember, onHeard, onMalformed, ...rest } =
      this.#options;
    const { onAnswer, onMemberAnswer, onUnanswered } = rest;
    return new ExportWatch({
      selectors,
      timings,
      labelCopyMs,
      readSlice,
      onChange,
      onMember,
      onHeard,
      onMalformed,
      onAnswer,
      onMemberAnswer,
      onUnanswered,
      namespace: namespace === WHOLE ? undefined : namespace,
      onRelisted: (lost) => {
        if (lost) this.#recount(namespace);
        if (this.#isCounted) this.#relisted('services');
      },
      onSlicesRelisted: () => {
        if (this.#isCounted) this.#relisted('slices');
      },
      onState: (reflector, state) => this.#reflected(namespace, reflector, state),
    });
  }

  #watchOf(key: string): ExportWatch | undefined {
    return this.#watches.get(WHOLE) ?? this.#watches.get(splitKey(key).namespace);
  }

  /** Whether every namespace has been listed as far as it can be: what was asked for has come, or is refused. */
  get #isCounted(): boolean {
    return [...this.#watches].every(
      ([namespace, watch]) => (watch.synced && watch.current) || this.#health.isRefused(namespace),
    );
  }

  get #isOpen(): boolean {
    const watches = [...this.#watches];
    return (
      watches.some(([, { open }]) => open) &&
      watches.every(([namespace, { open }]) => open || this.#health.isRefused(namespace))
    );
  }

  #recount(changed: string): void {
    for (const [namespace, watch] of this.#watches) {
      if (namespace !== changed && !this.#health.isRefused(namespace)) watch.relist();
    }
  }

  #relisted(what: 'services' | 'slices'): void {
    // If all namespaces are refused, nothing is known of what is exported.
    this.#synced ||= [...this.#watches.values()].some(({ synced }) => synced);
    if (this.#synced) this.#options.onRelisted(what);
  }

  #reflected(namespace: string, reflector: string, state: ReflectorState | undefined): void {
    const within = namespace === WHOLE ? undefined : namespace;
    if (state === undefined) {
      this.#health.forget(reflector, within);
      return;
    }
    const wasCounted = this.#isCounted;
    this.#health.report(reflector, state, within);
    if (!wasCounted && this.#isCounted) this.#relisted('services');
    if (this.#isOpen) this.#options.onOpen?.();
  }
}
