/** Observes one cluster's Service as a member of a federated Service. The operator and a forecast share this code. */
import type { OperatorConfig } from '../config/config.ts';
import { type Service, splitKey } from '../kube/objects.ts';
import type { LinkNow } from '../mirror/observed.ts';
import { isMirrorItself } from '../mirror/shape.ts';
import type { ObservedMember } from '../served/served-target.ts';
import type { SourceStores } from '../source/stores.ts';
import { type NamespaceBudget, namespaceStateOf } from '../source/write-scope.ts';
import type { Aspect } from '../target/aspect.ts';
import type { LocalParty, TargetParty } from './observed.ts';
import type { DiscoveredClusters } from './party.ts';

/**
 * The operator's settings and the state of the source cluster that decide whether Services of target clusters become
 * members.
 */
export interface Surroundings {
  readonly config: OperatorConfig;
  readonly source: Pick<SourceStores, 'namespaces'>;
  readonly budget: Pick<NamespaceBudget, 'admits'>;
  readonly discovery: DiscoveredClusters;
}

/**
 * Returns the observed state of a target's Service, by its key. Assumes that this operator holds the Lease of the Link.
 */
export function observeMember(
  key: string,
  { service, isKnown, isAdmitted, isWithinBytes, anyReady }: ObservedMember,
  { settings, view, gateway }: LinkNow,
  around: Surroundings,
): TargetParty {
  const { namespace } = splitKey(key);
  const isFlat = settings.federation === 'flat';
  const isWanted = service !== undefined && view.createNamespaces && namespaceStateOf(namespace, around) === 'missing';
  return {
    knowledge: isKnown ? 'known' : 'unknown',
    service,
    link: view,
    seniority: { createdAt: settings.createdAt, name: settings.name },
    mayHaveMember: settings.federatedServiceSelector !== undefined,
    mode: isFlat ? 'remote-discovery' : 'gateway',
    // The first call of `has` starts a watch of Secrets, which needs a permission. `has` is called only for flat
    // members, so federated Services without flat members do not need that permission.
    isDiscoverable: isFlat && service !== undefined ? around.discovery.has(settings.cluster) : undefined,
    isAdmitted,
    isNamespaceAdmitted: !isWanted || around.budget.admits(namespace),
    isWithinBytes,
    gateway,
    lacksGateway: gateway === undefined,
    anyReady,
  };
}

/**
 * Returns the observed state of the source cluster's own Service, by its key.
 * @param isHeld whether this operator holds the Lease of local memberships
 */
export function observeLocalMember(
  key: string,
  members: Pick<Aspect<Service>, 'get' | 'decides' | 'slicesOf'> | undefined,
  isHeld: boolean,
): LocalParty {
  if (members?.decides(key) !== true) return { knowledge: 'unknown', isHeld, slices: undefined };
  return { knowledge: 'known', isHeld, service: localMember(key, members), slices: members.slicesOf(key) };
}

/**
 * Returns the selected local Service of this key; undefined if there is none. A mirror, a federated Service, or a
 * Service derived from a ServiceImport is ignored, even if the selector of local members selects it: its labels might
 * have been copied from another Service.
 */
export function localMember(key: string, members: Pick<Aspect<Service>, 'get'> | undefined): Service | undefined {
  const service = members?.get(key);
  return service === undefined || isMirrorItself(service) ? undefined : service;
}

/** Observed state of the source cluster if the operator has no selector for local members. */
export const NO_LOCAL_MEMBER: LocalParty = { knowledge: 'known', isHeld: false, slices: undefined };
