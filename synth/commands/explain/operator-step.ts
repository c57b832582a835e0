/** Whether an operator keeps what belongs to no one Link: federated Services and ServiceImports. */
import { OPERATOR_LEASE, writeLeaseName } from '../../../crds/wire.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { unservedJoint } from '../common/link-served.ts';
import { ifAllowed, type Readable } from '../common/readable.ts';
import { operatorPods } from '../common/remedies.ts';
import { type Step, unknown, warning } from './step.ts';

/**
 * Reads the Leases of an operator. Returns one step if what it has written and reported may be old, else none.
 * @param namespace that of the operator
 */
export const operatorSteps = async (
  source: Pick<Cluster, 'context' | 'kubeconfig' | 'list'>,
  namespace: string,
): Promise<readonly Step[]> => {
  const [links, leases] = await Promise.all([
    ifAllowed(() => source.list<LinkObject>(LINKS, { namespace })),
    ifAllowed(() => source.list<Lease>(LEASES, { namespace })),
  ]);
  const leaseOf = (name: string): Readable<Lease | undefined> =>
    'found' in leases ? { found: leases.found.find(({ metadata }) => metadata.name === name) } : leases;
  const held = ('found' in links ? links.found : []).map((link) => ({
    link,
    lease: leaseOf(writeLeaseName(link.metadata.name)),
  }));
  const unserved = unservedJoint(leaseOf(OPERATOR_LEASE), held, Date.now());
  if (unserved === undefined) return [];
  const state = unserved.reason === 'NotKnown' ? unknown : warning;
  const { kubeconfig, context } = source;
  return [state('operator', unserved.message, operatorPods({ kubeconfig, context, namespace }))];
};
