/**
 * The sessions that there are, at most one for each target cluster: one that serves a Link, keeps the mirrors of an
 * invalid one, or removes what one left. They are started and ended here, and given what they need to know; which there
 * must be is decided in `clusters.ts`.
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
import type { Roster } from './roster.ts';
import type { ServedSpec } from './lease/served-spec.ts';
import { Session } from './session.ts';

/** What is done for one cluster. */
export type AnySession = Session | Keeping | Removal;

export interface SessionsOptions {
  readonly env: Environment;
  /** The Links, which are given the session that works for them. */
  readonly links: Pick<Roster, 'get' | 'of'>;
  /** Returns a Secret in the Links' namespace. */
  readonly secretOf: (name: string) => KeptSecret | undefined;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, AnySession>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Returns the session of a cluster. */
  get(cluster: string): AnySession | undefined {
    return this.#sessions.get(cluster);
  }

  /** Reports whether the Lease of the Link that has a cluster records it. */
  isRecorded(cluster: string): boolean {
    const work = this.#sessions.get(cluster);
    return work !== undefined && !(work instanceof Removal) && work.lease.isRecorded;
  }

  /** Starts to serve a Link for the cluster that it names, which has no session, and to record how. */
  serve(settings: LinkSettings, served: ServedSpec): Session {
    const { env, links } = this.#options;
    const isAnothers = (other: string): boolean => this.isRecorded(other) && this.#sessions.get(other) !== session;
    const session = new Session(settings, env, links.of(settings.name), { isAnothers, served });
    this.#begin(settings.cluster, session);
    this.#giveSecret(session);
    return session;
  }

  /**
   * Reports whether a session serves a Link. It does not once its Link has been deleted, even if a restored source cluster
   * has that Link again.
   */
  serves(session: AnySession, { uid, name }: Pick<LinkSettings, 'uid' | 'name'>): session is Session {
    const isWork = this.#options.links.get(name)?.work === session;
    return session instanceof Session && session.settings.uid === uid && isWork;
  }

  /** Applies settings of the Link that a session serves. */
  update(session: Session, settings: LinkSettings, served: ServedSpec): void {
    const { credentialsSecret } = session.settings;
    session.update(settings);
    session.lease.record(served);
    if (credentialsSecret !== settings.credentialsSecret) this.#giveSecret(session);
  }

  /** Starts to keep the mirrors of a cluster, which has no session, for an invalid Link. */
  keep(cluster: string, link: string): Keeping {
    const { env, links } = this.#options;
    const keeping = new Keeping(link, cluster, env, links.of(link));
    this.#begin(cluster, keeping);
    return keeping;
  }

  /** Returns the removal of what a Link, which may be deleted, left of a cluster that has no session; it is yet to run. */
  remove(cluster: string, name: string): Removal {
    const { env, links } = this.#options;
    const link = links.get(name);
    const removal = new Removal(name, cluster, env, link ?? NOBODY);
    this.#sessions.set(cluster, removal);
    if (link !== undefined) link.work = removal;
    return removal;
  }

  /** Notes that a removal has ended by itself. */
  removed(cluster: string, { link: name }: Removal): void {
    this.#sessions.delete(cluster);
    const link = this.#options.links.get(name);
    if (link !== undefined) link.work = undefined;
  }

  /** Ends the session of a cluster. Once this resolves, it writes nothing. */
  async end(cluster: string, session: AnySession): Promise<void> {
    const link = this.#options.links.get(session.link);
    await session.stop();
    this.#sessions.delete(cluster);
    if (link !== undefined) link.work = undefined;
    if (session instanceof Session) this.#forgotten(cluster);
  }

  /** Stops all. Mirrors stay, and Leases are released. */
  async stop(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((each) => each.stop()));
  }

  /** Returns what is known first hand of a target Service; undefined if no Link is served for the cluster. */
  knowledge(cluster: string, key: string): TargetKnowledge | undefined {
    const work = this.#sessions.get(cluster);
    return work instanceof Session ? work.knowledge(key) : undefined;
  }

  /** Returns whether a member of a federated Service is ready; undefined while that is not known. */
  isMemberReady(cluster: string, key: string): boolean | undefined {
    const session = this.#sessions.get(cluster);
    return session instanceof Session ? session.isMemberReady(key) : undefined;
  }

  /** Handles a namespace of the source cluster that was created or deleted, or whose access changed. */
  namespaceChanged(name: string, state: SourceNamespaceState): void {
    for (const work of this.#sessions.values()) if (!(work instanceof Keeping)) work.namespaceChanged(name, state);
  }

  /** Hands a Secret that changed to the sessions that use it. */
  secretChanged(name: string): void {
    for (const session of this.#sessions.values()) {
      if (session instanceof Session && session.settings.credentialsSecret === name) this.#giveSecret(session);
    }
  }

  #begin(cluster: string, work: Session | Keeping): void {
    this.#sessions.set(cluster, work);
    this.#options.links.of(work.link).work = work;
    work.start();
  }

  /** Nothing is known of the Services of a cluster at first hand any more: of its mirrors, slices count (rule J3). */
  #forgotten(cluster: string): void {
    const { source, failovers } = this.#options.env;
    for (const key of source.keysOf(cluster)) {
      if (key === PROBE_KEY) continue;
      const { namespace, name } = splitKey(key);
      failovers?.mirrorChanged(`${namespace}/${mirrorName(name, cluster)}`);
    }
  }

  #giveSecret(session: Session): void {
    session.setCredentials(this.#options.secretOf(session.settings.credentialsSecret));
  }
}

/** Report of a Link that no longer exists: it has no status, and Events have no object. */
const NOBODY: LinkReport = { statusChanged: () => undefined, event: () => undefined };
