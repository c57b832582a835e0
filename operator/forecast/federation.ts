/**
 * What would become of the federated Services (rules I1 to I9): the same decision and the same pass as the operator's, made
 * of what the Links and the source cluster have as members.
 */
import { parseSelectorText } from '../../crds/selector.ts';
import type { OperatorConfig } from '../config/config.ts';
import { decideFederation } from '../federation/decide.ts';
import { ownedOf } from '../federation/desired.ts';
import { listedClusters } from '../federation/membership.ts';
import type { LocalParty, ObservedFederation, TargetParty } from '../federation/observed.ts';
import { type EndpointSlice, type Service, splitKey } from '../kube/objects.ts';
import { afterPass, isOfFederation, unknownParty } from '../federation/federations.ts';
import { namespaceStateOf, operatorsOf } from '../source/write-scope.ts';
import type { MirrorPass } from '../mirror/reasons.ts';
import { reconcile } from '../mirror/reconcile.ts';
import { isMirrorItself } from '../mirror/shape.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import { Applier } from '../runtime/applier.ts';
import { idOf } from '../runtime/plan.ts';
import { readLocalSlice } from '../target/read/objects.ts';
import { ListedTarget } from './listed-target.ts';
import type { ModelCluster } from './model.ts';

/** What is known of federated Services beside the Links that are served. */
export interface FederationFacts {
  /** The slices behind the local members. */
  readonly localSlices: readonly EndpointSlice[];
  /** Whether the operator holds the Lease of local memberships, or would. */
  readonly isLocalHeld: boolean;
  /** Whether a Link that is not forecast names a cluster: its memberships stay as they are. */
  readonly mayHaveLink: (cluster: string) => boolean;
  /** Whether Linkerd's control plane has credentials of a cluster; undefined: that is not known. */
  readonly isDiscoverable: (cluster: string) => boolean | undefined;
}

/** A Link that is served, as it takes part. */
export interface Participant {
  readonly cluster: string;
  memberKeys(): Iterable<string>;
  member(key: string): TargetParty;
}

/** Passes of one key: each makes one step. */
const MAX_PASSES = 20;

export class FederationForecast {
  /** By target cluster: the status of each of its members, by key. */
  readonly statuses = new Map<string, Map<string, MirrorStatus>>();
  readonly #model: ModelCluster;
  readonly #config: OperatorConfig;
  readonly #facts: FederationFacts;
  readonly #participants: readonly Participant[];
  readonly #local: ListedTarget | undefined;
  readonly #applier: Applier;
  readonly #due = new Set<string>();
  /** Keys whose Services do not all join, which what others write may change. */
  readonly #unsettled = new Set<string>();

  constructor(
    config: OperatorConfig,
    model: ModelCluster,
    facts: FederationFacts,
    participants: readonly Participant[],
  ) {
    this.#config = config;
    this.#model = model;
    this.#facts = facts;
    this.#participants = participants;
    this.#local = localTarget(config, model.services, facts);
    // The model shows its writes by itself.
    this.#applier = new Applier({ client: model, stores: {}, isOurs: isOfFederation, mayWrite: () => true });
    model.stores.subscribeFederations((key) => this.#due.add(key));
    const members = participants.flatMap((each) => [...each.memberKeys()]);
    for (const key of [...model.stores.federations(), ...members, ...(this.#local?.memberKeys() ?? [])])
      this.#due.add(key);
  }

  get isDue(): boolean {
    return this.#due.size > 0;
  }

  takeKeys(): readonly string[] {
    const keys = [...new Set([...this.#due, ...this.#unsettled])].sort();
    this.#due.clear();
    return keys;
  }

  /** Makes the steps of one key until there is none. Returns the ids of what was written. */
  async settle(key: string): Promise<readonly string[]> {
    const written: string[] = [];
    for (let passes = 0; passes < MAX_PASSES; passes += 1) {
      const pass = await this.#pass(key);
      written.push(...pass.done.map(({ of, object }) => idOf(of, object)));
      if (!pass.again) break;
    }
    return written;
  }

  async #pass(key: string): Promise<MirrorPass> {
    const observed = this.#observe(key);
    const { manifests, statuses } = decideFederation(observed);
    const context = { applier: this.#applier, conflictRetryMs: 0 };
    const pass = await reconcile(manifests, ownedOf(observed), () => false, context, new AbortController().signal);
    if (pass.again) return pass;
    const after = [...statuses].map(
      ([cluster, status]) => [cluster, status.mirrored ? afterPass(status, pass) : status] as const,
    );
    for (const { cluster } of this.#participants) this.statuses.get(cluster)?.delete(key);
    for (const [cluster, status] of after) this.#statusesOf(cluster).set(key, status);
    if (after.every(([, { mirrored }]) => mirrored)) this.#unsettled.delete(key);
    else this.#unsettled.add(key);
    return pass;
  }

  #statusesOf(cluster: string): Map<string, MirrorStatus> {
    const known = this.statuses.get(cluster) ?? new Map<string, MirrorStatus>();
    this.statuses.set(cluster, known);
    return known;
  }

  #observe(key: string): ObservedFederation {
    const { namespace, name } = splitKey(key);
    const { stores: source } = this.#model;
    const observed: ObservedFederation = {
      namespace,
      name,
      namespaceState: namespaceStateOf(namespace, { source, config: this.#config }),
      local: this.#localParty(key),
      targets: this.#participants.map((each) => each.member(key)),
      operators: operatorsOf({ source, config: this.#config }),
      ...source.federation(key),
    };
    const silent = [...listedClusters(observed)].filter(
      (cluster) => !this.#participants.some((each) => each.cluster === cluster) && this.#facts.mayHaveLink(cluster),
    );
    return {
      ...observed,
      targets: [...observed.targets, ...silent.map((each) => ({ ...unknownParty(each), isLinked: false }))],
    };
  }

  #localParty(key: string): LocalParty {
    if (this.#local === undefined) return { knowledge: 'known', isHeld: false, slices: undefined };
    const service = this.#local.member(key);
    const isMember = service !== undefined && !isMirrorItself(service);
    return {
      knowledge: 'known',
      isHeld: this.#facts.isLocalHeld,
      service: isMember ? service : undefined,
      slices: this.#local.memberSlicesOf(key),
    };
  }
}

/** The local Services that are selected as members; undefined: none ever is. */
const localTarget = (
  { federatedSelector, mirrorNamespaces: namespaces }: OperatorConfig,
  services: readonly Service[],
  { localSlices: slices }: FederationFacts,
): ListedTarget | undefined => {
  const parsed = parseSelectorText(federatedSelector);
  const selector = parsed.ok ? parsed.value : undefined;
  if (selector === undefined) return undefined;
  const local = services.filter((service) => !isMirrorItself(service));
  return new ListedTarget(
    { services: local, slices, namespaces },
    { gateway: undefined, flat: undefined, members: selector, readsMemberSlices: true },
    readLocalSlice,
  );
};
