/** A Link as it takes part in ServiceImports: what its session knows of the target's ServiceExports. */
import type { LinkSettings } from '../../crds/index.ts';
import { Default } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import { describe, LimitError } from '../kube/errors.ts';
import type { TargetExporter } from './observed.ts';
import type { GatewayView, LinkView } from '../mirror/observed.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { Candidate } from '../target/certain/cap.ts';
import type { ExportView } from '../target/watch/cluster-exports.ts';
import type { ExportState } from '../target/certain/losses.ts';
import type { TargetObstacle } from '../target/target.ts';
import type { ImportsEnvironment } from './party.ts';
import type { Exports } from '../served/exports.ts';
import type { ImportListener } from '../served/listeners.ts';
import { type Found, ImportReading, type ImportReadingOptions, type ReadSettings } from './reading.ts';
import type { ImportParty } from './party.ts';

export interface SessionImportsOptions extends Omit<ImportReadingOptions, 'settings' | 'guard'> {
  /** What holds deletions, and limits what is served. */
  readonly guard: ImportReadingOptions['guard'] & Pick<Exports, 'holdsImport' | 'admitsImport'>;
  /** What the Link says now, and its gateway as it is now. */
  readonly link: () => {
    readonly settings: LinkSettings;
    readonly view: LinkView;
    readonly gateway: GatewayView | undefined;
  };
}

export class SessionImports implements ImportParty, ImportListener {
  readonly cluster: string;
  readonly #options: SessionImportsOptions;
  readonly #reading: ImportReading;

  constructor(options: SessionImportsOptions) {
    this.#options = options;
    this.cluster = options.cluster;
    this.#reading = new ImportReading({ ...options, settings: () => this.#settings });
  }

  get seniority(): ImportParty['seniority'] {
    const { createdAt, name } = this.#settings;
    return { createdAt, name };
  }

  get claimedId(): string | null | undefined {
    return this.#settings.serviceExports ? this.#reading.exports?.claimedId : null;
  }

  get sinceMs(): number {
    return this.#reading.sinceMs;
  }

  /** Whether ServiceExports are to be read: they concern this cluster, and the Link takes them. */
  get isWanted(): boolean {
    return this.#reading.isWanted;
  }

  /** Whether ServiceExports can be read of the target; undefined while that is not known. */
  get found(): Found | undefined {
    return this.#reading.found;
  }

  /** Condition `TargetWithinLimits`, if the target exports more by the MCS API than is read of it (rule E10). */
  get beyondLimits(): Verdict | undefined {
    const error = this.found?.obstacle?.error;
    if (!(error instanceof LimitError)) return undefined;
    return verdict('False', 'LimitExceeded', `${describe(error)}; ServiceImports stay as they are`);
  }

  /** Number of ServiceExports. */
  get size(): number {
    return this.#reading.exports?.size ?? 0;
  }

  keys(): ReadonlySet<string> {
    return new Set([...this.parts(), ...(this.#reading.exports?.keys() ?? [])]);
  }

  observe(key: string): Omit<TargetExporter, 'id' | 'departed'> {
    const { link, guard } = this.#options;
    const { settings, view, gateway } = link();
    const { isKnown, serviceExport, service, slices } = this.#view(key);
    const hasAnswered = this.found !== undefined && this.found.obstacle === undefined;
    return {
      link: view,
      linkedAt: settings.createdAt,
      mode: settings.importsThrough === 'flat' ? 'remote-discovery' : 'gateway',
      gateway,
      lacksGateway: gateway === undefined,
      isKnown: isKnown && !(service === undefined && guard.holdsImport(key)),
      serviceExport,
      service,
      slices,
      anyReady: service && slices && readSlices(service, slices).anyReady,
      mayExport: settings.serviceExports && !isKnown && !hasAnswered,
      isAdmitted: guard.admitsImport(key),
    };
  }

  confirmsNoExport(key: string): boolean {
    // What the Link does not take is not exported to it.
    return !this.#settings.serviceExports || this.#reading.exports?.confirmsNoExport(key) === true;
  }

  forgetAnswer(key: string): void {
    this.#reading.exports?.forgetAnswer(key);
  }

  lacksPod(key: string, hostname: string): boolean {
    return this.#reading.exports?.lacksPod(key, hostname) === true;
  }

  forgetPods(key: string): void {
    this.#reading.exports?.forgetPods(key);
  }

  read(): void {
    this.#reading.open();
    // No list will say what is to end.
    if (!this.#settings.serviceExports) this.#options.guard.importsRelisted();
  }

  use(client: KubeClient): void {
    this.#reading.use(client);
  }

  whenRead(
    client: KubeClient,
    onObstacle: (obstacle: TargetObstacle | undefined) => void,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#reading.whenRead(client, onObstacle, signal);
  }

  /** Applies settings that have changed. Returns whether the target is read anew. */
  update(before: ReadSettings): boolean {
    return this.#reading.update(before);
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
    this.#reading.use(undefined);
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
    const { exports } = this.#reading;
    for (const key of exports?.keys() ?? []) {
      const since = exports?.observe(key).serviceExport?.metadata.creationTimestamp ?? '';
      yield { key, since, isMirrored: parts.has(key) };
    }
  }

  get #settings(): LinkSettings {
    return this.#options.link().settings;
  }

  #view(key: string): ExportView {
    const nothing = { serviceExport: undefined, service: undefined, slices: undefined };
    if (!this.#settings.serviceExports) return { isKnown: true, ...nothing };
    return this.#reading.exports?.observe(key) ?? { isKnown: false, ...nothing };
  }
}

/** Returns the party of a cluster that no Link has any more: it exports nothing. */
export const formerExporter = (cluster: string, { imports }: Pick<ImportsEnvironment, 'imports'>): ImportParty => ({
  cluster,
  seniority: { createdAt: '', name: cluster },
  claimedId: null,
  sinceMs: -Infinity,
  keys: () => imports?.partsOf(cluster) ?? [],
  observe: () => ({
    link: { cluster, clusterDomain: Default.clusterDomain },
    linkedAt: '',
    mode: 'gateway',
    isKnown: true,
    slices: undefined,
    anyReady: undefined,
    isAdmitted: true,
  }),
  confirmsNoExport: () => true,
  forgetAnswer: () => undefined,
  lacksPod: () => true,
  forgetPods: () => undefined,
  read: () => undefined,
});
