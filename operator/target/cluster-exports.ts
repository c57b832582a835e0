/**
 * What one cluster exports by the MCS API, read with one client: ServiceExports, their Services and slices, and the id that
 * the cluster claims. Nobody need have the CRDs. What cannot be read is not known (rule K5), and is looked at again for ever.
 */
import type { KubeClient } from '../kube/client.ts';
import { servedVerbs } from '../kube/discovery.ts';
import { describe, isForbidden, isNotFound, LimitError } from '../kube/errors.ts';
import { type EndpointSlice, keyOf, type Service, splitKey } from '../kube/objects.ts';
import { ReadHealth, type ReadObstacle } from '../runtime/health.ts';
import type { Interruptions } from '../runtime/interruptions.ts';
import type { Logger } from '../runtime/logger.ts';
import { OptionalKind, type OptionalKindOptions } from '../runtime/optional-kind.ts';
import { DEFAULT_TIMINGS, type ReflectorState, type ReflectorTimings } from '../runtime/reflector.ts';
import { weightOf } from '../runtime/weight.ts';
import { Absence } from './absence.ts';
import { MAX_BYTES, MAX_OBJECTS } from './bounds.ts';
import { ClusterIdentity } from './cluster-identity.ts';
import { ExportedServices } from './exported-services.ts';
import { readTargetExport, SERVICE_EXPORTS, type ServiceExport } from './mcs-objects.ts';
import type { Read } from './objects.ts';
import { Rereads } from './rereads.ts';

export interface ClusterExportsOptions {
  readonly client: KubeClient;
  /** The only namespaces that are read. @default all */
  readonly namespaces?: readonly string[] | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly interruptions?: Interruptions | undefined;
  /** Time for which exports that went with their CRD stay once it is back, in milliseconds. @default 600000 */
  readonly returnGraceMs?: number | undefined;
  /** Reads a slice, or refuses it. @default - keeps ports, and addresses, hostnames and conditions of endpoints */
  readonly readSlice?: ((object: EndpointSlice) => Read<EndpointSlice>) | undefined;
  readonly log: Logger;
  /** Fields of log lines that name what is read. @default - none */
  readonly about?: Readonly<Record<string, string>> | undefined;
  /** Called when an export, its Service or slices may have changed, or an answer about it has come, by `namespace/name`. */
  readonly onChange: (key: string) => void;
  /**
   * Called when ServiceExports or their Services were listed anew, before `onChange` is for what the list changed, and when other exports
   * are known than before.
   */
  readonly onRelisted: () => void;
  /** Called when the id that the cluster claims has changed. */
  readonly onIdentity: () => void;
  /**
   * Called on change: the exports and their Services can be read (undefined), or not all of them. That ServiceExports are
   * refused, or that there is no such kind, is no obstacle (rule K5).
   */
  readonly onReachable?: ((obstacle: ReadObstacle | undefined) => void) | undefined;
  /** Called when the cluster has been heard: a list, an event or a bookmark has come. */
  readonly onHeard?: (() => void) | undefined;
  /** Called when an object was left out since it is not what the API allows. */
  readonly onMalformed: (what: string) => void;
}

/** What is known of one export. */
export interface ExportView {
  /** Whether it is known what the cluster exports under that name: its exports are listed, and the Service of this one. */
  readonly isKnown: boolean;
  /** Absent: there is none, or it is not known. */
  readonly serviceExport: ServiceExport | undefined;
  /** Absent: there is none, it is not exported, or it is not known. */
  readonly service: Service | undefined;
  /** The slices behind the Service; undefined while they are not known. */
  readonly slices: readonly EndpointSlice[] | undefined;
}

/** In place of a namespace: all of them. */
const WHOLE = '';

export class ClusterExports {
  readonly #options: ClusterExportsOptions;
  readonly #exports: OptionalKind<ServiceExport>;
  readonly #identity: ClusterIdentity;
  readonly #rereads: Rereads<ServiceExport>;
  readonly #absence: Absence;
  readonly #health: ReadHealth;
  /** Namespaces that are listed anew, so that all losses are counted together (rule E6). */
  readonly #recounted = new Set<string>();
  /** The Services of each namespace, or of all, in which there has been an export. */
  readonly #services = new Map<string, ExportedServices>();
  #signal: AbortSignal | undefined;

  constructor(options: ClusterExportsOptions) {
    const { client, namespaces, onChange, onRelisted, onIdentity, onMalformed, returnGraceMs, timings } = options;
    this.#options = options;
    this.#health = new ReadHealth((obstacle) => {
      this.#logReadable(obstacle);
      options.onReachable?.(obstacle);
    });
    this.#exports = new OptionalKind<ServiceExport>(
      SERVICE_EXPORTS,
      {
        ...this.#common,
        partitions: namespaces ?? [undefined],
        maxObjects: MAX_OBJECTS,
        onReflected: (namespace, state) =>
          this.#health.report('serviceexports', isAnswer(state) ? { connected: true } : state, namespace),
      },
      {
        weigh: weightOf,
        trim: (object) => this.#checked(readTargetExport(object)),
        onRelisted: (_first, lost, namespace) => this.#relisted(namespace, lost),
        onChange: ({ key }) => this.#changed(key),
      },
      () => {
        this.#stateChanged();
        onRelisted();
      },
    );
    this.#absence = new Absence({ graceMs: returnGraceMs, onEnd: onRelisted });
    this.#identity = new ClusterIdentity({ ...this.#common, onChange: onIdentity, onMalformed });
    this.#rereads = new Rereads<ServiceExport>({
      of: SERVICE_EXPORTS,
      read: readTargetExport,
      checkNone: async (signal) => {
        // A CRD that is being deleted takes its objects away first (rule K5).
        if ((await servedVerbs(client, SERVICE_EXPORTS, signal)).includes('create')) return;
        this.#absence.noticed();
        throw new Error('its CRD is missing, or being deleted');
      },
      onAnswer: onChange,
      onUnanswered: this.#unanswered,
      backoff: timings?.backoff ?? DEFAULT_TIMINGS.backoff,
    });
  }

  /** Reads until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#rereads.run({ list: this.#list }, signal);
    await Promise.all([this.#exports.run(signal), this.#identity.run(signal)]);
    this.#absence.stop();
  }

  /** Keys of all ServiceExports. */
  *keys(): Generator<string> {
    for (const each of this.#exports.store.values()) yield keyOf(each);
  }

  /** Number of ServiceExports. */
  get size(): number {
    return this.#exports.store.size;
  }

  /** The id that the cluster claims: undefined while it is not known, null if it claims none, or does not say. */
  get claimedId(): string | null | undefined {
    return this.#identity.claimed;
  }

  /** What is known of the export of a key. */
  observe(key: string): ExportView {
    const { namespace } = splitKey(key);
    const serviceExport = this.#exports.store.get(key);
    if (serviceExport === undefined) {
      return { isKnown: this.#isCounted(namespace), serviceExport, service: undefined, slices: [] };
    }
    const services = this.#services.get(this.#partOf(namespace));
    return {
      isKnown: this.#isReadable(namespace) && services?.synced === true,
      serviceExport,
      service: services?.get(key),
      slices: services?.slicesOf(key),
    };
  }

  /**
   * Whether the cluster, asked for this one export, has answered that there is none, though there can be, and it has not
   * gone with its CRD; or, of one that is there, that it has no Service. If the cluster has not been asked, it is, and
   * `onChange` is called when it has answered.
   */
  confirmsNoExport(key: string): boolean {
    const { namespace } = splitKey(key);
    if (this.#exports.store.get(key) !== undefined)
      return this.#services.get(this.#partOf(namespace))?.confirmsNone(key) === true;
    // What is in a namespace that is not read is not exported.
    if (!this.#isRead(namespace)) return this.#isCounted(namespace);
    if (!this.#isCounted(namespace) || this.#absence.explains(key)) return false;
    this.#rereads.ask(key);
    return this.#isNone(key);
  }

  /** Forgets what the cluster answered about one export. */
  forgetAnswer(key: string): void {
    this.#rereads.forget(key);
    this.#services.get(this.#partOf(splitKey(key).namespace))?.forgetAnswer(key);
  }

  /** Forgets what the cluster answered, and asks it again where that settled nothing. */
  askAnew(): void {
    this.#rereads.askAnew((key) => this.#isNone(key));
  }

  /** Lists objects; that there is no such kind is noted at once, since a watch may be late to notice it. */
  readonly #list: KubeClient['list'] = async (...asked) => {
    try {
      return await this.#options.client.list(...asked);
    } catch (error) {
      if (isNotFound(error)) this.#absence.noticed();
      throw error;
    }
  };

  readonly #unanswered = (key: string, error: unknown): void =>
    this.#options.log.debug({ export: key, error: describe(error) }, 'the cluster does not say what is exported');

  #isNone(key: string): boolean {
    const answer = this.#rereads.answer(key);
    return answer !== undefined && answer.object === undefined;
  }

  /** Whether it is known which exports a namespace has, and no other is being counted. */
  #isCounted(namespace: string): boolean {
    return this.#isReadable(namespace) && this.#recounted.size === 0;
  }

  /** Whether exports of a namespace can be known; of one that is not read, whether any can be. */
  #isReadable(namespace: string): boolean {
    const { namespaces } = this.#options;
    if (namespaces === undefined || namespaces.includes(namespace))
      return this.#exports.stateIn(namespace) === 'readable';
    return namespaces.some((each) => this.#exports.stateIn(each) === 'readable');
  }

  #isRead(namespace: string): boolean {
    return this.#options.namespaces?.includes(namespace) ?? true;
  }

  /** Where the Services of a namespace are read. */
  #partOf(namespace: string): string {
    return this.#options.namespaces === undefined ? WHOLE : namespace;
  }

  #relisted(namespace: string | undefined, lost: number): void {
    this.askAnew();
    if (namespace === undefined) return;
    const isAskedFor = this.#recounted.delete(namespace);
    if (lost === 0 || isAskedFor) return;
    for (const other of this.#options.namespaces ?? []) {
      if (other === namespace || !this.#isReadable(other)) continue;
      this.#recounted.add(other);
      this.#exports.relist(other);
    }
  }

  #stateChanged(): void {
    const { namespaces = [WHOLE] } = this.#options;
    const unreadable = namespaces.filter((namespace) => !this.#isReadable(namespace));
    for (const namespace of unreadable) this.#recounted.delete(namespace);
    // While it is not known what is exported, nobody need ask.
    this.#rereads.forgetAll((key) => unreadable.includes(this.#partOf(splitKey(key).namespace)));
    if (this.#exports.isMissing) this.#absence.noticed();
    else for (const key of this.keys()) this.#absence.saw(key);
  }

  #changed(key: string): void {
    this.#rereads.forget(key);
    if (this.#exports.store.get(key) !== undefined) {
      this.#absence.saw(key);
      this.#servicesIn(splitKey(key).namespace)?.reconsider();
    }
    this.#options.onChange(key);
  }

  /** Logs whether the exports can be read; called on change. */
  #logReadable(obstacle: ReadObstacle | undefined): void {
    const { log, about } = this.#options;
    if (obstacle === undefined) {
      log.debug({ ...about }, 'what is exported by the MCS API can be read');
      return;
    }
    const { error, namespaces } = obstacle;
    // That the cluster cannot be reached is reported by others.
    const level = isForbidden(error) || error instanceof LimitError ? 'warn' : 'debug';
    const fields = { ...about, ...(namespaces.length > 0 && { namespaces }), error: describe(error) };
    log[level](fields, 'what is exported by the MCS API cannot all be read; what has not been read is not imported');
  }

  /** The Services of a namespace, which are read from the first export on. */
  #servicesIn(namespace: string): ExportedServices | undefined {
    const part = this.#partOf(namespace);
    if (this.#signal === undefined || this.#signal.aborted) return undefined;
    const services = this.#services.get(part) ?? this.#readServices(part, this.#signal);
    this.#services.set(part, services);
    return services;
  }

  #readServices(part: string, signal: AbortSignal): ExportedServices {
    const { client, timings, interruptions, readSlice, onChange, onRelisted, onHeard, onMalformed } = this.#options;
    const namespace = part === WHOLE ? undefined : part;
    return new ExportedServices({
      client,
      namespace,
      timings,
      interruptions,
      readSlice,
      isExported: (key) => this.#exports.store.get(key) !== undefined,
      exported: () => [...this.keys()].filter((key) => this.#partOf(splitKey(key).namespace) === part),
      onChange,
      onRelisted,
      onUnanswered: this.#unanswered,
      onState: (reflector, state) => {
        if (state === undefined) this.#health.forget(reflector, namespace);
        else this.#health.report(reflector, state, namespace);
      },
      onHeard,
      onMalformed,
      signal,
    });
  }

  /** What the watches of all optional kinds have in common. */
  get #common(): Omit<OptionalKindOptions, 'partitions'> {
    const { client, timings, interruptions, onHeard, log } = this.#options;
    // Whoever exports nothing by the MCS API need not let it be read.
    return { client, timings, interruptions, onHeard, maxBytes: MAX_BYTES, level: 'info', log };
  }

  #checked<T>(read: Read<T>): T | undefined {
    if ('object' in read) return read.object;
    this.#options.onMalformed(read.malformed);
    return undefined;
  }
}

/** Whether the cluster has answered, be it that nobody may read a kind, or that there is none. */
const isAnswer = (state: ReflectorState): boolean =>
  state.connected || isForbidden(state.error) || isNotFound(state.error);
