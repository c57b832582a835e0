/**
 * Runs the operator while it leads. Watches the source cluster, including Links and their Secrets. Once everything has
 * been listed, starts the work for the Links, and passes later changes on to this work.
 */
import { CredentialsSecret } from '../../crds/wire.ts';
import { aborted } from '../kube/abort.ts';
import { type KubeObject, type Resource, type Secret, SECRETS, splitKey } from '../kube/objects.ts';
import { backoffMs, RETRY_BACKOFF, sleep } from '../kube/backoff.ts';
import { describe, isNotFound } from '../kube/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { FairSemaphore } from '../kube/semaphore.ts';
import { turnOf } from '../served/environment.ts';
import type { Metrics } from '../metrics/index.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { Tuning } from '../config/tuning.ts';
import { Failovers } from '../failover/failovers.ts';
import { NameClaims } from '../mirror/names.ts';
import type { ReadyCheck } from '../runtime/admin.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { MayWrite } from '../runtime/fence.ts';
import type { Interruptions } from '../runtime/interruptions.ts';
import type { Logger } from '../runtime/logger.ts';
import { Reflector } from '../runtime/reflector.ts';
import { type Sink, Store } from '../runtime/store.ts';
import { sourceHealth } from '../source/advice.ts';
import { sourceFamilies } from '../source/families.ts';
import { SourceCluster } from '../source/source.ts';
import type { Clusters } from './clusters.ts';
import { Link, LINKS } from './link.ts';
import { type LinkRead, readLinkObject, type Served } from './links.ts';
import { LinkPresence } from './presence.ts';
import { servedClusters } from './records.ts';
import type { LinkObject } from './status/writer.ts';
import { isSameLink, trimLink, trimSecret } from './trim.ts';
import { Work } from './work.ts';

const FAILOVER_TURN = turnOf('failover');

export interface ManagerOptions {
  readonly config: OperatorConfig;
  readonly tuning: Tuning;
  /** Client for the source cluster. */
  readonly client: KubeClient;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** Whether this replica certainly leads. */
  readonly mayWrite: MayWrite;
  /** Reports whether the replica of this identity certainly no longer writes. */
  readonly hasCeased: (identity: string) => boolean;
  /** Interruptions of the connection to the source cluster. */
  readonly interruptions: Interruptions;
}

export class Manager {
  readonly #options: ManagerOptions;
  readonly #source: SourceCluster;
  readonly #presence: LinkPresence;
  readonly #objects: Store<LinkObject>;
  readonly #secrets: Store<Secret>;
  readonly #reads = new Map<string, LinkRead>();
  readonly #writes: FairSemaphore;
  /** Undefined if failover is switched off. */
  readonly #failovers: Failovers | undefined;
  /** Undefined until everything has been listed. */
  #work: Work | undefined;
  #pruningReported = false;
  /** Number of calls of {@link #recall}. Only the latest call retries. */
  #recalls = 0;

  constructor(options: ManagerOptions) {
    this.#options = options;
    const { client, config, tuning, log, interruptions } = options;
    this.#objects = new Store<LinkObject>({
      trim: trimLink,
      listener: {
        changed: ({ key, before, after }) => this.#linkChanged(splitKey(key).name, before, after),
        relisted: () => this.#work?.clusters.linksListed(),
      },
    });
    this.#secrets = new Store<Secret>({
      trim: trimSecret,
      ...(config.credentialsSecrets && { partitionBy: 'name', partitions: config.credentialsSecrets }),
      listener: { changed: ({ key }) => this.#work?.clusters.secretChanged(splitKey(key).name) },
    });
    this.#source = new SourceCluster({
      client,
      namespace: config.namespace,
      mirrorNamespaces: config.mirrorNamespaces,
      timings: tuning.sourceTimings,
      interruptions,
      log,
    });
    this.#writes = new FairSemaphore(client.connections);
    this.#failovers = config.failover ? this.#makeFailovers() : undefined;
    const { namespaces } = this.#source;
    const { returnGraceMs } = tuning;
    this.#presence = new LinkPresence({
      client,
      resource: LINKS,
      namespace: config.namespace,
      namespaces,
      log,
      returnGraceMs,
    });
  }

  /**
   * Reports whether the Links, their Secrets and all that `SourceCluster` reads have been listed, and the API server
   * refuses none of these reads (rule H5). Refused reads of namespaces other than the operator's own do not count. The
   * message says which reads fail.
   */
  check(): ReadyCheck {
    const { problems } = this.#source;
    const message = [...problems.values()].map((each) => each.message).join('; ');
    const ok = this.synced && problems.refusal === undefined;
    return { name: 'synced', ok, message: message || 'the source cluster has not been listed yet' };
  }

  /** Whether the Links, their Secrets and all that `SourceCluster` reads have been listed. */
  get synced(): boolean {
    return this.#objects.synced && this.#secrets.synced && this.#source.synced;
  }

  /** Runs until the signal aborts and all work has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const running = [this.#source.run(signal), ...this.#watch(signal)];
    await Promise.all([this.#source, this.#objects, this.#secrets].map((each) => each.whenSynced(signal)));
    if (!signal.aborted) {
      const { next } = this.#options.interruptions;
      const served = await this.#findServed(signal);
      const work = await this.#makeWork(served ?? new Map(), signal);
      const { clusters } = (this.#work = work);
      this.#source.problems.onOver = () => void this.#recall(clusters, signal);
      this.#source.problems.onChange = () => clusters.statusChanged();
      if (served === undefined) {
        // Without the Leases, it is not known whether there were Links before.
        if (this.#reads.size === 0) this.#presence.vanished();
        void this.#recall(clusters, signal);
      }
      await Promise.all([work.run(signal), this.#failovers?.run(signal), this.#recallAfter(next, clusters, signal)]);
    }
    await Promise.all(running);
  }

  #watch(signal: AbortSignal): readonly Promise<void>[] {
    const { config, client, tuning, log, interruptions } = this.#options;
    const { namespace, credentialsSecrets: names } = config;
    const ofType = `type=${CredentialsSecret.type}`;
    const watch = <T extends KubeObject>(resource: Resource, sink: Sink<T>, what: string, fieldSelector?: string) => {
      const health = sourceHealth(what, namespace, log, this.#source.problems);
      return new Reflector<T>({
        client: () => client,
        resource,
        select: { namespace, fieldSelector },
        sink,
        interruptions,
        ...(tuning.sourceTimings === undefined ? {} : { timings: tuning.sourceTimings }),
        onState: (state) => {
          if (resource === LINKS && !state.connected && isNotFound(state.error)) this.#presence.vanished();
          health.report(what, state);
        },
      }).run(signal);
    };
    return [
      watch(LINKS, this.#objects.sink(), LINKS.plural),
      // RBAC can grant a watch of one Secret by its name.
      ...(names?.map((name) =>
        watch(SECRETS, this.#secrets.sink(name), `${SECRETS.plural}/${name}`, `metadata.name=${name},${ofType}`),
      ) ?? [watch(SECRETS, this.#secrets.sink(), SECRETS.plural, ofType)]),
    ];
  }

  async #makeWork(served: Served, signal: AbortSignal): Promise<Work> {
    const { client, config, tuning, metrics, events, log, mayWrite, hasCeased, interruptions } = this.#options;
    const families = await sourceFamilies(client, process.env, signal, log);
    // It is not known whether a user deleted the last Link, or all Links vanished at once.
    if (this.#reads.size === 0 && served.size > 0) this.#presence.noneFound();
    return new Work({
      env: {
        client,
        config,
        tuning,
        metrics,
        log,
        families,
        mayWrite,
        hasCeased,
        interruptions,
        presence: this.#presence,
        source: this.#source,
        claims: new NameClaims(),
        writes: this.#writes,
        failovers: this.#failovers,
      },
      events,
      reads: this.#reads,
      served,
      makeLink: (name) => this.#makeLink(name),
      secretOf: (name) => this.#secrets.get(`${config.namespace}/${name}`),
    });
  }

  #makeFailovers(): Failovers {
    const { config, tuning } = this.#options;
    return new Failovers({
      ...this.#options,
      source: this.#source,
      namespace: config.namespace,
      namespaces: config.mirrorNamespaces,
      concurrency: config.concurrency,
      timings: tuning.sourceTimings,
      backoff: tuning.retryBackoff,
      statusPeriodMs: tuning.statusPeriodMs,
      returnGraceMs: tuning.returnGraceMs,
      turn: (signal, execute) => this.#writes.run(FAILOVER_TURN, signal, execute),
      knowledge: (cluster, key) => this.#work?.clusters.knowledge(cluster, key),
      isMemberReady: (cluster, key) => this.#work?.clusters.isMemberReady(cluster, key),
    });
  }

  /**
   * Reads the records of Leases again after each interruption of the connection to the source cluster, however short.
   */
  async #recallAfter(first: AbortSignal, clusters: Clusters, signal: AbortSignal): Promise<void> {
    for (let next = first; !signal.aborted;) {
      await aborted(AbortSignal.any([next, signal]));
      ({ next } = this.#options.interruptions);
      await this.#recall(clusters, signal);
    }
  }

  /**
   * Reads the records of Leases, and retries until Leases can be listed. While the source cluster was unreachable, it
   * might have been restored from a backup that holds leftovers of deleted Links.
   */
  async #recall(clusters: Clusters, signal: AbortSignal): Promise<void> {
    const recall = (this.#recalls += 1);
    for (let attempt = 0; recall === this.#recalls && !signal.aborted; attempt += 1) {
      const served = await this.#findServed(signal);
      if (served !== undefined) {
        if (!signal.aborted) clusters.recall(served);
        return;
      }
      await sleep(backoffMs(attempt, RETRY_BACKOFF, Math.random), signal);
    }
  }

  /**
   * Returns the cluster that each Link's Lease records. Key: name of the Link. Leases of deleted Links are included.
   * Undefined if Leases cannot be listed.
   */
  async #findServed(signal: AbortSignal): Promise<Served | undefined> {
    const { client, config, log } = this.#options;
    try {
      return await servedClusters(client, config.namespace, signal);
    } catch (error) {
      if (!signal.aborted) {
        log.warn(
          { error: describe(error) },
          'Leases cannot be listed; mirrors that deleted Links left are not removed yet',
        );
      }
      return undefined;
    }
  }

  #linkChanged(name: string, before: LinkObject | undefined, after: LinkObject | undefined): void {
    if (isSameLink(before, after)) {
      // Only fields that no session depends on have changed, for example by our own write of the status.
      this.#work?.clusters.statusChanged(name);
      return;
    }
    const isMadeAnew = after !== undefined && before !== undefined && after.metadata.uid !== before.metadata.uid;
    // One list can show both that a Link is deleted and that a new Link has its name. Findings about the old Link do
    // not apply to the new one.
    if (isMadeAnew) this.#linkChanged(name, before, undefined);
    const former = this.#reads.get(name)?.named;
    if (after === undefined) this.#reads.delete(name);
    else this.#reads.set(name, readLinkObject(after));
    if (former !== undefined) this.#work?.clusters.add(former);
    const named = [former, this.#reads.get(name)?.named].filter((cluster) => cluster !== undefined);
    this.#work?.linkChanged(name, new Set(named));
  }

  #makeLink(name: string): Link {
    const { client, config, tuning, metrics, events, log, mayWrite } = this.#options;
    const { namespace } = config;
    const link: Link = new Link({
      name,
      namespace,
      client,
      metrics,
      events,
      log,
      current: () => this.#objects.get(`${namespace}/${name}`),
      wrote: (written, before) => this.#objects.wroteStatus(written, before),
      onPruned: () => this.#reportPruning(name, link),
      statusPeriodMs: tuning.statusPeriodMs,
      mayWrite,
    });
    return link;
  }

  #reportPruning(name: string, link: Link): void {
    if (this.#pruningReported) return;
    this.#pruningReported = true;
    const message =
      "the installed Link CRD, Linkerd's own, drops the fields that Linkspan adds to spec and status; mirroring works without them. To install Linkspan's CRD, run `linkspan crds | kubectl apply --server-side --force-conflicts -f -`";
    this.#options.log.warn({ link: name }, message);
    link.event('Warning', 'FieldsPruned', message);
  }
}
