/** Rights of an installation that accounts of other namespaces have too: an operator from Git may have taken them over. */
import type { KubeObject } from '../../../operator/kube/objects.ts';
import type { Found } from '../common/apply.ts';
import type { Cluster } from '../common/cluster.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES } from '../common/kinds.ts';

interface Binding extends KubeObject {
  readonly roleRef?: { readonly name?: string };
  readonly subjects?: readonly { readonly kind?: string; readonly namespace?: string; readonly name?: string }[] | null;
}

/** The accounts outside a namespace that a ClusterRole or a ClusterRoleBinding gives rights to, as `namespace/name`. */
export const accountsElsewhere = async (
  cluster: Pick<Cluster, 'list'>,
  namespace: string,
  { of, object }: Found,
): Promise<readonly string[]> => {
  if (of === CLUSTER_ROLE_BINDINGS) return accountsOf(object, namespace);
  if (of !== CLUSTER_ROLES) return [];
  const bindings = await cluster.list<Binding>(CLUSTER_ROLE_BINDINGS, {});
  const own = bindings.filter(({ roleRef }) => roleRef?.name === object.metadata.name);
  return [...new Set(own.flatMap((each) => accountsOf(each, namespace)))];
};

const accountsOf = ({ subjects }: Binding, namespace: string): readonly string[] =>
  (subjects ?? []).flatMap((each) =>
    each.kind === 'ServiceAccount' && each.namespace !== namespace ? `${each.namespace ?? ''}/${each.name ?? ''}` : [],
  );
