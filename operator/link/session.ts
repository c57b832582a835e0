/**
 * Serves one Link: ties its credentials, target, gateway, mirrors and Lease together. No session waits for the target
 * of another session, so that a target that is down, slow or hostile affects only its own Link (rule E1).
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import type { TargetKnowledge } from '../failover/readiness.ts';
import { Gateway, type GatewayListener } from '../gateway/gateway.ts';
import { aborted } from '../kube/abort.ts';
import { verdict } from '../kube/conditions.ts';
import { describe, isUnauthorized } from '../kube/errors.ts';
import { machineNetwork } from '../kube/network.ts';
import type { KeptSecret } from '../kube/keeper.ts';
import { splitKey } from '../kube/objects.ts';
import type { LinkView, Observed } from '../mirror/observed.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import type { Credentials } from '../target/credentials.ts';
import type { TargetObstacle } from '../target/target.ts';
import type { Environment } from './environment.ts';
import type { LinkReport } from '../served/environment.ts';
import { Exports } from '../served/exports.ts';
import type { DerivedAspect } from '../served/served-target.ts';
import { SessionParty } from '../federation/session-party.ts';
import { SessionImports } from '../mcs/session-party.ts';
import { Mirrors } from '../mirrors/mirrors.ts';
import { NamespaceBudget } from '../source/write-scope.ts';
import {
  aliveBy,
  linkViewOf,
  observeServed,
  probeAddress,
  probeEndpoints,
  probeManifests,
} from '../mirrors/observe.ts';
import { knowledgeOf } from '../failover/readiness.ts';
import { Reachability } from '../served/reachability.ts';
import { isApplied } from '../served/selection.ts';
import { measuredCredentials } from './session-credentials.ts';
import { findingsOf } from './session-findings.ts';
import type { SessionFindings } from './status/status.ts';
import { WriteLease, type WriteLeaseOptions } from './lease/write-lease.ts';

export class Session implements GatewayListener {
  /** The Lease of the Link. */
  readonly lease: WriteLease;
  readonly #env: Environment;
  readonly #report: LinkReport;
  readonly #mirrors: Mirrors;
  /** Takes part in federated Services for the Link. */
  readonly #party: SessionParty;
  /** Takes part in ServiceImports for the Link. */
  readonly #imports: SessionImports;
  readonly #gateway: Gateway;
  readonly #credentials: Credentials;
  readonly #reachability: Reachability;
  readonly #exports: Exports;
  readonly #stopped = new AbortController();
  readonly #budget: NamespaceBudget;
  #settings: LinkSettings;
  #view: LinkView;
  #unsubscribe: () => void = () => undefined;

  constructor(settings: LinkSettings, env: Environment, report: LinkReport, options?: WriteLeaseOptions) {
    const { config, tuning, metrics, log, families } = env;
    const { name, cluster } = settings;
    this.#settings = settings;
    this.#env = env;
    this.#report = report;
    this.#view = linkViewOf(settings, config);
    const { namespaces } = env.source;
    this.#budget = new NamespaceBudget({ most: config.maxNamespaces, cluster, namespaces, freed: this.#freed });
    this.lease = new WriteLease(name, cluster, env, report, {
      ...options,
      notes: (transitions, before) => this.#exports.leaseNotes(transitions, before),
    });
    this.#exports = new Exports({
      settings,
      env,
      report,
      parts: () => env.imports?.partsOf(cluster) ?? [],
      underWay: (aspect) => this.#underWay(aspect),
      record: () => this.lease.noted(),
      reachable: (obstacle) => this.#found(obstacle),
      signal: this.#stopped.signal,
    });
    this.#mirrors = new Mirrors({
      link: name,
      cluster,
      from: {
        keys: () => this.#exports.target.mirrored.keys(),
        observe: (key) => this.#observe(key),
        target: this.#exports.target,
        probe: () => probeManifests(this.#settings, this.#gateway.view, env),
        budget: this.#budget,
      },
      mayWrite: () => this.lease.mayWrite,
      env,
      report,
    });
    const link = () => ({ settings: this.#settings, view: this.#view, gateway: this.#gateway.view });
    this.#party = new SessionParty({
      cluster,
      env,
      report,
      lease: this.lease,
      budget: this.#budget,
      target: this.#exports.target,
      link,
    });
    const { target, reading } = this.#exports;
    this.#imports = new SessionImports({ cluster, env, link, target, reading });
    this.#reachability = new Reachability(name, log, report);
    for (const each of [target.mirrored, target.pods]) each.subscribe(this.#mirrors);
    target.members.subscribe(this.#party);
    target.exports.subscribe(this.#imports);
    this.#gateway = new Gateway({
      config,
      families,
      network: tuning.network ?? machineNetwork,
      probeAddress: () => probeAddress(this.#settings, env.source),
      listed: () => probeEndpoints(this.#settings, env.source),
      metrics,
      log,
      report,
      wasAlive: () => aliveBy(cluster, env.source, report.wasAlive?.()),
      listener: this,
    });
    this.#credentials = measuredCredentials(cluster, env, () => this.link, {
      onVerdict: (found) => this.#reachability.setCredentials(found),
      adopt: (client, onProblem, until) => this.#exports.adopt(client, onProblem, until),
    });
  }

  /**
   * Settings by which the Link is served. While the Link is invalid, or counts as invalid because it exchanges clusters
   * with other Links (exchanged.ts), they are those of an earlier spec of the Link.
   */
  get settings(): LinkSettings {
    return this.#settings;
  }

  /** Name of the Link. */
  get link(): string {
    return this.#settings.name;
  }

  get cluster(): string {
    return this.#settings.cluster;
  }

  /** Returns what the session knows for the Link's status. */
  findings(): SessionFindings {
    return findingsOf({
      settings: this.#settings,
      source: this.#env.source.problems,
      lease: this.lease,
      credentials: this.#credentials,
      reachability: this.#reachability,
      exports: this.#exports,
      imports: this.#imports,
      gateway: this.#gateway,
      mirrors: this.#mirrors,
      party: this.#party,
    });
  }

  /**
   * Returns what the session knows of a target Service (rule J3). The first call for a Service in flat mode starts the
   * reading of slices for all Services in flat mode. If lists and watches no longer show the Service, this call asks
   * the target about it, unless the mass-deletion guard holds the deletion, or the target has confirmed that the
   * Service is gone. The reconciles of mirrors might not ask, because they run only while the Lease is held.
   * @param key `namespace/name` of the target Service
   */
  knowledge(key: string): TargetKnowledge {
    const exported = this.#exports.target.observe(key);
    this.#exports.target.mirrored.askIfGone(key);
    if (exported.target?.mode === 'remote-discovery') this.#exports.readFlatSlices();
    return knowledgeOf(exported, this.#gateway.view);
  }

  /**
   * Returns whether a member of a federated Service is ready; undefined if that is not known. If lists and watches no
   * longer show the member, this call asks the target about it, unless the mass-deletion guard holds the deletion, or
   * the target has confirmed that the member is gone.
   * @param key `namespace/name` of the member in the target
   */
  isMemberReady(key: string): boolean | undefined {
    this.#exports.target.members.askIfGone(key);
    return this.#exports.target.isMemberReady(key);
  }

  /** Starts the session. Nothing is written until the Link's Lease is held. */
  start(): void {
    const { source, claims, federations, imports, log } = this.#env;
    const { name, cluster, createdAt } = this.#settings;
    claims.join(cluster, { createdAt, name }, (key) => this.#mirrors.add(key));
    this.#unsubscribe = source.subscribe(cluster, (key, by) => {
      if (by === 'endpoints') this.#mirrors.progress.edited(key);
      this.#mirrors.add(key);
    });
    federations.join(this.#party);
    imports?.join(this.#imports);
    log.info({ link: name, cluster }, 'serving the Link');
    this.lease.run((until) => this.#work(until));
    this.#gateway.start(this.#settings);
  }

  /**
   * Applies a changed spec or annotation of the Link while the session goes on (rule E5). Findings for the former spec
   * are not reported for the new one (rule G1).
   */
  update(settings: LinkSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    const isReadAnew = this.#exports.update(settings);
    this.#report.statusChanged();
    if (isApplied(settings, before)) return;
    if (isReadAnew) {
      this.#reachability.readAnew();
      this.#exports.reportReachable();
    }
    if (settings.credentialsSecret !== before.credentialsSecret) this.#reachability.forgetCredentials();
    this.#view = linkViewOf(settings, this.#env.config);
    if (!isDeepStrictEqual([settings.gateway, settings.probe], [before.gateway, before.probe])) {
      this.#gateway.start(settings);
    }
    this.#enqueueAll();
  }

  /**
   * Uses the credentials in the present Secret of the Link.
   * @param secret undefined if no Secret of the credentials type has the name that the Link gives, or if the setting
   *   `credentialsSecrets` is set and does not list that name
   */
  setCredentials(secret: KeptSecret | undefined): void {
    this.#credentials
      .use(this.#settings.credentialsSecret, secret, this.#stopped.signal)
      .catch((error: unknown) =>
        this.#reachability.setCredentials(verdict('False', 'CredentialsUnusable', describe(error))),
      );
  }

  gatewayChanged(): void {
    this.#enqueueAll();
  }

  /**
   * Called when a namespace of the source cluster was created or deleted, or when the right to read it has changed.
   */
  namespaceChanged(namespace: string, state: SourceNamespaceState): void {
    if (this.#env.config.mirrorNamespaces !== undefined && state === 'exists') this.#exports.namespaceRead(namespace);
    // If a namespace was deleted, the limit on created namespaces might admit another one.
    const isWaiting = (key: string): boolean => state === 'missing' && this.#isWaiting(key);
    for (const key of this.#mirrors.keys()) {
      if (splitKey(key).namespace === namespace || isWaiting(key)) this.#mirrors.add(key);
    }
  }

  /**
   * Revokes the confirmation of a loss. Called before the session stops because the Link is suspended. While the Link
   * is suspended, the operator does not see Services come back and vanish again, and one confirmation must not confirm
   * a second loss (rule E6).
   */
  async revokeConfirmation(): Promise<void> {
    this.#exports.target.held.revoke();
    await this.lease.noted();
  }

  /**
   * Stops the session, and leaves all mirrors as they are. The Lease is released, but still records the cluster.
   * Resolves when no work is under way.
   */
  async stop(): Promise<void> {
    const { claims, federations, imports, metrics } = this.#env;
    const { cluster } = this.#settings;
    this.#gateway.stop();
    this.#exports.stop();
    this.#unsubscribe();
    federations.leave(cluster);
    const imported = imports?.leave(cluster);
    this.#stopped.abort(new Error('the session has ended'));
    await Promise.all([this.lease.release(), imported]);
    await this.#credentials.close();
    claims.leave(cluster);
    await Promise.all([this.#mirrors.forget(), metrics.forgetTarget(cluster)]);
  }

  async #work(until: AbortSignal): Promise<void> {
    this.#exports.askAnew();
    // Keys that were queued when the Lease was lost have left the queue.
    this.#enqueueAll();
    this.#party.taken();
    // If the Lease was lost, `lease.isHeld` becomes false right after the abort, and so before this callback runs.
    const memberships = aborted(until).then((reason) => this.#party.lost(reason));
    await Promise.all([this.#mirrors.run(until), memberships]);
  }

  #found(obstacle: TargetObstacle | undefined): void {
    const refused = obstacle && isUnauthorized(obstacle.error) ? this.#credentials.refused() : undefined;
    this.#reachability.found(obstacle, this.#settings.targetNamespaces, this.#credentials.valid, refused);
  }

  #observe(key: string): Observed {
    const { source, config } = this.#env;
    const [link, gateway, budget] = [this.#view, this.#gateway.view, this.#budget];
    return observeServed(key, this.#exports.target.observe(key), { link, gateway, budget, source, config });
  }

  /** Returns the keys of an aspect for which a mirror, a membership or a part of this cluster is being written. */
  #underWay(aspect: DerivedAspect): Iterable<string> {
    const { imports, federations } = this.#env;
    if (aspect === 'mirrored') return this.#mirrors.underWay;
    return (aspect === 'members' ? federations : imports)?.underWayOf(this.cluster) ?? [];
  }

  /**
   * Called when a namespace that was about to be created is not created after all. The limit on created namespaces
   * might admit another one instead.
   */
  readonly #freed = (): void => {
    for (const key of this.#mirrors.keys()) if (this.#isWaiting(key)) this.#mirrors.add(key);
    this.#party.changedWaiting();
  };

  #isWaiting(key: string): boolean {
    return this.#mirrors.statuses.get(key)?.mirrored !== true;
  }

  /** Enqueues all keys, because something that all mirrors depend on has changed. */
  #enqueueAll(): void {
    const keys = this.#mirrors.keys();
    if (this.#mirrors.progress.hasBegun) this.#mirrors.progress.start(keys);
    for (const key of keys) this.#mirrors.add(key);
    this.#party.changedAll();
    this.#imports.changedAll();
  }
}
