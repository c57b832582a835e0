/**
 * The parties of ServiceImports: the local cluster, and the session of each Link. This file combines what they know of
 * exports and ids, and adds the clusters that have no session.
 */
import { Default } from '../../crds/wire.ts';
import { isConfirmed } from '../target/aspect.ts';
import { invalidShape } from './exports.ts';
import { isMember, recordedClusters, type Standing } from './membership.ts';
import { gonePods } from './pods.ts';
import { type Exporter, type LocalExporter, type ObservedImport, targetOf, type TargetExporter } from './observed.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Outcome } from '../runtime/outcome.ts';
import { importedClusters } from '../source/owner.ts';
import { Departures } from '../target/certain/departures.ts';
import { importIds, type ImportIds } from './ids.ts';
import type { Exporting, ImportParty } from './party.ts';
import { type LinkSearch, Strangers } from './strangers.ts';

/**
 * Grace period for a cluster whose exports or id are not known, in milliseconds. Until the period ends, the condition
 * `Conflict` of ServiceExports stays as it is, and so do the statuses of ServiceImports that the cluster is part of.
 */
const SETTLE_MS = 10_000;

const NONE: TargetExporter['departed'] = new Map();

export interface ImportPartiesOptions {
  readonly local: Exporting<LocalExporter>;
  /**
   * Reports whether a cluster has a Link, or may have one. Existing objects of such a cluster stay even while it has no
   * session.
   */
  readonly mayHaveLink: (cluster: string) => boolean;
  /**
   * Reports whether a Link of this operator has named a cluster, or a Lease has recorded the cluster, at any time since
   * the operator started. Suspended and invalid Links count. If neither has, the cluster may belong to another operator
   * (rule K7).
   */
  readonly isLinked: (cluster: string) => boolean;
  /**
   * Returns the target clusters of all Links that import by ServiceExports (`spec.serviceExports`). Suspended Links
   * count, and so does every invalid Link that names a cluster.
   */
  readonly exporting: () => Iterable<string>;
  /**
   * Returns those clusters of {@link exporting} whose Links are valid and not suspended. A session reads the exports of
   * such a cluster, or soon will.
   */
  readonly serving: () => Iterable<string>;
  /**
   * Finds out which clusters are strangers (strangers.ts), so that their parts can end. @default - strangers keep their
   * parts
   */
  readonly search?: LinkSearch | undefined;
  /**
   * Grace period for the part of a stranger, in milliseconds. Meanwhile, the Link of the stranger may come back.
   * @default 600000
   */
  readonly returnGraceMs?: number | undefined;
  /**
   * How long a pod of a headless Service may be gone before the Service that stands for it is deleted, in milliseconds.
   */
  readonly podGraceMs: number;
  /** Grace period for a cluster whose exports or id are not known, in milliseconds. @default 10000 */
  readonly settleMs?: number | undefined;
}

/** What all clusters export under one key. */
export interface ObservedExports extends Pick<ObservedImport, 'local' | 'targets'> {
  /**
   * Whether a cluster is being asked to confirm that an export is gone. Meanwhile, the exports of that cluster count as
   * not known.
   */
  readonly isUnconfirmed: boolean;
  /**
   * The strangers (strangers.ts) that have a part, and how much longer the grace period of each lasts, in milliseconds
   * ({@link Strangers.update}).
   */
  readonly strangers: ReadonlyMap<string, number>;
}

export class ImportParties {
  readonly #options: ImportPartiesOptions;
  readonly #parties = new Map<string, ImportParty>();
  readonly #beganMs = performance.now();
  /**
   * When each cluster last ceased to take part, on the monotonic clock. A grace period begins then, because the cluster
   * may join again soon.
   */
  readonly #leftMs = new Map<string, number>();
  readonly #departures: Departures;
  readonly #strangers: Strangers | undefined;
  #ids: ImportIds | undefined;
  #isOpen = false;

  constructor(options: ImportPartiesOptions) {
    this.#options = options;
    this.#departures = new Departures(options.podGraceMs);
    const { search, returnGraceMs: graceMs } = options;
    this.#strangers = search && new Strangers({ search, graceMs });
  }

  /**
   * Lets a cluster take part.
   * @throws Error if the cluster already takes part
   */
  join(party: ImportParty): void {
    if (this.#parties.has(party.cluster)) throw new Error(`cluster ${party.cluster} already takes part in imports`);
    this.#parties.set(party.cluster, party);
    if (this.#isOpen) party.read();
  }

  /**
   * Ends the participation of a cluster.
   * @returns whether the cluster took part
   */
  leave(cluster: string): boolean {
    this.#leftMs.set(cluster, performance.now());
    return this.#parties.delete(cluster);
  }

  /** Begins to read exports, including those of clusters that join later. Further calls do nothing. */
  read(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    for (const each of this.#all()) each.read();
  }

  /** Returns the keys of all exports, and of ServiceImports that may need work because of a party. */
  keys(): readonly string[] {
    return this.#all().flatMap((each) => [...each.keys()]);
  }

  /** Returns the id of a target cluster by its cluster name; the cluster name itself if no id is known. */
  idOf(cluster: string): string {
    return this.#identity.targets.get(cluster) ?? cluster;
  }

  /** Reports whether the id of a target cluster is known. */
  hasId(cluster: string): boolean {
    return this.#identity.targets.has(cluster);
  }

  /**
   * Discards the known ids, so that they are decided anew. Called when the id that a cluster claims, or the set of
   * clusters that take part, may have changed.
   */
  identify(): void {
    this.#ids = undefined;
  }

  /**
   * Returns what is known of the exports under a key, for all clusters.
   * @param isOurs whether this operator serves the ServiceImport
   */
  observe(key: string, standing: Standing, isOurs: boolean): ObservedExports {
    const { local } = this.#options;
    const ids = this.#identity;
    let isUnconfirmed = false;
    const certain = <P extends Exporter>(exporter: P, from: Exporting<LocalExporter>): P => {
      const isLeaving = hasLeft(exporter) && isMember(standing, exporter, ids.local);
      if (!isLeaving || isConfirmed(from.exports, key)) return exporter;
      isUnconfirmed = true;
      return { ...exporter, isKnown: false };
    };
    const targets = [...this.#parties.values()].map((party) => {
      const said = { ...party.observe(key), id: ids.targets.get(party.cluster) };
      return certain<TargetExporter>({ ...said, departed: this.#departed(key, standing, said, party) }, party);
    });
    const having = this.#having(standing);
    const strangers = this.#strangers?.update(key, isOurs ? having : []) ?? NONE;
    const staying = having.filter((cluster) => this.#strangers?.mayEnd(key, cluster) !== true);
    return {
      local: certain<LocalExporter>({ ...local.observe(key), id: ids.local }, local),
      targets: [...targets, ...this.#silent(staying)],
      isUnconfirmed,
      strangers,
    };
  }

  /**
   * Asks the API server about strangers whose grace period is over ({@link Strangers.ask}).
   * @throws ApiError or ConnectionError if there is no answer
   */
  async ask(key: string, { strangers }: ObservedExports, log: Logger, signal: AbortSignal): Promise<Outcome> {
    return (await this.#strangers?.ask(key, strangers, log, signal)) ?? {};
  }

  /**
   * Returns how much longer the grace period lasts for each cluster whose exports or id are not known, in milliseconds;
   * negative once it is over.
   */
  awaited({ local, targets }: Pick<ObservedImport, 'local' | 'targets'>): ReadonlyMap<Exporter, number> {
    const { settleMs = SETTLE_MS } = this.#options;
    const unknown = [local, ...targets].filter(({ id, isKnown }) => id === undefined || !isKnown);
    return new Map(unknown.map((each) => [each, this.#sinceMs(each) + settleMs - performance.now()]));
  }

  /**
   * Forgets the answers that are no longer needed, because each answer is valid for one removal. These are the answers
   * of clusters that export nothing and are not part of the ServiceImport any more, and the answers about pods if no
   * removal of a pod waits for an answer.
   */
  forgetAnswers(key: string, { local, targets }: ObservedExports, standing: Standing): void {
    for (const each of [local, ...targets].filter(hasLeft))
      if (!isMember(standing, each, local.id)) this.#from(each)?.exports.forget(key);
    for (const { link, departed } of targets) {
      const isAsked = [...departed.values()].includes(Infinity);
      if (!isAsked) this.#parties.get(link.cluster)?.pods.forget(key);
    }
  }

  /**
   * Returns the pods that are gone and whose Services are still kept, by hostname: how much longer each Service is
   * kept, in milliseconds (rules D11, K3). Infinity if that time is over but the target has yet to confirm that the pod
   * is gone (rule D5).
   */
  #departed(
    key: string,
    standing: Standing,
    target: Omit<TargetExporter, 'departed'>,
    party: ImportParty,
  ): TargetExporter['departed'] {
    const gone = gonePods(standing, target);
    if (gone === undefined) return NONE;
    const departed = new Map<string, number>();
    for (const [hostname, ms] of this.#departures.update(`${target.link.cluster} ${key}`, gone)) {
      if (ms > 0) {
        departed.set(hostname, ms);
        continue;
      }
      party.pods.ask(key);
      if (!party.pods.lacks(key, hostname)) departed.set(hostname, Infinity);
    }
    return departed;
  }

  get #identity(): ImportIds {
    const { local, exporting } = this.#options;
    const silent = [...exporting()].filter((cluster) => !this.#parties.has(cluster));
    return (this.#ids ??= importIds(local.claimedId, [...this.#parties.values()], silent));
  }

  #all(): readonly Exporting<LocalExporter>[] {
    return [this.#options.local, ...this.#parties.values()];
  }

  /** Returns the party of a cluster; undefined for a target without a session. */
  #from(exporter: Exporter): Exporting<LocalExporter> | undefined {
    const target = targetOf(exporter);
    return target === undefined ? this.#options.local : this.#parties.get(target.link.cluster);
  }

  /** Returns the start of a cluster's grace period, in milliseconds on the monotonic clock. */
  #sinceMs(exporter: Exporter): number {
    const cluster = targetOf(exporter)?.link.cluster ?? '';
    return this.#from(exporter)?.sinceMs ?? this.#leftMs.get(cluster) ?? this.#beganMs;
  }

  /**
   * Returns the clusters that have objects in a ServiceImport, and have a Link or may have one. While no cluster has a
   * session, all Links may have vanished at once. The clusters in the recorded order of exports then count as well.
   */
  #having(standing: Standing): readonly string[] {
    const { mayHaveLink } = this.#options;
    const { derived, podServices, imported } = standing;
    const objects = [...(derived === undefined ? [] : [derived]), ...podServices, ...imported];
    const recorded = this.#parties.size > 0 ? [] : recordedClusters(standing).filter((cluster) => cluster !== '');
    return [...objects.flatMap(importedClusters), ...recorded].filter(mayHaveLink);
  }

  /**
   * Returns the clusters without a session that may be part of a ServiceImport: those that {@link
   * ImportPartiesOptions.exporting} returns, and those that have a part.
   */
  #silent(having: readonly string[]): readonly TargetExporter[] {
    const { isLinked, exporting, serving } = this.#options;
    const clusters = [...new Set([...having, ...exporting()])].filter((cluster) => !this.#parties.has(cluster));
    const served = new Set(clusters.length === 0 ? [] : serving());
    return clusters.map((cluster) => silentExporter(cluster, served.has(cluster), isLinked(cluster)));
  }
}

/**
 * Reports whether a cluster is known to export nothing: it has no ServiceExport, or no Service of that name, or shows a
 * Service that cannot be exported.
 */
const hasLeft = ({ isKnown, serviceExport, service }: Exporter): boolean =>
  isKnown && (serviceExport === undefined || service === undefined || invalidShape(service) !== undefined);

/**
 * Returns the observed state of a cluster that has no session, but has a Link or may have one. Nothing is known about
 * its exports.
 */
const silentExporter = (cluster: string, mayExport: boolean, isLinked: boolean): TargetExporter => ({
  mayExport,
  isLinked,
  id: undefined,
  isKnown: false,
  slices: undefined,
  link: { cluster, clusterDomain: Default.clusterDomain },
  linkedAt: '',
  mode: undefined,
  anyReady: undefined,
  departed: NONE,
  isAdmitted: true,
});
