/**
 * The sessions, at most one for each target cluster (rule E9). A session serves a Link, or removes what one left. A
 * cluster is reconciled like any other key: all Links, and the cluster that each was served for, decide which session
 * there must be.
 */
import type { LinkSettings } from '../../crds/index.ts';
import type { Secret } from '../kube/objects.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import type { Environment, LinkReport } from './environment.ts';
import { forgetLease, Removal, type RemovalResult } from './leftovers.ts';
import type { Link } from './link.ts';
import { acceptedOf, assignmentOf, type LinkRead, overlapping, ownerOf, type Served } from './links.ts';
import { Session } from './session.ts';

/** Number of clusters that are reconciled at once. */
const CONCURRENCY = 8;
/** Time that a cluster may be without a Link before its mirrors are removed: a rename takes a moment. */
const REMOVAL_GRACE_MS = 2_000;
/** Time between two looks, in that time, whether Links can be there at all. */
const PRESENCE_PERIOD_MS = 500;

export interface ClustersOptions {
  readonly env: Environment;
  /** All Links as last read, by name. */
  readonly reads: ReadonlyMap<string, LinkRead>;
  /** The cluster that each Link's Lease records, by the Link's name. */
  readonly served: Served;
  /** Makes the Link of a name. It is used until the Link is deleted. */
  readonly makeLink: (name: string) => Link;
  /** Returns a Secret in the Links' namespace. */
  readonly secretOf: (name: string) => Secret | undefined;
}

export class Clusters {
  readonly #options: ClustersOptions;
  readonly #controller: Controller;
  /** Links whose names for mirrors overlap with those of each Link, as it reports them. */
  readonly #overlaps = new Map<string, string>();
  readonly #links = new Map<string, Link>();
  /** What serves each cluster, or removes what is left of it. */
  readonly #sessions = new Map<string, Session | Removal>();
  readonly #served: Map<string, string>;
  /** Sessions whose cluster their Link's Lease records. */
  readonly #recorded = new WeakSet<Session>();
  /** When each cluster was first found to have no Link, on the monotonic clock. */
  readonly #unlinkedMs = new Map<string, number>();

  constructor(options: ClustersOptions) {
    const { env, served } = options;
    this.#options = options;
    this.#served = new Map(served);
    this.#controller = new Controller({
      name: 'links',
      reconcile: (cluster, signal) => this.#reconcile(cluster, signal),
      concurrency: CONCURRENCY,
      metrics: env.metrics,
      log: env.log,
      backoff: env.tuning.retryBackoff,
    });
  }

  /** Reconciles until the signal aborts and all work has ended. Mirrors stay, and Leases are released. */
  async run(signal: AbortSignal): Promise<void> {
    for (const name of this.#options.reads.keys()) this.linkChanged(name);
    for (const cluster of this.#served.values()) this.#controller.add(cluster);
    await this.#controller.run(signal);
    await Promise.all([...this.#sessions.values()].map((each) => each.stop()));
    for (const link of this.#links.values()) link.end();
    await this.#controller.forget();
  }

  /** Handles a Link that was created, changed or deleted, and has been read. */
  linkChanged(name: string): void {
    this.#enqueue(name);
    if (this.#options.reads.has(name)) this.#judge(name);
    else {
      this.#links.get(name)?.end();
      this.#links.delete(name);
      this.#overlaps.delete(name);
    }
    for (const [other, read] of this.#options.reads) {
      if (this.#overlapsOf(read).join() !== (this.#overlaps.get(other) ?? '')) this.#judge(other);
    }
  }

  /** Reconciles a cluster that another Link may get or lose. */
  add(cluster: string): void {
    this.#controller.add(cluster);
  }

  /**
   * Takes up what Links left whose Leases are there although nothing is known of them: the source cluster was restored
   * from a backup (rule E5).
   * @param served cluster that each Lease records, by the Link's name
   */
  recall(served: Served): void {
    for (const [name, cluster] of served) {
      if (this.#served.has(name)) continue;
      this.#served.set(name, cluster);
      this.#controller.add(cluster);
    }
  }

  /** Handles that Links were listed anew. */
  linksListed(): void {
    for (const link of this.#links.values()) link.listed();
  }

  /** Handles a status of a Link that was written, by us or by others. */
  statusChanged(name: string): void {
    this.#links.get(name)?.statusChanged();
  }

  /** Handles a namespace of the source cluster that was created or deleted, or whose access changed. */
  namespaceChanged(name: string, state: SourceNamespaceState): void {
    for (const session of this.#sessions.values()) session.namespaceChanged(name, state);
    // It may hold mirrors of a deleted Link that could not be read before.
    if (state === 'exists') for (const cluster of this.#served.values()) this.#controller.add(cluster);
  }

  /** Hands a Secret that changed to the sessions that use it. */
  secretChanged(name: string): void {
    for (const session of this.#sessions.values()) {
      if (session instanceof Session && session.settings.credentialsSecret === name) this.#giveSecret(session);
    }
  }

  /** Reconciles the cluster that a Link names, and the one that it was served for. */
  #enqueue(name: string): void {
    for (const cluster of [this.#options.reads.get(name)?.named, this.#served.get(name)]) {
      if (cluster !== undefined) this.#controller.add(cluster);
    }
  }

  #giveSecret(session: Session): void {
    session.setCredentials(this.#options.secretOf(session.settings.credentialsSecret));
  }

  #linkOf(name: string): Link {
    const link = this.#links.get(name) ?? this.#options.makeLink(name);
    this.#links.set(name, link);
    return link;
  }

  /** Gives one cluster the session that all Links together call for. */
  async #reconcile(cluster: string, signal: AbortSignal): Promise<Outcome> {
    const assignment = assignmentOf(cluster, this.#options.reads, this.#served);
    const running = this.#sessions.get(cluster);
    if (assignment.do !== 'remove') this.#unlinkedMs.delete(cluster);
    switch (assignment.do) {
      case 'serve': {
        const { settings } = assignment;
        if (running instanceof Session && running.settings.uid === settings.uid) this.#update(running, settings);
        else {
          await this.#end(cluster, running);
          if (signal.aborted || this.#isBusy(settings.name, cluster)) break;
          this.#serve(cluster, settings);
        }
        await this.#forgetOthers(cluster, settings.name, signal);
        break;
      }
      case 'continue':
        if (!(running instanceof Session && running.link === assignment.link)) {
          await this.#end(cluster, running);
        }
        await this.#forgetOthers(cluster, assignment.link, signal);
        break;
      case 'remove': {
        if (running instanceof Removal && running.link === assignment.link) break;
        const requeueAfterMs = await this.#keptMs(cluster, signal);
        if (requeueAfterMs > 0) return { requeueAfterMs };
        await this.#end(cluster, running);
        if (!signal.aborted) this.#remove(cluster, assignment.link);
        break;
      }
      case 'nothing':
        await this.#end(cluster, running);
    }
    for (const { name, named } of this.#options.reads.values()) if (named === cluster) this.#judge(name);
    return {};
  }

  /**
   * Time in milliseconds after which a cluster without a Link must be looked at again, as it keeps its mirrors until
   * then; 0 if they may be removed. A Link can take them over for a while, and those of Links that vanished all at once
   * stay.
   */
  async #keptMs(cluster: string, signal: AbortSignal): Promise<number> {
    const { tuning, presence } = this.#options.env;
    const sinceMs = this.#unlinkedMs.get(cluster) ?? performance.now();
    this.#unlinkedMs.set(cluster, sinceMs);
    // Asked from the beginning: a CRD that is replaced is away for a moment only.
    const holdMs = await presence.holdMs(sinceMs, signal);
    if (holdMs > 0) return holdMs;
    const graceMs = sinceMs + (tuning.removalGraceMs ?? REMOVAL_GRACE_MS) - performance.now();
    return Math.min(Math.max(0, graceMs), PRESENCE_PERIOD_MS);
  }

  #serve(cluster: string, settings: LinkSettings): void {
    const { name } = settings;
    const session = new Session(settings, this.#options.env, this.#linkOf(name));
    this.#sessions.set(cluster, session);
    this.#served.set(name, cluster);
    this.#linkOf(name).work = session;
    session.start();
    // Only then may the records of other Links go.
    void session.answered.then(() => this.#answered(cluster, session));
    this.#giveSecret(session);
  }

  #answered(cluster: string, session: Session): void {
    if (this.#sessions.get(cluster) !== session) return;
    this.#recorded.add(session);
    this.#controller.add(cluster);
  }

  #update(session: Session, settings: LinkSettings): void {
    const { credentialsSecret } = session.settings;
    session.update(settings);
    if (credentialsSecret !== settings.credentialsSecret) this.#giveSecret(session);
  }

  #remove(cluster: string, name: string): void {
    const link = this.#links.get(name);
    const removal = new Removal(name, cluster, this.#options.env, link ?? NOBODY);
    this.#sessions.set(cluster, removal);
    if (link !== undefined) link.work = removal;
    void removal.run().then((result) => this.#removed(cluster, removal, result));
  }

  #removed(cluster: string, removal: Removal, result: RemovalResult): void {
    if (result === 'stopped') return;
    this.#sessions.delete(cluster);
    this.#unlinkedMs.delete(cluster);
    const link = this.#links.get(removal.link);
    if (link !== undefined) link.work = undefined;
    // Only its Lease tells what a deleted Link left: it waits until its namespace can be read. A Link that names another
    // cluster needs its Lease for that.
    if (result === 'incomplete' && link === undefined) return;
    this.#served.delete(removal.link);
    this.#enqueue(removal.link);
    if (result === 'complete') this.#controller.add(cluster);
  }

  /** Ends the session of a cluster. Once this resolves, the session writes nothing. */
  async #end(cluster: string, session: Session | Removal | undefined): Promise<void> {
    if (session === undefined) return;
    const link = this.#links.get(session.link);
    await session.stop();
    this.#sessions.delete(cluster);
    if (link !== undefined) link.work = undefined;
    // The Link may be waiting for its Lease.
    this.#enqueue(session.link);
  }

  /**
   * Reports whether a Link's Lease is in use for another cluster, or records one whose mirrors must be removed first.
   */
  #isBusy(name: string, cluster: string): boolean {
    const former = this.#served.get(name);
    if (former === undefined || former === cluster) return false;
    this.#controller.add(former);
    // A record of mirrors that no Link has and that may not be removed gives way to the new cluster.
    return assignmentOf(former, this.#options.reads, this.#served).do !== 'nothing' || this.#isAtWork(former, name);
  }

  #isAtWork(cluster: string, link: string): boolean {
    return this.#sessions.get(cluster)?.link === link;
  }

  /**
   * Deletes the Leases of other Links that record this cluster: it has another Link now. They stay until that Link's own
   * Lease records it, so that at no moment a restart would know of no record.
   */
  async #forgetOthers(cluster: string, owner: string, signal: AbortSignal): Promise<void> {
    const session = this.#sessions.get(cluster);
    if (session instanceof Session && !this.#recorded.has(session)) return;
    for (const [name, of] of [...this.#served]) {
      if (of !== cluster || name === owner) continue;
      await forgetLease(name, this.#options.env, signal);
      if (this.#served.get(name) === cluster) this.#served.delete(name);
      this.#enqueue(name);
    }
  }

  /** Sets whether a Link is accepted. */
  #judge(name: string): void {
    const read = this.#options.reads.get(name);
    if (read === undefined) return;
    const cluster = read.settings?.cluster;
    const owner = cluster === undefined ? undefined : ownerOf(cluster, this.#options.reads.values(), this.#served);
    const overlaps = this.#overlapsOf(read);
    this.#overlaps.set(name, overlaps.join());
    this.#linkOf(name).accept(acceptedOf(read, owner, overlaps), cluster);
  }

  #overlapsOf(read: LinkRead): readonly string[] {
    return overlapping(read, this.#options.reads.values());
  }
}

/** Report of a Link that no longer exists: it has no status, and Events have no object. */
const NOBODY: LinkReport = { statusChanged: () => undefined, event: () => undefined };
