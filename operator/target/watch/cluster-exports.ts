/**
 * Reads what one cluster exports by the MCS API, with one client: ServiceExports, their Services and slices, and the id
 * that the cluster claims. The CRDs are optional. While ServiceExports cannot be read, it is not known what the cluster
 * exports. If the ClusterProperty could never be read, because its CRD is missing or reading it is forbidden, the
 * cluster counts as one that claims no id (rule K5). Reads that fail are retried without limit.
 */
import type { KubeClient } from '../../kube/client.ts';
import { describe, isForbidden, isNotFound, LimitError } from '../../kube/errors.ts';
import { type EndpointSlice, keyOf, type Service, splitKey } from '../../kube/objects.ts';
import { ReadHealth, type ReadObstacle } from '../../runtime/health.ts';
import type { Interruptions } from '../../runtime/interruptions.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OptionalKind, type OptionalKindOptions } from '../../runtime/optional-kind.ts';
import { DEFAULT_TIMINGS, type ReflectorState, type ReflectorTimings } from '../../runtime/reflector.ts';
import { weightOf } from '../../runtime/weight.ts';
import { MAX_BYTES, MAX_OBJECTS } from '../read/bounds.ts';
import { ClusterIdentity, type IdentityListener } from './cluster-identity.ts';
import { ExportConfirmation } from '../certain/export-confirmation.ts';
import { ExportNamespaces, WHOLE } from './export-namespaces.ts';
import { ExportedServices } from './exported-services.ts';
import { readTargetExport, SERVICE_EXPORTS, type ServiceExport } from '../read/mcs-objects.ts';
import type { Read } from '../read/objects.ts';
import type { PodAnswers, ServiceExports } from '../aspect.ts';

/** Receives changes of the exports of a cluster. */
export interface ClusterExportsListener extends IdentityListener {
  /**
   * Called when an export, its Service or its slices may have changed, or when the cluster has answered a question
   * about them.
   * @param key `namespace/name` of the export
   */
  changed(key: string): void;
  /**
   * Called when ServiceExports or their Services were listed anew, or when the state of any export may have changed for
   * another reason. After a list, this is called first. Then {@link changed} is called: after a list of ServiceExports,
   * for each change that the list shows; after a list of Services, for every export in the listed namespaces.
   */
  relisted(): void;
  /**
   * Called when the first watch has reported whether it can read, and then whenever the obstacle to reading exports,
   * their Services and slices has changed. Another error of the same kind is not a change. ServiceExports that are
   * forbidden, or that the cluster does not serve, do not count as an obstacle (rule K5).
   * @param obstacle undefined if nothing prevents reading, as far as the watches have reported
   * @default - nothing is done
   */
  reachable?(obstacle: ReadObstacle | undefined): void;
  /**
   * Called when the cluster has sent a list, an event or a bookmark, or has ended a watch in the ordinary course.
   * @default - nothing is done
   */
  heard?(): void;
}

export interface ClusterExportsOptions {
  readonly client: KubeClient;
  /** Namespaces that are read. @default all */
  readonly namespaces?: readonly string[] | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly interruptions?: Interruptions | undefined;
  /**
   * Grace period after the CRD of ServiceExports is back, in milliseconds. Until it ends, exports that vanished with
   * the CRD do not count as gone. @default 600000
   */
  readonly returnGraceMs?: number | undefined;
  /**
   * Validates a slice and keeps some of its fields, or refuses it.
   * @default - keeps ports, and addresses, hostnames and conditions of endpoints
   */
  readonly readSlice?: ((object: EndpointSlice) => Read<EndpointSlice>) | undefined;
  readonly log: Logger;
  /** Fields of log lines that identify what is read. @default - none */
  readonly about?: Readonly<Record<string, string>> | undefined;
  readonly listener: ClusterExportsListener;
}

export class ClusterExports implements ServiceExports {
  readonly isRead = true;
  /** Answers of the cluster about the pods of exported Services. */
  readonly pods: PodAnswers;
  readonly #options: ClusterExportsOptions;
  readonly #exports: OptionalKind<ServiceExport>;
  readonly #identity: ClusterIdentity;
  readonly #namespaces: ExportNamespaces;
  readonly #confirmation: ExportConfirmation;
  readonly #health: ReadHealth;
  /**
   * Watches of Services. Key: a namespace that has had an export, or {@link WHOLE} if one watch covers all namespaces.
   */
  readonly #services = new Map<string, ExportedServices>();
  #signal: AbortSignal | undefined;

  constructor(options: ClusterExportsOptions) {
    const { client, namespaces, listener, returnGraceMs, timings } = options;
    this.#options = options;
    this.#health = new ReadHealth((obstacle) => {
      this.#logReadable(obstacle);
      listener.reachable?.(obstacle);
    });
    this.#exports = new OptionalKind<ServiceExport>(
      SERVICE_EXPORTS,
      {
        ...this.#common,
        partitions: namespaces ?? [undefined],
        maxObjects: MAX_OBJECTS,
      },
      { weigh: weightOf, trim: (object) => this.#checked(readTargetExport(object)) },
      {
        changed: ({ key }) => this.#changed(key),
        relisted: (first, lost, namespace) => this.#relisted(namespace, first, lost),
        stateChanged: () => {
          this.#stateChanged();
          listener.relisted();
        },
        heard: () => listener.heard?.(),
        reflected: (namespace, state) =>
          this.#health.report('serviceexports', isAnswer(state) ? { connected: true } : state, namespace),
      },
    );
    this.pods = {
      lacks: (key, hostname) => this.#servicesOf(key)?.pods.lacks(key, hostname) === true,
      ask: (key) => this.#servicesOf(key)?.pods.ask(key),
      forget: (key) => this.#servicesOf(key)?.pods.forget(key),
    };
    this.#namespaces = new ExportNamespaces(namespaces, (namespace) => this.#exports.stateIn(namespace));
    this.#identity = new ClusterIdentity({ ...this.#common, listener });
    this.#confirmation = new ExportConfirmation({
      client,
      backoff: timings?.backoff ?? DEFAULT_TIMINGS.backoff,
      returnGraceMs,
      listener: {
        answered: (key) => listener.changed(key),
        unanswered: this.#unanswered,
        graceEnded: () => listener.relisted(),
      },
    });
  }

  /** Reads what the cluster exports until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#confirmation.run(signal);
    await Promise.all([this.#exports.run(signal), this.#identity.run(signal)]);
    this.#confirmation.stop();
  }

  /** Keys of all ServiceExports. */
  keys(): ReadonlySet<string> {
    return new Set([...this.#exports.store.values()].map(keyOf));
  }

  /** Number of ServiceExports. */
  get size(): number {
    return this.#exports.store.size;
  }

  /**
   * The id that the cluster claims. Undefined while it is not known. Null if the cluster claims no valid id, or if its
   * ClusterProperty could never be read, because the CRD is missing or reading is forbidden.
   */
  get claimedId(): string | null | undefined {
    return this.#identity.claimed;
  }

  /** Returns the ServiceExport of a key as last seen, whether or not its Service exists; undefined if none is known. */
  exportOf(key: string): ServiceExport | undefined {
    return this.#exports.store.get(key);
  }

  since(key: string): string {
    return this.exportOf(key)?.metadata.creationTimestamp ?? '';
  }

  get(key: string): Service | undefined {
    return this.exportOf(key) && this.#servicesOf(key)?.get(key);
  }

  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    return this.exportOf(key) === undefined ? [] : this.#servicesOf(key)?.slicesOf(key);
  }

  /**
   * Reports whether enough has been listed to say what the cluster exports under a key. All of this must be true:
   * - the ServiceExports of the namespace can be read: see {@link ExportNamespaces.isReadable};
   * - if a ServiceExport has this key, the Services have been listed as well;
   * - if no ServiceExport has this key, no namespace is being listed anew to count losses.
   */
  decides(key: string): boolean {
    const { namespace } = splitKey(key);
    if (this.exportOf(key) === undefined) return this.#namespaces.isCounted(namespace);
    return this.#namespaces.isReadable(namespace) && this.#servicesOf(key)?.synced === true;
  }

  /**
   * Reports whether the cluster, asked about this key, has confirmed what {@link get} returns. If {@link get} returns
   * undefined, this is so in three cases:
   * - The watch shows no ServiceExport, and the cluster has confirmed that there is none. If the ServiceExport might
   *   have vanished with its CRD, the grace period is over as well.
   * - The watch shows the ServiceExport, and the cluster has confirmed that its Service does not exist.
   * - The namespace is not read, and so exports nothing. The cluster is not asked about it.
   *
   * In the first and the third case, {@link decides} must be true as well.
   */
  confirms(key: string): boolean {
    const { namespace } = splitKey(key);
    if (this.exportOf(key) !== undefined) return this.#servicesOf(key)?.confirms(key) === true;
    // A namespace that is not read exports nothing.
    if (!this.#namespaces.includes(namespace)) return this.#namespaces.isCounted(namespace);
    return this.#namespaces.isCounted(namespace) && this.#confirmation.confirmsNone(key);
  }

  ask(key: string): void {
    const { namespace } = splitKey(key);
    if (this.exportOf(key) !== undefined) this.#servicesOf(key)?.ask(key);
    else if (this.#namespaces.includes(namespace) && this.#namespaces.isCounted(namespace)) this.#confirmation.ask(key);
  }

  forget(key: string): void {
    this.#confirmation.forget(key);
    this.#servicesOf(key)?.forget(key);
  }

  readonly #unanswered = (key: string, error: unknown): void =>
    this.#options.log.debug({ export: key, error: describe(error) }, 'the cluster does not say what is exported');

  #relisted(namespace: string | undefined, first: boolean, lost: number): void {
    // ServiceExports might have vanished with their CRD before the operator read them, or while the watch was
    // interrupted.
    if ((first || lost > 0) && this.size === 0) this.#confirmation.missing();
    this.#confirmation.askAnew();
    for (const other of this.#namespaces.listed(namespace, lost)) this.#exports.relist(other);
  }

  #stateChanged(): void {
    const unreadable = this.#namespaces.reconsider();
    // While the exports of a namespace are not known, nothing that depends on them is deleted, so no question is
    // needed.
    this.#confirmation.forgetAll((key) => unreadable.includes(this.#partOf(key)));
    if (this.#exports.isMissing) this.#confirmation.missing();
    else for (const key of this.keys()) this.#confirmation.saw(key);
  }

  #changed(key: string): void {
    this.#confirmation.forget(key);
    if (this.#exports.store.get(key) !== undefined) {
      this.#confirmation.saw(key);
      this.#startServicesOf(key)?.reconsider();
    }
    this.#options.listener.changed(key);
  }

  /** Logs whether the exports can be read. Called when the obstacle to reading them has changed. */
  #logReadable(obstacle: ReadObstacle | undefined): void {
    const { log, about } = this.#options;
    if (obstacle === undefined) {
      log.debug({ ...about }, 'what is exported by the MCS API can be read');
      return;
    }
    const { error, namespaces } = obstacle;
    // Other code reports a cluster that cannot be reached.
    const level = isForbidden(error) || error instanceof LimitError ? 'warn' : 'debug';
    const fields = { ...about, ...(namespaces.length > 0 && { namespaces }), error: describe(error) };
    log[level](fields, 'what is exported by the MCS API cannot all be read; what has not been read is not imported');
  }

  /** Returns the key of the watches that show an export and its Service: the namespace, or {@link WHOLE}. */
  #partOf(key: string): string {
    return this.#namespaces.partOf(splitKey(key).namespace);
  }

  /** Returns the watch of Services that shows the Service of an export; undefined if it has not been started. */
  #servicesOf(key: string): ExportedServices | undefined {
    return this.#services.get(this.#partOf(key));
  }

  /**
   * Returns the watch of Services that shows the Service of an export, and starts this watch if necessary. Returns
   * undefined before {@link run} is called, and after the signal passed to it has aborted.
   */
  #startServicesOf(key: string): ExportedServices | undefined {
    if (this.#signal === undefined || this.#signal.aborted) return undefined;
    const part = this.#partOf(key);
    const services = this.#services.get(part) ?? this.#readServices(part, this.#signal);
    this.#services.set(part, services);
    return services;
  }

  #readServices(part: string, signal: AbortSignal): ExportedServices {
    const { client, timings, interruptions, readSlice, listener } = this.#options;
    const namespace = part === WHOLE ? undefined : part;
    return new ExportedServices({
      client,
      namespace,
      timings,
      interruptions,
      readSlice,
      isExported: (key) => this.#exports.store.get(key) !== undefined,
      exported: () => [...this.keys()].filter((key) => this.#partOf(key) === part),
      listener: {
        changed: (key) => listener.changed(key),
        relisted: () => listener.relisted(),
        unanswered: this.#unanswered,
      },
      reading: {
        state: (reflector, state) => {
          if (state === undefined) this.#health.forget(reflector, namespace);
          else this.#health.report(reflector, state, namespace);
        },
        heard: () => listener.heard?.(),
        malformed: (what) => listener.malformed(what),
      },
      signal,
    });
  }

  /** Options of the watches of all optional kinds. */
  get #common(): Omit<OptionalKindOptions, 'partitions'> {
    const { client, timings, interruptions, log } = this.#options;
    // The level is `info`, because a cluster that does not use the MCS API is free to forbid reading these kinds.
    return { client, timings, interruptions, maxBytes: MAX_BYTES, level: 'info', log };
  }

  #checked<T>(read: Read<T>): T | undefined {
    if ('object' in read) return read.object;
    this.#options.listener.malformed(read.malformed);
    return undefined;
  }
}

/** Reports whether the cluster has answered, even if only that a kind is forbidden or does not exist. */
const isAnswer = (state: ReflectorState): boolean =>
  state.connected || isForbidden(state.error) || isNotFound(state.error);
