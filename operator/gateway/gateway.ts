/**
 * A Link's gateway as it is observed: its addresses, and whether it is alive. Addresses, port, identity and probe
 * change together, once the new addresses are known: no mirror ever has the addresses of one gateway with the port or
 * identity of another, no gateway is probed as another is, and a failed lookup keeps the gateway in use.
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
  /** Returns where the probe Service leads to now. */
  readonly listed: () => ListedProbe;
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

/** A gateway with known addresses, and how it is probed. */
interface InUse {
  /** As its Link named it. */
  readonly gateway: GatewaySettings;
  /** Undefined if it is not probed. */
  readonly probe: ProbeSettings | undefined;
  readonly addresses: readonly string[];
}

/** Where a probe Service leads to. */
export interface ListedProbe {
  /** Those that its endpoints list; empty if there are none. */
  readonly addresses: readonly string[];
  /** Undefined while there is no Service. */
  readonly port: number | undefined;
}

export class Gateway {
  readonly #options: GatewayOptions;
  #settings: Pick<LinkSettings, 'name' | 'cluster' | 'gateway' | 'probe'> | undefined;
  /** Ends the lookups of the current settings. */
  #lookups = new AbortController();
  /** Ends the probes of one gateway. */
  #probes = new AbortController();
  #lookup: GatewayAddressState | undefined;
  /** The gateway that endpoints lead to: the last one whose addresses are known. */
  #inUse: InUse | undefined;
  #alive: boolean | undefined;
  /** The last verdict before what is probed was what it is now. */
  #wasAlive: boolean | undefined;
  #verdict: Verdict | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** The gateway that endpoints lead to; undefined if the Link has none. */
  get view(): GatewayView | undefined {
    const { gateway } = this.#inUse ?? this.#settings ?? {};
    if (gateway === undefined) return undefined;
    const probe = this.#probe;
    const { port, identity } = gateway;
    const alive = probe === undefined ? true : this.#alive;
    return { port, identity, addresses: this.#inUse?.addresses ?? [], alive, wasAlive: this.#wasAlive, probe };
  }

  /** Whether the gateway that endpoints lead to is the one that the Link has now. */
  get isKnown(): boolean {
    const named = this.#settings?.gateway;
    return named === undefined || isDeepStrictEqual(this.#inUse?.gateway, named);
  }

  /** How the gateway that endpoints lead to is probed; undefined if it is not. */
  get #probe(): ProbeSettings | undefined {
    return (this.#inUse ?? this.#settings)?.probe;
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
        (probe ?? this.#probe) === undefined
          ? verdict('True', 'NotProbed', 'the Link has no probeSpec.path')
          : this.#verdict,
      gateway: this.view,
    };
  }

  /** Starts to observe the Link's present gateway. The one before stays in use until the new addresses are known. */
  start(settings: LinkSettings): void {
    this.stop();
    this.#lookups = new AbortController();
    this.#settings = settings;
    this.#lookup = undefined;
    const { gateway, probe } = settings;
    if (gateway === undefined) this.#inUse = undefined;
    else if (this.#inUse !== undefined && this.isKnown) this.#inUse = { ...this.#inUse, probe };
    this.#forgetVerdict();
    if (gateway === undefined) return;
    const { families, network, config } = this.#options;
    void watchGatewayAddresses(
      {
        addresses: gateway.addresses,
        families,
        periodMs: config.gatewayResolvePeriodMs,
        network,
        onChange: (state) => this.#found({ gateway, probe, addresses: state.addresses }, state),
      },
      this.#lookups.signal,
    );
  }

  stop(): void {
    this.#lookups.abort();
    this.#probes.abort();
  }

  #found(found: InUse, state: GatewayAddressState): void {
    const { addresses, problems } = state;
    const before = this.#inUse;
    const failed = problems.length > 0 && (this.#lookup?.problems ?? []).length === 0;
    const isFirst = this.#lookup === undefined;
    this.#lookup = state;
    if (addresses.length > 0) this.#inUse = found;
    const isAnother = !isDeepStrictEqual(this.#inUse?.gateway, before?.gateway);
    if (isAnother) this.#forgetVerdict();
    // A probe needs the addresses, also through the probe Service.
    if (isFirst || isAnother) this.#startProbes();
    if (failed) this.#options.report.event('Warning', 'GatewayNotResolved', problems.join('; '));
    if (!isDeepStrictEqual(this.#inUse, before)) this.#options.listener.gatewayChanged();
    this.#options.report.statusChanged();
  }

  /** Forgets the verdict on another gateway, or one that was probed otherwise, or is probed no more. */
  #forgetVerdict(): void {
    this.#wasAlive = this.#alive ?? this.#wasAlive ?? this.#options.wasAlive?.();
    this.#alive = undefined;
    // Undefined would stand for the verdict in the status, which may be about the former gateway.
    this.#verdict &&= verdict('Unknown', 'Pending', 'not known yet');
    const { gatewayEnabled, gatewayAlive, gatewayLatency } = this.#options.metrics.target;
    gatewayEnabled.set(this.#labels, this.#probe === undefined ? 0 : 1);
    for (const former of [gatewayAlive, gatewayLatency]) former.remove(this.#labels);
  }

  /** Probes what endpoints lead to now, and nothing else any more. */
  #startProbes(): void {
    this.#probes.abort();
    this.#probes = new AbortController();
    const { metrics, network } = this.#options;
    const { name = '' } = this.#settings ?? {};
    const probe = this.#probe;
    if (probe === undefined) return;
    const labels = this.#labels;
    void probeGateway(
      {
        settings: probe,
        targets: () => this.#probeTargets(name, probe),
        network,
        onVerdict: (alive, message) => this.#setAlive(alive, message),
        onUnprobed: () => this.#setUnprobed(name),
        onProbe: (ok, latencyMs) => {
          metrics.target.gatewayProbes.inc({ ...labels, probe_successful: String(ok) });
          if (!ok) return;
          metrics.target.gatewayLatency.set(labels, latencyMs);
          metrics.target.gatewayProbeLatency.observe(labels, latencyMs);
        },
      },
      this.#probes.signal,
    );
  }

  /**
   * Returns the probe Service, by its ClusterIP so that no name is resolved, or the addresses of the gateway. Until
   * these are known, they are those that the probe Service leads to from before a restart, at its port. Undefined if
   * there is nothing to probe.
   */
  #probeTargets(link: string, probe: ProbeSettings): readonly ProbeTarget[] | undefined {
    const { config, probeAddress, listed } = this.#options;
    const { addresses, port = probe.port } = this.#inUse ? { ...this.#inUse, port: probe.port } : listed();
    const target = (host: string, address: string | undefined): readonly ProbeTarget[] => {
      const at = config.probeConnectTo.get(host) ?? (address === undefined ? undefined : { host: address, port });
      return at === undefined ? [] : [{ host, port, at }];
    };
    const found =
      config.probeVia === 'service'
        ? target(`${probeName(link)}.${config.namespace}.svc`, probeAddress())
        : addresses.flatMap((each) => target(each, each));
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

  /** Endpoints keep the readiness that they have. */
  #setUnprobed(link: string): void {
    const { config, log, report } = this.#options;
    const cause =
      config.probeVia === 'service'
        ? `there is no Service ${config.namespace}/${probeName(link)}, or it is not the probe Service of this Link`
        : 'no address of the gateway is known';
    this.#forgetVerdict();
    this.#verdict = verdict('Unknown', 'Pending', `the gateway cannot be probed: ${cause}`);
    log.warn({ link, cluster: this.#settings?.cluster, cause }, 'the gateway cannot be probed');
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
