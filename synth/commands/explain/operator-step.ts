/** Whether an operator keeps what belongs to no one Link: federated Services and ServiceImports. */
import { OPERATOR_LEASE, writeLeaseName } from '../../../crds/wire.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { unservedBy } from '../common/lease.ts';
import { type LinkWithLease, unservedJoint } from '../common/link-served.ts';
import { ifAllowed } from '../common/readable.ts';
import { operatorPods } from '../common/remedies.ts';
import { type Step, unknown, warning } from './step.ts';

/**
 * Returns one step if what an operator has written and reported may be old, else none.
 * @param namespace that of the operator
 */
export const operatorSteps = async (
  source: Pick<Cluster, 'context' | 'kubeconfig' | 'find' | 'list'>,
  namespace: string,
): Promise<readonly Step[]> => {
  const operators = await ifAllowed(() => source.find<Lease>(LEASES, { namespace, name: OPERATOR_LEASE }));
  // One that elects no leader has no Lease of its own.
  const isAlone = 'found' in operators && operators.found === undefined;
  const links = isAlone ? await ifAllowed(() => heldLinks(source, namespace)) : { found: [] };
  const unserved = 'found' in links ? unservedJoint(operators, links.found, Date.now()) : unservedBy(links, Date.now());
  if (unserved === undefined) return [];
  const state = unserved.reason === 'NotKnown' ? unknown : warning;
  const { kubeconfig, context } = source;
  const remedy = operatorPods({ kubeconfig, context, namespace });
  return [state('operator', `in namespace ${namespace}, ${unserved.message}`, remedy)];
};

const heldLinks = async (source: Pick<Cluster, 'list'>, namespace: string): Promise<readonly LinkWithLease[]> => {
  const [links, leases] = await Promise.all([
    source.list<LinkObject>(LINKS, { namespace }),
    source.list<Lease>(LEASES, { namespace }),
  ]);
  return links.map((link) => {
    const name = writeLeaseName(link.metadata.name);
    return { link, lease: { found: leases.find(({ metadata }) => metadata.name === name) } };
  });
};
