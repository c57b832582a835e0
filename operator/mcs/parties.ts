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
   * Reports whether a cluster has a Link, or might have one. If so, the existing objects of the cluster stay even while
   * it has no session.
   */
  readonly mayHaveLink: (cluster: string) => boolean;
  /**
   * Reports whether a Link of this operator has named a cluster, or a Lease has recorded the cluster, at any time since
   * the operator started. Suspended and invalid Links count. If the result is false, the cluster might belong to
   * another operator (rule K7).
   */
  readonly isLinked: (cluster: string) => boolean;
  /**
   * Returns the target clusters of all Links that import ServiceExports (`spec.serviceExports`). Suspended Links count,
   * and so does every invalid Link that names a cluster.
   */
  readonly exporting: () => Iterable<string>;
  /**
   * Returns the target clusters whose exports a session reads, will read, or might read:
   * - The cluster of each Link that imports ServiceExports, and that is served by its present spec or will be. This
   *   leaves out suspended and invalid Links, Links that do not have the cluster that they name (rule E9), and Links
   *   that a suspended Link keeps from leaving their former cluster (`FormerClusterSuspended`).
   * - Each cluster for which it is not known yet whether its Link imports ServiceExports: the Link is invalid, or
   *   exchanges clusters with other Links, so that it can be served only by the spec that its Lease records (rule E7),
   *   and this Lease has not been read yet. The clusters of suspended Links are left out.
   */
  readonly serving: () => Iterable<string>;
  /**
   * Finds out which clusters are strangers (strangers.ts), so that their parts can end. @default - strangers keep their
   * parts
   */
  readonly search?: LinkSearch | undefined;
  /**
   * How long the part of a stranger is kept at least, in milliseconds, so that the Link of the stranger can come back.
   * @default 600000
   */
  readonly returnGraceMs?: number | undefined;
  /**
   * Grace period of a pod with a hostname of its own: how long the Service that stands for the pod is kept at least
   * after the pod is gone, in milliseconds.
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
   * might join again.
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

  /**
   * Returns the keys of all exports. Also returns the keys of the ServiceImports that a target with a session is part
   * of, except those that another operator serves (rule K7).
   */
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
   * @param isOurs whether this operator serves the ServiceImport, and may write it
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
   * Returns the clusters whose exports or ids are not known. The value is how much longer the grace period of the
   * cluster lasts, in milliseconds; 0 or less once the period is over.
   */
  awaited({ local, targets }: Pick<ObservedImport, 'local' | 'targets'>): ReadonlyMap<Exporter, number> {
    const { settleMs = SETTLE_MS } = this.#options;
    const unknown = [local, ...targets].filter(({ id, isKnown }) => id === undefined || !isKnown);
    return new Map(unknown.map((each) => [each, this.#sinceMs(each) + settleMs - performance.now()]));
  }

  /**
   * Forgets answers that are no longer needed, because each answer is valid for one removal only:
   * - The answer of a cluster about its export, if the cluster exports nothing and is no longer part of the
   *   ServiceImport.
   * - The answers of a target about pods, if no removal of a pod waits for an answer of the target.
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
   * Returns the pods that the target's slices no longer list but that still keep their Services
   * ({@link TargetExporter.departed}). If the grace period of a pod (`podGraceMs`) is over, asks the target to confirm
   * that the pod is gone. Once the target has confirmed it, the pod is left out of the result.
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
   * Returns the target clusters that the objects of a ServiceImport lead to, and that have a Link or might have one.
   * While no cluster has a session, the clusters of the recorded order of exports count as well, because all Links
   * might have vanished at once.
   */
  #having(standing: Standing): readonly string[] {
    const { mayHaveLink } = this.#options;
    const { derived, podServices, imported } = standing;
    const objects = [...(derived === undefined ? [] : [derived]), ...podServices, ...imported];
    const recorded = this.#parties.size > 0 ? [] : recordedClusters(standing).filter((cluster) => cluster !== '');
    return [...objects.flatMap(importedClusters), ...recorded].filter(mayHaveLink);
  }

  /**
   * Returns the observed state of the clusters without a session that might be part of a ServiceImport: those that
   * {@link ImportPartiesOptions.exporting} returns, and those of `having`.
   * @param having clusters that have a part in the ServiceImport
   */
  #silent(having: readonly string[]): readonly TargetExporter[] {
    const { isLinked, exporting, serving } = this.#options;
    const clusters = [...new Set([...having, ...exporting()])].filter((cluster) => !this.#parties.has(cluster));
    const served = new Set(clusters.length === 0 ? [] : serving());
    return clusters.map((cluster) => silentExporter(cluster, served.has(cluster), isLinked(cluster)));
  }
}

/**
 * Reports whether a cluster is known to export nothing under a key: it has no ServiceExport or no Service, or a Service
 * that cannot be exported ({@link invalidShape}).
 */
const hasLeft = ({ isKnown, serviceExport, service }: Exporter): boolean =>
  isKnown && (serviceExport === undefined || service === undefined || invalidShape(service) !== undefined);

/**
 * Returns the observed state of a cluster that has no session, but has a Link or might have one. Nothing is known about
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
