/**
 * What would become of the federated Services (rules I1 to I9): what the operator derives, of what the Links and the
 * source cluster have as members.
 */
import { parseSelectorText } from '../../crds/selector.ts';
import type { OperatorConfig } from '../config/config.ts';
import { FederationDerivation, isOfFederation } from '../federation/derivation.ts';
import { NO_LOCAL_MEMBER, observeLocalMember } from '../federation/observe.ts';
import type { LocalParty, TargetParty } from '../federation/observed.ts';
import type { FederationParty, Participant as Taking } from '../federation/party.ts';
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { Seniority } from '../mirror/names.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import type { ServedTarget } from '../served/served-target.ts';
import type { NamespaceBudget } from '../source/write-scope.ts';
import { ALWAYS_GONE } from '../target/aspect.ts';
import { readLocalSlice } from '../target/read/objects.ts';
import { ListedTarget } from './listed-target.ts';
import type { ModelCluster } from './model.ts';
import { SILENT, type Stepping, Steps } from './steps.ts';

/** What is known of federated Services beside the Links that are served. */
export interface FederationFacts {
  /** The slices behind the local members. */
  readonly localSlices: readonly EndpointSlice[];
  /** Whether the operator holds the Lease of local memberships, or would. */
  readonly isLocalHeld: boolean;
  /** Whether a Link that is not forecast names a cluster: its memberships stay as they are. */
  readonly mayHaveLink: (cluster: string) => boolean;
  /** Whether a Link of this operator names a cluster, or did. */
  readonly isLinked: (cluster: string) => boolean;
  /** The age and the name of the Link that names a cluster; undefined if none does. */
  readonly seniorityOf: (cluster: string) => Seniority | undefined;
  /** Whether Linkerd's control plane has credentials of a cluster; undefined if that is not known. */
  readonly isDiscoverable: (cluster: string) => boolean | undefined;
}

/** A Link that is served, as it takes part. */
export interface Participant {
  readonly cluster: string;
  readonly target: Pick<ServedTarget, 'members'>;
  member(key: string): TargetParty;
  readonly budget: NamespaceBudget;
}

type LocalParticipant = Taking<LocalParty>;

export class FederationForecast {
  /** By target cluster: the status of each of its members, by key. */
  readonly statuses = new Map<string, Map<string, MirrorStatus>>();
  readonly steps: Stepping;

  constructor(
    config: OperatorConfig,
    model: ModelCluster,
    facts: FederationFacts,
    participants: readonly Participant[],
  ) {
    const { stores: source } = model;
    const parties = new Map(participants.map((each) => [each.cluster, this.#party(each)]));
    const derivation = new FederationDerivation({
      env: { config, source, log: SILENT },
      local: localParty(localTarget(config, model.services, facts), facts),
      parties,
      mayHaveLink: facts.mayHaveLink,
      isLinked: facts.isLinked,
      seniorityOf: facts.seniorityOf,
      selecting: () => [],
      awaitedRetryMs: 0,
    });
    const steps = new Steps({
      ...{ sort: 'federated', derivation, model, isOurs: isOfFederation },
      waiting: () => [...derivation.keys()].filter((key) => !derivation.isSettled(key)),
    });
    this.steps = steps;
    source.subscribeFederations((key) => steps.add(key));
  }

  #party(participant: Participant): FederationParty {
    const { cluster } = participant;
    const statuses = new Map<string, MirrorStatus>();
    this.statuses.set(cluster, statuses);
    return {
      cluster,
      keys: () => participant.target.members.keys(),
      observe: (key) => participant.member(key),
      mayWrite: () => true,
      members: ALWAYS_GONE,
      budget: participant.budget,
      report: (key, status) => {
        if (status === undefined) statuses.delete(key);
        else statuses.set(key, status);
      },
    };
  }
}

const localParty = (target: ListedTarget | undefined, { isLocalHeld: isHeld }: FederationFacts): LocalParticipant => ({
  keys: () => target?.members.keys() ?? [],
  observe: (key) => (target === undefined ? NO_LOCAL_MEMBER : observeLocalMember(key, target.members, isHeld)),
  mayWrite: () => true,
  report: () => undefined,
});

/** The local Services that are selected as members; undefined if none ever is. */
const localTarget = (
  { federatedSelector, mirrorNamespaces: namespaces }: OperatorConfig,
  services: readonly Service[],
  { localSlices: slices }: FederationFacts,
): ListedTarget | undefined => {
  const parsed = parseSelectorText(federatedSelector);
  const selector = parsed.ok ? parsed.value : undefined;
  if (selector === undefined) return undefined;
  return new ListedTarget(
    { services, slices, namespaces },
    { gateway: undefined, flat: undefined, members: selector, readsMemberSlices: true },
    readLocalSlice,
  );
};
