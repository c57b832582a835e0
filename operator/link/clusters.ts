/**
 * Controller of target clusters: its keys are cluster names. Which session a cluster must have depends on all Links,
 * and on the cluster that the Lease of each Link records (rule E9). A new session of a cluster starts only once the
 * previous one has ended.
 */
import { isDeepStrictEqual } from 'node:util';
import { NOTHING_KNOWN, type TargetKnowledge } from '../failover/readiness.ts';
import type { Seniority } from '../mirror/names.ts';
import { Controller } from '../runtime/controller.ts';
import type { Outcome } from '../runtime/outcome.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import type { Environment } from './environment.ts';
import { Grace } from './grace.ts';
import { Keeping } from './keeping.ts';
import { Removal, type RemovalResult } from './leftovers.ts';
import type { Link } from './link.ts';
import {
  type Assignment,
  assignmentOf,
  importingClusters,
  type LinkRead,
  selectingClusters,
  seniorityOf,
  type Served,
} from './links.ts';
import { isLinked } from './listed.ts';
import { Records } from './records.ts';
import { Roster } from './roster.ts';
import { Session } from './session.ts';
import { type AnySession, Sessions, type SessionsOptions } from './sessions.ts';

/** Number of clusters that are reconciled at once. */
const CONCURRENCY = 8;

export interface ClustersOptions {
  readonly env: Environment;
  /** All Links as last read. Key: name of the Link. */
  readonly reads: ReadonlyMap<string, LinkRead>;
  /** The cluster that each Link's Lease recorded when the operator started. Key: name of the Link. */
  readonly served: Served;
  /** Creates a {@link Link} with this name. It is used until the Link of this name is deleted. */
  readonly makeLink: (name: string) => Link;
  /**
   * Returns a credentials Secret in the Links' namespace. Undefined if no Secret of the credentials type has this name,
   * or if the setting `credentialsSecrets` is set and does not list the name.
   */
  readonly secretOf: SessionsOptions['secretOf'];
}

export class Clusters {
  readonly #options: ClustersOptions;
  readonly #controller: Controller;
  readonly #links: Roster;
  readonly #records: Records;
  readonly #grace: Grace;
  readonly #sessions: Sessions;
  /** Clusters that a Link has named, or a Lease has recorded, since the operator started. */
  readonly #met = new Set<string>();
  /** Clusters whose removal ended incomplete: objects that cannot be read yet might be left. */
  readonly #incomplete = new Set<string>();
  /**
   * Clusters that got no session, because the Link that has the cluster could be served only by the spec that its Lease
   * records, and the Lease recorded no such spec. The Link was invalid, or counted as invalid because it exchanged
   * clusters with other Links (exchanged.ts).
   */
  readonly #withoutSpec = new Set<string>();
  /** Number of calls of {@link moreReadable}. It shows whether more became readable while a removal ran. */
  #growths = 0;

  constructor(options: ClustersOptions) {
    const { env, reads, makeLink, secretOf } = options;
    this.#options = options;
    this.#records = new Records(options.served, env);
    this.#links = new Roster({ reads, served: this.#records.served, makeLink });
    this.#sessions = new Sessions({ env, links: this.#links, secretOf });
    this.#grace = new Grace({
      presence: env.presence,
      isLinked: (cluster, signal) => isLinked(cluster, this.#records.served, env, signal),
      removalGraceMs: env.tuning.removalGraceMs,
    });
    this.#controller = new Controller({
      name: 'links',
      reconcile: (cluster, signal) => this.#reconcile(cluster, signal),
      concurrency: CONCURRENCY,
      metrics: env.metrics,
      log: env.log,
      backoff: env.tuning.retryBackoff,
    });
  }

  /** Reconciles until the signal aborts. Resolves once all work has ended. Mirrors stay, and Leases are released. */
  async run(signal: AbortSignal): Promise<void> {
    for (const name of this.#options.reads.keys()) this.linkChanged(name);
    for (const cluster of this.#records.served.values()) this.add(cluster);
    await this.#controller.run(signal);
    await this.#sessions.stop();
    await this.#links.end();
    await this.#controller.forget();
  }

  /** Handles a Link that was created, changed or deleted. The option `reads` already shows the change. */
  linkChanged(name: string): void {
    this.#enqueue(name);
    // The clusters of other Links whose Leases record the cluster of this Link are enqueued too: while this Link is
    // suspended, it can prevent those Links from being served for another cluster.
    const cluster = this.#options.reads.get(name)?.named;
    for (const [other, of] of this.#records.served) if (of === cluster) this.#enqueue(other);
    this.#links.changed(name);
    this.#sessions.linkChanged(name);
  }

  /** Enqueues a cluster that might have gained or lost a Link. */
  add(cluster: string): void {
    this.#met.add(cluster);
    this.#controller.add(cluster);
  }

  /**
   * Adds the record of each Lease whose record was not known before, for example after a restore of the source cluster
   * from a backup. Reconciles the clusters of the added records, so that mirrors without a Link are removed (rule E5).
   * @param served the cluster that each Lease records now. Key: name of the Link
   */
  recall(served: Served): void {
    for (const cluster of this.#records.recall(served)) this.add(cluster);
  }

  /**
   * Reports whether a cluster has a Link, or might have one. True in each of these cases:
   * - A Link names the cluster.
   * - A Lease still records the cluster.
   * - No Link at all is known.
   * - No Link has named the cluster, and no Lease has recorded it, since the operator started. Its Link might be in
   *   another namespace, or might come back later.
   */
  mayHaveLink(cluster: string): boolean {
    const { reads } = this.#options;
    const isServed = [...this.#records.served.values()].includes(cluster);
    const isNamed = [...reads.values()].some(({ named }) => named === cluster);
    return reads.size === 0 || !this.#met.has(cluster) || isNamed || isServed;
  }

  /** Reports whether a Link has named a cluster, or a Lease has recorded it, since the operator started. */
  hasMet(cluster: string): boolean {
    return this.#met.has(cluster);
  }

  /**
   * Returns true if at least one Link is known, and since the operator started, no Link has named this cluster and no
   * Lease has recorded it.
   */
  isStranger(cluster: string): boolean {
    return this.#options.reads.size > 0 && !this.#met.has(cluster);
  }

  /**
   * Returns the age and the name of the Link that has a cluster. If no Link has the cluster, returns those of the
   * oldest Link that names it; undefined if no Link names it.
   */
  seniorityOf(cluster: string): Seniority | undefined {
    return seniorityOf(cluster, this.#options.reads.values(), this.#records.served);
  }

  /**
   * Returns what is known of a target Service:
   * - If a session serves a Link for the cluster: what the session knows.
   * - If no session does, but a Link is to be served for the cluster, or might be ({@link Clusters.#mayResume}):
   *   {@link NOTHING_KNOWN}.
   * - In all other cases: undefined.
   * @param key `namespace/name` of the target Service
   */
  knowledge(cluster: string, key: string): TargetKnowledge | undefined {
    const isServed = this.#assignmentOf(cluster).do === 'serve' || this.#mayResume(cluster);
    return this.#sessions.knowledge(cluster, key) ?? (isServed ? NOTHING_KNOWN : undefined);
  }

  /**
   * Returns whether a member of a federated Service is ready; undefined if that is not known, or if no Link is served
   * for the cluster.
   */
  isMemberReady(cluster: string, key: string): boolean | undefined {
    return this.#sessions.isMemberReady(cluster, key);
  }

  /**
   * Clusters with a Link that selects members of federated Services, and is to be served by its present spec. Also
   * includes each cluster for which it is not known yet what its Link selects ({@link Clusters.#mayResume}).
   */
  get selecting(): readonly string[] {
    return [...selectingClusters(this.#options.reads, this.#records.served), ...this.#resuming()];
  }

  /**
   * Clusters with a Link that imports the target's ServiceExports, and is to be served by its present spec. Also
   * includes each cluster for which it is not known yet whether its Link imports them ({@link Clusters.#mayResume}).
   */
  get importing(): readonly string[] {
    return [...importingClusters(this.#options.reads, this.#records.served), ...this.#resuming()];
  }

  #resuming(): readonly string[] {
    return [...new Set(this.#records.served.values())].filter((cluster) => this.#mayResume(cluster));
  }

  /**
   * Reports whether the operator still has to find out how to serve the Link that has a cluster. This is so if all of
   * these are true, for example after a restart:
   * - The Link is invalid, or counts as invalid because it exchanges clusters with other Links (exchanged.ts).
   * - The Link is not suspended.
   * - The cluster has no session.
   * - The Lease of the Link has not been read yet.
   *
   * Until the Lease has been read, it is not known what the Link selects: the Lease might record a spec by which the
   * Link is served again (rule E7).
   */
  #mayResume(cluster: string): boolean {
    const isRead = this.#sessions.get(cluster) !== undefined || this.#withoutSpec.has(cluster);
    return !isRead && this.#assignmentOf(cluster).do === 'continue';
  }

  /** Called when Links were listed anew. */
  linksListed(): void {
    this.#links.listed();
  }

  /**
   * Schedules a write of the status of a Link. Called when the status might have changed.
   * @param name name of the Link; undefined for all Links
   */
  statusChanged(name?: string): void {
    this.#links.statusChanged(name);
  }

  /**
   * Called when a namespace of the source cluster was created or deleted, or when the right to read it has changed.
   */
  namespaceChanged(name: string, state: SourceNamespaceState): void {
    this.#sessions.namespaceChanged(name, state);
    // The namespace might hold mirrors of a deleted Link that could not be read before.
    if (state === 'exists') this.moreReadable();
  }

  /**
   * Starts incomplete removals again. Called when more of the source cluster can be read. A removal that runs now, and
   * ends incomplete, is repeated as well.
   */
  moreReadable(): void {
    this.#growths += 1;
    this.#incomplete.clear();
    for (const cluster of this.#records.served.values()) this.#controller.add(cluster);
  }

  /** Passes a changed Secret to the sessions that use it. */
  secretChanged(name: string): void {
    this.#sessions.secretChanged(name);
  }

  /** Enqueues the cluster that a Link names, and the one that its Lease records. */
  #enqueue(name: string): void {
    for (const cluster of [this.#options.reads.get(name)?.named, this.#records.served.get(name)]) {
      if (cluster !== undefined) this.add(cluster);
    }
  }

  /** Gives one cluster the session that it must have. */
  async #reconcile(cluster: string, signal: AbortSignal): Promise<Outcome> {
    const assignment = this.#assignmentOf(cluster);
    const running = this.#sessions.get(cluster);
    if (assignment.do !== 'remove') {
      this.#grace.end(cluster);
      this.#incomplete.delete(cluster);
    }
    // A session that must not stay ends first. Ending takes a while, so the assignment is computed again afterwards.
    switch (assignment.do) {
      case 'serve': {
        const { settings, served } = assignment;
        const isRecorded = (this.#records.served.get(settings.name) ?? cluster) === cluster;
        if (running !== undefined && isRecorded && this.#sessions.serves(running, settings)) {
          this.#sessions.update(running, settings, served);
        } else {
          if (running !== undefined) return this.#end(cluster, running);
          if (this.#isBusy(settings.name, cluster)) break;
          this.#begun(cluster, this.#sessions.serve(settings, served));
        }
        await this.#forgetOthers(cluster, settings.name, signal);
        break;
      }
      case 'continue': {
        const { link } = assignment;
        const isKept = running instanceof Keeping && running.link === link.name;
        if (running !== undefined && this.#sessions.serves(running, link)) this.#sessions.confirm(running, link);
        else if (running !== undefined && !isKept) return this.#end(cluster, running);
        if (running === undefined && !(await this.#resume(cluster, link, signal))) return { again: true };
        await this.#forgetOthers(cluster, link.name, signal);
        break;
      }
      case 'keep':
        if (running !== undefined) return this.#end(cluster, running);
        this.#begun(cluster, this.#sessions.keep(cluster, assignment.link));
        break;
      case 'remove': {
        if (running instanceof Removal && running.link === assignment.link) break;
        if (this.#incomplete.has(cluster) && this.#links.get(assignment.link) !== undefined) {
          // The Link that left the mirrors still exists, and needs its Lease for another cluster.
          await this.#records.forget(assignment.link, signal);
          this.#enqueue(assignment.link);
          break;
        }
        // A running session renews the Lease even after the Link is deleted. `goneMs` then shows whether a record of
        // `linkspan unlink` is about this Link.
        const isUnlinked = (goneMs: number): Promise<boolean> =>
          this.#records.isUnlinked(assignment.link, running && goneMs, signal);
        const requeueAfterMs = await this.#grace.leftMs(cluster, signal, isUnlinked);
        // A Link that waited for a suspended Link might wait for this removal now.
        this.#links.judge(cluster);
        if (requeueAfterMs > 0) return { requeueAfterMs };
        const isStillDue = isDeepStrictEqual(this.#assignmentOf(cluster), assignment);
        if (signal.aborted || !isStillDue) return { again: true };
        if (running !== undefined) return this.#end(cluster, running);
        this.#remove(cluster, assignment.link);
        break;
      }
      case 'nothing':
        if (running === undefined) break;
        if (running instanceof Session) await running.revokeConfirmation();
        return this.#end(cluster, running);
    }
    this.#links.judge(cluster);
    // The Lease might still record a confirmed loss, because no session ran when the Link was suspended, or because the
    // session did not hold the Lease.
    const left = assignment.do === 'nothing' ? assignment.suspended : undefined;
    if (left !== undefined) await this.#records.revokeConfirmation(left, signal);
    return {};
  }

  #assignmentOf(cluster: string): Assignment {
    return assignmentOf(cluster, this.#options.reads, this.#records.served);
  }

  /**
   * Serves a Link by the spec that its Lease records: the spec by which the Link was last served, for example before a
   * restart (rule E7). Used for a Link that is invalid, or that counts as invalid because it exchanges clusters with
   * other Links (exchanged.ts). Starts no session if the Lease records no such spec.
   * @returns false if the Link, or the decision about the cluster, changed while the Lease was read, or if the signal
   *   aborted. True in all other cases, even if no session was started
   */
  async #resume(cluster: string, link: LinkRead, signal: AbortSignal): Promise<boolean> {
    const last = await this.#records.lastServed(link, cluster, signal);
    const assignment = this.#assignmentOf(cluster);
    if (signal.aborted || assignment.do !== 'continue' || assignment.link !== link) return false;
    if (last === undefined) this.#foundNoSpec(cluster);
    else this.#begun(cluster, this.#sessions.serve(last.settings, last.served));
    return true;
  }

  /** Notes that a Lease records no spec, and notifies whoever took the cluster for one that is not known yet. */
  #foundNoSpec(cluster: string): void {
    if (this.#withoutSpec.has(cluster)) return;
    this.#withoutSpec.add(cluster);
    this.#sessions.forgotten(cluster);
    this.#options.env.imports?.addAll();
  }

  /**
   * Notes that the Lease of a new session records, or will record, the session's cluster. The cluster is reconciled
   * again in each of these cases:
   * - It becomes known who holds the Lease.
   * - The Lease records the cluster.
   * - The Lease turns out to record a different cluster.
   */
  #begun(cluster: string, work: Session | Keeping): void {
    const { link, lease } = work;
    this.#withoutSpec.delete(cluster);
    this.#records.set(link, cluster);
    // Once the Lease records the cluster, the Leases of other Links that record the same cluster can be deleted.
    for (const step of [lease.answered, lease.recorded]) void step.then(() => this.#controller.add(cluster));
    void lease.replaced.then((other) => this.#replaced(cluster, work, other));
  }

  /**
   * Handles a Lease that turns out to record a different cluster than the one of its session. This happens after a
   * restore of the source cluster from a backup, which brings back the mirrors of that different cluster.
   */
  #replaced(cluster: string, session: AnySession, other: string): void {
    if (this.#sessions.get(cluster) !== session) return;
    this.#records.set(session.link, other);
    this.#controller.add(cluster);
    this.#controller.add(other);
  }

  #remove(cluster: string, name: string): void {
    this.#withoutSpec.delete(cluster);
    const removal = this.#sessions.remove(cluster, name);
    const growths = this.#growths;
    void removal.lease.replaced.then((other) => this.#replaced(cluster, removal, other));
    void removal.run().then((result) => {
      // The removal might not have looked at objects that became readable while it ran.
      const isOverdue = result === 'incomplete' && this.#growths > growths;
      this.#removed(cluster, removal, isOverdue ? 'interrupted' : result);
    });
  }

  #removed(cluster: string, removal: Removal, result: RemovalResult): void {
    if (result === 'stopped') return;
    this.#sessions.removed(cluster, removal, result === 'complete');
    if (result === 'interrupted') {
      this.#controller.add(cluster);
      return;
    }
    this.#grace.end(cluster);
    if (result === 'complete') {
      this.#incomplete.delete(cluster);
      this.#records.delete(removal.link);
      this.#enqueue(removal.link);
    } else this.#incomplete.add(cluster);
    // The leftovers of a deleted Link wait until more can be read. The Lease stays, because it is their only record.
    if (result === 'complete' || this.#links.get(removal.link) !== undefined) this.#controller.add(cluster);
  }

  /**
   * Ends the session of a cluster, and has the cluster reconciled again. Once this resolves, the session writes
   * nothing.
   */
  async #end(cluster: string, session: AnySession): Promise<Outcome> {
    await this.#sessions.end(cluster, session);
    // The Link might be waiting for its Lease in order to be served for another cluster.
    this.#enqueue(session.link);
    return { again: true };
  }

  /**
   * Reports whether a Link must wait before it can be served for a cluster, because its Lease still records a former
   * cluster. If the Link must wait, enqueues the former cluster. The record of the former cluster is dropped in each of
   * these cases:
   * - The mirrors of the former cluster have been removed, as far as they can be read.
   * - Another Link has the former cluster, or keeps the mirrors of the former cluster.
   */
  #isBusy(name: string, cluster: string): boolean {
    const former = this.#records.served.get(name);
    if (former === undefined || former === cluster) return false;
    this.#controller.add(former);
    return true;
  }

  /**
   * Deletes the Leases that record a cluster, but belong to Links other than the one that has the cluster now. A Lease
   * that somebody else holds stays, but its record no longer counts. Which of these Leases are deleted depends on the
   * session of the cluster:
   * - If there is no session: all of them.
   * - If the session holds its Lease or has held it: all of them, because the session's Lease records the cluster.
   * - If the session has not held its Lease yet, and somebody else holds that Lease: only the Leases of Links that name
   *   a different cluster now. These Links cannot be served until their Leases stop recording this cluster.
   * - If the session has not held its Lease yet, and nobody else is known to hold it: none yet, so that an operator
   *   that restarts always finds a record of the cluster.
   * @param owner name of the Link that has the cluster now
   */
  async #forgetOthers(cluster: string, owner: string, signal: AbortSignal): Promise<void> {
    const work = this.#sessions.get(cluster);
    const isRecorded = work === undefined || this.#sessions.isRecorded(cluster);
    const isAnothers = !isRecorded && work.lease.heldBy !== undefined;
    const isDue = (link: string): boolean => {
      const named = this.#options.reads.get(link)?.named;
      return isRecorded || (isAnothers && named !== undefined && named !== cluster);
    };
    for await (const name of this.#records.forgetOthers(cluster, owner, isDue, signal)) {
      // The status of the other Link lists mirrors that belong to the owner now.
      this.#links.get(name)?.cleared();
      this.#enqueue(name);
    }
  }
}
