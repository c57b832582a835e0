/**
 * A Link's gateway as it is observed: its addresses, and whether it is alive. Addresses, port and identity change
 * together, once the new addresses are known: no mirror ever has the addresses of one gateway with the port or identity
 * of another, and a failed lookup keeps the gateway in use.
 */
import { isDeepStrictEqual } from 'node:util';
import { type GatewaySettings, type LinkSettings, probeName, type ProbeSettings } from '../../crds/index.ts';
import type { OperatorConfig } from '../config/config.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import type { Network } from '../kube/network.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../metrics/index.ts';
import type { GatewayView } from '../mirror/observed.ts';
import { type GatewayAddressState, type IpFamily, watchGatewayAddresses } from './addresses.ts';
import { probeGateway, type ProbeTarget } from './probe.ts';

/** What is known about a gateway, for the Link's status. A verdict is undefined while it is not known. */
export interface GatewayFindings {
  readonly resolved: Verdict | undefined;
  readonly gatewayAlive: Verdict | undefined;
  /** Undefined if the Link has no gateway. */
  readonly gateway: GatewayView | undefined;
}

/** Where a gateway is reported on: its Link. */
export interface GatewayReport {
  statusChanged(): void;
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

export interface GatewayOptions {
  readonly config: OperatorConfig;
  readonly families: ReadonlySet<IpFamily>;
  readonly network: Pick<Network, 'resolve' | 'probe'>;
  /** Returns the ClusterIP of the probe Service; undefined while there is none. */
  readonly probeAddress: () => string | undefined;
  /** Returns the addresses that the endpoints of the probe Service list; empty if there are none. */
  readonly listedAddresses: () => readonly string[];
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly report: GatewayReport;
  /** Returns the last verdict before the operator started; undefined if it is not known. @default - it is not known */
  readonly wasAlive?: () => boolean | undefined;
  readonly listener: GatewayListener;
}

/** Learns what becomes of a gateway. */
export interface GatewayListener {
  /** The addresses, port or identity of endpoints must change, or their readiness. */
  gatewayChanged(): void;
}

export class Gateway {
  readonly #options: GatewayOptions;
  #settings: Pick<LinkSettings, 'name' | 'cluster' | 'gateway' | 'probe'> | undefined;
  /** Ends the lookups and probes of the current settings. */
  #run = new AbortController();
  #lookup: GatewayAddressState | undefined;
  /** The gateway that endpoints lead to: the last one whose addresses are known. */
  #inUse: GatewaySettings | undefined;
  #alive: boolean | undefined;
  /** The last verdict before the settings were the present ones. */
  #wasAlive: boolean | undefined;
  #verdict: Verdict | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** The gateway that endpoints lead to; undefined if the Link has none. */
  get view(): GatewayView | undefined {
    const settings = this.#inUse ?? this.#settings?.gateway;
    if (settings === undefined) return undefined;
    const isProbed = this.#settings?.probe !== undefined;
    const { port, identity } = settings;
    const alive = isProbed ? this.#alive : true;
    return { port, identity, addresses: this.#inUse?.addresses ?? [], alive, wasAlive: this.#wasAlive };
  }

  /** Whether the addresses of the gateway that the Link has now have been looked up. */
  get isKnown(): boolean {
    return this.#settings?.gateway === undefined || this.#lookup !== undefined;
  }

  /** Returns what is known, for the Link's status. */
  findings(): GatewayFindings {
    const { gateway, probe } = this.#settings ?? {};
    if (gateway === undefined) {
      const none = verdict('True', 'NoGateway', 'the Link has no gateway');
      return { resolved: none, gatewayAlive: none, gateway: undefined };
    }
    return {
      resolved: this.#resolved(),
      gatewayAlive:
        probe === undefined ? verdict('True', 'NotProbed', 'the Link has no probeSpec.path') : this.#verdict,
      gateway: this.view,
    };
  }

  /** Starts to observe the Link's present gateway. The one before stays in use until the new addresses are known. */
  start(settings: LinkSettings): void {
    this.stop();
    this.#run = new AbortController();
    this.#settings = settings;
    this.#wasAlive = this.#alive ?? this.#wasAlive ?? this.#options.wasAlive?.();
    this.#alive = undefined;
    this.#verdict = undefined;
    this.#lookup = undefined;
    const { signal } = this.#run;
    const { gateway, probe } = settings;
    const { gatewayEnabled, gatewayAlive, gatewayLatency } = this.#options.metrics.target;
    gatewayEnabled.set(this.#labels, probe === undefined ? 0 : 1);
    // What was measured was another gateway, or is measured no more.
    for (const former of [gatewayAlive, gatewayLatency]) former.remove(this.#labels);
    if (gateway === undefined) {
      this.#inUse = undefined;
      return;
    }
    const { families, network, config } = this.#options;
    const { promise: known, resolve: first } = Promise.withResolvers<void>();
    void watchGatewayAddresses(
      {
        addresses: gateway.addresses,
        families,
        periodMs: config.gatewayResolvePeriodMs,
        network,
        onChange: (state) => {
          this.#found(gateway, state);
          first();
        },
      },
      signal,
    );
    // A probe needs the addresses, also through the probe Service.
    void known.then(() => this.#probe(signal));
  }

  stop(): void {
    this.#run.abort();
  }

  #found(gateway: GatewaySettings, state: GatewayAddressState): void {
    const { addresses, problems } = state;
    const next = addresses.length > 0 || this.#inUse === undefined ? { ...gateway, addresses } : this.#inUse;
    const isNew = !isDeepStrictEqual(next, this.#inUse);
    const failed = problems.length > 0 && (this.#lookup?.problems ?? []).length === 0;
    this.#inUse = next;
    this.#lookup = state;
    if (failed) this.#options.report.event('Warning', 'GatewayNotResolved', problems.join('; '));
    if (isNew) this.#options.listener.gatewayChanged();
    this.#options.report.statusChanged();
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const { metrics, network } = this.#options;
    const { name = '', probe } = this.#settings ?? {};
    if (probe === undefined) return;
    const labels = this.#labels;
    await probeGateway(
      {
        settings: probe,
        targets: () => this.#probeTargets(name, probe),
        network,
        onVerdict: (alive, message) => this.#setAlive(alive, message),
        onProbe: (ok, latencyMs) => {
          metrics.target.gatewayProbes.inc({ ...labels, probe_successful: String(ok) });
          if (!ok) return;
          metrics.target.gatewayLatency.set(labels, latencyMs);
          metrics.target.gatewayProbeLatency.observe(labels, latencyMs);
        },
      },
      signal,
    );
  }

  /**
   * Returns the probe Service, by its ClusterIP so that no name is resolved, or the addresses of the gateway. Until
   * these are known, they are those that the probe Service leads to from before a restart. Undefined if there is
   * nothing to probe.
   */
  #probeTargets(link: string, { port }: ProbeSettings): readonly ProbeTarget[] | undefined {
    const { config, probeAddress, listedAddresses } = this.#options;
    const target = (host: string, address: string | undefined): readonly ProbeTarget[] => {
      const at = config.probeConnectTo.get(host) ?? (address === undefined ? undefined : { host: address, port });
      return at === undefined ? [] : [{ host, at }];
    };
    const { addresses = [] } = this.#inUse ?? {};
    const found =
      config.probeVia === 'service'
        ? target(`${probeName(link)}.${config.namespace}.svc`, probeAddress())
        : (addresses.length > 0 ? addresses : listedAddresses()).flatMap((each) => target(each, each));
    return found.length === 0 ? undefined : found;
  }

  #setAlive(alive: boolean, message: string): void {
    const { metrics, log, report, listener } = this.#options;
    this.#alive = alive;
    this.#verdict = verdict(alive ? 'True' : 'False', alive ? 'ProbeSucceeded' : 'ProbeFailed', message);
    metrics.target.gatewayAlive.set(this.#labels, alive ? 1 : 0);
    const fields = { link: this.#settings?.name, cluster: this.#settings?.cluster, alive, cause: message };
    if (alive) log.info(fields, 'the gateway is alive');
    else log.warn(fields, 'the gateway is not alive');
    report.event(alive ? 'Normal' : 'Warning', alive ? 'GatewayAlive' : 'GatewayNotAlive', message);
    listener.gatewayChanged();
    report.statusChanged();
  }

  #resolved(): Verdict | undefined {
    if (this.#lookup === undefined) return undefined;
    const { problems, excess } = this.#lookup;
    const messages = [...problems, ...(excess === undefined ? [] : [excess])];
    if (messages.length === 0) return verdict('True', 'Resolved', '');
    const addresses = this.view?.addresses ?? [];
    const kept = addresses.length === 0 ? 'no address is known' : `in use: ${addresses.join(', ')}`;
    const reason = problems.length > 0 ? 'LookupFailed' : 'LimitExceeded';
    return verdict('False', reason, `${messages.join('; ')}; ${kept}`);
  }

  get #labels(): { readonly target_cluster_name: string } {
    return { target_cluster_name: this.#settings?.cluster ?? '' };
  }
}
