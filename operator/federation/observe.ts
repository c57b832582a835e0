/** What is observed of a target's Service as a member of a federated Service, for a session and for a forecast alike. */
import type { OperatorConfig } from '../config/config.ts';
import { splitKey } from '../kube/objects.ts';
import type { LinkNow } from '../mirror/observed.ts';
import type { ObservedMember } from '../served/served-target.ts';
import type { SourceStores } from '../source/stores.ts';
import { type NamespaceBudget, namespaceStateOf } from '../source/write-scope.ts';
import type { TargetParty } from './observed.ts';
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
