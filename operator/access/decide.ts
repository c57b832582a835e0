/**
 * Decides the policy of the gateway (rules M2 to M5). From the exports and the existing objects of the policy, derives
 * the objects to write now and the objects that may be deleted now. Pure. Each write keeps two guarantees: a client
 * that may reach an export before and after a change may reach it all the time, and a client that may reach it neither
 * before nor after never reaches it.
 * In this file, the policy is all these objects together, a policy is one AuthorizationPolicy, a set is a set of
 * clients, and an opaque connection is one that Linkerd does not look into.
 */
import { PolicyApi } from '../../crds/wire.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { type Export, type GatewayAccess, type GatewayTcp, type Identities, bothOf, unionOf } from './exports.ts';
import {
  type AccessRoute,
  type Authentication,
  type Authorization,
  authentication,
  authenticationName,
  CATCH_ALL_NAME,
  catchAll,
  isAccepted,
  isForeign,
  isOpening,
  isOurs,
  keptNetworks,
  type Networks,
  nothing,
  NOTHING_NAME,
  route,
  routeAuthorization,
  setId,
  TCP_NAME,
  tcpAuthorization,
} from './objects.ts';
import { hasItsNetworks, sourceNetworks } from './networks.ts';
import { assignHosts, type Effect, type Group } from './placement.ts';

/** Everything that the policy of the gateway depends on. */
export interface ObservedAccess {
  readonly mode: GatewayAccess;
  readonly tcp: GatewayTcp;
  /** Namespace of the gateway. */
  readonly namespace: string;
  /** Whether there is a Server for the gateway's port. */
  readonly hasServer: boolean;
  readonly exports: readonly Export[];
  /** Our HTTPRoutes. */
  readonly routes: readonly AccessRoute[];
  /** Our MeshTLSAuthentications. */
  readonly authentications: readonly Authentication[];
  /** Names of the MeshTLSAuthentications of others that include every meshed client. */
  readonly everyone: ReadonlySet<string>;
  /** All AuthorizationPolicies in the namespace. */
  readonly authorizations: readonly Authorization[];
  /** All NetworkAuthentications in the namespace. */
  readonly networks: readonly Networks[];
}

/** How far the policy is in effect. */
export type AccessState =
  /** Every meshed client may use the gateway, as the setting asks. */
  | 'open'
  /** Only exports can be reached. */
  | 'closed'
  /** The policy is being written, or Linkerd has not accepted all of it yet. */
  | 'pending'
  /** The gateway does not exist. */
  | 'no-gateway'
  /**
   * The NetworkAuthentication of the gateway is missing, or names no networks. Clients are admitted from the networks
   * that it named last.
   */
  | 'no-networks'
  /** The setting asks for an open gateway, but no policy admits every meshed client, so the policy stays as it was. */
  | 'not-opened';

export interface AccessDecision {
  readonly state: AccessState;
  /** Objects to write, in the order of writing: networks, authentications, authorizations, routes. */
  readonly steps: readonly (readonly Desired[])[];
  /** Objects that may be deleted now. */
  readonly removable: ReadonlySet<KubeObject>;
  /** Keys of the exports that their clients can reach. */
  readonly admitted: ReadonlySet<string>;
  /**
   * AuthorizationPolicies of others for the whole gateway. Even in state `closed`, their clients can reach all exports.
   */
  readonly foreign: readonly Authorization[];
}

/** Decides which objects to write and to delete now. After these writes and deletions, the caller decides again. */
export function decideAccess(observed: ObservedAccess): AccessDecision {
  if (!observed.hasServer) return keeping(observed, 'no-gateway');
  return observed.mode === 'open' ? decideOpen(observed) : decideClosed(observed);
}

/** Returns a decision that writes nothing and deletes nothing. */
const keeping = (observed: ObservedAccess, state: AccessState): AccessDecision => ({
  state,
  steps: [],
  removable: new Set(),
  admitted: new Set(),
  foreign: foreignOf(observed),
});

/**
 * Returns a decision that writes nothing, and deletes our policies whose required networks are missing. Such a policy
 * admits nobody now. If it stayed, it would admit its clients as soon as the networks are back, whatever has changed
 * until then.
 */
const withoutNetworks = (observed: ObservedAccess): AccessDecision => ({
  ...keeping(observed, 'no-networks'),
  removable: new Set(
    observed.authorizations.filter(
      (each) => isOurs(each) && !isOpening(each) && !hasItsNetworks(each, observed.networks),
    ),
  ),
});

/** Returns the policies of others for the whole gateway. They admit their clients to all hosts that have a route. */
const foreignOf = ({ authorizations }: ObservedAccess): readonly Authorization[] => authorizations.filter(isForeign);

/**
 * Returns the policies for the whole gateway by which clients come in before it is closed: that of the construct
 * GatewayPolicy, and those of others.
 */
const openingsOf = ({ authorizations }: ObservedAccess): readonly Authorization[] =>
  authorizations.filter((each) => isOpening(each) || isForeign(each));

/** Reports whether a policy names at least all clients that the policy of Linkerd's chart names. */
const isForEveryone = ({ metadata, spec }: Authorization, everyone: ReadonlySet<string>): boolean =>
  (spec?.requiredAuthenticationRefs ?? []).every(({ kind, name = '', namespace = metadata.namespace }) => {
    if (namespace !== metadata.namespace) return false;
    return kind === 'MeshTLSAuthentication'
      ? everyone.has(name)
      : kind === 'NetworkAuthentication' && name === PolicyApi.sourceCluster;
  });

/**
 * Decides how to open the gateway. Once a policy for the whole gateway admits every meshed client, all our objects go.
 * First, a route for all hosts is written, so that no host is without a route while the other routes go. The route for
 * all hosts goes last.
 */
function decideOpen(observed: ObservedAccess): AccessDecision {
  const { namespace, routes, authentications, authorizations, networks, exports } = observed;
  const openings = openingsOf(observed).filter((each) => isForEveryone(each, observed.everyone));
  const isOpen = openings.some((each) => hasItsNetworks(each, networks));
  const all = routes.find(isCatchAll);
  const specific = routes.filter((each) => !isCatchAll(each));
  const policies = authorizations.filter((each) => isOurs(each) && !isOpening(each));
  const kept = networks.filter(isOurs);
  // Policies that require the networks go before the networks: a policy that is left would admit its clients as soon as
  // the networks are back.
  const ours = [...authentications, ...policies, ...(policies.length > 0 ? [] : kept)];
  const left = routes.length + ours.length;
  if (!isOpen && openings.length > 0) return withoutNetworks(observed);
  if (left > 0 && !isOpen) return keeping(observed, 'not-opened');
  const admitted = new Set(exports.map(({ key }) => key));
  const decision = { foreign: [], admitted, state: left > 0 ? ('pending' as const) : ('open' as const) };
  if (specific.length === 0) return { ...decision, steps: [], removable: new Set([...routes, ...ours]) };
  const isReady = all !== undefined && isAccepted(all);
  return { ...decision, steps: [[], [], [], [catchAll(namespace)]], removable: new Set(isReady ? specific : []) };
}

/** Returns the exports by the set of clients that may reach them. Exports that nobody may reach are left out. */
function groupsOf(exports: readonly Export[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, { readonly identities: Identities; readonly exports: Export[] }>();
  for (const each of exports) {
    if (each.identities.length === 0) continue;
    const set = setId(each.identities);
    const group = groups.get(set) ?? { identities: each.identities, exports: [] };
    groups.set(set, group);
    group.exports.push(each);
  }
  return groups;
}

/**
 * Decides how to close the gateway, so that only exports can be reached. The policy that admits everyone goes once all
 * objects for the exports are in effect.
 */
function decideClosed(observed: ObservedAccess): AccessDecision {
  const { namespace, routes, authorizations, exports } = observed;
  const { named, wanted, isKept } = sourceNetworks(observed.networks);
  // A policy that requires networks which nobody has ever named admits nobody.
  if (wanted === undefined) return withoutNetworks(observed);
  const all = routes.find(isCatchAll);
  const none = routes.find(isNothing);
  const specific = routes.filter((each) => !isCatchAll(each) && !isNothing(each));
  const isClosing = none !== undefined && isAccepted(none);
  const groups = groupsOf(exports);
  const inEffect = effectOf(observed);
  const { placements, placed, isSettled } = assignHosts(groups, specific, inEffect);
  const tcp = decideTcp(observed, isSettled && isClosing);
  const isComplete =
    tcp.isSettled && exports.every(({ key, identities }) => identities.length === 0 || placed.has(key));
  const opening = authorizations.filter(isOpening);

  // As soon as a Server has one route, hosts without a route are refused. While everyone may come in, a route for all
  // hosts is therefore written first.
  const needsAll = !isComplete && openingsOf(observed).length > 0 && (all !== undefined || routes.length === 0);
  const mayRoute = !needsAll || (all !== undefined && isAccepted(all));
  const planned = placements.filter(({ hosts }) => hosts.length > 0);
  // The clients that may open opaque connections may be the same set as the clients of an export.
  const clients = new Map<string, Identities>();
  for (const { set } of planned) {
    const group = groups.get(set);
    if (group !== undefined) clients.set(set, group.identities);
  }
  if (tcp.identities !== undefined) clients.set(setId(tcp.identities), tcp.identities);
  const live = new Map(specific.map(({ metadata, spec }) => [metadata.name, spec?.hostnames ?? []]));
  const routed = planned
    .filter(({ set, name }) => mayRoute && inEffect.isAuthorized(set, name))
    .map((each) =>
      tcp.isShrunk ? each : { ...each, hosts: each.hosts.filter((host) => live.get(each.name)?.includes(host)) },
    )
    .filter(({ hosts }) => hosts.length > 0);
  const steps = [
    [keptNetworks(namespace, wanted)],
    [...clients].map(([set, identities]) => authentication(namespace, set, identities)),
    [
      ...planned
        .filter(({ set }) => isKept && inEffect.hasClients(set))
        .map(({ set, name }) => routeAuthorization(namespace, set, name)),
      ...(tcp.written === undefined || !isKept ? [] : [tcpAuthorization(namespace, tcp.written)]),
    ],
    [
      ...routed.map(({ set, name, hosts }) => route(namespace, set, name, hosts)),
      ...(mayRoute ? [nothing(namespace)] : []),
      ...(needsAll ? [catchAll(namespace)] : []),
    ],
  ];
  const used = new Set([...clients.keys()].map(authenticationName));
  const removable = new Set<KubeObject>([
    ...leftOver(observed, new Set(planned.map(({ name }) => name)), used, tcp),
    ...(all === undefined || needsAll ? [] : [all]),
    ...(isComplete && all === undefined ? opening : []),
  ]);
  const isClosed = isComplete && all === undefined && opening.length === 0;
  const state = named === undefined ? 'no-networks' : isClosed ? 'closed' : 'pending';
  return { state, steps, removable, admitted: placed, foreign: foreignOf(observed) };
}

/**
 * Returns which sets of clients exist, and for which routes they are authorized, by the names of the existing objects.
 */
function effectOf({ authentications, authorizations, networks }: ObservedAccess): Effect {
  const clients = new Set(authentications.map(({ metadata }) => metadata.name));
  const isInForce = (each: Authorization): boolean => isOurs(each) && hasItsNetworks(each, networks);
  const authorized = new Set(authorizations.filter(isInForce).map(({ metadata }) => metadata.name));
  const hasClients = (set: string): boolean => clients.has(authenticationName(set));
  return { hasClients, isAuthorized: (set, name) => hasClients(set) && authorized.has(name) };
}

/**
 * Returns objects that no longer belong to the policy, each only once nothing refers to it. A route without its
 * authorization would refuse clients that another route of the same host admits.
 * @param planned names of the routes that are to exist
 * @param used names of the authentications that are to exist
 */
function leftOver(
  { routes, authentications, authorizations }: ObservedAccess,
  planned: ReadonlySet<string>,
  used: ReadonlySet<string>,
  tcp: TcpDecision,
): readonly KubeObject[] {
  const live = new Set(routes.map(({ metadata }) => metadata.name));
  const referred = new Set(authorizations.flatMap(authenticationsOf));
  return [
    ...routes.filter((each) => !isCatchAll(each) && !isNothing(each) && !planned.has(each.metadata.name)),
    ...authorizations.filter((each) => {
      const { name } = each.metadata;
      if (!isOurs(each) || isOpening(each)) return false;
      return name === TCP_NAME ? tcp.identities === undefined : !live.has(name) && !planned.has(name);
    }),
    ...authentications.filter(({ metadata: { name } }) => !referred.has(name) && !used.has(name)),
  ];
}

const isNothing = ({ metadata }: KubeObject): boolean => metadata.name === NOTHING_NAME;
const isCatchAll = ({ metadata }: KubeObject): boolean => metadata.name === CATCH_ALL_NAME;

const authenticationsOf = ({ spec }: Authorization): readonly string[] =>
  (spec?.requiredAuthenticationRefs ?? []).flatMap(({ kind, name }) =>
    kind === 'MeshTLSAuthentication' && name !== undefined ? [name] : [],
  );

/**
 * Decision about the policy for opaque connections, which says who may open connections that Linkerd does not look
 * into.
 */
interface TcpDecision {
  /** The clients that the policy is to name now; undefined if there is to be no such policy. */
  readonly identities: Identities | undefined;
  /**
   * The set of clients to write into the policy now. Undefined if the policy is not written: the authentication of the
   * set does not exist yet, or there is to be no such policy.
   */
  readonly written: string | undefined;
  /**
   * Whether the policy names exactly the clients that it is to name in the end, or does not exist if it is to name
   * nobody.
   */
  readonly isSettled: boolean;
  /** Whether all clients that the policy names now are among those that it is to name in the end. */
  readonly isShrunk: boolean;
}

/**
 * Decides who may open opaque connections. Linkerd does not know the host of such a connection and authorizes it for
 * the whole gateway, so these clients may also send requests to every host that has a route. They must not thereby
 * reach an export that is being added or removed: clients that lose this right lose it before a host is added to a
 * route, and clients that gain it gain it after all routes have their final hosts.
 */
function decideTcp(
  { tcp, exports, authentications, authorizations }: ObservedAccess,
  areRoutesSettled: boolean,
): TcpDecision {
  const opaque = exports.filter(({ opaquePorts }) => opaquePorts.length > 0);
  const wanted: Identities =
    tcp === 'meshed' ? '*' : tcp === 'clients' ? unionOf(opaque.map((each) => each.identities)) : [];
  const policy = authorizations.find((each) => each.metadata.name === TCP_NAME && isOurs(each));
  const named = policy === undefined ? undefined : authenticationsOf(policy)[0];
  const live = authentications.find(({ metadata }) => metadata.name === named)?.spec?.identities ?? [];
  const before: Identities = live.includes('*') ? '*' : live;
  const kept = bothOf(before, wanted);
  const now = areRoutesSettled ? wanted : kept;
  const isShrunk = setId(kept) === setId(before);
  if (now.length === 0)
    return {
      identities: undefined,
      written: undefined,
      isSettled: policy === undefined && wanted.length === 0,
      isShrunk,
    };
  const name = authenticationName(setId(now));
  const isThere = authentications.some(({ metadata }) => metadata.name === name);
  const isSettled = named === authenticationName(setId(wanted));
  return { identities: now, written: isThere ? setId(now) : undefined, isSettled, isShrunk };
}
