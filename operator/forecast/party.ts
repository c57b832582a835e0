/** Who writes the mirrors of one cluster in a forecast: a Link that is served, or the removal of what one left. */
import type { LinkSettings } from '../../crds/index.ts';
import type { OperatorConfig } from '../config/config.ts';
import { observeMember } from '../federation/observe.ts';
import type { TargetParty } from '../federation/observed.ts';
import type { LinkReport } from '../served/environment.ts';
import { NamespaceBudget } from '../source/write-scope.ts';
import { linkViewOf, observeLeft, observeServed, probeManifests } from '../mirrors/observe.ts';
import { findNotAdmitted, type NotAdmittedFindings, notKept, refusedBy } from '../served/not-admitted.ts';
import { ServedTarget } from '../served/served-target.ts';
import { MirrorDerivation, type MirrorSource } from '../mirrors/derivation.ts';
import { enterClaims } from '../mirror/claims.ts';
import { type Manifests, NOTHING } from '../mirror/manifests.ts';
import type { NameClaims } from '../mirror/names.ts';
import type { GatewayView, LinkNow, Observed } from '../mirror/observed.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import { ENDLESS } from '../runtime/turns.ts';
import { ownerOf } from '../source/owner.ts';
import { knowledgeOf, type TargetKnowledge } from '../failover/readiness.ts';
import { observeExporter } from '../mcs/exporter.ts';
import type { ImportParty } from '../mcs/party.ts';
import { AppliedPolicy } from '../mirror/applied-policy.ts';
import { NOTHING_EXPORTED } from '../target/aspect.ts';
import type { ImportForecast } from './imports.ts';
import type { ListedExports } from './listed-exports.ts';
import type { ListedTarget } from './listed-target.ts';
import type { ModelCluster } from './model.ts';
import { SILENT, type Stepping, Steps } from './steps.ts';

/** A Link that is served. */
export interface ServedLink {
  readonly settings: LinkSettings;
  readonly target: ListedTarget;
  /** What the target exports by the MCS API. @default - it is not read */
  readonly exports?: ListedExports | undefined;
  /** Undefined if the Link has no gateway. */
  readonly gateway: GatewayView | undefined;
}

/** A cluster that no Link has any more, and the Link that its mirrors were written for. */
export interface LeftCluster {
  readonly cluster: string;
  readonly link: string;
}

/** What would become of one Link. */
export interface LinkForecast {
  readonly link: string;
  readonly cluster: string;
  /** Of each target Service that is exported. */
  readonly statuses: readonly MirrorStatus[];
  /** Of each target Service that is selected as a member of a federated Service. */
  readonly members: readonly MirrorStatus[];
  /** Number of deletions that would be held (rule E6), and some of them. */
  readonly held: number;
  readonly someHeld: readonly string[];
  /** What its import policy keeps away; undefined if it has none (rules N1, N2). */
  readonly notAdmitted: NotAdmittedFindings | undefined;
  /** What is more than the limits allow (rule E10). */
  readonly excess: string | undefined;
}

/** What all of them share. */
export interface Context {
  readonly config: OperatorConfig;
  readonly model: ModelCluster;
  readonly claims: NameClaims;
  /** Whether Linkerd's control plane has credentials of a cluster; undefined if that is not known. */
  readonly isDiscoverable: (cluster: string) => boolean | undefined;
  /** Undefined if the MCS API is left alone. */
  readonly imports: ImportForecast | undefined;
}

/** What writes the mirrors of one cluster. */
export abstract class Party {
  readonly link: string;
  readonly cluster: string;
  protected readonly context: Context;
  readonly steps: Stepping;
  readonly #derivation: MirrorDerivation;

  constructor(link: string, cluster: string, context: Context, budget?: NamespaceBudget) {
    this.link = link;
    this.cluster = cluster;
    this.context = context;
    const { model, config, claims } = context;
    const from: MirrorSource = {
      keys: () => this.keys(),
      observe: (key) => this.observe(key),
      probe: () => this.probe(),
      budget,
    };
    const of = { link, cluster, namespace: config.namespace };
    this.#derivation = new MirrorDerivation({ ...of, from, claims, source: model.stores, turns: ENDLESS });
    const steps = new Steps({
      ...{ sort: 'mirror', derivation: this.#derivation, model },
      isOurs: (object) => ownerOf(object, config.namespace)?.cluster === cluster,
      waiting: () => this.#unmirrored(),
    });
    this.steps = steps;
    model.stores.subscribe(cluster, (key) => steps.add(key));
  }

  protected abstract keys(): Iterable<string>;
  protected abstract observe(key: string): Observed;
  protected abstract probe(): Manifests | undefined;

  /** Status of each target Service, by key. */
  get statuses(): ReadonlyMap<string, MirrorStatus> {
    return this.#derivation.statuses;
  }

  /** Enters all claims on names, before any is acted on, as after a list (rule A7). */
  begin(): void {
    for (const key of this.keys()) enterClaims(this.observe(key), this.context.claims);
  }

  /** Returns why a target Service is not mirrored, or that it is; undefined if it is not exported any more. */
  statusOf(key: string): MirrorStatus | undefined {
    return this.statuses.get(key);
  }

  *#unmirrored(): Iterable<string> {
    for (const [key, { mirrored }] of this.statuses) if (!mirrored) yield key;
  }
}

/** The removal of what a Link left. */
export class Removed extends Party {
  constructor({ cluster, link }: LeftCluster, context: Context) {
    super(link, cluster, context);
    context.imports?.joinFormer(cluster);
  }

  protected keys(): Iterable<string> {
    return [];
  }

  protected observe(key: string): Observed {
    const { config, model } = this.context;
    return observeLeft(key, this.cluster, { config, source: model.stores });
  }

  protected probe(): Manifests {
    return NOTHING;
  }
}

/** A Link that is served, as by an operator that has just started and has listed everything. */
export class Served extends Party {
  readonly #served: ServedLink;
  /** What the target exports. */
  readonly target: ServedTarget;
  readonly budget: NamespaceBudget;

  constructor(served: ServedLink, context: Context) {
    const { settings, target } = served;
    const { mirrored, members, pods } = target;
    const { name, cluster, createdAt } = settings;
    const { model, imports } = context;
    const { maxNamespaces: most } = context.config;
    const budget = new NamespaceBudget({ most, cluster, namespaces: model.stores.namespaces });
    super(name, cluster, context, budget);
    this.budget = budget;
    // Pods that are gone keep their endpoint mirrors for a while (rule D11); the forecast is of the time after it.
    const config = { ...context.config, endpointMirrorGraceMs: 0 };
    const source = model.stores;
    const policy = settings.importPolicy && new AppliedPolicy(settings.importPolicy);
    this.#served = served;
    this.target = new ServedTarget({
      link: name,
      cluster,
      target: { mirrored, members, pods, exports: served.exports ?? NOTHING_EXPORTED },
      config,
      source,
      log: SILENT,
      report: NOBODY,
      policy: () => policy,
      isHeadless: () => linkViewOf(settings, config).headless,
      parts: () => this.#parts(),
    });
    imports?.join({
      cluster,
      seniority: { createdAt, name },
      claimedId: served.exports?.claimedId ?? null,
      keys: () => [...this.#parts(), ...this.target.exports.keys()],
      observe: (key) => this.#exporter(key),
    });
  }

  /** Counts what the lists take away, once all take part. */
  override begin(): void {
    const { name, createdAt, confirmPrune } = this.#served.settings;
    this.context.claims.join(this.cluster, { createdAt, name }, (key) => this.steps.add(key));
    this.target.pods.recount();
    this.target.held.relisted(confirmPrune);
    super.begin();
  }

  /** Returns the keys of the ServiceImports that the target has a part in. */
  #parts(): Iterable<string> {
    return this.context.imports?.partsOf(this.cluster) ?? [];
  }

  /** @param members statuses of its members */
  outcome(members: Iterable<MirrorStatus>): LinkForecast {
    const { settings } = this.#served;
    return {
      link: this.link,
      cluster: this.cluster,
      statuses: [...this.statuses.values()],
      members: [...members],
      held: this.target.held.count,
      someHeld: this.target.held.some,
      notAdmitted: settings.importPolicy && this.#notAdmitted(),
      excess: this.target.limits.excess,
    };
  }

  #notAdmitted(): NotAdmittedFindings {
    const found = findNotAdmitted(this.#served.settings, this.target.notAdmitted());
    return { ...found, first: notKept(found, this.statuses) };
  }

  override statusOf(key: string): MirrorStatus | undefined {
    const mirror = super.statusOf(key);
    const obstacle = mirror === undefined ? this.target.obstacleOf(key) : undefined;
    return obstacle === undefined ? mirror : refusedBy(this.#served.settings, { key, obstacle });
  }

  get #link(): LinkNow {
    const { settings, gateway } = this.#served;
    return { settings, view: linkViewOf(settings, this.context.config), gateway };
  }

  #exporter(key: string): ReturnType<ImportParty['observe']> {
    const serviceExport = this.#served.exports?.exportOf(key);
    const isWithinBytes = this.target.isWithinBytes(key, serviceExport);
    const discovery = { has: this.context.isDiscoverable };
    return { ...observeExporter(key, this.target.exports, serviceExport, this.#link, discovery), isWithinBytes };
  }

  /** Returns what is known of one of its Services as a member of a federated Service. */
  member(key: string): TargetParty {
    const { config, model, isDiscoverable } = this.context;
    return observeMember(key, this.target.observeMember(key), this.#link, {
      config,
      source: model.stores,
      budget: this.budget,
      discovery: { has: isDiscoverable },
    });
  }

  knowledge(key: string): TargetKnowledge {
    return knowledgeOf(this.target.observe(key), this.#served.gateway);
  }

  protected keys(): Iterable<string> {
    return this.target.mirrored.keys();
  }

  protected observe(key: string): Observed {
    const { settings, gateway } = this.#served;
    const { config, model } = this.context;
    return observeServed(key, this.target.observe(key), {
      link: linkViewOf(settings, config),
      gateway,
      budget: this.budget,
      config,
      source: model.stores,
    });
  }

  protected probe(): Manifests | undefined {
    const { settings, gateway } = this.#served;
    const { config, model } = this.context;
    return probeManifests(settings, gateway, { config, source: model.stores });
  }
}

const NOBODY: LinkReport = { statusChanged: () => undefined, event: () => undefined };
