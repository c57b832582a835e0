/**
 * Runs the work of the operator while it leads, once everything in the source cluster has been listed: the sessions of
 * Links, the controllers of federated Services and of ServiceImports, and the controller of the gateway's policy.
 * Sessions take part in federated Services and in ServiceImports.
 */
import type { EventRecorder } from '../runtime/events.ts';
import { Discovery } from '../source/discovery.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import { Clusters, type ClustersOptions } from './clusters.ts';
import type { LinksEnvironment } from './environment.ts';
import { GatewayAccess } from '../access/access.ts';
import { Federations } from '../federation/federations.ts';
import { Imports } from '../mcs/imports.ts';
import { exportingClusters } from './links.ts';
import { hasNoLink } from './listed.ts';
import { LocalExports } from '../mcs/local-exports.ts';
import { LocalMember } from '../federation/local-member.ts';

export interface WorkOptions extends Omit<ClustersOptions, 'env'> {
  readonly env: LinksEnvironment;
  readonly events: Pick<EventRecorder, 'record'>;
}

export class Work {
  readonly clusters: Clusters;
  readonly #env: LinksEnvironment;
  readonly #federations: Federations;
  readonly #member: LocalMember;
  /** Undefined if the setting `serviceImports` is off. */
  readonly #imports: Imports | undefined;
  readonly #exports: LocalExports | undefined;
  readonly #discovery: Discovery;
  /** Undefined if the operator does not manage the policy of the gateway. */
  readonly #access: GatewayAccess | undefined;

  constructor({ env, events, ...options }: WorkOptions) {
    const { client, config, tuning, interruptions, log } = env;
    const mayHaveLink = (cluster: string): boolean => this.clusters.mayHaveLink(cluster);
    const isLinked = (cluster: string): boolean => this.clusters.hasMet(cluster);
    this.#env = env;
    this.#member = new LocalMember({ env, events });
    this.#federations = new Federations({
      env,
      local: this.#member,
      mayHaveLink,
      isLinked,
      seniorityOf: (cluster) => this.clusters.seniorityOf(cluster),
      selecting: () => this.clusters.selecting,
    });
    if (config.serviceImports) {
      this.#exports = new LocalExports(env);
      this.#imports = new Imports({
        env,
        events,
        local: this.#exports,
        mayHaveLink,
        isLinked,
        exporting: () => exportingClusters(options.reads.values()),
        serving: () => this.clusters.importing,
        search: {
          isStranger: (cluster) => this.clusters.isStranger(cluster),
          hasNoLink: (cluster, signal) => hasNoLink(cluster, env, signal),
        },
        listener: { moreReadable: () => this.clusters.moreReadable() },
      });
    }
    const { gatewayAccess: mode } = config;
    this.#access = mode === undefined ? undefined : new GatewayAccess({ env, mode, events });
    this.#discovery = new Discovery({
      client,
      namespace: config.controlPlaneNamespace,
      names: config.credentialsSecrets,
      timings: tuning.sourceTimings,
      interruptions,
      log,
      listener: {
        addOf: (cluster) => {
          this.#federations.addOf(cluster);
          this.#imports?.addOf(cluster);
        },
        addAll: () => {
          this.#federations.addAll();
          this.#imports?.addAll();
        },
      },
    });
    const shared = { ...env, federations: this.#federations, imports: this.#imports, discovery: this.#discovery };
    this.clusters = new Clusters({ ...options, env: shared });
  }

  /** Runs until the signal aborts and all work has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { source, claims } = this.#env;
    source.namespaces.subscribe((name, state) => this.#namespaceChanged(name, state));
    const unsubscribe = source.subscribeNames((namespace, name, by) => claims.passedOn(namespace, name, by));
    this.#member.start(this.#federations);
    if (this.#imports !== undefined) this.#exports?.start(this.#imports);
    await Promise.all([
      this.clusters.run(signal),
      this.#federations.run(signal),
      this.#imports?.run(signal),
      this.#discovery.run(signal),
      this.#access?.run(signal),
    ]);
    unsubscribe();
    await Promise.all([this.#member.stop(), this.#exports?.stop()]);
  }

  /**
   * Handles a Link that was created, changed or deleted. The option `reads` already shows the change.
   * @param named the cluster that the Link names, and the one that it named before; each of these clusters might have
   *   gained or lost a Link
   */
  linkChanged(name: string, named: ReadonlySet<string>): void {
    this.clusters.linkChanged(name);
    for (const cluster of named) this.#federations.addOf(cluster);
    this.#imports?.addAll();
  }

  #namespaceChanged(name: string, state: SourceNamespaceState): void {
    this.clusters.namespaceChanged(name, state);
    this.#federations.namespaceChanged(name, state);
    this.#imports?.namespaceChanged(name, state);
  }
}
