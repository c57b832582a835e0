/** What a forecast of federated Services needs of the source cluster, beside what it needs of mirrors. */
import { Label, LOCAL_WRITE_LEASE, OPERATOR_LEASE } from '../../../crds/wire.ts';
import { parseSelectorText } from '../../../crds/selector.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { discoveredBy, type FederationFacts } from '../../../operator/forecast/index.ts';
import { type Lease, type Secret, SECRETS, type Service } from '../../../operator/kube/objects.ts';
import { holderOf, isFresh } from '../common/lease.ts';
import { ifAllowed } from '../common/readable.ts';
import type { ClusterReader } from '../common/reader.ts';
import { fixedSelector } from '../common/selectors.ts';
import { slicesOfServices } from '../common/slices.ts';

/** What of it does not depend on which Links are planned. */
export type SourceFederation = Omit<FederationFacts, 'mayHaveLink' | 'isLinked' | 'seniorityOf'>;

/** Reads it. */
export const readFederation = async (
  reader: ClusterReader,
  config: OperatorConfig,
  services: readonly Service[],
  leases: ReadonlyMap<string, Lease>,
): Promise<SourceFederation> => {
  const parsed = parseSelectorText(config.federatedSelector);
  const selector = parsed.ok ? parsed.value : undefined;
  const names = services
    .filter(({ metadata }) => selector?.matches(metadata.labels) === true)
    .map(({ metadata }) => metadata.name);
  const { credentialsSecrets: only } = config;
  const isRead = ({ metadata }: Secret): boolean => only?.includes(metadata.name) !== false;
  const [localSlices, secrets] = await Promise.all([
    slicesOfServices(reader, names),
    ifAllowed(() => reader.select<Secret>(SECRETS, { namespace: config.controlPlaneNamespace, selector: CREDENTIALS })),
  ]);
  const clusters = 'found' in secrets ? new Set(secrets.found.filter(isRead).flatMap(discoveredBy)) : undefined;
  return { localSlices, isLocalHeld: isOurs(leases), isDiscoverable: (cluster) => clusters?.has(cluster) };
};

/** The copies of credentials that Linkerd's control plane finds. */
const CREDENTIALS = fixedSelector({ matchExpressions: [{ key: Label.credentialsClusterName, operator: 'Exists' }] });

/** Whether the operator holds the Lease of local memberships, or would take it: nobody else renews it. */
const isOurs = (leases: ReadonlyMap<string, Lease>): boolean => {
  const lease = leases.get(LOCAL_WRITE_LEASE);
  const holder = holderOf(lease);
  if (lease === undefined || holder === '' || holder === holderOf(leases.get(OPERATOR_LEASE))) return true;
  return !isFresh(lease, Date.now());
};
