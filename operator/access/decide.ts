/**
 * Decides what the policy of the gateway is to be (rules M2 to M5): from what is exported, and what there is of the
 * policy, to what is to be written now and what may be deleted now. Pure. What it guarantees of each write on the way:
 * who may reach an export before and after may reach it all the time, and who may neither before nor after never does.
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

/** All that decides about the policy of the gateway. */
export interface ObservedAccess {
  readonly mode: GatewayAccess;
  readonly tcp: GatewayTcp;
  /** Namespace of the gateway. */
  readonly namespace: string;
  /** Whether there is a Server for the gateway's port. */
  readonly hasServer: boolean;
  readonly exports: readonly Export[];
  /** Those of ours. */
  readonly routes: readonly AccessRoute[];
  /** Those of ours. */
  readonly authentications: readonly Authentication[];
  /** Names of those of others that every meshed client has. */
  readonly everyone: ReadonlySet<string>;
  /** All in the namespace. */
  readonly authorizations: readonly Authorization[];
  /** All in the namespace. */
  readonly networks: readonly Networks[];
}

/** How far the policy is. */
export type AccessState =
  /** Everyone in the mesh may use the gateway, as asked for. */
  | 'open'
  /** Only what is exported can be reached. */
  | 'closed'
  /** It is being written, or Linkerd has not taken all of it. */
  | 'pending'
  /** The gateway does not exist. */
  | 'no-gateway'
  /**
   * The NetworkAuthentication of the gateway is missing, or names no networks: what is admitted is so by those it named
   * last.
   */
  | 'no-networks'
  /** It is to be open again, and no policy lets everyone in: what is closed stays so. */
  | 'not-opened';

export interface AccessDecision {
  readonly state: AccessState;
  /** In the order in which it is written: networks, authentications, authorizations, routes. */
  readonly steps: readonly (readonly Desired[])[];
  /** What may be deleted now. */
  readonly removable: ReadonlySet<KubeObject>;
  /** Keys of the exports that can be reached by whom they name. */
  readonly admitted: ReadonlySet<string>;
  /** Policies of others that let in more than exports name: `closed` is not what it says. */
  readonly foreign: readonly Authorization[];
}

/** Decides what is to be written and deleted now; when all of it is done, it is decided again. */
export function decideAccess(observed: ObservedAccess): AccessDecision {
  if (!observed.hasServer) return keeping(observed, 'no-gateway');
  return observed.mode === 'open' ? decideOpen(observed) : decideClosed(observed);
}

/** Nothing is written and nothing is deleted. */
const keeping = (observed: ObservedAccess, state: AccessState): AccessDecision => ({
  state,
  steps: [],
  removable: new Set(),
  admitted: new Set(),
  foreign: foreignOf(observed),
});

/**
 * Nothing is written, and what lets in nobody for want of networks goes: if it stayed, it would let in whom it names as
 * soon as they are back, whatever has changed until then.
 */
const withoutNetworks = (observed: ObservedAccess): AccessDecision => ({
  ...keeping(observed, 'no-networks'),
  removable: new Set(
    observed.authorizations.filter(
      (each) => isOurs(each) && !isOpening(each) && !hasItsNetworks(each, observed.networks),
    ),
  ),
});

/** What lets in everyone whom it names to all that has a route, and is not ours to delete. */
const foreignOf = ({ authorizations }: ObservedAccess): readonly Authorization[] => authorizations.filter(isForeign);

/** The policies for the whole gateway by which clients came in before it was closed. */
const openingsOf = ({ authorizations }: ObservedAccess): readonly Authorization[] =>
  authorizations.filter((each) => isOpening(each) || isForeign(each));

/** Whether a policy is to let in at least everyone whom that of Linkerd's chart does. */
const isForEveryone = ({ metadata, spec }: Authorization, everyone: ReadonlySet<string>): boolean =>
  (spec?.requiredAuthenticationRefs ?? []).every(({ kind, name = '', namespace = metadata.namespace }) => {
    if (namespace !== metadata.namespace) return false;
    return kind === 'MeshTLSAuthentication'
      ? everyone.has(name)
      : kind === 'NetworkAuthentication' && name === PolicyApi.sourceCluster;
  });

/**
 * All that is ours goes, once everyone may use the gateway by another policy: first a route that takes everything, so
 * that no host is without a route while others go; that one goes last.
 */
function decideOpen(observed: ObservedAccess): AccessDecision {
  const { namespace, routes, authentications, authorizations, networks, exports } = observed;
  const openings = openingsOf(observed).filter((each) => isForEveryone(each, observed.everyone));
  const isOpen = openings.some((each) => hasItsNetworks(each, networks));
  const all = routes.find(isCatchAll);
  const specific = routes.filter((each) => !isCatchAll(each));
  const policies = authorizations.filter((each) => isOurs(each) && !isOpening(each));
  const kept = networks.filter(isOurs);
  // What requires the networks goes before them: what is left would let in whom it names as soon as they are back.
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

/** A set of clients, and what is exported to it. */
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

/** Only what is exported can be reached, and the policy for everyone goes once all of that is in effect. */
function decideClosed(observed: ObservedAccess): AccessDecision {
  const { namespace, routes, authorizations, exports } = observed;
  const { named, wanted, isKept } = sourceNetworks(observed.networks);
  // Whatever requires networks that nobody has ever named lets nobody in.
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

  // The first route of a Server leaves all other hosts without one: where everyone may come in, one that takes all is
  // first.
  const needsAll = !isComplete && openingsOf(observed).length > 0 && (all !== undefined || routes.length === 0);
  const mayRoute = !needsAll || (all !== undefined && isAccepted(all));
  const planned = placements.filter(({ hosts }) => hosts.length > 0);
  // Those who may open opaque connections may be a set that something is exported to.
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

/** What there is authorizes, by name. */
function effectOf({ authentications, authorizations, networks }: ObservedAccess): Effect {
  const clients = new Set(authentications.map(({ metadata }) => metadata.name));
  const isInForce = (each: Authorization): boolean => isOurs(each) && hasItsNetworks(each, networks);
  const authorized = new Set(authorizations.filter(isInForce).map(({ metadata }) => metadata.name));
  const hasClients = (set: string): boolean => clients.has(authenticationName(set));
  return { hasClients, isAuthorized: (set, name) => hasClients(set) && authorized.has(name) };
}

/**
 * Objects that have left the policy, each only when nothing refers to it: a route without what authorizes it would
 * refuse what another route of its host lets in.
 * @param planned names of the routes that are to be
 * @param used names of the authentications that are to be
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

/** What becomes of who may open connections that Linkerd does not look into. */
interface TcpDecision {
  /** The clients that the policy is to name now; undefined if there is to be none. */
  readonly identities: Identities | undefined;
  /**
   * The set that the policy is to name now that it is there; undefined if the policy stays as it is, or is not there.
   */
  readonly written: string | undefined;
  /** Whether it names those whom it is to name in the end. */
  readonly isSettled: boolean;
  /** Whether it names nobody but those. */
  readonly isShrunk: boolean;
}

/**
 * Decides who may open connections that Linkerd does not look into: it knows no host of theirs, only the whole gateway,
 * and so they may send requests to whatever has a route. Nobody comes to something on its way in or out by that: those
 * who may no longer go before a host is added, and those who may from now on come after all hosts are as they are to
 * be.
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
