/**
 * Which objects `linkspan install` has made. It marks them with a label; an object that was there before gets none, and one
 * that Linkerd's chart, Helm or `linkerd multicluster install` has put a mark on is theirs whatever its labels are.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { ACCESS_ROUTES, setOf } from '../../../operator/access/objects.ts';
import { Annotation, Default, Label, Value } from '../../../crds/wire.ts';
import { type KubeObject, NAMESPACES, type Resource, SERVICES } from '../../../operator/kube/objects.ts';
import type { Found } from '../common/apply.ts';
import type { Cluster } from '../common/cluster.ts';
import {
  AUTHORIZATION_POLICIES,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  CRDS,
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  LINKERD_SERVERS,
  MESH_TLS_AUTHENTICATIONS,
  NETWORK_AUTHENTICATIONS,
  NETWORK_POLICIES,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
} from '../common/kinds.ts';

/** Every kind that any version of `install` has rendered, or its operator keeps, in the order in which they are removed. */
const KINDS: readonly Resource[] = [
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  SERVICES,
  NETWORK_POLICIES,
  LINKERD_SERVERS,
  ACCESS_ROUTES,
  AUTHORIZATION_POLICIES,
  MESH_TLS_AUTHENTICATIONS,
  NETWORK_AUTHENTICATIONS,
  ROLE_BINDINGS,
  ROLES,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  SERVICE_ACCOUNTS,
  CONFIG_MAPS,
  CRDS,
  NAMESPACES,
];

/** Reports whether `linkspan install` has made an object. */
export const isOurs = ({ metadata: { labels = {}, annotations = {} } }: KubeObject): boolean =>
  labels[Label.managedBy] === Value.managedBy &&
  !(Annotation.createdBy in annotations) &&
  !(Annotation.helmRelease in annotations);

/** What `linkspan install` has made in a cluster, in the order in which it is removed. */
export const findOurs = async (cluster: Cluster, namespace: string): Promise<readonly Found[]> => {
  const labelSelector = `${Label.managedBy}=${Value.managedBy}`;
  const lists = await Promise.all(
    KINDS.map(async (of) => {
      // With the rights for a flat network there are Roles in the namespace of the control plane, too.
      const isAnywhere = !of.namespaced || of === ROLES || of === ROLE_BINDINGS;
      const found = await cluster.list(of, { ...(!isAnywhere && { namespace }), labelSelector });
      const inScope = of === NAMESPACES ? found.filter(({ metadata }) => metadata.name === namespace) : found;
      return inScope.filter(isOurs).map((object): Found => ({ of, object }));
    }),
  );
  return lists.flat();
};

/**
 * An object as it is to be applied: without our label if it was there before, so that it is not taken for ours.
 * @param live the object that is there
 */
export const ownedAs = (live: KubeObject | undefined, object: ApiJson): ApiJson =>
  live === undefined || isOurs(live) ? object : withoutMark(object);

const withoutMark = (object: ApiJson): ApiJson => {
  const { [Label.managedBy]: _, ...labels } = object.metadata.labels ?? {};
  return { ...object, metadata: { ...object.metadata, labels } };
};

/**
 * Reports whether an object is of the policy that the operator keeps of who may come through the gateway: that for everyone
 * among it, which the operator deletes when all that is exported is admitted.
 */
export const isAccessPolicy = ({ object }: Found): boolean => setOf(object) !== undefined;

/** Reports whether an object is what other clusters reach this one through. */
export const isGateway = ({ of, object }: Found): boolean =>
  (of === DEPLOYMENTS || of === SERVICES) && object.metadata.name === Default.gatewayName;
