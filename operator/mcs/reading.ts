/**
 * The ServiceExports of a Link's target, as they are read: with the client that the target is read with, once ServiceImports
 * can be read here, and anew for another client or other settings. New credentials may lead to another cluster: until they
 * have listed the exports, nothing is known of these.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import { aborted } from '../kube/abort.ts';
import type { KubeClient } from '../kube/client.ts';
import { ClusterExports, type ClusterExportsOptions } from '../target/watch/cluster-exports.ts';
import type { TargetObstacle } from '../target/target.ts';
import type { ImportsEnvironment } from './party.ts';
import type { Exports } from '../served/exports.ts';

export interface ImportReadingOptions {
  readonly cluster: string;
  readonly env: ImportsEnvironment;
  /** What the Link says now. */
  readonly settings: () => Pick<LinkSettings, 'name'> & ReadSettings;
  /** What holds deletions, and limits what is served. */
  readonly guard: Pick<Exports, 'importChanged' | 'importsRelisted' | 'malformed'>;
  /** Called when {@link ImportReading.found} has changed. */
  readonly onFound: () => void;
  /** Called when the target has been heard. */
  readonly onHeard: () => void;
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

/** Whether something can be read (undefined), or what is in the way. */
export interface Found {
  readonly obstacle: TargetObstacle | undefined;
}

export class ImportReading {
  readonly #options: ImportReadingOptions;
  #client: KubeClient | undefined;
  #reading: Reading | undefined;
  #isOpen = false;
  #sinceMs = performance.now();

  constructor(options: ImportReadingOptions) {
    this.#options = options;
  }

  /** When exports began to be read, or it was known that they would be, on the monotonic clock. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Whether exports are to be read: they concern this cluster, and the Link takes them. */
  get isWanted(): boolean {
    return this.#isOpen && this.#settings.serviceExports;
  }

  /** What has been read; undefined while nothing is being read. */
  get exports(): ClusterExports | undefined {
    return this.#reading?.exports;
  }

  /** Whether exports can be read; undefined while that is not known. */
  get found(): Found | undefined {
    return this.#reading?.found;
  }

  /** Notes that ServiceImports can be read here; once, however often it is called. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#readAnew();
  }

  /** Reads with a client from now on; undefined: not any more. */
  use(client: KubeClient | undefined): void {
    this.#client = client;
    this.#readAnew();
  }

  /** Applies settings that have changed. Returns whether the target is read anew. */
  update(before: ReadSettings): boolean {
    const { serviceExports, targetNamespaces } = this.#settings;
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
      onChange: nothing,
      onRelisted: nothing,
      onIdentity: nothing,
      onMalformed: nothing,
      onReachable: (obstacle) => {
        onObstacle(obstacle);
        if (obstacle === undefined) resolve();
      },
    });
    void exports.run(AbortSignal.any([signal, stop.signal]));
    await Promise.race([promise, aborted(signal)]);
    stop.abort();
  }

  get #settings(): ReturnType<ImportReadingOptions['settings']> {
    return this.#options.settings();
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
    this.#options.env.imports?.addAll();
  }

  /** Where exports are read. */
  #source(client: KubeClient): Pick<ClusterExportsOptions, 'client' | 'namespaces' | 'timings' | 'log' | 'about'> {
    const { env, cluster } = this.#options;
    const { name, targetNamespaces } = this.#settings;
    const about = { link: name, cluster };
    return { client, namespaces: targetNamespaces, timings: env.tuning.targetTimings, log: env.log, about };
  }

  #read(client: KubeClient): Reading {
    const { env, guard, onFound, onHeard } = this.#options;
    // One that was replaced may still report.
    const isCurrent = (): boolean => this.#reading?.exports === exports;
    const exports: ClusterExports = new ClusterExports({
      ...this.#source(client),
      returnGraceMs: env.tuning.returnGraceMs,
      onChange: (key) => {
        if (!isCurrent()) return;
        guard.importChanged(key);
        env.imports?.add(key);
      },
      onRelisted: () => {
        if (!isCurrent()) return;
        guard.importsRelisted();
        env.imports?.addAll();
      },
      onIdentity: () => {
        if (isCurrent()) env.imports?.addAll();
      },
      onReachable: (obstacle) => {
        if (!isCurrent()) return;
        const hadAnswered = reading.found !== undefined && reading.found.obstacle === undefined;
        reading.found = { obstacle };
        onFound();
        // What waits for an answer of the target may go on.
        if (hadAnswered !== (obstacle === undefined)) env.imports?.addAll();
      },
      onHeard: () => {
        if (isCurrent()) onHeard();
      },
      onMalformed: (what) => guard.malformed(what),
    });
    const reading: Reading = { exports, stop: new AbortController() };
    return reading;
  }
}
