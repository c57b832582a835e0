/** What is in a namespace besides an installation, so that the namespace is deleted only if nobody else uses it. */
import { EVENTS, type KubeObject, LEASES, type Resource } from '../../../operator/kube/objects.ts';
import { OPERATOR_NAME } from '../../../crds/wire.ts';
import type { Found } from '../common/apply.ts';
import type { Cluster } from '../common/cluster.ts';
import { isOurs } from './ownership.ts';

/** Objects of others in the namespace, of every kind that the API server serves. */
export const othersIn = async (cluster: Cluster, namespace: string): Promise<readonly Found[]> => {
  const kinds = (await cluster.namespacedResources()).filter((of) => !isIncidental(of));
  const lists = await Promise.all(
    kinds.map(async (of) =>
      (await cluster.list(of, { namespace }))
        .filter((object) => !isOurs(object) && !isDerived(of, object))
        .map((object): Found => ({ of, object })),
    ),
  );
  return lists.flat();
};

/** Kinds whose objects nobody misses: they report, or are made of Services. */
const isIncidental = ({ group, plural }: Resource): boolean =>
  plural === EVENTS.plural ||
  (group === LEASES.group && plural === LEASES.plural) ||
  group === 'metrics.k8s.io' ||
  plural === 'endpoints' ||
  plural === 'endpointslices';

interface OwnedObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly ownerReferences?: readonly object[] };
}

/** Reports whether Kubernetes has made an object, for another or for the namespace. */
const isDerived = ({ kind }: Resource, { metadata }: OwnedObject): boolean =>
  (metadata.ownerReferences ?? []).length > 0 ||
  (kind === 'ConfigMap' && metadata.name === 'kube-root-ca.crt') ||
  (kind === 'ServiceAccount' && metadata.name === 'default') ||
  (kind === 'Secret' && TOKEN_OF.has(metadata.annotations?.['kubernetes.io/service-account.name'] ?? ''));

/** ServiceAccounts whose token Secrets Kubernetes once made by itself. */
const TOKEN_OF: ReadonlySet<string> = new Set(['default', OPERATOR_NAME, 'linkerd-gateway']);
