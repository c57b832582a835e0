/**
 * The ServiceExports of a Link's target, as they are read: with the client that the target is read with, once ServiceImports
 * can be read here, and anew for another client or other settings. New credentials may lead to another cluster: until they
 * have listed the exports, nothing is known of these.
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

/** Is notified of what is read of ServiceExports. */
export interface ExportListener {
  /** What is exported under a key may have changed, or the target has answered about it. */
  exportChanged(key: string): void;
  /** ServiceExports were listed anew, or are not read. */
  exportsListed(): void;
  /** What is known of all of them, or what the cluster is called, may have changed. */
  exportsReread(): void;
  /** {@link ExportReading.found} has changed. */
  exportsFound(): void;
  /** The target has been heard. */
  exportsHeard(): void;
  /** An object was left out since it is not what the API allows. */
  malformed(what: string): void;
}

/** Settings that decide what is read. */
export type ReadSettings = Pick<LinkSettings, 'serviceExports' | 'targetNamespaces'>;

/** Exports as they are read with one client. */
interface Reading {
  readonly exports: ClusterExports;
  readonly stop: AbortController;
  /** Whether they can be read, once that is known. */
  found?: Found;
}

/** Whether something can be read, or what is in the way. */
export interface Found {
  readonly obstacle: TargetObstacle | undefined;
}

export class ExportReading extends CurrentAspect<Service> implements ServiceExports {
  /** The pods behind the Services that are exported. */
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

  /** When exports began to be read, or it was known that they would be, on the monotonic clock. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Whether exports are to be read: they concern this cluster, and the Link takes them. */
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

  /** The id that the cluster claims: undefined while it is not known, null if it claims none, or does not say. */
  get claimedId(): string | null | undefined {
    return this.isTaken ? this.#reading?.exports.claimedId : null;
  }

  /** Returns the ServiceExport of a key, with a Service or without; undefined if there is none, or it is not known. */
  exportOf(key: string): ServiceExport | undefined {
    return this.isTaken ? this.#reading?.exports.exportOf(key) : undefined;
  }

  since(key: string): string {
    return this.#current?.since(key) ?? '';
  }

  /** Notes that ServiceImports can be read here; once, however often it is called. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#readAnew();
    // No list will say what is to end.
    if (!this.isTaken) this.#options.listener.exportsListed();
  }

  /** Reads with a client from now on. */
  use(client: KubeClient): void {
    this.#client = client;
    this.#readAnew();
  }

  /** Reads no longer. */
  stop(): void {
    this.#client = undefined;
    this.#readAnew();
  }

  /** Applies settings. Returns whether the target is read anew. */
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
   * Resolves once exports can be read with a client that is not in use, or the target answers that they cannot be; at once
   * if none are to be read, and when the signal aborts.
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

  /** What is not taken is not exported to the Link. */
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

  /** Where exports are read. */
  #source(client: KubeClient): Pick<ClusterExportsOptions, 'client' | 'namespaces' | 'timings' | 'log' | 'about'> {
    const { env, link, cluster } = this.#options;
    const { targetNamespaces } = this.#settings;
    const about = { link, cluster };
    return { client, namespaces: targetNamespaces, timings: env.tuning.targetTimings, log: env.log, about };
  }

  #read(client: KubeClient): Reading {
    const { env, listener } = this.#options;
    // One that was replaced may still report.
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
          // What waits for an answer of the target may go on.
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
