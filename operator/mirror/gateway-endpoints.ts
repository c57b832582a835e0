/**
 * Endpoints of mirrors that lead to the target's gateway, with the addresses and the verdict last found. Pure. While
 * these are not known, our endpoints keep what they have.
 */
import {
  type EndpointPort,
  type EndpointsObjectProps,
  type GatewayEndpoints,
  gatewaySubset,
} from '../../constructs/rendered/index.ts';
import { Annotation } from '../../crds/wire.ts';
import type { ObjectMeta } from '../kube/objects.ts';
import type { GatewayView, Observed, OwnedObjects } from './observed.ts';
import { indexOf } from './owned-index.ts';
import type { StayingRender } from './rendered.ts';
import type { Desired } from '../runtime/plan.ts';

/** Our endpoints of one Service and kind as they are now. */
interface Live {
  /** Undefined if there are none. */
  readonly metadata: ObjectMeta | undefined;
  /** Ready or not. */
  readonly addresses: readonly string[];
  readonly ports: readonly EndpointPort[];
  /** False if any address is listed as not ready. */
  readonly alive: boolean;
  /** False if they list pods, as those of a headless mirror do until the one in its place has its own. */
  readonly leadToGateway: boolean;
}

/**
 * Returns the gateway as the endpoints of our Service `name`. Before the first verdict, existing endpoints keep their
 * readiness, and what is empty, new or was headless has that of the verdict before (rules C1, F2). Before the first
 * lookup of the gateway's name, they keep their addresses, with the port and identity of the gateway that has these.
 */
export function gatewayEndpoints({ link, gateway, owned }: Observed, name: string, ready: boolean): GatewayEndpoints {
  const { port = 0, identity, addresses = [], alive, wasAlive } = gateway ?? {};
  const live = isGatewayKnown(gateway) ? [] : gatewaysOf(owned, name);
  const listed = live.find((each) => each.addresses.length > 0);
  const found = { addresses, port, identity };
  return {
    ...(addresses.length > 0 || listed === undefined ? found : formerOf(listed, port)),
    alive: alive ?? (listed === undefined ? wasAlive !== false : live.every((each) => each.alive)),
    ready,
    kind: link.endpointsKind,
  };
}

/** Returns the gateway that endpoints lead to now. @param otherwise the port if they have none */
const formerOf = ({ addresses, ports, metadata }: Live, otherwise = 0) => ({
  addresses,
  port: ports[0]?.port ?? otherwise,
  identity: metadata?.annotations?.[Annotation.remoteGatewayIdentity],
});

/** Whether the endpoints of all Services are the same, whatever they have now. */
const isGatewayKnown = (gateway: GatewayView | undefined): boolean =>
  (gateway?.addresses ?? []).length > 0 && gateway?.alive !== undefined;

/** Returns {@link gatewayEndpoints} of any Service, if those of all are the same. */
export const gatewayOfAll = (observed: Observed, ready: boolean): GatewayEndpoints | undefined =>
  isGatewayKnown(observed.gateway) ? gatewayEndpoints(observed, observed.name, ready) : undefined;

/**
 * Returns our endpoints that lead to the gateway, with only the gateway brought up to date, for a mirror that is kept
 * although what it must be is not known, or cannot be (rules C1, C4). Empty endpoints stay empty, and the names of
 * ports stay as they are. If the Link has no gateway, they are not ready. Those of a headless mirror are left out once
 * they lead to endpoint mirrors: until then they are those of the mirror in whose place it came. If Kubernetes has
 * listed pods in them, they are emptied. Endpoints without a Service of ours are among them: it may yet be created, and
 * clients of one that somebody has made his own are led to the gateway as well.
 * @param staying renders them; what it leaves for the next turn is not returned
 * @param names of Services whose endpoints are wanted. @default - all
 */
export function refreshedEndpoints(
  observed: Observed,
  staying: StayingRender,
  names?: Iterable<string>,
): readonly Desired[] {
  const { owned, namespaceState } = observed;
  if (namespaceState === 'forbidden' || namespaceState === 'unreadable') return [];
  const { services, endpoints, slices } = indexOf(owned);
  const there = [services, endpoints, slices];
  const isThere = (name: string): boolean => there.some((each) => each.has(name));
  const wanted = new Set(names ?? there.flatMap((each) => [...each.keys()]));
  return [...wanted].filter(isThere).flatMap((name) => {
    const gateway = gatewayEndpoints(observed, name, true);
    const service = services.get(name);
    const isSingle = service !== undefined && service.spec?.clusterIP !== 'None';
    const isRefreshed = ({ leadToGateway }: Live): boolean => leadToGateway || isSingle;
    const live = [
      { kind: 'endpoints', ...endpointsOf(owned, name) },
      { kind: 'slices', ...slicesOf(owned, name) },
    ] as const;
    const props = live
      .filter(isRefreshed)
      .map(({ kind, ...each }) => refreshed(observed, name, { ...gateway, kind }, each));
    const emptied = service === undefined || isSingle ? undefined : emptiedOfPods(observed, name);
    return [...props, emptied].flatMap((each) => (each === undefined ? [] : staying.endpoints(each)));
  });
}

/** Returns the addresses of the gateway that our endpoints of one Service list, ready or not, each once. */
export const gatewayAddresses = (owned: OwnedObjects, service: string): readonly string[] => [
  ...new Set(gatewaysOf(owned, service).flatMap(({ addresses }) => addresses)),
];

/** Returns of each of our Services that lead to the gateway, and have addresses, whether these are ready. */
export const gatewayReadiness = (owned: OwnedObjects): readonly boolean[] =>
  owned.services
    .flatMap(({ metadata: { name } }) => gatewaysOf(owned, name))
    .flatMap(({ addresses, alive }) => (addresses.length === 0 ? [] : [alive]));

/**
 * Returns the props of our endpoints of one kind with another gateway; undefined if there are none, or if they are
 * empty.
 */
function refreshed(
  observed: Observed,
  name: string,
  known: GatewayEndpoints,
  live: Live,
): EndpointsObjectProps | undefined {
  const { metadata, ports } = live;
  if (metadata === undefined || live.addresses.length === 0) return undefined;
  // Those of a mirror that was headless lead to its endpoint mirrors until it is known where the gateway is.
  if (observed.gateway !== undefined && known.addresses.length === 0) return undefined;
  const { namespace } = observed;
  const { labels = {}, annotations = {} } = metadata;
  const { [Annotation.remoteGatewayIdentity]: _, ...others } = annotations;
  const gateway = observed.gateway === undefined ? { ...known, ...formerOf(live), alive: false } : known;
  const { identity, kind } = gateway;
  return {
    name,
    namespace,
    labels,
    annotations: identity === undefined ? others : { ...others, [Annotation.remoteGatewayIdentity]: identity },
    kind,
    subsets: [gatewaySubset(gateway, ports)],
  };
}

/**
 * Returns the props of the Endpoints of a headless mirror, with no address, if Kubernetes has listed pods of the source
 * cluster there while the Service had a selector (rule C3); undefined otherwise. Nobody else takes them out again, and
 * what was listed before is gone.
 */
function emptiedOfPods({ owned, namespace }: Observed, name: string): EndpointsObjectProps | undefined {
  const { metadata, subsets } = indexOf(owned).endpoints.get(name) ?? {};
  const listed = (subsets ?? []).flatMap(({ addresses = [], notReadyAddresses = [] }) => [
    ...addresses,
    ...notReadyAddresses,
  ]);
  if (metadata === undefined || listed.every(({ targetRef }) => targetRef === undefined)) return undefined;
  const { labels = {}, annotations = {} } = metadata;
  return { name, namespace, labels, annotations, kind: 'endpoints', subsets: [] };
}

/** Returns our endpoints of one Service, of both kinds, that lead to the gateway. */
const gatewaysOf = (owned: OwnedObjects, service: string): readonly Live[] =>
  [endpointsOf(owned, service), slicesOf(owned, service)].filter(({ leadToGateway }) => leadToGateway);

function endpointsOf(owned: OwnedObjects, service: string): Live {
  const found = indexOf(owned).endpoints.get(service);
  const subsets = found?.subsets ?? [];
  const notReady = subsets.flatMap((subset) => subset.notReadyAddresses ?? []);
  const listed = [...subsets.flatMap((subset) => subset.addresses ?? []), ...notReady];
  return {
    metadata: found?.metadata,
    addresses: listed.map(({ ip }) => ip),
    ports: (subsets[0]?.ports ?? []) as readonly EndpointPort[],
    alive: notReady.length === 0,
    leadToGateway: !listed.some(isPod),
  };
}

function slicesOf(owned: OwnedObjects, service: string): Live {
  const found = indexOf(owned).slices.get(service) ?? [];
  const listed = found.flatMap((slice) => slice.endpoints ?? []);
  return {
    metadata: found[0]?.metadata,
    addresses: listed.flatMap(({ addresses }) => addresses),
    ports: (found[0]?.ports ?? []) as readonly EndpointPort[],
    alive: listed.every(({ conditions }) => conditions?.ready !== false),
    leadToGateway: !listed.some(isPod),
  };
}

/**
 * Reports whether an address is that of a pod. An address of a gateway has no hostname, and names no pod, as those do
 * that Kubernetes lists while a Service of ours has a selector: its labels are on them, so they are found as ours.
 */
const isPod = ({ hostname, targetRef }: { readonly hostname?: string; readonly targetRef?: unknown }): boolean =>
  hostname !== undefined || targetRef !== undefined;
