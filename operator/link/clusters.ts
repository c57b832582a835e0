/**
 * What works for each target cluster: one session that serves it, one that removes what is left of it, or none (rule E9).
 * A cluster is reconciled like anything else: from all Links, and what each was served for, to what should work for it.
 */
import type { LinkSettings } from '../../crds/index.ts';
import type { Secret } from '../kube/objects.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import type { Environment, LinkReport } from './environment.ts';
import { forgetLease, Removal, type RemovalResult } from './leftovers.ts';
import type { Link } from './link.ts';
import { acceptedOf, assignmentOf, type LinkRead, ownerOf, type Served } from './links.ts';
import { Session } from './session.ts';

/** Clusters reconciled at once. */
const CONCURRENCY = 8;
/** How long a cluster may be without a Link before what is left of it is removed: a rename takes a moment. */
const REMOVAL_GRACE_MS = 2_000;

export interface ClustersOptions {
  readonly env: Environment;
  /** All Links as last read, by name. */
  readonly reads: ReadonlyMap<string, LinkRead>;
  /** By Link, the cluster that its Lease records. */
  readonly served: Served;
  /** The Link of a name, as long as there is one. */
  readonly makeLink: (name: string) => Link;
  /** A Secret in the Links' namespace. */
  readonly secretOf: (name: string) => Secret | undefined;
}

export class Clusters {
  readonly #options: ClustersOptions;
  readonly #controller: Controller;
  readonly #links = new Map<string, Link>();
  /** By cluster: what serves it, or removes what is left of it. */
  readonly #sessions = new Map<string, Session | Removal>();
  readonly #served: Map<string, string>;
  /** By cluster that has no Link any more: when its mirrors may be removed, on the monotonic clock. */
  readonly #removableMs = new Map<string, number>();

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

  /** Reconciles until the signal aborts and everything has come to rest; mirrors stay, Leases are released. */
  async run(signal: AbortSignal): Promise<void> {
    for (const name of this.#options.reads.keys()) this.linkChanged(name);
    for (const cluster of this.#served.values()) this.#controller.add(cluster);
    await this.#controller.run(signal);
    await Promise.all([...this.#sessions.values()].map((each) => each.stop('release')));
    for (const link of this.#links.values()) link.end();
    await this.#controller.forget();
  }

  /** A Link was made, changed or deleted, and has been read. */
  linkChanged(name: string): void {
    this.#enqueue(name);
    if (this.#options.reads.has(name)) this.#judge(name);
    else {
      this.#links.get(name)?.end();
      this.#links.delete(name);
    }
  }

  /** Another Link may get this cluster, or lose it. */
  add(cluster: string): void {
    this.#controller.add(cluster);
  }

  /** The status of a Link was written, by us or by others. */
  statusChanged(name: string): void {
    this.#links.get(name)?.statusChanged();
  }

  /** A namespace of the source cluster came or went, can be read or cannot any more. */
  namespaceChanged(name: string, state: SourceNamespaceState): void {
    for (const session of this.#sessions.values()) session.namespaceChanged(name, state);
    // What a deleted Link left may be in it, where it could not be read before.
    if (state === 'exists') for (const cluster of this.#served.values()) this.#controller.add(cluster);
  }

  secretChanged(name: string): void {
    for (const session of this.#sessions.values()) {
      if (session instanceof Session && session.settings.credentialsSecret === name) this.#giveSecret(session);
    }
  }

  /** Reconciles the clusters that a Link has to do with: the one it names, and the one it was served for. */
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

  /** From all Links to what should work for one cluster. */
  async #reconcile(cluster: string, signal: AbortSignal): Promise<Outcome> {
    const assignment = assignmentOf(cluster, this.#options.reads, this.#served);
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
        await this.#forgetOthers(cluster, assignment.link, signal);
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
    for (const { name, named } of this.#options.reads.values()) if (named === cluster) this.#judge(name);
    return {};
  }

  /** How long the mirrors of a cluster that has no Link stay for another to take over, in milliseconds. */
  #graceMs(cluster: string): number {
    const now = performance.now();
    const { removalGraceMs = REMOVAL_GRACE_MS } = this.#options.env.tuning;
    const dueMs = this.#removableMs.get(cluster) ?? now + removalGraceMs;
    this.#removableMs.set(cluster, dueMs);
    return Math.max(0, dueMs - now);
  }

  #serve(cluster: string, settings: LinkSettings): void {
    const { name } = settings;
    const session = new Session(settings, this.#options.env, this.#linkOf(name));
    this.#sessions.set(cluster, session);
    this.#served.set(name, cluster);
    this.#linkOf(name).work = session;
    session.start();
    this.#giveSecret(session);
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
    this.#removableMs.delete(cluster);
    const link = this.#links.get(removal.link);
    if (link !== undefined) link.work = undefined;
    // What is left of a Link that is gone is known by its Lease alone, and waits until its namespace can be read. A Link
    // that names another cluster needs its Lease.
    if (result === 'incomplete' && link === undefined) return;
    this.#served.delete(removal.link);
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
    // What its Lease records stays known until that is certain to be gone. The Link may have waited for its Lease.
    this.#enqueue(session.link);
  }

  /** Whether a Link's Lease is in use for another cluster, or records one whose mirrors are to be removed first. */
  #isBusy(name: string, cluster: string): boolean {
    const former = this.#served.get(name);
    if (former === undefined || former === cluster) return false;
    this.#controller.add(former);
    // The record of one that nobody has, and that may not be removed, is given up for the new one.
    return assignmentOf(former, this.#options.reads, this.#served).do !== 'nothing' || this.#isAtWork(former, name);
  }

  #isAtWork(cluster: string, link: string): boolean {
    return this.#sessions.get(cluster)?.link === link;
  }

  /** Other Links' Leases record the cluster no more: it has another Link now. */
  async #forgetOthers(cluster: string, owner: string, signal: AbortSignal): Promise<void> {
    for (const [name, of] of [...this.#served]) {
      if (of !== cluster || name === owner) continue;
      await forgetLease(name, this.#options.env, signal);
      if (this.#served.get(name) === cluster) this.#served.delete(name);
      this.#enqueue(name);
    }
  }

  /** Says of a Link whether it is accepted. */
  #judge(name: string): void {
    const read = this.#options.reads.get(name);
    if (read === undefined) return;
    const cluster = read.settings?.cluster;
    const owner = cluster === undefined ? undefined : ownerOf(cluster, this.#options.reads.values(), this.#served);
    this.#linkOf(name).accept(acceptedOf(read, owner), cluster);
  }
}

/** For the removal of what a Link left that does not exist any more: there is no status, and no object for Events. */
const NOBODY: LinkReport = { statusChanged: () => undefined, event: () => undefined };
