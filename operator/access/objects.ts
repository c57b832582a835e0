/** The objects of the gateway's policy, as they are read and as they are rendered (rule M4). Pure. */
import { hash } from 'node:crypto';
import {
  ClientsAuthentication,
  GatewayAuthorization,
  GatewayRoute,
  KeptNetworks,
  renderOf,
  type SourceNetwork,
} from '../../constructs/rendered/index.ts';
import { ACCESS_KINDS } from '../../crds/derived-kinds.ts';
import { Default, Label, Value } from '../../crds/wire.ts';
import type { KubeObject, Resource } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import type { Identities } from './exports.ts';

export const ACCESS_ROUTES: Resource = ACCESS_KINDS.routes;
export const AUTHORIZATIONS: Resource = ACCESS_KINDS.authorizations;
export const AUTHENTICATIONS: Resource = ACCESS_KINDS.authentications;
export const NETWORKS: Resource = ACCESS_KINDS.networks;
export const SERVERS: Resource = ACCESS_KINDS.servers;

/** An HTTPRoute of Linkerd's, with the fields that are read. */
export interface AccessRoute extends KubeObject {
  readonly spec?: { readonly hostnames?: readonly string[]; readonly [field: string]: unknown };
  readonly status?: { readonly parents?: readonly RouteParent[] };
}

interface RouteParent {
  readonly parentRef?: { readonly kind?: string; readonly name?: string };
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
}

/** An AuthorizationPolicy, with the fields that are read. */
export interface Authorization extends KubeObject {
  readonly spec?: {
    readonly targetRef?: { readonly kind?: string; readonly name?: string };
    readonly requiredAuthenticationRefs?: readonly {
      readonly kind?: string;
      readonly name?: string;
      readonly namespace?: string;
    }[];
  };
}

/** A MeshTLSAuthentication. */
export interface Authentication extends KubeObject {
  readonly spec?: { readonly identities?: readonly string[] };
}

/** A NetworkAuthentication. */
export interface Networks extends KubeObject {
  readonly spec?: { readonly networks?: readonly SourceNetwork[] };
}

/**
 * Value of the label on the route that takes what no other does, on the one that takes nothing, and on the policy for
 * opaque connections.
 */
const CATCH_ALL = 'all';
const NOTHING = 'nothing';
export const TCP = 'tcp';
/** Value of the label on the copy of the networks that clients connect from. */
const KEPT = 'networks';
/** Value of the label on the policy by which everyone in the mesh may use the whole gateway. */
export const OPEN = 'open';

const PREFIX = 'linkspan-';

/** The set of clients that an object of ours is for, or what else it is; undefined if it is not ours. */
export const setOf = ({ metadata: { labels } }: KubeObject): string | undefined => labels?.[Label.gatewayAccess];

/**
 * Names a set of clients by its content: a set never changes, it is replaced by another. It is 128 bits of a hash, so
 * that nobody finds clients of his own whose set has the name of another.
 */
export const setId = (identities: Identities): string => hash('sha256', JSON.stringify(identities), 'hex').slice(0, 32);

/** Name of the MeshTLSAuthentication of a set. */
export const authenticationName = (set: string): string => PREFIX + set;
/** Name of a route of a set, and of what authorizes it; a set has as many as its host names need. */
export const routeName = (set: string, index: number): string => `${PREFIX}${set}-${index}`;
/** Name of the route that takes what no other does. */
export const CATCH_ALL_NAME = PREFIX + CATCH_ALL;
/** Name of the route that takes nothing. */
export const NOTHING_NAME = PREFIX + NOTHING;
/** Name of the policy for opaque connections. */
export const TCP_NAME = `${PREFIX}opaque-${TCP}`;

/**
 * The set and the number of a route, by its name alone: anybody may edit its label. Undefined if the name is of another
 * make, as those of earlier operators are, whose sets have 48 bits.
 */
export function placeOf({
  metadata: { name },
}: KubeObject): { readonly set: string; readonly index: number } | undefined {
  const [, set, index] = /^linkspan-([\da-f]{32})-(0|[1-9]\d{0,5})$/.exec(name) ?? [];
  return set === undefined ? undefined : { set, index: Number(index) };
}

/** Reports whether Linkerd's policy controller has taken a route for the gateway: it has no effect before. */
export const isAccepted = ({ status }: AccessRoute): boolean =>
  (status?.parents ?? []).some(
    ({ parentRef, conditions = [] }) =>
      parentRef?.kind === 'Server' &&
      parentRef.name === Default.gatewayName &&
      conditions.some((each) => each.type === 'Accepted' && each.status === 'True'),
  );

/** Reports whether a policy authorizes for the whole gateway: such a one counts beside that of each route. */
export const isServerWide = ({ metadata, spec }: Authorization): boolean => {
  const { kind, name } = spec?.targetRef ?? {};
  return (kind === 'Server' && name === Default.gatewayName) || (kind === 'Namespace' && name === metadata.namespace);
};

const one = (of: Resource, objects: readonly object[]): Desired => ({
  of,
  object: objects[0] as KubeObject,
  comparison: { extraMetadata: 'ignored' },
});

/**
 * The networks that clients connect from, as the NetworkAuthentication of the gateway names them. They are a copy,
 * since an AuthorizationPolicy that requires what is missing refuses everyone.
 */
export const keptNetworks = (namespace: string, networks: readonly SourceNetwork[]): Desired =>
  one(NETWORKS, renderOf(KeptNetworks, { namespace, set: KEPT, networks }));

/** The clients of a set. */
export const authentication = (namespace: string, set: string, identities: Identities): Desired =>
  one(
    AUTHENTICATIONS,
    renderOf(ClientsAuthentication, {
      name: authenticationName(set),
      namespace,
      set,
      identities: identities === '*' ? ['*'] : identities,
    }),
  );

/** What authorizes a set for one of its routes. */
export const routeAuthorization = (namespace: string, set: string, name: string): Desired =>
  one(
    AUTHORIZATIONS,
    renderOf(GatewayAuthorization, {
      name,
      namespace,
      set,
      target: { kind: 'HTTPRoute', name },
      authentication: authenticationName(set),
    }),
  );

/** What authorizes a set for connections that Linkerd does not look into, and so for all else that has a route. */
export const tcpAuthorization = (namespace: string, clients: string): Desired =>
  one(
    AUTHORIZATIONS,
    renderOf(GatewayAuthorization, {
      name: TCP_NAME,
      namespace,
      set: TCP,
      target: { kind: 'Server', name: Default.gatewayName },
      authentication: authenticationName(clients),
    }),
  );

/** A route for some host names. */
export const route = (namespace: string, set: string, name: string, hosts: readonly string[]): Desired =>
  one(ACCESS_ROUTES, renderOf(GatewayRoute, { name, namespace, set, hosts }));

/** The route that takes what no other does: without it, a Server that has one route has none for other hosts. */
export const catchAll = (namespace: string): Desired =>
  one(ACCESS_ROUTES, renderOf(GatewayRoute, { name: CATCH_ALL_NAME, namespace, set: CATCH_ALL, hosts: 'everything' }));

/**
 * A route for nothing at all, as long as the gateway is closed: a Server that has no route lets in whomever a policy
 * names for all of it, to every host.
 */
export const nothing = (namespace: string): Desired =>
  one(
    ACCESS_ROUTES,
    renderOf(GatewayRoute, { name: NOTHING_NAME, namespace, set: NOTHING, hosts: ['nothing.linkspan.invalid'] }),
  );

/** Reports whether an object of ours is labelled as one. */
export const isOurs = (object: KubeObject): boolean =>
  object.metadata.labels?.[Label.managedBy] === Value.managedBy && setOf(object) !== undefined;

/** Reports whether an authentication of somebody else is one that every meshed client has. */
export const isForAnyClient = (object: Authentication): boolean =>
  !isOurs(object) && object.spec?.identities?.includes('*') === true;

/** Reports whether a policy is one by which everyone may use the gateway: that of the construct GatewayPolicy. */
export const isOpening = (each: Authorization): boolean =>
  isServerWide(each) && setOf(each) === OPEN && each.metadata.name !== TCP_NAME;

/** Reports whether a policy of somebody else authorizes for the whole gateway. */
export const isForeign = (each: Authorization): boolean => isServerWide(each) && !isOpening(each) && !isOurs(each);
