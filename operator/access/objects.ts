/**
 * The objects of the gateway's policy, as they are read and as they are rendered (rule M4). Most of them are for one
 * set of clients, and their names and labels contain the name of the set. An opaque connection is one that Linkerd does
 * not look into. Pure.
 */
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

/** An HTTPRoute of Linkerd's own kind, with the fields that are read. */
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
 * Values of the label `linkspan.dev/gateway-access`: on the route for hosts without another route, on the route for no
 * host, and on the policy for opaque connections.
 */
const CATCH_ALL = 'all';
const NOTHING = 'nothing';
export const TCP = 'tcp';
/** Value of the label on the copy of the networks that clients connect from. */
const KEPT = 'networks';
/** Value of the label on the policy by which everyone in the mesh may use the whole gateway. */
export const OPEN = 'open';

const PREFIX = 'linkspan-';

/**
 * Returns the value of an object's label: the set of clients that the object is for, or its other purpose. Undefined if
 * the object does not have the label, and so is not part of the policy.
 */
export const setOf = ({ metadata: { labels } }: KubeObject): string | undefined => labels?.[Label.gatewayAccess];

/**
 * Returns the name of a set of clients, which depends on its content: a set never changes, but another set replaces it.
 * The name is 128 bits of a hash, so that nobody can find other clients whose set has the same name.
 */
export const setId = (identities: Identities): string => hash('sha256', JSON.stringify(identities), 'hex').slice(0, 32);

/** Name of the MeshTLSAuthentication of a set. */
export const authenticationName = (set: string): string => PREFIX + set;
/**
 * Name of a route of a set, and of the AuthorizationPolicy for this route. A set has as many routes as its host names
 * need.
 */
export const routeName = (set: string, index: number): string => `${PREFIX}${set}-${index}`;
/** Name of the route for hosts without another route. */
export const CATCH_ALL_NAME = PREFIX + CATCH_ALL;
/** Name of the route for no host. */
export const NOTHING_NAME = PREFIX + NOTHING;
/** Name of the policy for opaque connections. */
export const TCP_NAME = `${PREFIX}opaque-${TCP}`;

/**
 * Returns the set and the number of a route, by its name alone, because anybody may edit its label. Undefined if the
 * name has another form, for example a name that an earlier operator gave, with a set of 48 bits.
 */
export function placeOf({
  metadata: { name },
}: KubeObject): { readonly set: string; readonly index: number } | undefined {
  const [, set, index] = /^linkspan-([\da-f]{32})-(0|[1-9]\d{0,5})$/.exec(name) ?? [];
  return set === undefined ? undefined : { set, index: Number(index) };
}

/**
 * Reports whether Linkerd's policy controller has accepted a route for the gateway. Before that, the route has no
 * effect.
 */
export const isAccepted = ({ status }: AccessRoute): boolean =>
  (status?.parents ?? []).some(
    ({ parentRef, conditions = [] }) =>
      parentRef?.kind === 'Server' &&
      parentRef.name === Default.gatewayName &&
      conditions.some((each) => each.type === 'Accepted' && each.status === 'True'),
  );

/**
 * Reports whether a policy authorizes clients for the whole gateway. Such a policy counts beside the policy of each
 * route.
 */
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
 * Renders the copy of the networks that the gateway's NetworkAuthentication names. Policies require the copy, because
 * an AuthorizationPolicy that requires a missing NetworkAuthentication refuses everyone.
 */
export const keptNetworks = (namespace: string, networks: readonly SourceNetwork[]): Desired =>
  one(NETWORKS, renderOf(KeptNetworks, { namespace, set: KEPT, networks }));

/** Renders the MeshTLSAuthentication that names the clients of a set. */
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

/** Renders the AuthorizationPolicy that authorizes a set for one of its routes. */
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

/**
 * Renders the AuthorizationPolicy that authorizes a set for opaque connections. It is for the whole gateway, so it also
 * authorizes the set for every host that has a route.
 */
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

/** Renders a route for some host names. */
export const route = (namespace: string, set: string, name: string, hosts: readonly string[]): Desired =>
  one(ACCESS_ROUTES, renderOf(GatewayRoute, { name, namespace, set, hosts }));

/**
 * Renders the route for hosts without another route. Without it, a Server that has any route refuses all other hosts.
 */
export const catchAll = (namespace: string): Desired =>
  one(ACCESS_ROUTES, renderOf(GatewayRoute, { name: CATCH_ALL_NAME, namespace, set: CATCH_ALL, hosts: 'everything' }));

/**
 * Renders a route for no host, which exists as long as the gateway is closed. A Server without any route would admit
 * the clients of a policy for the whole gateway to every host.
 */
export const nothing = (namespace: string): Desired =>
  one(
    ACCESS_ROUTES,
    renderOf(GatewayRoute, { name: NOTHING_NAME, namespace, set: NOTHING, hosts: ['nothing.linkspan.invalid'] }),
  );

/** Reports whether the labels of an object show that it is ours. */
export const isOurs = (object: KubeObject): boolean =>
  object.metadata.labels?.[Label.managedBy] === Value.managedBy && setOf(object) !== undefined;

/** Reports whether an object is somebody else's MeshTLSAuthentication that includes every meshed client. */
export const isForAnyClient = (object: Authentication): boolean =>
  !isOurs(object) && object.spec?.identities?.includes('*') === true;

/** Reports whether a policy is that of the construct GatewayPolicy, by which everyone may use the gateway. */
export const isOpening = (each: Authorization): boolean =>
  isServerWide(each) && setOf(each) === OPEN && each.metadata.name !== TCP_NAME;

/** Reports whether a policy of somebody else authorizes for the whole gateway. */
export const isForeign = (each: Authorization): boolean => isServerWide(each) && !isOpening(each) && !isOurs(each);
