/**
 * The operator at work, while it leads: watches Links and their Secrets, and keeps for each target cluster the one
 * session that should run (rule E9). A cluster is reconciled like anything else: from all Links, and what each was served
 * for, to a session that serves, one that removes, or none.
 */
import { Annotation, CredentialsSecret } from '../../crds/wire.ts';
import { type KubeObject, type Resource, type Secret, SECRETS, splitKey } from '../kube/objects.ts';
import { describe } from '../kube/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Metrics } from '../metrics.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { Tuning } from '../config/tuning.ts';
import { NameClaims } from '../mirror/names.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { Logger } from '../runtime/logger.ts';
import { Reflector } from '../runtime/reflector.ts';
import { type Sink, Store } from '../runtime/store.ts';
import { sourceHealth } from '../source/advice.ts';
import { sourceFamilies } from '../source/families.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import { SourceCluster } from '../source/source.ts';
import type { Environment, LinkReport } from './environment.ts';
import { forgetLease, Removal, type RemovalResult, servedClusters } from './leftovers.ts';
import { Link, LINKS } from './link.ts';
import { acceptedOf, assignmentOf, type LinkRead, ownerOf, readLinkObject } from './links.ts';
import { Session } from './session.ts';
import type { LinkObject } from './status-writer.ts';

export interface ManagerOptions {
  readonly config: OperatorConfig;
  readonly tuning: Tuning;
  /** The source cluster. */
  readonly client: KubeClient;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly log: Logger;
}

/** Clusters reconciled at once. */
const CONCURRENCY = 8;
/** How long a cluster may be without a Link before what is left of it is removed: a rename takes a moment. */
const REMOVAL_GRACE_MS = 2_000;

export class Manager {
  readonly #options: ManagerOptions;
  readonly #source: SourceCluster;
  readonly #objects: Store<LinkObject>;
  readonly #secrets: Store<Secret>;
  readonly #controller: Controller;
  readonly #reads = new Map<string, LinkRead>();
  readonly #links = new Map<string, Link>();
  /** By cluster: what serves it, or removes what is left of it. */
  readonly #sessions = new Map<string, Session | Removal>();
  /** By Link, the cluster that its Lease records. */
  #served = new Map<string, string>();
  /** By cluster that has no Link any more: when its mirrors may be removed, on the monotonic clock. */
  readonly #removableMs = new Map<string, number>();
  #env: Environment | undefined;
  #pruningReported = false;

  constructor(options: ManagerOptions) {
    this.#options = options;
    const { client, config, tuning, metrics, log } = options;
    this.#objects = new Store<LinkObject>({
      trim: trimLink,
      onChange: ({ key, before, after }) => this.#linkChanged(splitKey(key).name, before, after),
    });
    this.#secrets = new Store<Secret>({
      trim: trimSecret,
      ...(config.credentialsSecrets && { partitionBy: 'name', partitions: config.credentialsSecrets }),
      onChange: ({ key }) => this.#secretChanged(splitKey(key).name),
    });
    this.#source = new SourceCluster({
      client,
      namespace: config.namespace,
      mirrorNamespaces: config.mirrorNamespaces,
      timings: tuning.sourceTimings,
      log,
    });
    this.#controller = new Controller({
      name: 'links',
      reconcile: (cluster, signal) => this.#reconcile(cluster, signal),
      concurrency: CONCURRENCY,
      metrics,
      log,
      backoff: tuning.retryBackoff,
    });
  }

  /** Whether everything that is read in the source cluster has been listed. */
  get synced(): boolean {
    return this.#objects.synced && this.#secrets.synced && this.#source.synced;
  }

  /** Runs until the signal aborts and everything has come to rest. */
  async run(signal: AbortSignal): Promise<void> {
    const running = [this.#source.run(signal), ...this.#watch(signal)];
    await Promise.all([this.#source, this.#objects, this.#secrets].map((each) => each.whenSynced(signal)));
    if (!signal.aborted) {
      this.#env = await this.#environment(signal);
      await this.#findServed(signal);
      this.#source.namespaces.subscribe((name, state) => this.#namespaceChanged(name, state));
      for (const name of this.#reads.keys()) {
        this.#judge(name);
        this.#enqueue(name);
      }
      for (const cluster of this.#served.values()) this.#controller.add(cluster);
      await this.#controller.run(signal);
    }
    await Promise.all([...this.#sessions.values()].map((each) => each.stop('release')));
    for (const link of this.#links.values()) link.end();
    await Promise.all([...running, this.#controller.forget()]);
  }

  #watch(signal: AbortSignal): readonly Promise<void>[] {
    const { config, client, tuning, log } = this.#options;
    const { namespace, credentialsSecrets: names } = config;
    const ofType = `type=${CredentialsSecret.type}`;
    const watch = <T extends KubeObject>(resource: Resource, sink: Sink<T>, what: string, fieldSelector?: string) => {
      const health = sourceHealth(what, namespace, log);
      return new Reflector<T>({
        client: () => client,
        resource,
        select: { namespace, fieldSelector },
        sink,
        ...(tuning.sourceTimings === undefined ? {} : { timings: tuning.sourceTimings }),
        onState: (state) => health.report(what, state),
      }).run(signal);
    };
    return [
      watch(LINKS, this.#objects.sink(), LINKS.plural),
      // By name, RBAC grants it for that one Secret.
      ...(names?.map((name) =>
        watch(SECRETS, this.#secrets.sink(name), `${SECRETS.plural}/${name}`, `metadata.name=${name},${ofType}`),
      ) ?? [watch(SECRETS, this.#secrets.sink(), SECRETS.plural, ofType)]),
    ];
  }

  async #environment(signal: AbortSignal): Promise<Environment> {
    const { client, config, tuning, metrics, log } = this.#options;
    const families = await sourceFamilies(client, process.env, signal, log);
    return { client, config, tuning, metrics, log, families, source: this.#source, claims: new NameClaims() };
  }

  /** Links that were deleted, or got another cluster, while no operator ran: their Leases tell. */
  async #findServed(signal: AbortSignal): Promise<void> {
    const { client, config, log } = this.#options;
    try {
      this.#served = await servedClusters(client, config.namespace, signal);
    } catch (error) {
      if (!signal.aborted)
        log.warn({ error: describe(error) }, 'Leases cannot be listed: what deleted Links left stays');
    }
  }

  #linkChanged(name: string, before: LinkObject | undefined, after: LinkObject | undefined): void {
    if (isSame(before, after)) {
      // Our own status writes among them: they restart nothing.
      this.#links.get(name)?.statusChanged();
      return;
    }
    this.#enqueue(name);
    if (after === undefined) this.#reads.delete(name);
    else this.#reads.set(name, readLinkObject(after));
    this.#enqueue(name);
    if (after !== undefined) this.#judge(name);
    else {
      this.#links.get(name)?.end();
      this.#links.delete(name);
    }
  }

  /** Reconciles the clusters that a Link has to do with: the one it names, and the one it was served for. */
  #enqueue(name: string): void {
    if (this.#env === undefined) return;
    for (const cluster of [this.#reads.get(name)?.named, this.#served.get(name)]) {
      if (cluster !== undefined) this.#controller.add(cluster);
    }
  }

  #namespaceChanged(name: string, state: SourceNamespaceState): void {
    for (const session of this.#sessions.values()) session.namespaceChanged(name, state);
    // What a deleted Link left may be in it, where it could not be read before.
    if (state === 'exists') for (const cluster of this.#served.values()) this.#controller.add(cluster);
  }

  #secretChanged(name: string): void {
    for (const session of this.#sessions.values()) {
      if (session instanceof Session && session.settings.credentialsSecret === name) this.#giveSecret(session);
    }
  }

  #giveSecret(session: Session): void {
    const { namespace } = this.#options.config;
    session.setCredentials(this.#secrets.get(`${namespace}/${session.settings.credentialsSecret}`));
  }

  /** From all Links to what should work for one cluster. */
  async #reconcile(cluster: string, signal: AbortSignal): Promise<Outcome> {
    const assignment = assignmentOf(cluster, this.#reads, this.#served);
    const running = this.#sessions.get(cluster);
    if (assignment.do !== 'remove') this.#removableMs.delete(cluster);
    switch (assignment.do) {
      case 'serve': {
        const { settings } = assignment;
        if (running instanceof Session && running.settings.uid === settings.uid) this.#update(running, settings);
        else {
          await this.#end(cluster, running, settings.name);
          if (signal.aborted || this.#isBusy(settings.name, cluster)) break;
          this.#serve(cluster, settings);
        }
        await this.#forgetOthers(cluster, settings.name, signal);
        break;
      }
      case 'continue':
        if (!(running instanceof Session && running.link === assignment.link)) {
          await this.#end(cluster, running, assignment.link);
        }
        break;
      case 'remove':
        if (running instanceof Removal && running.link === assignment.link) break;
        if (this.#graceMs(cluster) > 0) return { requeueAfterMs: this.#graceMs(cluster) };
        await this.#end(cluster, running, assignment.link);
        if (!signal.aborted) this.#remove(cluster, assignment.link);
        break;
      case 'nothing':
        await this.#end(cluster, running, running?.link);
    }
    for (const { name, named } of this.#reads.values()) if (named === cluster) this.#judge(name);
    return {};
  }

  /** How long the mirrors of a cluster that has no Link stay for another to take over, in milliseconds. */
  #graceMs(cluster: string): number {
    const now = performance.now();
    const { removalGraceMs = REMOVAL_GRACE_MS } = this.#options.tuning;
    const dueMs = this.#removableMs.get(cluster) ?? now + removalGraceMs;
    this.#removableMs.set(cluster, dueMs);
    return Math.max(0, dueMs - now);
  }

  #serve(cluster: string, settings: Session['settings']): void {
    const { name } = settings;
    const session = new Session(settings, this.#environmentNow(), this.#linkOf(name));
    this.#sessions.set(cluster, session);
    this.#served.set(name, cluster);
    this.#linkOf(name).work = session;
    session.start();
    this.#giveSecret(session);
  }

  #update(session: Session, settings: Session['settings']): void {
    const { credentialsSecret } = session.settings;
    session.update(settings);
    if (credentialsSecret !== settings.credentialsSecret) this.#giveSecret(session);
  }

  #remove(cluster: string, name: string): void {
    const link = this.#links.get(name);
    const removal = new Removal(name, cluster, this.#environmentNow(), link ?? NOBODY);
    this.#sessions.set(cluster, removal);
    if (link !== undefined) link.work = removal;
    void removal.run().then((result) => this.#removed(cluster, removal, result));
  }

  #removed(cluster: string, removal: Removal, result: RemovalResult): void {
    if (result === 'stopped') return;
    this.#sessions.delete(cluster);
    const link = this.#links.get(removal.link);
    if (link !== undefined) link.work = undefined;
    // What is left of a Link that is gone is known by its Lease alone; one that names another cluster needs its Lease.
    if (result === 'complete' || link !== undefined) this.#served.delete(removal.link);
    this.#enqueue(removal.link);
    if (result === 'complete') this.#controller.add(cluster);
  }

  /**
   * Ends what works for a cluster. Nothing is written for it any more when this resolves.
   * @param next Link that has the cluster now; the Lease of another is deleted, since it records nothing any more
   */
  async #end(cluster: string, session: Session | Removal | undefined, next: string | undefined): Promise<void> {
    if (session === undefined) return;
    const link = this.#links.get(session.link);
    await session.stop(session.link === next ? 'release' : 'remove');
    this.#sessions.delete(cluster);
    if (link !== undefined) link.work = undefined;
    if (session.link !== next && this.#served.get(session.link) === cluster) this.#served.delete(session.link);
    // The Link may have waited for its Lease.
    this.#enqueue(session.link);
  }

  /** Whether a Link's Lease is in use for another cluster, or records one whose mirrors are to be removed first. */
  #isBusy(name: string, cluster: string): boolean {
    const former = this.#served.get(name);
    if (former === undefined || former === cluster) return false;
    this.#controller.add(former);
    const assignment = assignmentOf(former, this.#reads, this.#served);
    return assignment.do === 'remove' || this.#sessions.get(former)?.link === name;
  }

  /** Other Links' Leases record the cluster no more: it has another Link now. */
  async #forgetOthers(cluster: string, owner: string, signal: AbortSignal): Promise<void> {
    for (const [name, of] of [...this.#served]) {
      if (of !== cluster || name === owner) continue;
      await forgetLease(name, this.#environmentNow(), signal);
      this.#served.delete(name);
      this.#enqueue(name);
    }
  }

  /** Says of a Link whether it is accepted. */
  #judge(name: string): void {
    const read = this.#reads.get(name);
    if (read === undefined || this.#env === undefined) return;
    const cluster = read.settings?.cluster;
    const owner = cluster === undefined ? undefined : ownerOf(cluster, this.#reads.values(), this.#served);
    this.#linkOf(name).accept(acceptedOf(read, owner), cluster);
  }

  #linkOf(name: string): Link {
    const found = this.#links.get(name);
    if (found !== undefined) return found;
    const { client, config, tuning, metrics, events, log } = this.#options;
    const { namespace } = config;
    const link = new Link({
      name,
      namespace,
      client,
      metrics,
      events,
      log,
      current: () => this.#objects.get(`${namespace}/${name}`),
      onPruned: () => this.#reportPruning(name),
      statusPeriodMs: tuning.statusPeriodMs,
    });
    this.#links.set(name, link);
    return link;
  }

  #reportPruning(name: string): void {
    if (this.#pruningReported) return;
    this.#pruningReported = true;
    const message =
      "the installed Link CRD, Linkerd's own, drops what Linkspan adds to spec and status; mirroring works without. `linkspan crds | kubectl apply --server-side --force-conflicts -f -` installs ours";
    this.#options.log.warn({ link: name }, message);
    this.#linkOf(name).event('Warning', 'FieldsPruned', message);
  }

  #environmentNow(): Environment {
    if (this.#env === undefined) throw new Error('the manager has not started');
    return this.#env;
  }
}

/** Whether nothing that a session depends on differs between two versions of a Link. */
const isSame = (before: LinkObject | undefined, after: LinkObject | undefined): boolean =>
  before?.metadata.uid === after?.metadata.uid &&
  before?.metadata.generation === after?.metadata.generation &&
  before?.metadata.annotations?.[Annotation.confirmPrune] === after?.metadata.annotations?.[Annotation.confirmPrune];

/** For the removal of what a Link left that does not exist any more: there is no status, and no object for Events. */
const NOBODY: LinkReport = { statusChanged: () => undefined, event: () => undefined };

const trimLink = (object: LinkObject): LinkObject => {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, annotations } = object.metadata;
  return {
    ...object,
    metadata: { name, namespace, uid, resourceVersion, generation, creationTimestamp, annotations },
  } as LinkObject;
};

const trimSecret = (object: Secret): Secret => {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return { metadata: { name, namespace, uid, resourceVersion }, type: object.type, data: object.data } as Secret;
};
