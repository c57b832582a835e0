/** What is in a namespace besides an installation, so that the namespace is deleted only if nobody else uses it. */
import { EVENTS, type KubeObject, LEASES, type Resource } from '../../../operator/kube/objects.ts';
import { OPERATOR_NAME, RootCa } from '../../../crds/wire.ts';
import type { Found } from '../common/apply.ts';
import type { Cluster } from '../common/cluster.ts';
import { readable } from '../common/readable.ts';
import { isOurs } from './ownership.ts';

/** What others have in a namespace. */
export interface Content {
  readonly objects: readonly Found[];
  /** Why it is not known completely: a list is forbidden, or an aggregated API server is down. */
  readonly obstacles: readonly string[];
}

/** Objects of others in the namespace, of every kind that the API server serves. */
export const othersIn = async (
  cluster: Pick<Cluster, 'namespacedResources' | 'list'>,
  namespace: string,
): Promise<Content> => {
  const { resources, unanswered } = await cluster.namespacedResources();
  const lists = await Promise.all(
    resources
      .filter((of) => !isIncidental(of))
      .map(async (of) => ({ of, read: await readable(() => cluster.list(of, { namespace })) })),
  );
  const objects = lists.flatMap(({ of, read }) =>
    'found' in read
      ? read.found
          .filter((object) => !isOurs(object) && !isDerived(of, object))
          .map((object): Found => ({ of, object }))
      : [],
  );
  const obstacles = lists.flatMap(({ read }) => ('obstacle' in read ? [read.obstacle] : []));
  return { objects, obstacles: [...unanswered, ...obstacles] };
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
  (kind === 'ConfigMap' && metadata.name === RootCa.name) ||
  (kind === 'ServiceAccount' && metadata.name === 'default') ||
  (kind === 'Secret' && TOKEN_OF.has(metadata.annotations?.['kubernetes.io/service-account.name'] ?? ''));

/** ServiceAccounts whose token Secrets Kubernetes once made by itself. */
const TOKEN_OF: ReadonlySet<string> = new Set(['default', OPERATOR_NAME, 'linkerd-gateway']);
