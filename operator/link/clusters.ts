/**
 * The controller of target clusters. A cluster is reconciled like any other key: all Links, and the cluster that each
 * was last served for, decide which session it must have (rule E9). A new session starts once the former one has
 * ended.
 */
import { isDeepStrictEqual } from 'node:util';
import { NOTHING_KNOWN, type TargetKnowledge } from '../failover/readiness.ts';
import { Controller } from '../runtime/controller.ts';
import type { Outcome } from '../runtime/outcome.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import type { Environment } from './environment.ts';
import { Grace } from './grace.ts';
import { Keeping } from './keeping.ts';
import { Removal, type RemovalResult } from './leftovers.ts';
import type { Link } from './link.ts';
import { type Assignment, assignmentOf, type LinkRead, type Served } from './links.ts';
import { isLinked } from './listed.ts';
import { Records } from './records.ts';
import { Roster } from './roster.ts';
import type { Session } from './session.ts';
import { type AnySession, Sessions, type SessionsOptions } from './sessions.ts';

/** Number of clusters that are reconciled at once. */
const CONCURRENCY = 8;

export interface ClustersOptions {
  readonly env: Environment;
  /** All Links as last read, by name. */
  readonly reads: ReadonlyMap<string, LinkRead>;
  /** The cluster that each Link's Lease records, by the Link's name. */
  readonly served: Served;
  /** Makes the Link of a name. It is used until the Link is deleted. */
  readonly makeLink: (name: string) => Link;
  /** Returns a Secret in the Links' namespace. */
  readonly secretOf: SessionsOptions['secretOf'];
}

export class Clusters {
  readonly #options: ClustersOptions;
  readonly #controller: Controller;
  readonly #links: Roster;
  readonly #records: Records;
  readonly #grace: Grace;
  readonly #sessions: Sessions;
  /** Clusters that a Link has named, or a Lease recorded, since the start. */
  readonly #met = new Set<string>();
  /** Clusters whose removal ended while more of their mirrors may be in namespaces that cannot be read. */
  readonly #incomplete = new Set<string>();
  /** Counts how often more of the source cluster became readable. */
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

  /** Reconciles until the signal aborts and all work has ended. Mirrors stay, and Leases are released. */
  async run(signal: AbortSignal): Promise<void> {
    for (const name of this.#options.reads.keys()) this.linkChanged(name);
    for (const cluster of this.#records.served.values()) this.add(cluster);
    await this.#controller.run(signal);
    await this.#sessions.stop();
    await this.#links.end();
    await this.#controller.forget();
  }

  /** Handles a Link that was created, changed or deleted, and has been read. */
  linkChanged(name: string): void {
    this.#enqueue(name);
    this.#links.changed(name);
  }

  /** Reconciles a cluster: it may get another Link, or lose its own. */
  add(cluster: string): void {
    this.#met.add(cluster);
    this.#controller.add(cluster);
  }

  /**
   * Handles Leases of Links that were not known before: the source cluster was restored from a backup, and what these
   * Links left is to be removed (rule E5).
   * @param served cluster that each Lease records, by the Link's name
   */
  recall(served: Served): void {
    for (const cluster of this.#records.recall(served)) this.add(cluster);
  }

  /**
   * Reports whether a Link has a cluster, or may have. It may if no Link is known at all, or if the cluster was never
   * known here: its Link may be in another namespace, or come back later.
   */
  mayHaveLink(cluster: string): boolean {
    const { reads } = this.#options;
    const isServed = [...this.#records.served.values()].includes(cluster);
    const isNamed = [...reads.values()].some(({ named }) => named === cluster);
    return reads.size === 0 || !this.#met.has(cluster) || isNamed || isServed;
  }

  /**
   * Returns what a session knows of a target Service; undefined if no Link is served for the cluster, nor will be
   * soon.
   */
  knowledge(cluster: string, key: string): TargetKnowledge | undefined {
    const isServed = this.#assignmentOf(cluster).do === 'serve';
    return this.#sessions.knowledge(cluster, key) ?? (isServed ? NOTHING_KNOWN : undefined);
  }

  /** Returns whether a member of a federated Service is ready; undefined while that is not known. */
  isMemberReady(cluster: string, key: string): boolean | undefined {
    return this.#sessions.isMemberReady(cluster, key);
  }

  /** Handles that Links were listed anew. */
  linksListed(): void {
    this.#links.listed();
  }

  /**
   * Has the status of a Link computed anew, and written if it differs from what is there.
   * @param name the Link; undefined for all of them
   */
  statusChanged(name?: string): void {
    this.#links.statusChanged(name);
  }

  /** Handles a namespace of the source cluster that was created or deleted, or whose access changed. */
  namespaceChanged(name: string, state: SourceNamespaceState): void {
    this.#sessions.namespaceChanged(name, state);
    // It may hold mirrors of a deleted Link that could not be read before.
    if (state === 'exists') this.moreReadable();
  }

  /** Continues removals that were incomplete: more can be read now. */
  moreReadable(): void {
    this.#growths += 1;
    this.#incomplete.clear();
    for (const cluster of this.#records.served.values()) this.#controller.add(cluster);
  }

  /** Passes a changed Secret to the sessions that use it. */
  secretChanged(name: string): void {
    this.#sessions.secretChanged(name);
  }

  /** Reconciles the cluster that a Link names, and the one that it was last served for. */
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
    // Whoever is in the way ends first. That takes a while, and what there must be is decided anew then.
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
        const goesOn = running === undefined || isKept || this.#sessions.serves(running, link);
        if (!goesOn) return this.#end(cluster, running);
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
          // That Link names another cluster, and needs its Lease for that.
          await this.#records.forget(assignment.link, signal);
          this.#enqueue(assignment.link);
          break;
        }
        const isUnlinked = (): Promise<boolean> => this.#records.isUnlinked(assignment.link, signal);
        const requeueAfterMs = await this.#grace.leftMs(cluster, signal, isUnlinked);
        if (requeueAfterMs > 0) return { requeueAfterMs };
        const isStillDue = isDeepStrictEqual(this.#assignmentOf(cluster), assignment);
        if (signal.aborted || !isStillDue) return { again: true };
        if (running !== undefined) return this.#end(cluster, running);
        this.#remove(cluster, assignment.link);
        break;
      }
      case 'nothing':
        if (running !== undefined) return this.#end(cluster, running);
    }
    this.#links.judge(cluster);
    return {};
  }

  #assignmentOf(cluster: string): Assignment {
    return assignmentOf(cluster, this.#options.reads, this.#records.served);
  }

  /**
   * Serves an invalid Link by the spec that its Lease records, as before a restart (rule E7).
   * @returns whether the cluster is still to be served after the Lease has been read
   */
  async #resume(cluster: string, link: LinkRead, signal: AbortSignal): Promise<boolean> {
    const last = await this.#records.lastServed(link, cluster, signal);
    const assignment = this.#assignmentOf(cluster);
    if (signal.aborted || assignment.do !== 'continue' || assignment.link !== link) return false;
    if (last !== undefined) this.#begun(cluster, this.#sessions.serve(last.settings, last.served));
    return true;
  }

  /** Records the cluster of a session, and reconciles it when its Lease is answered, recorded or replaced. */
  #begun(cluster: string, work: Session | Keeping): void {
    const { link, lease } = work;
    this.#records.set(link, cluster);
    // Then the records of other Links may go.
    for (const step of [lease.answered, lease.recorded]) void step.then(() => this.#controller.add(cluster));
    void lease.replaced.then((other) => this.#replaced(cluster, work, other));
  }

  /**
   * Takes over the cluster that a Link's Lease records, in place of what was known. After a restore of the source
   * cluster, the mirrors of that cluster are there again.
   */
  #replaced(cluster: string, session: AnySession, other: string): void {
    if (this.#sessions.get(cluster) !== session) return;
    this.#records.set(session.link, other);
    this.#controller.add(cluster);
    this.#controller.add(other);
  }

  #remove(cluster: string, name: string): void {
    const removal = this.#sessions.remove(cluster, name);
    const growths = this.#growths;
    void removal.lease.replaced.then((other) => this.#replaced(cluster, removal, other));
    void removal.run().then((result) => {
      // What could be read only while the removal gave its Lease up is still to be looked at.
      const isOverdue = result === 'incomplete' && this.#growths > growths;
      this.#removed(cluster, removal, isOverdue ? 'interrupted' : result);
    });
  }

  #removed(cluster: string, removal: Removal, result: RemovalResult): void {
    if (result === 'stopped') return;
    this.#sessions.removed(cluster, removal);
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
    // Only its Lease tells what a deleted Link left: it waits until its namespace can be read.
    if (result === 'complete' || this.#links.get(removal.link) !== undefined) this.#controller.add(cluster);
  }

  /**
   * Ends the session of a cluster, and has the cluster reconciled again. Once this resolves, the session writes
   * nothing.
   */
  async #end(cluster: string, session: AnySession): Promise<Outcome> {
    await this.#sessions.end(cluster, session);
    // The Link may be waiting for its Lease.
    this.#enqueue(session.link);
    return { again: true };
  }

  /**
   * Reports whether the Lease of a Link still records another cluster. The mirrors of that one must be removed, or
   * taken over by another Link, first.
   */
  #isBusy(name: string, cluster: string): boolean {
    const former = this.#records.served.get(name);
    if (former === undefined || former === cluster) return false;
    this.#controller.add(former);
    return true;
  }

  /**
   * Deletes the Leases of other Links that record this cluster, since it has a new Link. They stay until the Lease of
   * the new Link records it, so that a restart never finds no record. While another controller holds that Lease, they
   * stay until their Links need them for other clusters.
   */
  async #forgetOthers(cluster: string, owner: string, signal: AbortSignal): Promise<void> {
    const work = this.#sessions.get(cluster);
    const isRecorded = work === undefined || this.#sessions.isRecorded(cluster);
    const isAnothers = !isRecorded && work.lease.heldBy !== undefined;
    const isDue = (link: string): boolean => {
      const named = this.#options.reads.get(link)?.named;
      return isRecorded || (isAnothers && named !== undefined && named !== cluster);
    };
    for await (const name of this.#records.forgetOthers(cluster, owner, isDue, signal)) this.#enqueue(name);
  }
}
