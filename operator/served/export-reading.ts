/**
 * Reads the ServiceExports of a Link's target once ServiceImports can be read in the source cluster. Uses the same
 * client as the other reads of the target, and starts again with another client or other settings. New credentials may
 * lead to another cluster, so nothing is known about exports until the new client has listed them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import { aborted } from '../kube/abort.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Service } from '../kube/objects.ts';
import { NOTHING_EXPORTED, type PodAnswers, type ServiceExports } from '../target/aspect.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { TargetObstacle } from '../target/target.ts';
import { ClusterExports, type ClusterExportsOptions } from '../target/watch/cluster-exports.ts';
import { CurrentAspect, currentPods } from './current-aspect.ts';
import type { SharedEnvironment } from './environment.ts';

export interface ExportReadingOptions {
  readonly link: string;
  readonly cluster: string;
  readonly env: Pick<SharedEnvironment, 'tuning' | 'log'>;
  readonly settings: ReadSettings;
  readonly listener: ExportListener;
}

/** Notified of what is read about ServiceExports. */
export interface ExportListener {
  /** Called when the export with a key may have changed, or when the target has answered a question about it. */
  exportChanged(key: string): void;
  /** Called when ServiceExports were listed anew, or are not read. */
  exportsListed(): void;
  /** Called when what is known about all exports, or the id that the cluster claims, may have changed. */
  exportsReread(): void;
  /** Called when {@link ExportReading.found} has changed. */
  exportsFound(): void;
  /** Called when the target has sent a list, an event or a bookmark. */
  exportsHeard(): void;
  /** Called when an object was left out because the API does not allow it. */
  malformed(what: string): void;
}

/** Settings of a Link that decide which exports are read. */
export type ReadSettings = Pick<LinkSettings, 'serviceExports' | 'targetNamespaces'>;

/** The exports of the target, read with one client. */
interface Reading {
  readonly exports: ClusterExports;
  readonly stop: AbortController;
  /** Whether the exports can be read; undefined while that is not known. */
  found?: Found;
}

/** Whether exports can be read: `obstacle` says what prevents it, and is undefined if nothing does. */
export interface Found {
  readonly obstacle: TargetObstacle | undefined;
}

export class ExportReading extends CurrentAspect<Service> implements ServiceExports {
  /** Pods of the exported Services. */
  readonly pods: PodAnswers;
  readonly #options: ExportReadingOptions;
  #settings: ReadSettings;
  #client: KubeClient | undefined;
  #reading: Reading | undefined;
  #isOpen = false;
  #sinceMs = performance.now();

  constructor(options: ExportReadingOptions) {
    super(() => this.#current);
    this.#options = options;
    this.#settings = options.settings;
    this.pods = currentPods(() => this.#reading?.exports.pods);
  }

  /**
   * When the reading of the exports last began, changed or ended, on the monotonic clock; before that, when this object
   * was created.
   */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Whether exports have to be read: ServiceImports can be read in the source cluster, and the Link takes exports. */
  get isWanted(): boolean {
    return this.#isOpen && this.isTaken;
  }

  /** Whether the Link takes exports. */
  get isTaken(): boolean {
    return this.#settings.serviceExports;
  }

  /** Whether exports can be read; undefined while that is not known. */
  get found(): Found | undefined {
    return this.#reading?.found;
  }

  /**
   * The id that the cluster claims. Null if the cluster claims no valid id, or if its claim could never be read. Null
   * also if the Link does not import ServiceExports. Undefined while the claim is not known. An id that was read once
   * is kept while it cannot be read, until the exports are read anew.
   */
  get claimedId(): string | null | undefined {
    return this.isTaken ? this.#reading?.exports.claimedId : null;
  }

  /**
   * Returns the ServiceExport with a key, whether or not its Service exists; undefined if there is no ServiceExport, or
   * if ServiceExports are not known.
   */
  exportOf(key: string): ServiceExport | undefined {
    return this.isTaken ? this.#reading?.exports.exportOf(key) : undefined;
  }

  since(key: string): string {
    return this.#current?.since(key) ?? '';
  }

  /** Starts reading, because ServiceImports can be read in the source cluster. Further calls do nothing. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#readAnew();
    // Without reading, no list completes, so the listener is notified here.
    if (!this.isTaken) this.#options.listener.exportsListed();
  }

  /** Reads the exports anew with a client. */
  use(client: KubeClient): void {
    this.#client = client;
    this.#readAnew();
  }

  /** Stops reading. */
  stop(): void {
    this.#client = undefined;
    this.#readAnew();
  }

  /** Applies settings. Returns whether the exports are read anew. */
  update(settings: ReadSettings): boolean {
    const { serviceExports, targetNamespaces } = settings;
    const before = this.#settings;
    this.#settings = settings;
    const isAnew =
      serviceExports !== before.serviceExports ||
      (serviceExports && !isDeepStrictEqual(targetNamespaces, before.targetNamespaces));
    if (isAnew) this.#readAnew();
    return isAnew;
  }

  /**
   * Resolves once exports can be read with a client that is not in use, or the target answers that they cannot be read.
   * Resolves at once if no exports have to be read, and when the signal aborts.
   */
  async whenRead(
    client: KubeClient,
    onObstacle: (obstacle: TargetObstacle | undefined) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.isWanted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = new AbortController();
    const nothing = (): void => undefined;
    const exports = new ClusterExports({
      ...this.#source(client),
      listener: {
        changed: nothing,
        relisted: nothing,
        identityChanged: nothing,
        malformed: nothing,
        reachable: (obstacle) => {
          onObstacle(obstacle);
          if (obstacle === undefined) resolve();
        },
      },
    });
    void exports.run(AbortSignal.any([signal, stop.signal]));
    await Promise.race([promise, aborted(signal)]);
    stop.abort();
  }

  /**
   * The exports as they are read now. If the Link does not take exports, its target counts as a cluster that exports
   * nothing.
   */
  get #current(): ServiceExports | undefined {
    return this.isTaken ? this.#reading?.exports : NOTHING_EXPORTED;
  }

  #readAnew(): void {
    this.#reading?.stop.abort(new Error('exports are read anew, or not any more'));
    this.#reading = undefined;
    this.#sinceMs = performance.now();
    if (this.isWanted && this.#client !== undefined) {
      this.#reading = this.#read(this.#client);
      const { exports, stop } = this.#reading;
      void exports.run(stop.signal);
    }
    this.#options.listener.exportsReread();
  }

  /** Returns the options that say where and how exports are read. */
  #source(client: KubeClient): Pick<ClusterExportsOptions, 'client' | 'namespaces' | 'timings' | 'log' | 'about'> {
    const { env, link, cluster } = this.#options;
    const { targetNamespaces } = this.#settings;
    const about = { link, cluster };
    return { client, namespaces: targetNamespaces, timings: env.tuning.targetTimings, log: env.log, about };
  }

  #read(client: KubeClient): Reading {
    const { env, listener } = this.#options;
    // A reading that was replaced may still report.
    const isCurrent = (): boolean => this.#reading?.exports === exports;
    const exports: ClusterExports = new ClusterExports({
      ...this.#source(client),
      returnGraceMs: env.tuning.returnGraceMs,
      listener: {
        changed: (key) => {
          if (isCurrent()) listener.exportChanged(key);
        },
        relisted: () => {
          if (isCurrent()) listener.exportsListed();
        },
        identityChanged: () => {
          if (isCurrent()) listener.exportsReread();
        },
        reachable: (obstacle) => {
          if (!isCurrent()) return;
          const hadAnswered = reading.found !== undefined && reading.found.obstacle === undefined;
          reading.found = { obstacle };
          listener.exportsFound();
          // Work that waits for an answer of the target can go on.
          if (hadAnswered !== (obstacle === undefined)) listener.exportsReread();
        },
        heard: () => {
          if (isCurrent()) listener.exportsHeard();
        },
        malformed: (what) => listener.malformed(what),
      },
    });
    const reading: Reading = { exports, stop: new AbortController() };
    return reading;
  }
}
