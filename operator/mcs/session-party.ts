/**
 * The target of a Link as a party of ServiceImports. The party reports what the session of the Link knows of the
 * target's ServiceExports.
 */
import { Default } from '../../crds/wire.ts';
import type { DiscoveredClusters } from '../federation/party.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import { describe, LimitError } from '../kube/errors.ts';
import type { LinkNow } from '../mirror/observed.ts';
import type { ExportReading } from '../served/export-reading.ts';
import type { ServedTarget } from '../served/served-target.ts';
import { ALWAYS_GONE, type Answers, type AspectListener, NO_PODS, type PodAnswers } from '../target/aspect.ts';
import type { TargetExporter } from './observed.ts';
import { observeExporter } from './exporter.ts';
import type { ImportParty, ImportsEnvironment, ServiceImports } from './party.ts';

export interface SessionImportsOptions {
  readonly cluster: string;
  readonly env: ImportsEnvironment & { readonly discovery: DiscoveredClusters };
  readonly target: Pick<ServedTarget, 'exports' | 'isWithinBytes' | 'podsOfExports'>;
  readonly reading: ExportReading;
  /** Returns the present settings of the Link, and the present state of its gateway. */
  readonly link: () => LinkNow;
}

export class SessionImports implements ImportParty, AspectListener {
  readonly cluster: string;
  readonly exports: Answers;
  readonly pods: PodAnswers;
  readonly #options: SessionImportsOptions;

  constructor(options: SessionImportsOptions) {
    const { cluster, target, reading } = options;
    this.#options = options;
    this.cluster = cluster;
    this.exports = target.exports;
    this.pods = target.podsOfExports(reading.pods);
  }

  get seniority(): ImportParty['seniority'] {
    const { createdAt, name } = this.#options.link().settings;
    return { createdAt, name };
  }

  get claimedId(): string | null | undefined {
    return this.#options.reading.claimedId;
  }

  get sinceMs(): number {
    return this.#options.reading.sinceMs;
  }

  /**
   * Whether ServiceExports have to be read, because ServiceImports can be read in the source cluster and the Link
   * imports ServiceExports (`spec.serviceExports`).
   */
  get isWanted(): boolean {
    return this.#options.reading.isWanted;
  }

  /**
   * Condition `TargetWithinLimits` if the operator cannot read the target's ServiceExports, its Services or the slices
   * of exported Services, because they are too many or too large (rule E10); undefined otherwise.
   */
  get beyondLimits(): Verdict | undefined {
    const error = this.#options.reading.found?.obstacle?.error;
    if (!(error instanceof LimitError)) return undefined;
    return verdict('False', 'LimitExceeded', `${describe(error)}; ServiceImports stay as they are`);
  }

  keys(): ReadonlySet<string> {
    const { env, target } = this.#options;
    return new Set([...(env.imports?.partsOf(this.cluster) ?? []), ...target.exports.keys()]);
  }

  observe(key: string): Omit<TargetExporter, 'id' | 'departed'> {
    const { env, link, target, reading } = this.#options;
    const { exports } = target;
    const { found } = reading;
    const hasAnswered = found !== undefined && found.obstacle === undefined;
    const mayExport = reading.isTaken && !exports.isListed(key) && !hasAnswered;
    const serviceExport = reading.exportOf(key);
    const isWithinBytes = target.isWithinBytes(key, serviceExport);
    return { ...observeExporter(key, exports, serviceExport, link(), env.discovery, mayExport), isWithinBytes };
  }

  read(): void {
    this.#options.reading.open();
  }

  changed(keys: Iterable<string>): void {
    for (const key of keys) this.#options.env.imports?.add(key);
  }

  listed(): void {
    this.#options.env.imports?.addAll();
  }

  restarted(): void {
    this.listed();
  }

  /**
   * Reconciles all keys of this party. Called when the Link or its gateway has changed, and when the operator has
   * acquired the Link's Lease.
   */
  changedAll(): void {
    this.changed(this.keys());
  }
}

/** Returns a party that exports nothing, for a cluster that no longer has a Link. */
export const formerExporter = (
  cluster: string,
  { imports }: { readonly imports?: Pick<ServiceImports, 'partsOf'> | undefined },
): ImportParty => ({
  cluster,
  exports: ALWAYS_GONE,
  pods: NO_PODS,
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
  read: () => undefined,
});
