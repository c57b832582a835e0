/** What is observed of a cluster's Service as a member of a federated Service, by the operator and by a forecast alike. */
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

/** The source cluster, and what it allows. */
export interface Surroundings {
  readonly config: OperatorConfig;
  readonly source: Pick<SourceStores, 'namespaces'>;
  readonly budget: Pick<NamespaceBudget, 'admits'>;
  readonly discovery: DiscoveredClusters;
}

/** Observes a member under a Link whose Lease is ours. */
export function observeMember(
  key: string,
  { service, isKnown, isAdmitted, isWithinBytes, anyReady }: ObservedMember,
  { settings, view, gateway }: LinkNow,
  around: Surroundings,
): TargetParty {
  const { namespace } = splitKey(key);
  const isFlat = settings.federation === 'flat';
  const mayCreate = (): boolean => namespaceStateOf(namespace, around) !== 'missing' || around.budget.admits(namespace);
  return {
    knowledge: isKnown ? 'known' : 'unknown',
    service,
    link: { ...view, createNamespaces: service !== undefined && view.createNamespaces && mayCreate() },
    seniority: { createdAt: settings.createdAt, name: settings.name },
    mayHaveMember: settings.federatedServiceSelector !== undefined,
    mode: isFlat ? 'remote-discovery' : 'gateway',
    // Nobody else needs the right to know it.
    isDiscoverable: isFlat && service !== undefined ? around.discovery.has(settings.cluster) : undefined,
    isAdmitted,
    isWithinBytes,
    gateway,
    lacksGateway: gateway === undefined,
    anyReady,
  };
}

/**
 * Observes a member of the source cluster.
 * @param isHeld whether the Lease of local memberships is ours
 */
export function observeLocalMember(
  key: string,
  members: Pick<Aspect<Service>, 'get' | 'decides' | 'slicesOf'> | undefined,
  isHeld: boolean,
): LocalParty {
  if (members?.decides(key) !== true) return { knowledge: 'unknown', isHeld, slices: undefined };
  return { knowledge: 'known', isHeld, service: localMember(key, members), slices: members.slicesOf(key) };
}

/** Returns a Service that is selected. Mirrors and federated Services are not, though they copy the label. */
export function localMember(key: string, members: Pick<Aspect<Service>, 'get'> | undefined): Service | undefined {
  const service = members?.get(key);
  return service === undefined || isMirrorItself(service) ? undefined : service;
}

/** A source cluster of which no Service ever joins. */
export const NO_LOCAL_MEMBER: LocalParty = { knowledge: 'known', isHeld: false, slices: undefined };
