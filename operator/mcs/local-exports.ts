/**
 * The source cluster as a party of ServiceImports: its own ServiceExports, with their Services and slices, and the id
 * that it claims.
 */
import { observeLocalExport } from './exporter.ts';
import type { LocalExporter } from './observed.ts';
import type { Answers } from '../target/aspect.ts';
import { ClusterExports } from '../target/watch/cluster-exports.ts';
import { readLocalSlice } from '../target/read/objects.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import type { Exporting, ServiceImports } from './party.ts';

export class LocalExports implements Exporting<LocalExporter> {
  readonly exports: Answers;
  readonly #exports: ClusterExports;
  readonly #stopped = new AbortController();
  #imports: Pick<ServiceImports, 'add' | 'addAll'> | undefined;
  #reading: Promise<void> | undefined;
  #sinceMs = performance.now();

  constructor(env: Pick<SharedEnvironment, 'client' | 'config' | 'tuning' | 'interruptions' | 'log'>) {
    const { client, config, tuning, interruptions, log } = env;
    this.#exports = new ClusterExports({
      client,
      namespaces: config.mirrorNamespaces,
      timings: tuning.sourceTimings,
      interruptions,
      returnGraceMs: tuning.returnGraceMs,
      readSlice: readLocalSlice,
      log,
      listener: {
        changed: (key) => this.#imports?.add(key),
        relisted: () => this.#imports?.addAll(),
        identityChanged: () => this.#imports?.addAll(),
        malformed: (object) => log.warn({ object }, 'an object that the API does not allow is ignored'),
      },
    });
    this.exports = this.#exports;
  }

  get claimedId(): string | null | undefined {
    return this.#exports.claimedId;
  }

  get sinceMs(): number {
    return this.#sinceMs;
  }

  keys(): Iterable<string> {
    return this.#exports.keys();
  }

  observe(key: string): Omit<LocalExporter, 'id'> {
    return observeLocalExport(key, this.#exports);
  }

  read(): void {
    if (this.#reading !== undefined) return;
    this.#sinceMs = performance.now();
    this.#reading = this.#exports.run(this.#stopped.signal);
  }

  /** Starts to report changes to the controller. */
  start(imports: Pick<ServiceImports, 'add' | 'addAll'>): void {
    this.#imports = imports;
  }

  /** Stops reading the exports. */
  async stop(): Promise<void> {
    this.#stopped.abort(new Error('the operator stops'));
    await this.#reading;
  }
}
