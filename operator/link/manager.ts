/**
 * The operator at work, while it leads: watches Links and their Secrets, and runs a session for each Link that is
 * valid. A Link is reconciled like anything else: from what there is to what should run.
 */
import { formatFieldErrors, LinkApi, type LinkSettings, readLink } from '../../crds/index.ts';
import { Annotation, CredentialsSecret } from '../../crds/wire.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { KubeClient } from '../kube/client.ts';
import { describe } from '../kube/errors.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../metrics.ts';
import { LEASES, type Lease, type Resource, type Secret, SECRETS, splitKey } from '../kube/objects.ts';
import { Reflector } from '../runtime/reflector.ts';
import { type Sink, Store } from '../runtime/store.ts';
import { Workqueue } from '../runtime/workqueue.ts';
import type { IpFamily } from '../gateway/addresses.ts';
import { LinkSession, referenceOf, type SessionEnvironment } from './session.ts';
import { linkStatus, type LinkFindings, type LinkStatusPatch } from './status.ts';
import { verdict } from '../kube/conditions.ts';
import { type LinkObject, StatusWriter } from './status-writer.ts';
import { NameClaims } from '../mirror/names.ts';
import { mirrorState } from '../mirror/status.ts';
import { SourceCluster } from '../source/source.ts';
import { sourceHealth } from '../source/advice.ts';
import { sourceFamilies } from '../source/families.ts';
import type { Tuning } from '../config/tuning.ts';

export const LINKS: Resource = { ...LinkApi, namespaced: true };

export interface ManagerOptions {
  readonly config: OperatorConfig;
  readonly tuning: Tuning;
  readonly client: KubeClient;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly log: Logger;
}

/** What there is for one Link. */
interface LinkRecord {
  readonly writer: StatusWriter;
  readonly ended: AbortController;
  session: LinkSession | undefined;
  /** The session is deleting what the Link left. */
  removing: boolean;
  accepted: LinkFindings['accepted'];
  /** Name of the Secret that the session was last given. */
  secret: string | undefined;
}

/** A Link read: what it says, or why it cannot be served. */
type Read = { readonly settings: LinkSettings } | { readonly problem: LinkFindings['accepted'] };

const LEASE_PREFIX = 'service-mirror-write-';

export class Manager {
  readonly #options: ManagerOptions;
  readonly #claims = new NameClaims();
  readonly #records = new Map<string, LinkRecord>();
  readonly #reads = new Map<string, Read>();
  readonly #queue = new Workqueue();
  readonly #links: Store<LinkObject>;
  readonly #secrets: Store<Secret>;
  readonly #source: SourceCluster;
  readonly #subscribed = new Set<string>();
  #families: ReadonlySet<IpFamily> = new Set(['IPv4']);
  #synced: () => void = () => undefined;
  #signal: AbortSignal = AbortSignal.abort();
  #started = false;
  #pruningSaid = false;

  constructor(options: ManagerOptions) {
    this.#options = options;
    const { client, config, tuning } = options;
    this.#links = new Store<LinkObject>({
      trim: trimLink,
      onRelisted: () => this.#checkSynced(),
      onChange: ({ key, before, after }) => this.#linkChanged(key, before, after),
    });
    this.#secrets = new Store<Secret>({
      partitions: config.credentialsSecrets,
      partitionBy: 'name',
      trim: trimSecret,
      onRelisted: () => this.#checkSynced(),
      onChange: ({ key }) => this.#secretChanged(splitKey(key).name),
    });
    this.#source = new SourceCluster({
      client,
      namespace: config.namespace,
      mirrorNamespaces: config.mirrorNamespaces,
      timings: tuning.sourceTimings,
      log: options.log,
    });
    this.#source.namespaces.subscribe((name) => this.#namespaceChanged(name));
  }

  /** Whether everything that is read in the source cluster has been listed. */
  get synced(): boolean {
    return this.#links.synced && this.#secrets.synced && this.#source.synced;
  }

  /** Whether no session has anything left to do now; for tests. */
  get settled(): boolean {
    return (
      this.#started &&
      this.#queue.depth === 0 &&
      [...this.#records.values()].every(({ session, removing }) => !removing && (session?.settled ?? true))
    );
  }

  /** Runs until the signal aborts and everything has come to rest. */
  async run(signal: AbortSignal): Promise<void> {
    const { config, client, log, tuning } = this.#options;
    this.#signal = signal;
    const reflector = <T extends LinkObject | Secret>(
      of: Resource,
      sink: Sink<T>,
      { fieldSelector, what = of.plural }: { readonly fieldSelector?: string; readonly what?: string } = {},
    ) => {
      const health = sourceHealth(what, config.namespace, log);
      return new Reflector<T>({
        client: () => client,
        resource: of,
        select: { namespace: config.namespace, ...(fieldSelector === undefined ? {} : { fieldSelector }) },
        sink,
        ...(tuning.sourceTimings === undefined ? {} : { timings: tuning.sourceTimings }),
        onState: (state) => health.report(what, state),
      });
    };
    const ofType = `type=${CredentialsSecret.type}`;
    const running = [
      this.#source.run(signal),
      reflector(LINKS, this.#links.sink()).run(signal),
      ...this.#secrets.partitions.map((name) => {
        // By name, RBAC grants it for that one Secret.
        const only =
          name === undefined
            ? { fieldSelector: ofType }
            : { fieldSelector: `metadata.name=${name},${ofType}`, what: `${SECRETS.plural}/${name}` };
        return reflector(SECRETS, this.#secrets.sink(name), only).run(signal);
      }),
    ];
    await Promise.all([this.#whenSynced(signal), this.#source.whenSynced(signal)]);
    if (!signal.aborted) {
      this.#families = await sourceFamilies(client, process.env, signal, log);
      await this.#findLeftovers(signal);
      this.#started = true;
      for (const { metadata } of this.#links.values()) this.#queue.add(metadata.name);
      await this.#queue.run(8, (name) => this.#reconcileLink(name, signal), signal);
    }
    await Promise.all([...this.#records].map(([name, record]) => this.#end(name, record)));
    await Promise.all(running);
  }

  async #whenSynced(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#synced = resolve;
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.#checkSynced();
    });
  }

  #checkSynced(): void {
    // Asked after the store that calls this has swapped its list in.
    queueMicrotask(() => {
      if (this.#links.synced && this.#secrets.synced) this.#synced();
    });
  }

  #linkChanged(key: string, before: LinkObject | undefined, after: LinkObject | undefined): void {
    const { name } = splitKey(key);
    if (after === undefined) this.#reads.delete(name);
    else this.#reads.set(name, read(after));
    const same =
      before?.metadata.uid === after?.metadata.uid &&
      before?.metadata.generation === after?.metadata.generation &&
      before?.metadata.annotations?.[Annotation.confirmPrune] ===
        after?.metadata.annotations?.[Annotation.confirmPrune];
    if (same) {
      // Our own status writes among them: they restart nothing.
      this.#records.get(name)?.writer.schedule();
      return;
    }
    if (!this.#started) return;
    // Another Link may get the cluster that this one had, or lose it.
    for (const { metadata } of this.#links.values()) this.#queue.add(metadata.name);
    this.#queue.add(name);
  }

  #namespaceChanged(name: string): void {
    for (const session of this.#sessions()) session.namespaceChanged(name);
    const { mirrorNamespaces } = this.#options.config;
    if (mirrorNamespaces === undefined || !this.#started || this.#source.namespaces.stateOf(name) !== 'exists') return;
    // Mirrors may be in it of Links that were deleted while it could not be read.
    void this.#findLeftovers(this.#signal);
  }

  #secretChanged(name: string): void {
    for (const record of this.#records.values()) {
      if (record.session?.settings.credentialsSecret === name && !record.removing) this.#giveSecret(record);
    }
  }

  /** From what the Link says to the session that should run. */
  async #reconcileLink(name: string, signal: AbortSignal): Promise<undefined> {
    const found = this.#winner(name);
    const record = this.#records.get(name);
    if (found === undefined) {
      if (record !== undefined) await this.#linkGone(name, record, signal);
      return;
    }
    const current = record ?? this.#makeRecord(name);
    if ('problem' in found) {
      const isNew = current.accepted.message !== found.problem.message;
      current.accepted = found.problem;
      if (isNew && found.problem.status === 'False') {
        this.#options.log.warn({ link: name, problem: found.problem.message }, 'the Link is not accepted');
        this.#event(name, found.problem.reason, found.problem.message);
      }
      current.writer.schedule();
      return;
    }
    const { settings } = found;
    current.accepted = verdict('True', 'Accepted', '');
    const { session } = current;
    if (session !== undefined && (session.settings.uid !== settings.uid || session.cluster !== settings.cluster)) {
      if (session.cluster !== settings.cluster && !this.#isClaimed(session.cluster)) {
        if (!current.removing) this.#remove(name, current);
        return;
      }
      await session.stop();
      current.session = undefined;
      current.removing = false;
    } else if (session !== undefined && current.removing) {
      await session.stop();
      current.session = undefined;
      current.removing = false;
    }
    if (signal.aborted) return;
    if (current.session === undefined) {
      this.#subscribe(settings.cluster);
      current.session = new LinkSession(settings, this.#environment(name, current));
      current.session.start();
      this.#giveSecret(current);
    } else {
      current.session.update(settings);
      if (current.secret !== settings.credentialsSecret) this.#giveSecret(current);
    }
    current.writer.schedule();
  }

  /** The Link was deleted: so is what it left, unless another Link has its cluster now. */
  async #linkGone(name: string, record: LinkRecord, signal: AbortSignal): Promise<void> {
    if (record.removing) return;
    if (record.session !== undefined && !this.#isClaimed(record.session.cluster)) {
      this.#remove(name, record);
      return;
    }
    this.#records.delete(name);
    await this.#end(name, record);
    // One that was never valid here may have been served by the operator before.
    if (record.session === undefined && record.accepted.status === 'False') await this.#findLeftovers(signal, name);
  }

  #remove(name: string, record: LinkRecord): void {
    const { session } = record;
    if (session === undefined) return;
    record.removing = true;
    this.#options.log.info({ link: name, cluster: session.cluster }, 'removing what the Link left');
    void session.remove().then(() => {
      if (record.session !== session || !record.removing) return;
      record.session = undefined;
      record.removing = false;
      this.#queue.add(name);
    });
  }

  /** What a Link says, once Links that want the same cluster are told apart: the oldest has it. */
  #winner(name: string): Read | undefined {
    const found = this.#reads.get(name);
    if (found === undefined || 'problem' in found) return found;
    const { settings } = found;
    for (const other of this.#reads.values()) {
      if ('problem' in other || other.settings.cluster !== settings.cluster || other.settings.name === name) continue;
      if (before(other.settings, settings)) {
        return {
          problem: verdict(
            'False',
            'DuplicateCluster',
            `spec.targetClusterName: "${settings.cluster}" is already served by Link ${other.settings.name}, which is older; give this one another name or remove it`,
          ),
        };
      }
    }
    return found;
  }

  #isClaimed(cluster: string): boolean {
    return [...this.#reads.values()].some((found) => 'settings' in found && found.settings.cluster === cluster);
  }

  #makeRecord(name: string): LinkRecord {
    const { client, config, log, tuning } = this.#options;
    const ended = new AbortController();
    const record: LinkRecord = {
      ended,
      session: undefined,
      removing: false,
      accepted: verdict('Unknown', 'Pending', ''),
      secret: undefined,
      writer: new StatusWriter(
        {
          client,
          resource: LINKS,
          namespace: config.namespace,
          name,
          log,
          ...(tuning.statusPeriodMs === undefined ? {} : { periodMs: tuning.statusPeriodMs }),
          current: () => this.#links.get(`${config.namespace}/${name}`),
          compute: (was) => {
            const findings = this.#findings(name, record);
            const status = linkStatus(findings, was, new Date());
            this.#measure(name, record, status, findings.mirrors);
            return status;
          },
          onPruned: () => this.#sayPruned(name),
        },
        ended.signal,
      ),
    };
    this.#records.set(name, record);
    return record;
  }

  #findings(name: string, { session, accepted, removing }: LinkRecord): LinkFindings {
    const generation = this.#links.get(`${this.#options.config.namespace}/${name}`)?.metadata.generation ?? 0;
    if (session !== undefined && !removing) return { ...session.findings(), generation, accepted };
    return {
      generation,
      accepted,
      credentials: undefined,
      reachable: undefined,
      resolved: undefined,
      gatewayAlive: undefined,
      synced: undefined,
      pruneHeld: 0,
      heldBy: undefined,
      gateway: undefined,
      mirrors: undefined,
    };
  }

  #measure(
    name: string,
    { session }: LinkRecord,
    { conditions }: LinkStatusPatch,
    mirrors: LinkFindings['mirrors'],
  ): void {
    const { metrics } = this.#options;
    const found = this.#reads.get(name);
    const cluster = session?.cluster ?? (found !== undefined && 'settings' in found ? found.settings.cluster : '');
    metrics.sayConditions(name, cluster, conditions);
    if (session === undefined || mirrors === undefined) return;
    const labels = { target_cluster_name: cluster };
    const states = { ready: 0, waiting: 0, failed: 0 };
    for (const each of mirrors.values()) states[mirrorState(each)] += 1;
    for (const [state, count] of Object.entries(states)) metrics.target.mirrors.set({ ...labels, state }, count);
  }

  #giveSecret(record: LinkRecord): void {
    const name = record.session?.settings.credentialsSecret;
    if (name === undefined) return;
    record.secret = name;
    record.session?.setCredentials(this.#secrets.get(`${this.#options.config.namespace}/${name}`));
  }

  #environment(name: string, record: LinkRecord): SessionEnvironment {
    const { config, tuning, client, metrics, events, log } = this.#options;
    return {
      config,
      tuning,
      client,
      metrics,
      events,
      log,
      source: this.#source,
      families: this.#families,
      claims: this.#claims,
      onStatus: () => {
        if (this.#records.get(name) === record) record.writer.schedule();
      },
      onClaimsChanged: (claimants) => {
        for (const claimant of claimants) {
          const at = claimant.lastIndexOf('@');
          this.#sessionOf(claimant.slice(at + 1))?.claimChanged(claimant.slice(0, at));
        }
      },
    };
  }

  async #end(name: string, record: LinkRecord): Promise<void> {
    await record.session?.stop();
    record.ended.abort();
    this.#options.metrics.forgetLink(name);
  }

  *#sessions(): IterableIterator<LinkSession> {
    for (const { session } of this.#records.values()) if (session !== undefined) yield session;
  }

  /** Changes of a cluster's mirrors go to whichever session it has. */
  #subscribe(cluster: string): void {
    if (this.#subscribed.has(cluster)) return;
    this.#subscribed.add(cluster);
    this.#source.subscribe(cluster, (key, by) => this.#sessionOf(cluster)?.sourceChanged(key, by));
  }

  #sessionOf(cluster: string): LinkSession | undefined {
    for (const session of this.#sessions()) if (session.cluster === cluster) return session;
    return undefined;
  }

  /** Links that were deleted, or got another cluster, while no operator ran: their Leases tell of them. */
  async #findLeftovers(signal: AbortSignal, only?: string): Promise<void> {
    const { client, config, log } = this.#options;
    let leases: readonly Lease[];
    try {
      leases = (await client.list<Lease>(LEASES, { namespace: config.namespace }, signal)).items;
    } catch (error) {
      if (!signal.aborted)
        log.warn({ error: describe(error) }, 'Leases cannot be listed: what deleted Links left stays');
      return;
    }
    for (const { metadata } of leases) {
      const cluster = metadata.annotations?.[Annotation.targetCluster];
      if (cluster === undefined || !metadata.name.startsWith(LEASE_PREFIX)) continue;
      const name = metadata.name.slice(LEASE_PREFIX.length);
      if (only !== undefined && name !== only) continue;
      const found = this.#reads.get(name);
      // A Link that cannot be read now says nothing about what it left.
      if (found !== undefined && 'problem' in found) continue;
      if (this.#isClaimed(cluster) || this.#records.has(name)) continue;
      const record = this.#makeRecord(name);
      this.#subscribe(cluster);
      record.session = new LinkSession(leftover(name, config.namespace, cluster), this.#environment(name, record));
      this.#remove(name, record);
    }
  }

  #sayPruned(name: string): void {
    if (this.#pruningSaid) return;
    this.#pruningSaid = true;
    const message =
      "the installed Link CRD, Linkerd's own, drops what Linkspan adds to spec and status; mirroring works without. `linkspan crds | kubectl apply --server-side --force-conflicts -f -` installs ours";
    this.#options.log.warn({ link: name }, message);
    this.#event(name, 'FieldsPruned', message);
  }

  #event(name: string, reason: string, message: string): void {
    const { namespace } = this.#options.config;
    const uid = this.#links.get(`${namespace}/${name}`)?.metadata.uid ?? '';
    this.#options.events.record(referenceOf({ name, namespace, uid }), 'Warning', reason, message);
  }
}

function read(object: LinkObject): Read {
  const checked = readLink(object);
  return checked.ok
    ? { settings: checked.value }
    : { problem: verdict('False', 'InvalidLink', formatFieldErrors(checked.errors)) };
}

const before = (a: LinkSettings, b: LinkSettings): boolean =>
  a.createdAt === b.createdAt ? a.name < b.name : a.createdAt < b.createdAt;

/** A Link of which only its name and cluster are known. */
const leftover = (name: string, namespace: string, cluster: string): LinkSettings => ({
  name,
  namespace,
  uid: '',
  generation: 0,
  createdAt: '',
  cluster,
  clusterDomain: '',
  linkerdNamespace: '',
  credentialsSecret: '',
  excludedLabels: [],
  excludedAnnotations: [],
});

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
