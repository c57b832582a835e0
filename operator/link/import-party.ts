/**
 * A Link as it takes part in ServiceImports: what its session knows of the target's ServiceExports, which are read with the
 * client that the target is read with. New credentials may lead to another cluster: until they have listed the exports,
 * nothing is known of these.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import { Default } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import { describe, LimitError } from '../kube/errors.ts';
import type { TargetExporter } from '../mcs/observed.ts';
import type { GatewayView, LinkView } from '../mirror/observed.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { Candidate } from '../target/cap.ts';
import { ClusterExports, type ClusterExportsOptions } from '../target/cluster-exports.ts';
import type { ExportState } from '../target/losses.ts';
import type { TargetObstacle } from '../target/target.ts';
import type { Environment } from './environment.ts';
import type { Exports, ImportListener } from './exports.ts';
import type { ImportParty } from './participants.ts';

export interface SessionImportsOptions {
  readonly cluster: string;
  readonly env: Environment;
  /** What holds deletions, and limits what is served. */
  readonly guard: Pick<Exports, 'holdsImport' | 'admitsImport' | 'importChanged' | 'importsRelisted' | 'malformed'>;
  /** What the Link says now, and its gateway as it is now. */
  readonly link: () => {
    readonly settings: LinkSettings;
    readonly view: LinkView;
    readonly gateway: GatewayView | undefined;
  };
  /** Called when {@link SessionImports.found} has changed. */
  readonly onFound: () => void;
  /** Called when the target has been heard. */
  readonly onHeard: () => void;
}

/** Settings that decide what is read. */
type ReadSettings = Pick<LinkSettings, 'serviceExports' | 'targetNamespaces'>;

/** Exports as they are read with one client. */
interface Reading {
  readonly exports: ClusterExports;
  readonly stop: AbortController;
  /** Whether they can be read, once that is known. */
  found?: Found;
}

/** Whether something can be read (undefined), or what is in the way. */
interface Found {
  readonly obstacle: TargetObstacle | undefined;
}

export class SessionImports implements ImportParty, ImportListener {
  readonly cluster: string;
  readonly #options: SessionImportsOptions;
  #client: KubeClient | undefined;
  #reading: Reading | undefined;
  #isOpen = false;
  #sinceMs = performance.now();

  constructor(options: SessionImportsOptions) {
    this.#options = options;
    this.cluster = options.cluster;
  }

  get seniority(): ImportParty['seniority'] {
    const { createdAt, name } = this.#settings;
    return { createdAt, name };
  }

  get claimedId(): string | null | undefined {
    return this.#settings.serviceExports ? this.#reading?.exports.claimedId : null;
  }

  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Whether ServiceExports are to be read: they concern this cluster, and the Link takes them. */
  get isWanted(): boolean {
    return this.#isOpen && this.#settings.serviceExports;
  }

  /** Whether ServiceExports can be read of the target; undefined while that is not known. */
  get found(): Found | undefined {
    return this.#reading?.found;
  }

  /** Condition `TargetWithinLimits`, if the target exports more by the MCS API than is read of it (rule E10). */
  get beyondLimits(): Verdict | undefined {
    const error = this.found?.obstacle?.error;
    if (!(error instanceof LimitError)) return undefined;
    return verdict('False', 'LimitExceeded', `${describe(error)}; ServiceImports stay as they are`);
  }

  /** Number of ServiceExports. */
  get size(): number {
    return this.#reading?.exports.size ?? 0;
  }

  keys(): ReadonlySet<string> {
    return new Set([...this.parts(), ...(this.#reading?.exports.keys() ?? [])]);
  }

  observe(key: string): Omit<TargetExporter, 'id'> {
    const { link, guard } = this.#options;
    const { settings, view, gateway } = link();
    const { isKnown, serviceExport, service, slices } = this.#view(key);
    return {
      link: view,
      mode: settings.importsThrough === 'flat' ? 'remote-discovery' : 'gateway',
      gateway,
      isKnown: isKnown && !(service === undefined && guard.holdsImport(key)),
      serviceExport,
      service,
      slices,
      anyReady: service && slices && readSlices(service, slices).anyReady,
      isAdmitted: guard.admitsImport(key),
    };
  }

  confirmsNoExport(key: string): boolean {
    // What the Link does not take is not exported to it.
    return !this.#settings.serviceExports || this.#reading?.exports.confirmsNoExport(key) === true;
  }

  forgetAnswer(key: string): void {
    this.#reading?.exports.forgetAnswer(key);
  }

  read(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#readAnew();
  }

  use(client: KubeClient): void {
    this.#client = client;
    this.#readAnew();
  }

  whenRead(
    client: KubeClient,
    onObstacle: (obstacle: TargetObstacle | undefined) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.isWanted) return Promise.resolve();
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
    signal.addEventListener('abort', () => resolve(), { once: true });
    void exports.run(AbortSignal.any([signal, stop.signal]));
    return promise.finally(() => stop.abort());
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

  changed(keys: Iterable<string>): void {
    for (const key of keys) this.#options.env.imports?.add(key);
  }

  /** Reconciles all keys: the Link or its gateway has changed. */
  changedAll(): void {
    this.changed(this.keys());
  }

  /** Stops reading. */
  stop(): void {
    this.#client = undefined;
    this.#readAnew();
  }

  parts(): Iterable<string> {
    return this.#options.env.imports?.partsOf(this.cluster) ?? [];
  }

  stateOf(key: string): ExportState {
    // An export without its Service exports nothing.
    const { isKnown, service } = this.#view(key);
    if (service !== undefined) return 'exported';
    return isKnown ? 'gone' : undefined;
  }

  *candidates(): Generator<Candidate> {
    const parts = new Set(this.parts());
    const exports = this.#reading?.exports;
    for (const key of exports?.keys() ?? []) {
      const since = exports?.observe(key).serviceExport?.metadata.creationTimestamp ?? '';
      yield { key, since, isMirrored: parts.has(key) };
    }
  }

  get #settings(): LinkSettings {
    return this.#options.link().settings;
  }

  #view(key: string): ReturnType<ClusterExports['observe']> {
    const nothing = { serviceExport: undefined, service: undefined, slices: undefined };
    if (!this.#settings.serviceExports) return { isKnown: true, ...nothing };
    return this.#reading?.exports.observe(key) ?? { isKnown: false, ...nothing };
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
    const { env, guard } = this.#options;
    // One that was replaced may still report.
    const isCurrent = (): boolean => this.#reading?.exports === exports;
    const exports: ClusterExports = new ClusterExports({
      ...this.#source(client),
      returnGraceMs: env.tuning.returnGraceMs,
      onChange: (key) => {
        if (!isCurrent()) return;
        guard.importChanged(key);
        this.changed([key]);
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
        reading.found = { obstacle };
        this.#options.onFound();
      },
      onHeard: () => {
        if (isCurrent()) this.#options.onHeard();
      },
      onMalformed: (what) => guard.malformed(what),
    });
    const reading: Reading = { exports, stop: new AbortController() };
    return reading;
  }
}

/** Returns the party of a cluster that no Link has any more: it exports nothing. */
export const formerExporter = (cluster: string, { imports }: Pick<Environment, 'imports'>): ImportParty => ({
  cluster,
  seniority: { createdAt: '', name: cluster },
  claimedId: null,
  sinceMs: -Infinity,
  keys: () => imports?.partsOf(cluster) ?? [],
  observe: () => ({
    link: { cluster, clusterDomain: Default.clusterDomain },
    mode: 'gateway',
    isKnown: true,
    slices: undefined,
    anyReady: undefined,
    isAdmitted: true,
  }),
  confirmsNoExport: () => true,
  forgetAnswer: () => undefined,
  read: () => undefined,
});
