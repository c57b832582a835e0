/**
 * One Link at work: its credentials, target, gateway, probe, queue and Lease, and what is found on the way, as the
 * Link's status. A session shares nothing with another but the source cluster's stores and the names it claims there,
 * so that a target that is down, slow or hostile is the trouble of its own Link alone (rule E1).
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import { Annotation, probeName, PROTECTED_NAMESPACES, writeLeaseName } from '../../crds/wire.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { Tuning } from '../config/tuning.ts';
import { Applier } from '../runtime/applier.ts';
import { RETRY_BACKOFF, sleep } from '../kube/backoff.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import type { KubeClient } from '../kube/client.ts';
import { describe, isConflict, isForbidden, isUnauthorized } from '../kube/errors.ts';
import type { EventRecorder, ObjectReference } from '../runtime/events.ts';
import { LeaseLock } from '../runtime/lease.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../metrics.ts';
import { splitKey, type Secret } from '../kube/objects.ts';
import { type Result, Workqueue } from '../runtime/workqueue.ts';
import type { NameClaims } from '../mirror/names.ts';
import type { LinkView, NamespaceState, Observed } from '../mirror/observed.ts';
import { reconcileMirror } from '../mirror/reconcile.ts';
import { claimsOf, shapeOf } from '../mirror/shape.ts';
import { mirrorState, type MirrorStatus } from '../mirror/status.ts';
import { ownerOf, PROBE_KEY } from '../source/owner.ts';
import type { SourceCluster } from '../source/source.ts';
import { Credentials } from '../target/credentials.ts';
import { Gateway } from '../gateway/gateway.ts';
import type { IpFamily } from '../gateway/addresses.ts';
import { reconcileProbe } from '../gateway/probe-service.ts';
import { PruneGuard } from '../target/losses.ts';
import type { LinkFindings } from './status.ts';
import { Target, type TargetObstacle } from '../target/target.ts';
import { targetProblem } from '../target/advice.ts';

/** What a session gets from the operator around it. */
export interface SessionEnvironment {
  readonly config: OperatorConfig;
  readonly tuning: Tuning;
  readonly client: KubeClient;
  readonly source: SourceCluster;
  readonly families: ReadonlySet<IpFamily>;
  readonly claims: NameClaims;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** The Link's status may have changed. */
  readonly onStatus: () => void;
  /** Claims of other sessions may be resolved otherwise now. */
  readonly onClaimsChanged: (claimants: ReadonlySet<string>) => void;
}

/** `removing`: the Link is gone, and everything of it is being deleted. */
type Phase = 'serving' | 'removing';

const CONFLICT_RETRY_MS = 30_000;
/** How often the end of a removal is looked for. */
const REMOVAL_POLL_MS = 100;

export class LinkSession {
  readonly #env: SessionEnvironment;
  readonly #queue: Workqueue;
  readonly #applier: Applier;
  readonly #guard = new PruneGuard();
  readonly #credentials: Credentials;
  readonly #stopped = new AbortController();
  readonly #mirrors = new Map<string, MirrorStatus>();
  /** Since when, on the monotonic clock, a key has a change of the target's to follow. */
  readonly #seen = new Map<string, number>();
  readonly #repairs = new Set<string>();
  /** Keys of Services that went one by one, no list having taken them, and whose mirrors are about to go. */
  readonly #leaving = new Set<string>();
  #settings: LinkSettings;
  #view: Omit<LinkView, 'gateway'>;
  #phase: Phase = 'serving';
  #target: Target | undefined;
  readonly #gateway: Gateway;
  #reachable: Verdict | undefined;
  /** RFC 3339. */
  #unreachableSince: string | undefined;
  #credentialsVerdict: Verdict | undefined;
  /** Keys that the first pass over what the target exports has yet to look at; undefined: it has not begun. */
  #firstPass: Set<string> | undefined;
  #held = false;
  #heldBy: string | undefined;
  #lock: LeaseLock | undefined;
  /** Ends the queue's work ahead of the Lease. */
  readonly #quiet = new AbortController();
  #working: Promise<void> = Promise.resolve();
  #locked: Promise<void> = Promise.resolve();

  constructor(settings: LinkSettings, env: SessionEnvironment) {
    this.#env = env;
    this.#settings = settings;
    this.#view = viewOf(settings, env.config);
    const { metrics } = env;
    const name = `link/${settings.name}`;
    this.#queue = new Workqueue({
      ...(env.tuning.retryBackoff === undefined ? {} : { backoff: env.tuning.retryBackoff }),
      onDepth: (depth) => metrics.workqueue.depth.set({ name }, depth),
      onAdd: () => metrics.workqueue.adds.inc({ name }),
      onRetry: () => metrics.workqueue.retries.inc({ name }),
      onTaken: (seconds) => metrics.workqueue.queueDuration.observe({ name }, seconds),
    });
    this.#applier = new Applier({
      client: env.client,
      stores: { services: env.source.services, endpoints: env.source.endpoints, endpointslices: env.source.slices },
      isOurs: (object) => ownerOf(object, env.config.namespace)?.cluster === this.#settings.cluster,
    });
    this.#gateway = new Gateway({
      config: env.config,
      families: env.families,
      resolve: env.tuning.resolve,
      metrics,
      log: env.log,
      onEvent: (type, reason, message) => this.#event(type, reason, message),
      onChange: () => this.#enqueueAll(),
      onStatus: () => env.onStatus(),
    });
    this.#credentials = new Credentials({
      timeoutMs: env.tuning.requestTimeoutMs,
      hooks: metrics.clientHooks,
      listed: env.config.credentialsSecrets,
      trial: () => ({
        labelSelector: (this.#settings.selector ?? this.#settings.remoteDiscoverySelector)?.query,
        namespaces: this.#settings.targetNamespaces,
      }),
      onVerdict: (found) => this.#setCredentials(found),
      onClient: (client) => this.#useClient(client),
    });
  }

  get settings(): LinkSettings {
    return this.#settings;
  }

  get cluster(): string {
    return this.#settings.cluster;
  }

  /** Whether nothing is left to do now. For tests and readiness, not for decisions. */
  get settled(): boolean {
    return this.#caughtUp && this.#queue.depth === 0;
  }

  /** What is known, for the Link's status. */
  findings(): LinkFindings {
    return {
      ...this.#gateway.findings(),
      generation: this.#settings.generation,
      accepted: verdict('True', 'Accepted', ''),
      credentials: this.#credentialsVerdict,
      reachable: this.#reachable,
      synced: this.#syncedVerdict(),
      pruneHeld: this.#guard.count,
      heldBy: this.#heldBy,
      // What was reported before stands until the target has been read.
      mirrors: this.#held && this.#caughtUp ? this.#mirrors : undefined,
    };
  }

  /** Starts; the Link's Lease is taken first, and nothing is written without it. */
  start(): void {
    const { config, client, log } = this.#env;
    const { name, cluster } = this.#settings;
    const renewEveryMs = config.leaseDurationMs / 3;
    this.#lock = new LeaseLock({
      client,
      namespace: config.namespace,
      name: writeLeaseName(name),
      identity: config.identity,
      leaseDurationMs: config.leaseDurationMs,
      renewDeadlineMs: config.renewDeadlineMs,
      retryPeriodMs: config.retryPeriodMs,
      renewEveryMs,
      annotations: { [Annotation.targetCluster]: cluster },
    });
    this.#locked = this.#lock.run(this.#stopped.signal, {
      held: (lost) => {
        this.#held = true;
        this.#heldBy = undefined;
        log.info({ link: name, cluster }, 'writing for this Link');
        const before = this.#working;
        this.#working = before.then(() => this.#work(AbortSignal.any([lost, this.#quiet.signal])));
        this.#env.onStatus();
      },
      heldByAnother: (holder) => {
        this.#heldBy = holder;
        log.info({ link: name, holder }, 'another writes for this Link; standing by');
        this.#event('Warning', 'HeldByAnother', `${holder} writes for this Link and holds its Lease`);
        this.#env.onStatus();
      },
      lost: (reason) => {
        this.#held = false;
        log.warn({ link: name, reason }, 'no longer writing for this Link');
        this.#env.onStatus();
      },
      failing: (message) => log.warn({ link: name, error: message }, 'the Lease of the Link cannot be renewed'),
    });
    if (this.#phase === 'serving') this.#gateway.start(this.#settings);
  }

  /** The Link's spec changed: what differs is applied in place (rule E5). */
  update(settings: LinkSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    for (const key of this.#guard.confirm(settings.confirmPrune)) this.#queue.add(key);
    if (settings.generation === before.generation && settings.uid === before.uid) {
      this.#env.onStatus();
      return;
    }
    this.#view = viewOf(settings, this.#env.config);
    const isReadAlike =
      settings.selector?.query === before.selector?.query &&
      settings.remoteDiscoverySelector?.query === before.remoteDiscoverySelector?.query &&
      isDeepStrictEqual(settings.targetNamespaces, before.targetNamespaces);
    if (!isReadAlike && this.#target !== undefined) this.#restartTarget();
    if (JSON.stringify([settings.gateway, settings.probe]) !== JSON.stringify([before.gateway, before.probe])) {
      this.#gateway.start(settings);
    }
    this.#enqueueAll();
    this.#env.onStatus();
  }

  /** The credentials Secret as it is now; undefined: there is none. */
  setCredentials(secret: Secret | undefined): void {
    this.#credentials
      .use(this.#settings.credentialsSecret, secret, this.#stopped.signal)
      .catch((error: unknown) => this.#setCredentials(verdict('False', 'CredentialsUnusable', describe(error))));
  }

  /** Something of ours in the source cluster changed. */
  sourceChanged(key: string, by: 'endpoints' | 'service'): void {
    if (by === 'endpoints' && !this.#seen.has(key)) this.#repairs.add(key);
    this.#queue.add(key);
  }

  /** A namespace of the source cluster came or went, can be read or cannot any more. */
  namespaceChanged(namespace: string): void {
    // Mirrors that were not known when the target was listed count now.
    const { config, source } = this.#env;
    const isNewlyRead = config.mirrorNamespaces !== undefined && source.namespaces.stateOf(namespace) === 'exists';
    if (isNewlyRead && this.#target?.synced === true) this.#countLosses(this.#target, namespace);
    for (const key of this.#keys()) if (splitKey(key).namespace === namespace) this.#queue.add(key);
  }

  /** A name that this key claims may have been won or lost. */
  claimChanged(key: string): void {
    this.#queue.add(key);
  }

  /**
   * Deletes everything of this Link's that can be read, and then its Lease, unless there is more that cannot. Resolves
   * when that is done, or when stopped.
   */
  async remove(): Promise<void> {
    this.#phase = 'removing';
    if (this.#lock === undefined) this.start();
    this.#target?.stop();
    this.#gateway.stop();
    this.#enqueueAll();
    while (!this.#stopped.signal.aborted) {
      await this.#queue.idle();
      if (this.#held && !this.#hasLeftovers()) break;
      await sleep(REMOVAL_POLL_MS, this.#stopped.signal);
    }
    if (this.#stopped.signal.aborted) return;
    this.#quiet.abort();
    await this.#working;
    const { source, log } = this.#env;
    const link = this.#settings.name;
    if (source.namespaces.unreadable.length > 0) {
      log.warn(
        { link, namespaces: source.namespaces.unreadable },
        'the Lease of the Link stays, as namespaces that cannot be read may hold mirrors of it',
      );
    } else {
      await this.#lock?.remove(this.#stopped.signal).catch((error: unknown) => {
        log.warn({ link, error: describe(error) }, 'the Lease of the Link is left behind');
      });
    }
    await this.stop();
  }

  /** Whether anything is left that may be deleted. */
  #hasLeftovers(): boolean {
    const keys = [...this.#env.source.keysOf(this.cluster)];
    return keys.some((key) => {
      const state = this.#namespaceState(splitKey(key).namespace);
      return key === PROBE_KEY || (state !== 'forbidden' && state !== 'unreadable');
    });
  }

  /** Stops, leaving everything as it is; the Lease is released. */
  async stop(): Promise<void> {
    this.#gateway.stop();
    this.#target?.stop();
    this.#quiet.abort();
    await this.#working;
    this.#stopped.abort(new Error('the session has ended'));
    await this.#locked;
    await this.#credentials.close();
    const changed = new Set<string>();
    for (const key of this.#keys()) {
      for (const other of this.#env.claims.replace(this.#claimant(key), splitKey(key).namespace, []))
        changed.add(other);
    }
    this.#env.onClaimsChanged(changed);
    await this.#env.metrics.forgetTarget(this.cluster);
  }

  async #work(lost: AbortSignal): Promise<void> {
    this.#enqueueAll();
    // What was queued when the Lease was lost is not queued any more.
    if (!this.#caughtUp && this.#firstPass !== undefined) this.#firstPass = this.#everything();
    await this.#queue.run(this.#env.config.concurrency, (key, signal) => this.#reconcile(key, signal), lost);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Result | undefined> {
    const { metrics, log } = this.#env;
    const began = performance.now();
    const since = this.#seen.get(key);
    const repairing = this.#repairs.delete(key);
    const controller = `link/${this.#settings.name}`;
    metrics.reconcile.activeWorkers.inc({ controller });
    try {
      const result = key === PROBE_KEY ? await this.#reconcileProbe(signal) : await this.#reconcileMirror(key, signal);
      const failed = result.retryAfterMs !== undefined;
      metrics.reconcile.total.inc({ controller, result: failed ? 'error' : 'success' });
      if (failed) metrics.reconcile.errors.inc({ controller });
      else if (since !== undefined && this.#seen.get(key) === since) {
        this.#seen.delete(key);
        if (result.writes > 0) {
          metrics.target.convergence.observe({ target_cluster_name: this.cluster }, (performance.now() - since) / 1000);
        }
      }
      if (repairing && result.writes > 0 && since === undefined) {
        metrics.target.endpointRepairs.inc({ target_cluster_name: this.cluster });
      }
      return result;
    } catch (error) {
      if (signal.aborted) return undefined;
      metrics.reconcile.total.inc({ controller, result: 'error' });
      metrics.reconcile.errors.inc({ controller });
      if (!isConflict(error)) log.warn({ link: this.#settings.name, key, error: describe(error) }, 'reconcile failed');
      return { retryAfterMs: 0 };
    } finally {
      const seconds = (performance.now() - began) / 1000;
      metrics.reconcile.activeWorkers.dec({ controller });
      metrics.reconcile.time.observe({ controller }, seconds);
      metrics.workqueue.workDuration.observe({ name: controller }, seconds);
      if (this.#firstPass?.delete(key) === true && this.#caughtUp) this.#env.onStatus();
    }
  }

  async #reconcileMirror(key: string, signal: AbortSignal): Promise<Result & { readonly writes: number }> {
    const { status, ...result } = await reconcileMirror(
      key,
      {
        observe: (of) => this.#observe(of),
        claims: this.#env.claims,
        claimant: (of) => this.#claimant(of),
        onClaimsChanged: this.#env.onClaimsChanged,
        applier: this.#applier,
        onRefused: (namespace) => this.#env.source.recheck(namespace),
        conflictRetryMs: this.#env.tuning.conflictRetryMs ?? CONFLICT_RETRY_MS,
        refusalRetryMs: (this.#env.tuning.retryBackoff ?? RETRY_BACKOFF).capMs,
      },
      signal,
    );
    if (signal.aborted || status === undefined) return result;
    const before = this.#mirrors.get(key);
    if (status === null) {
      this.#mirrors.delete(key);
      this.#leaving.delete(key);
    } else this.#mirrors.set(key, status);
    if (before?.reason !== status?.reason || before?.message !== status?.message) {
      if (status !== null && mirrorState(status) === 'failed') {
        const { namespace, name } = status.remote;
        this.#event('Warning', status.reason, `Service ${namespace}/${name}: ${status.message}`);
      }
      this.#env.onStatus();
    }
    return result;
  }

  async #reconcileProbe(signal: AbortSignal): Promise<Result & { readonly writes: number }> {
    const { source, config, tuning } = this.#env;
    const { foreign, ...result } = await reconcileProbe(
      {
        settings: this.#phase === 'serving' ? this.#settings : undefined,
        namespace: config.namespace,
        addresses: this.#gateway.view.addresses,
        endpointsKind: config.endpoints,
        owned: source.ownedBy({ cluster: this.cluster, key: PROBE_KEY }),
      },
      this.#applier,
      tuning.conflictRetryMs ?? CONFLICT_RETRY_MS,
      signal,
    );
    if (foreign === true) {
      const name = `${config.namespace}/${probeName(this.#settings.name)}`;
      this.#event(
        'Warning',
        'NameConflict',
        `Service ${name} exists and is not the probe Service of this Link; rename or remove it`,
      );
    }
    return result;
  }

  #observe(key: string): { readonly observed: Observed; readonly decidable: boolean } {
    const { source } = this.#env;
    const { namespace, name } = splitKey(key);
    const removing = this.#phase === 'removing';
    const target = removing ? undefined : this.#target?.get(key);
    const isDecided = removing || this.#target?.decides(key) === true;
    return {
      decidable: isDecided && !(target === undefined && this.#guard.isHeld(key)),
      observed: {
        link: { ...this.#view, ...gatewayOf(this.#gateway) },
        gateway: this.#gateway.view,
        namespace,
        name,
        ...(target === undefined ? {} : { target }),
        slices: target === undefined ? undefined : this.#target?.slicesOf(key),
        namespaceState: this.#namespaceState(namespace),
        owned: source.ownedBy({ cluster: this.cluster, key }),
      },
    };
  }

  #namespaceState(namespace: string): NamespaceState {
    const { config, source } = this.#env;
    const allowed =
      !PROTECTED_NAMESPACES.includes(namespace) &&
      namespace !== config.namespace &&
      namespace !== config.controlPlaneNamespace &&
      (config.mirrorNamespaces === undefined || config.mirrorNamespaces.includes(namespace));
    if (!allowed) return 'forbidden';
    return source.namespaces.stateOf(namespace);
  }

  #useClient(client: KubeClient): void {
    if (this.#phase === 'removing') return;
    if (this.#target === undefined) {
      this.#target = this.#makeTarget();
      this.#target.run(client, this.#stopped.signal);
    } else this.#target.use(client);
  }

  /** Other selectors: watched anew, while what is mirrored stays as it is until the lists are complete. */
  #restartTarget(): void {
    const client = this.#credentials.client;
    this.#target?.stop();
    this.#firstPass = undefined;
    this.#leaving.clear();
    this.#target = this.#makeTarget();
    if (client !== undefined) this.#target.run(client, this.#stopped.signal);
  }

  #makeTarget(): Target {
    const { log, tuning } = this.#env;
    const link = this.#settings.name;
    const target: Target = new Target({
      selectors: { gateway: this.#settings.selector, flat: this.#settings.remoteDiscoverySelector },
      namespaces: this.#settings.targetNamespaces,
      timings: tuning.targetTimings,
      labelCopyMs: tuning.labelCopyMs,
      onChange: (key) => {
        if (this.#target !== target) return;
        if (!this.#seen.has(key)) this.#seen.set(key, performance.now());
        if (target.get(key) === undefined && target.decides(key)) this.#leaving.add(key);
        else this.#leaving.delete(key);
        if (this.#guard.count > 0 && target.get(key) !== undefined && this.#guard.returned(key)) this.#env.onStatus();
        this.#queue.add(key);
      },
      onRelisted: (what) => {
        if (this.#target !== target) return;
        if (what === 'services') this.#countLosses(target);
        this.#relisted(target);
      },
      onReachable: (obstacle) => {
        if (this.#target === target) this.#setReachable(obstacle);
      },
      onMalformed: (what) => {
        log.warn({ link, object: what }, 'the target sent an object that the API does not allow; left out');
        this.#event('Warning', 'MalformedObject', `left out of what the target sent: ${what}`);
      },
    });
    return target;
  }

  #relisted(target: Target): void {
    this.#claimNames(target.keys());
    this.#firstPass ??= this.#everything();
    this.#enqueueAll();
    this.#env.onStatus();
  }

  /**
   * Holds back what must not be deleted all at once (rule E6).
   * @param within the only namespace whose mirrors are counted: those of others may be going one by one just now
   */
  #countLosses(target: Target, within?: string): void {
    const { source, log } = this.#env;
    const mirroredKeys = new Set([...source.keysOf(this.cluster)].filter((key) => key !== PROBE_KEY));
    const before = this.#guard.count;
    const exported = target.keys();
    const isGone = (key: string): boolean | undefined => {
      if (exported.has(key)) return false;
      if (this.#leaving.has(key)) return undefined;
      const isCounted = within === undefined || splitKey(key).namespace === within;
      return isCounted && target.decides(key) ? true : undefined;
    };
    const released = this.#guard.relisted(mirroredKeys, isGone, this.#settings.confirmPrune);
    if (this.#guard.count > 0 && this.#guard.count !== before) {
      const held = this.#guard.count;
      log.warn(
        { link: this.#settings.name, held },
        'the target no longer lists many mirrored Services; deletions are held back',
      );
      this.#event(
        'Warning',
        'PruneHeld',
        `the target no longer lists ${held} of ${mirroredKeys.size} mirrored Services; nothing of them is deleted`,
      );
    }
    for (const key of released) this.#queue.add(key);
  }

  /** Enters every claim on a name before any of them is acted on: who wins must not depend on who is first here. */
  #claimNames(keys: ReadonlySet<string>): void {
    const affected = new Set<string>();
    for (const key of keys) {
      const { observed } = this.#observe(key);
      const owner = this.#claimant(key);
      const claims = claimsOf(observed, shapeOf(observed), owner);
      for (const other of this.#env.claims.replace(owner, observed.namespace, claims)) affected.add(other);
    }
    this.#env.onClaimsChanged(affected);
  }

  #setReachable(obstacle: TargetObstacle | undefined): void {
    const { log } = this.#env;
    const link = this.#settings.name;
    if (obstacle === undefined) {
      this.#reachable = verdict('True', 'Connected', '');
      this.#unreachableSince = undefined;
      log.info({ link }, 'the target can be read');
    } else {
      this.#unreachableSince ??= new Date().toISOString();
      const { reason, event, problem, fate, remedy } = targetProblem(obstacle);
      this.#reachable = verdict('False', reason, `${problem}; ${fate} (since ${this.#unreachableSince})${remedy}`);
      log.warn({ link, error: problem }, `the target cannot be read; ${fate}`);
      this.#event('Warning', event, problem + remedy);
    }
    const error = obstacle?.error;
    const isPartial = (obstacle?.namespaces.length ?? 0) < (this.#settings.targetNamespaces?.length ?? 0);
    if (isUnauthorized(error) || (isForbidden(error) && !isPartial)) {
      const reason = isForbidden(error) ? 'Forbidden' : 'Unauthorized';
      this.#credentialsVerdict = verdict('False', reason, describe(error));
    } else if ((obstacle === undefined || isForbidden(error)) && this.#credentials.inUse) {
      this.#credentialsVerdict = verdict('True', 'Valid', '');
    }
    this.#env.onStatus();
  }

  #setCredentials(found: Verdict): void {
    const changed =
      this.#credentialsVerdict?.status !== found.status || this.#credentialsVerdict.message !== found.message;
    this.#credentialsVerdict = found;
    if (changed && found.status === 'False') {
      this.#env.log.warn({ link: this.#settings.name, reason: found.reason, message: found.message }, 'credentials');
      this.#event('Warning', found.reason, found.message);
    }
    this.#env.onStatus();
  }

  #syncedVerdict(): Verdict | undefined {
    return this.#caughtUp ? verdict('True', 'Synced', '') : undefined;
  }

  get #caughtUp(): boolean {
    return this.#firstPass?.size === 0;
  }

  /** Keys of everything that may need something: exported, mirrored, reported on. */
  #keys(): ReadonlySet<string> {
    const { source } = this.#env;
    const exported = this.#phase === 'serving' ? (this.#target?.keys() ?? []) : [];
    return new Set([...exported, ...source.keysOf(this.cluster), ...this.#mirrors.keys()]);
  }

  #everything(): Set<string> {
    return new Set([PROBE_KEY, ...this.#keys()]);
  }

  #enqueueAll(): void {
    for (const key of this.#everything()) this.#queue.add(key);
  }

  #claimant(key: string): string {
    return `${key}@${this.cluster}`;
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#env.events.record(referenceOf(this.#settings), type, reason, message);
  }
}

/** A Link as Events refer to it. */
export const referenceOf = ({
  name,
  namespace,
  uid,
}: Pick<LinkSettings, 'name' | 'namespace' | 'uid'>): ObjectReference => ({
  apiVersion: 'multicluster.linkerd.io/v1alpha3',
  kind: 'Link',
  namespace,
  name,
  uid,
});

const gatewayOf = ({ settings }: Gateway): Pick<LinkView, 'gateway'> =>
  settings === undefined ? {} : { gateway: settings };

const viewOf = (settings: LinkSettings, config: OperatorConfig): Omit<LinkView, 'gateway'> => ({
  cluster: settings.cluster,
  clusterDomain: settings.clusterDomain,
  excludedLabels: settings.excludedLabels,
  excludedAnnotations: settings.excludedAnnotations,
  headless: settings.enableHeadlessServices ?? config.enableHeadlessServices,
  createNamespaces: settings.enableNamespaceCreation ?? config.enableNamespaceCreation,
  endpointsKind: config.endpoints,
});
