/** What users do with Links: they make and edit them, and confirm deletions that are held. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { EXPORTED, link as linkObject, LINKS_NAMESPACE } from '../support/builders.ts';
import type { HistoryCluster } from './cluster.ts';
import {
  CLUSTER_OF,
  type Federation,
  type LinkEdit,
  type LinkName,
  LINKS,
  TARGET_OF,
  type TargetName,
} from './command.ts';
import { removeHostileStatus } from './hostile.ts';
import type { Judge } from './judge.ts';
import { POLICIES } from './import-policy.ts';
import { clusterOf, INVALID_PERIOD, NO_GATEWAY, SUSPENDED } from './link-state.ts';
import { MEMBER_SELECTOR } from './members.ts';
import { PROBE } from './probe-spec.ts';
import { EXPORT_LABEL } from './target-users.ts';

export const LINK_API = 'multicluster.linkerd.io/v1alpha3';

/** Exported selectors of a Link, as users write them. */
const SELECTORS = {
  value: { matchLabels: EXPORTED },
  exists: { matchExpressions: [{ key: EXPORT_LABEL, operator: 'Exists' }] },
  empty: {},
} as const;

/** How Services are exported in flat mode. */
export const FLAT = 'remote-discovery';
const FLAT_SELECTOR = { matchLabels: { [EXPORT_LABEL]: FLAT } };

const CONFIRM = 'linkspan.dev/confirm-prune';

/** What may take away what has mirrors (E6). */
const MAY_TAKE: ReadonlySet<string> = new Set([
  'selector',
  'remoteDiscoverySelector',
  'enableHeadlessServices',
  'importPolicy',
]);

interface Spec {
  readonly probeSpec: { readonly period: string };
  readonly gatewayAddress: string;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

/** The conditions of a Link, whose status anybody may have written. */
export function conditionsOf(link: KubeObject | undefined): readonly Partial<Condition>[] {
  const { conditions } = (link?.status ?? {}) as { readonly conditions?: unknown };
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  return all.filter((each) => typeof each === 'object' && each !== null);
}

export class LinkUsers {
  readonly #east: HistoryCluster;
  readonly #judge: Judge;
  readonly #federation: Readonly<Record<TargetName, Federation>> | undefined;

  /** @param federation how members of federated Services are to be reached; undefined: Links select none */
  constructor(east: HistoryCluster, judge: Judge, federation?: Readonly<Record<TargetName, Federation>>) {
    this.#east = east;
    this.#judge = judge;
    this.#federation = federation;
  }

  get(name: LinkName): KubeObject | undefined {
    return this.#east.get(LINK_API, 'Link', LINKS_NAMESPACE, name);
  }

  remove(name: LinkName): void {
    this.#east.remove(LINK_API, 'Link', LINKS_NAMESPACE, name);
  }

  /**
   * Makes a Link valid again that a history made invalid: its probe's period is wrong at most. It is served, too, and has a
   * gateway.
   */
  mend(name: LinkName): void {
    this.resume(name);
    const { probeSpec, gatewayAddress } = (this.get(name)?.spec ?? {}) as Partial<Spec>;
    if (probeSpec?.period === INVALID_PERIOD) this.edit(name, { field: 'period', value: '3s' });
    if (gatewayAddress === NO_GATEWAY) this.edit(name, { field: 'gatewayAddress', value: '203.0.113.10' });
  }

  /** Leaves a Link to another controller (H9). */
  suspend(name: LinkName): void {
    this.#annotate(name, (annotations) => ({ ...annotations, [SUSPENDED]: 'true' }));
  }

  /** Has a Link served again. */
  resume(name: LinkName): void {
    this.#annotate(name, ({ [SUSPENDED]: _, ...annotations }) => annotations);
  }

  #annotate(name: LinkName, change: (annotations: Readonly<Record<string, string>>) => object): void {
    const link = this.get(name);
    const before = link?.metadata.annotations ?? {};
    const annotations = change(before) as Readonly<Record<string, string>>;
    if (link === undefined || SUSPENDED in before === SUSPENDED in annotations) return;
    this.#putEdited({ ...link, metadata: { ...link.metadata, annotations } });
  }

  /** Confirms the mass deletions that are held, by the very commands of their conditions (E6). */
  confirmPrunes(): void {
    for (const name of LINKS) {
      const link = this.get(name);
      const held = conditionsOf(link).find(({ type, status }) => type === 'PruneHeld' && status === 'True');
      const what = /confirm-prune="([^"]+)"/.exec(held?.message ?? '')?.[1];
      if (link === undefined || what === undefined) continue;
      const annotations = { ...link.metadata.annotations, [CONFIRM]: what };
      this.#judge.forgive(clusterOf(link));
      this.#putEdited({ ...link, metadata: { ...link.metadata, annotations } });
    }
  }

  put(name: LinkName, invalid = false): void {
    const object = linkObject(name, {
      targetClusterName: CLUSTER_OF[name],
      clusterCredentialsSecret: `credentials-${name}`,
      gatewayIdentity: 'gateway.one',
      // Which Link a mirror was written for shows in its endpoints.
      ...(name === TARGET_OF[name] ? {} : { gatewayPort: '31143' }),
      probeSpec: invalid ? { ...PROBE, period: INVALID_PERIOD } : PROBE,
      selector: SELECTORS.value,
      remoteDiscoverySelector: FLAT_SELECTOR,
      enableHeadlessServices: true,
      ...(this.#federation && {
        federatedServiceSelector: MEMBER_SELECTOR,
        federation: this.#federation[TARGET_OF[name]],
      }),
    });
    this.#east.put(object);
  }

  /** Its status stays. */
  #putEdited({ status: _, ...link }: KubeObject): void {
    removeHostileStatus(this.#east, this.get(link.metadata.name as LinkName)!);
    this.#east.put(link);
  }

  edit(name: LinkName, edit: LinkEdit): void {
    const link = this.get(name);
    if (link === undefined) return;
    const spec = link.spec as Readonly<Record<string, unknown>>;
    const edited = { ...link, spec: { ...spec, ...specOf(spec, edit) } };
    if (MAY_TAKE.has(edit.field)) this.#judge.edited(edited, `Link ${name} was given another ${edit.field}`);
    // What was another cluster's, and what the target lost before, may go.
    else if (edit.field !== 'period') this.#judge.forgive();
    this.#putEdited(edited);
    this.#judge.namespacesMayBeMade ||= edit.field === 'enableNamespaceCreation' && edit.value;
  }
}

const specOf = (spec: Readonly<Record<string, unknown>>, edit: LinkEdit): object => {
  switch (edit.field) {
    case 'selector':
      return { selector: SELECTORS[edit.value] };
    case 'remoteDiscoverySelector':
      return { remoteDiscoverySelector: edit.value === 'empty' ? {} : FLAT_SELECTOR };
    case 'importPolicy':
      return { importPolicy: POLICIES[edit.value] };
    case 'federatedServiceSelector':
      return { federatedServiceSelector: edit.value === 'empty' ? {} : MEMBER_SELECTOR };
    case 'probe':
      return { probeSpec: edit.value ? PROBE : undefined };
    case 'period':
      return spec['probeSpec'] === undefined ? {} : { probeSpec: { ...PROBE, period: edit.value } };
    case 'excluded':
      return { excludedAnnotations: edit.value ? ['excluded.io/*'] : undefined };
    default:
      return { [edit.field]: edit.value };
  }
};
