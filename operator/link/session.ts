/**
 * One Link that is served: its credentials, target, gateway, mirrors and Lease, tied together. A session shares nothing
 * with another but the source cluster's stores and the names that it claims there, so that a target that is down, slow
 * or hostile is the trouble of its own Link alone (rule E1).
 */
import { isDeepStrictEqual } from 'node:util';
import type { LinkSettings } from '../../crds/index.ts';
import { Gateway } from '../gateway/gateway.ts';
import { desiredProbe } from '../gateway/probe-service.ts';
import type { KubeClient } from '../kube/client.ts';
import { verdict } from '../kube/conditions.ts';
import { describe } from '../kube/errors.ts';
import { type Secret, splitKey } from '../kube/objects.ts';
import { type Manifests, NOTHING } from '../mirror/desired.ts';
import type { LinkView, Observed } from '../mirror/observed.ts';
import { PROBE_KEY } from '../source/owner.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import { Credentials } from '../target/credentials.ts';
import { Losses } from '../target/losses.ts';
import { Target } from '../target/target.ts';
import type { Environment, LinkReport } from './environment.ts';
import { Mirrors } from './mirrors.ts';
import { namespaceStateOf } from './namespaces.ts';
import { Reachability } from './reachability.ts';
import type { SessionFindings } from './status.ts';
import { WriteLease } from './write-lease.ts';

export class Session {
  readonly #env: Environment;
  readonly #report: LinkReport;
  readonly #lease: WriteLease;
  readonly #mirrors: Mirrors;
  readonly #gateway: Gateway;
  readonly #credentials: Credentials;
  readonly #reachability: Reachability;
  readonly #losses = new Losses();
  readonly #stopped = new AbortController();
  #settings: LinkSettings;
  #view: LinkView;
  #target: Target | undefined;
  #unsubscribe: () => void = () => undefined;

  constructor(settings: LinkSettings, env: Environment, report: LinkReport) {
    const { config, tuning, metrics, log, families } = env;
    const { name, cluster } = settings;
    this.#settings = settings;
    this.#env = env;
    this.#report = report;
    this.#view = viewOf(settings, env);
    this.#lease = new WriteLease(name, cluster, env, report);
    this.#mirrors = new Mirrors({
      link: name,
      cluster,
      from: { observe: (key) => this.#observe(key), probe: () => this.#probe() },
      env,
      report,
    });
    this.#reachability = new Reachability(name, log, report);
    this.#gateway = new Gateway({
      config,
      families,
      resolve: tuning.resolve,
      metrics,
      log,
      onEvent: (type, reason, message) => report.event(type, reason, message),
      onChange: () => this.#enqueueAll(),
      onStatus: () => report.statusChanged(),
    });
    this.#credentials = new Credentials({
      timeoutMs: tuning.requestTimeoutMs,
      hooks: metrics.clientHooks,
      listed: config.credentialsSecrets,
      trial: () => ({
        labelSelector: (this.#settings.selector ?? this.#settings.remoteDiscoverySelector)?.query,
        namespaces: this.#settings.targetNamespaces,
      }),
      onVerdict: (found) => this.#reachability.setCredentials(found),
      onClient: (client) => this.#useClient(client),
    });
  }

  /** What the Link said when it was last valid. */
  get settings(): LinkSettings {
    return this.#settings;
  }

  get link(): string {
    return this.#settings.name;
  }

  /** What is known, for the Link's status. */
  findings(): SessionFindings {
    const { progress, statuses } = this.#mirrors;
    return {
      ...this.#gateway.findings(),
      credentials: this.#reachability.credentials,
      reachable: this.#reachability.reachable,
      synced: progress.isCaughtUp ? verdict('True', 'Synced', '') : undefined,
      pruneHeld: this.#losses.count,
      heldBy: this.#lease.heldBy,
      // What was reported before stands until the target has been read.
      mirrors: this.#lease.isHeld && progress.isCaughtUp ? statuses : undefined,
    };
  }

  /** Starts; the Link's Lease is taken first, and nothing is written without it. */
  start(): void {
    const { source, claims, log } = this.#env;
    const { name, cluster, createdAt } = this.#settings;
    claims.join(cluster, { createdAt, name }, (key) => this.#mirrors.add(key));
    this.#unsubscribe = source.subscribe(cluster, (key, by) => {
      if (by === 'endpoints') this.#mirrors.progress.edited(key);
      this.#mirrors.add(key);
    });
    log.info({ link: name, cluster }, 'serving the Link');
    this.#lease.run((until) => this.#work(until));
    this.#gateway.start(this.#settings);
  }

  /** The Link's spec changed: what differs is applied in place (rule E5). */
  update(settings: LinkSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    for (const key of this.#losses.confirm(settings.confirmPrune)) this.#mirrors.add(key);
    this.#report.statusChanged();
    if (settings.generation === before.generation) return;
    this.#view = viewOf(settings, this.#env);
    const isReadAlike =
      settings.selector?.query === before.selector?.query &&
      settings.remoteDiscoverySelector?.query === before.remoteDiscoverySelector?.query &&
      isDeepStrictEqual(settings.targetNamespaces, before.targetNamespaces);
    if (!isReadAlike && this.#target !== undefined) this.#restartTarget();
    if (!isDeepStrictEqual([settings.gateway, settings.probe], [before.gateway, before.probe])) {
      this.#gateway.start(settings);
    }
    this.#enqueueAll();
  }

  /** The credentials Secret as it is now; undefined: there is none. */
  setCredentials(secret: Secret | undefined): void {
    this.#credentials
      .use(this.#settings.credentialsSecret, secret, this.#stopped.signal)
      .catch((error: unknown) =>
        this.#reachability.setCredentials(verdict('False', 'CredentialsUnusable', describe(error))),
      );
  }

  /** A namespace of the source cluster came or went, can be read or cannot any more. */
  namespaceChanged(namespace: string, state: SourceNamespaceState): void {
    // Mirrors that were not known when the target was listed count now.
    const isNewlyRead = this.#env.config.mirrorNamespaces !== undefined && state === 'exists';
    if (isNewlyRead && this.#target?.synced === true) this.#countLosses(this.#target, namespace);
    for (const key of this.#keys()) if (splitKey(key).namespace === namespace) this.#mirrors.add(key);
  }

  /**
   * Stops, leaving all mirrors as they are. What was under way has ended when this resolves.
   * @param lease `release`: the Link may be served again; `remove`: another Link has the cluster now
   */
  async stop(lease: 'release' | 'remove'): Promise<void> {
    const { claims, metrics, log } = this.#env;
    const { name, cluster } = this.#settings;
    this.#gateway.stop();
    this.#target?.stop();
    this.#unsubscribe();
    this.#stopped.abort(new Error('the session has ended'));
    await this.#lease[lease]().catch((error: unknown) => {
      log.warn({ link: name, error: describe(error) }, 'the Lease of the Link cannot be given up; it expires');
    });
    await this.#credentials.close();
    claims.leave(cluster);
    await Promise.all([this.#mirrors.forget(), metrics.forgetTarget(cluster)]);
  }

  async #work(until: AbortSignal): Promise<void> {
    const { progress } = this.#mirrors;
    // Keys that were queued when the Lease was lost are not queued any more.
    if (progress.hasBegun && !progress.isCaughtUp) progress.start(this.#everything());
    this.#enqueueAll();
    await this.#mirrors.run(until);
  }

  #observe(key: string): Observed {
    const { source } = this.#env;
    const { namespace, name } = splitKey(key);
    const target = this.#target?.get(key);
    return {
      link: this.#view,
      gateway: this.#gateway.view,
      namespace,
      name,
      target,
      slices: target && this.#target?.slicesOf(key),
      decidable: this.#target?.decides(key) === true && !(target === undefined && this.#losses.isHeld(key)),
      namespaceState: namespaceStateOf(namespace, this.#env),
      owned: source.ownedBy({ cluster: this.#view.cluster, key }),
      isForeign: (service) => source.isTaken(namespace, service, this.#view.cluster),
    };
  }

  #probe(): Manifests | undefined {
    const { source, config } = this.#env;
    if (this.#settings.gateway === undefined) return NOTHING;
    const addresses = this.#gateway.view?.addresses ?? [];
    // Before the first lookup nothing is known to be wrong with the addresses that are there.
    if (addresses.length === 0) return undefined;
    return desiredProbe({
      settings: this.#settings,
      namespace: config.namespace,
      addresses,
      endpointsKind: config.endpoints,
      owned: source.ownedBy({ cluster: this.#view.cluster, key: PROBE_KEY }),
      isForeign: (service) => source.isTaken(config.namespace, service, this.#view.cluster),
    });
  }

  #useClient(client: KubeClient): void {
    if (this.#target !== undefined) {
      this.#target.use(client);
      return;
    }
    this.#target = this.#makeTarget();
    this.#target.run(client, this.#stopped.signal);
  }

  /** Other selectors: watched anew, while what is mirrored stays as it is until the lists are complete. */
  #restartTarget(): void {
    const { client } = this.#credentials;
    this.#target?.stop();
    this.#mirrors.progress.restart();
    this.#losses.restarted();
    this.#target = this.#makeTarget();
    if (client !== undefined) this.#target.run(client, this.#stopped.signal);
  }

  #makeTarget(): Target {
    const { log, tuning } = this.#env;
    const { name: link, selector, remoteDiscoverySelector, targetNamespaces } = this.#settings;
    // One that was replaced may still have something to say.
    const isCurrent = (): boolean => this.#target === target;
    const target: Target = new Target({
      selectors: { gateway: selector, flat: remoteDiscoverySelector },
      namespaces: targetNamespaces,
      timings: tuning.targetTimings,
      labelCopyMs: tuning.labelCopyMs,
      onChange: (key) => {
        if (isCurrent()) this.#targetChanged(target, key);
      },
      onRelisted: (what) => {
        if (isCurrent()) this.#relisted(target, what);
      },
      onReachable: (obstacle) => {
        if (isCurrent()) this.#reachability.found(obstacle, targetNamespaces, this.#credentials.inUse);
      },
      onMalformed: (what) => {
        log.warn({ link, object: what }, 'the target sent an object that the API does not allow; left out');
        this.#report.event('Warning', 'MalformedObject', `left out of what the target sent: ${what}`);
      },
    });
    return target;
  }

  #targetChanged(target: Target, key: string): void {
    this.#mirrors.progress.changed(key);
    const isExported = target.get(key) !== undefined;
    const state = isExported ? 'exported' : target.decides(key) ? 'gone' : undefined;
    if (this.#losses.changed(key, state)) this.#report.statusChanged();
    // What is gone claims nothing, also while another writes for the Link.
    if (state === 'gone' && !this.#losses.isHeld(key)) this.#env.claims.withdraw({ cluster: this.#view.cluster, key });
    this.#mirrors.add(key);
  }

  #relisted(target: Target, what: 'services' | 'slices'): void {
    if (what === 'services') this.#countLosses(target);
    const { progress } = this.#mirrors;
    this.#mirrors.claim(target.keys());
    if (!progress.hasBegun) progress.start(this.#everything());
    this.#enqueueAll();
    this.#report.statusChanged();
  }

  /** @param within the only namespace whose mirrors are counted: those of others may be going one by one just now */
  #countLosses(target: Target, within?: string): void {
    const { source, log } = this.#env;
    const mirrored = new Set([...source.keysOf(this.#view.cluster)].filter((key) => key !== PROBE_KEY));
    const exported = target.keys();
    const before = this.#losses.count;
    const released = this.#losses.relisted(
      mirrored,
      (key) => {
        if (exported.has(key)) return 'exported';
        const isCounted = within === undefined || splitKey(key).namespace === within;
        return isCounted && target.decides(key) ? 'gone' : undefined;
      },
      this.#settings.confirmPrune,
    );
    const held = this.#losses.count;
    if (held > 0 && held !== before) {
      const message = `the target no longer lists ${held} of ${mirrored.size} mirrored Services; nothing of them is deleted`;
      log.warn({ link: this.link, held }, 'the target no longer lists many mirrored Services; deletions are held back');
      this.#report.event('Warning', 'PruneHeld', message);
    }
    for (const key of released) this.#mirrors.add(key);
  }

  /** Keys of everything that may need something: exported, mirrored, reported on. */
  #keys(): ReadonlySet<string> {
    const owned = this.#env.source.keysOf(this.#view.cluster);
    return new Set([...(this.#target?.keys() ?? []), ...owned, ...this.#mirrors.statuses.keys()]);
  }

  #everything(): ReadonlySet<string> {
    return new Set([PROBE_KEY, ...this.#keys()]);
  }

  #enqueueAll(): void {
    for (const key of this.#everything()) this.#mirrors.add(key);
  }
}

const viewOf = (settings: LinkSettings, { config }: Environment): LinkView => ({
  cluster: settings.cluster,
  clusterDomain: settings.clusterDomain,
  excludedLabels: settings.excludedLabels,
  excludedAnnotations: settings.excludedAnnotations,
  headless: settings.enableHeadlessServices ?? config.enableHeadlessServices,
  createNamespaces: settings.enableNamespaceCreation ?? config.enableNamespaceCreation,
  endpointsKind: config.endpoints,
});
