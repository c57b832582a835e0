/**
 * Starts and ends sessions, at most one for each target cluster, and passes changes on to them. A session serves a
 * Link, keeps mirrors for an invalid Link, or removes what a Link left. `clusters.ts` decides which session a cluster
 * must have.
 */
import type { LinkSettings } from '../../crds/index.ts';
import { mirrorName } from '../../crds/wire.ts';
import type { TargetKnowledge } from '../failover/readiness.ts';
import type { KeptSecret } from '../kube/keeper.ts';
import { splitKey } from '../kube/objects.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import { PROBE_KEY } from '../source/owner.ts';
import type { Environment } from './environment.ts';
import type { LinkReport } from '../served/environment.ts';
import { Keeping } from './keeping.ts';
import { Removal } from './leftovers.ts';
import type { LinkRead } from './links.ts';
import type { Roster } from './roster.ts';
import type { ServedSpec } from './lease/served-spec.ts';
import { Session } from './session.ts';

/** A session of any kind. */
export type AnySession = Session | Keeping | Removal;

export interface SessionsOptions {
  readonly env: Environment;
  /** The Links. The `work` of each Link is set to its session. */
  readonly links: Pick<Roster, 'get' | 'of'>;
  /**
   * Returns a credentials Secret in the Links' namespace. Undefined if no Secret of the credentials type has this name,
   * or if the setting `credentialsSecrets` is set and does not list the name.
   */
  readonly secretOf: (name: string) => KeptSecret | undefined;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, AnySession>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Returns the session of a cluster; undefined if it has none. */
  get(cluster: string): AnySession | undefined {
    return this.#sessions.get(cluster);
  }

  /**
   * Reports whether the session of a cluster holds, or has held, the Lease of its Link, so that the Lease records the
   * cluster. False for a removal, and if the cluster has no session.
   */
  isRecorded(cluster: string): boolean {
    const work = this.#sessions.get(cluster);
    return work !== undefined && !(work instanceof Removal) && work.lease.isRecorded;
  }

  /**
   * Starts a session that serves a Link, and records on the Link's Lease the spec by which the Link is served. The
   * cluster must not have a session.
   */
  serve(settings: LinkSettings, served: ServedSpec): Session {
    const { env, links } = this.#options;
    const isAnothers = (other: string): boolean => this.isRecorded(other) && this.#sessions.get(other) !== session;
    const session = new Session(settings, env, links.of(settings.name), { isAnothers, served });
    this.#begin(settings.cluster, session);
    this.#giveSecret(session);
    return session;
  }

  /**
   * Reports whether a session serves a Link. Once the Link has been deleted, the session no longer serves it, even if a
   * restore of the source cluster has brought the same Link back.
   */
  serves(session: AnySession, { uid, name }: Pick<LinkSettings, 'uid' | 'name'>): session is Session {
    const isWork = this.#options.links.get(name)?.work === session;
    return session instanceof Session && session.settings.uid === uid && isWork;
  }

  /** Applies changed settings of the Link that a session serves. */
  update(session: Session, settings: LinkSettings, served: ServedSpec): void {
    const { credentialsSecret } = session.settings;
    session.update(settings);
    session.lease.record(served);
    if (credentialsSecret !== settings.credentialsSecret) this.#giveSecret(session);
  }

  /**
   * Applies only the annotation that confirms held deletions, and nothing else of the Link. The Link might be invalid,
   * but its user can still confirm a loss (rules E6, E7).
   */
  confirm(session: Session, { confirmPrune }: Pick<LinkRead, 'confirmPrune'>): void {
    const { confirmPrune: before, ...settings } = session.settings;
    if (before !== confirmPrune) session.update({ ...settings, ...(confirmPrune !== undefined && { confirmPrune }) });
  }

  /**
   * Starts a session that keeps the mirrors of a cluster for an invalid Link. The cluster must not have a session.
   * @param link name of the Link
   */
  keep(cluster: string, link: string): Keeping {
    const { env, links } = this.#options;
    const keeping = new Keeping(link, cluster, env, links.of(link));
    this.#begin(cluster, keeping);
    return keeping;
  }

  /**
   * Creates a session that removes what a Link left, and returns it for the caller to run. The cluster must not have a
   * session. The Link itself need not exist any more.
   * @param name name of the Link
   */
  remove(cluster: string, name: string): Removal {
    const { env, links } = this.#options;
    // The Link is looked up for each report, because it might be deleted and created again during the removal.
    const report: LinkReport = {
      statusChanged: () => links.get(name)?.statusChanged(),
      event: (...event) => links.get(name)?.event(...event),
    };
    const removal = new Removal(name, cluster, env, report);
    this.#sessions.set(cluster, removal);
    this.linkChanged(name);
    return removal;
  }

  /**
   * Sets the `work` of a Link to the removal of what this Link, or a Link that had the same name, has left. Does
   * nothing if no such removal runs, or if the Link already has a session. Called when a removal starts, and when a
   * Link was created, changed or deleted: the Link might be created again while the removal runs.
   */
  linkChanged(name: string): void {
    const link = this.#options.links.get(name);
    const removal = [...this.#sessions.values()].find((work) => work instanceof Removal && work.link === name);
    if (link !== undefined && removal !== undefined && link.work === undefined) link.work = removal;
  }

  /** Notes that a removal has ended without being stopped. */
  removed(cluster: string, { link: name }: Removal, isComplete: boolean): void {
    this.#sessions.delete(cluster);
    const link = this.#options.links.get(name);
    if (link === undefined) return;
    link.work = undefined;
    if (isComplete) link.cleared();
  }

  /** Ends the session of a cluster. Once this resolves, the session writes nothing. */
  async end(cluster: string, session: AnySession): Promise<void> {
    await session.stop();
    this.#sessions.delete(cluster);
    // A Link of this name might have been created again meanwhile.
    const link = this.#options.links.get(session.link);
    if (link?.work === session) link.work = undefined;
    if (session instanceof Session) this.forgotten(cluster);
  }

  /** Stops all sessions. Mirrors stay, and Leases are released. */
  async stop(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((each) => each.stop()));
  }

  /**
   * Returns what the session of a cluster knows of a target Service; undefined if no Link is served for the cluster.
   */
  knowledge(cluster: string, key: string): TargetKnowledge | undefined {
    const work = this.#sessions.get(cluster);
    return work instanceof Session ? work.knowledge(key) : undefined;
  }

  /**
   * Returns whether a member of a federated Service is ready; undefined if that is not known, or if no Link is served
   * for the cluster.
   */
  isMemberReady(cluster: string, key: string): boolean | undefined {
    const session = this.#sessions.get(cluster);
    return session instanceof Session ? session.isMemberReady(key) : undefined;
  }

  /**
   * Called when a namespace of the source cluster was created or deleted, or when the right to read it has changed.
   */
  namespaceChanged(name: string, state: SourceNamespaceState): void {
    for (const work of this.#sessions.values()) if (!(work instanceof Keeping)) work.namespaceChanged(name, state);
  }

  /** Passes a changed Secret to the sessions that use it. */
  secretChanged(name: string): void {
    for (const session of this.#sessions.values()) {
      if (session instanceof Session && session.settings.credentialsSecret === name) this.#giveSecret(session);
    }
  }

  /**
   * Notifies failovers that no session knows the Services of a cluster any more. Failovers then judge mirrors by the
   * slices in the source cluster (rule J3).
   */
  forgotten(cluster: string): void {
    const { source, failovers } = this.#options.env;
    for (const key of source.keysOf(cluster)) {
      if (key === PROBE_KEY) continue;
      const { namespace, name } = splitKey(key);
      failovers?.mirrorChanged(`${namespace}/${mirrorName(name, cluster)}`);
    }
  }

  #begin(cluster: string, work: Session | Keeping): void {
    this.#sessions.set(cluster, work);
    this.#options.links.of(work.link).work = work;
    work.start();
  }

  #giveSecret(session: Session): void {
    session.setCredentials(this.#options.secretOf(session.settings.credentialsSecret));
  }
}
