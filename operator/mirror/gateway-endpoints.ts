/**
 * Endpoints of mirrors that lead to the target's gateway, with the addresses and the verdict last found. Pure. While
 * these are not known, our endpoints keep what they have.
 */
import {
  type ApiJson,
  type EndpointPort,
  endpointsObjects,
  type GatewayEndpoints,
  gatewaySubset,
  render,
} from '../../constructs/mirror/index.ts';
import { Annotation } from '../../crds/wire.ts';
import type { ObjectMeta } from '../kube/objects.ts';
import type { Observed, OwnedObjects } from './observed.ts';
import { indexOf } from './owned-index.ts';

/** Our endpoints of one Service and kind as they are now. */
interface Live {
  /** Undefined: there are none. */
  readonly metadata: ObjectMeta | undefined;
  /** Ready or not. */
  readonly addresses: readonly string[];
  readonly ports: readonly EndpointPort[];
  /** False if any address is listed as not ready. */
  readonly alive: boolean;
}

/**
 * Returns the gateway as the endpoints of our Service `name`. Before the first verdict, existing endpoints keep their
 * readiness, and what is empty or new has that of the verdict before (rules C1, F2). Before the first lookup of the gateway's name, they keep their
 * addresses.
 */
export function gatewayEndpoints({ link, gateway, owned }: Observed, name: string, ready: boolean): GatewayEndpoints {
  const { port = 0, identity, addresses = [], alive, wasAlive } = gateway ?? {};
  const isKnown = addresses.length > 0 && alive !== undefined;
  const live = isKnown ? [] : [endpointsOf(owned, name), slicesOf(owned, name)];
  const listed = live.flatMap((each) => each.addresses);
  return {
    addresses: addresses.length > 0 ? addresses : listed,
    port,
    identity,
    alive: alive ?? (listed.length > 0 ? live.every((each) => each.alive) : wasAlive !== false),
    ready,
    kind: link.endpointsKind,
  };
}

/**
 * Returns our endpoints that lead to the gateway, with only the gateway brought up to date, for a mirror that is kept
 * although what it must be is not known, or cannot be (rules C1, C4). Empty endpoints stay empty, and the names of ports
 * stay as they are. If the Link has no gateway, they are not ready. Those of headless mirrors lead to endpoint mirrors,
 * not to the gateway, and are left out.
 * @param stays whether the endpoints of one of our Services are among them. @default - those of all
 */
export function refreshedEndpoints(
  observed: Observed,
  stays: (service: string) => boolean = () => true,
): readonly ApiJson[] {
  const { owned, namespaceState } = observed;
  if (namespaceState === 'forbidden' || namespaceState === 'unreadable') return [];
  return owned.services
    .filter(({ metadata, spec }) => spec?.clusterIP !== 'None' && stays(metadata.name))
    .flatMap(({ metadata: { name } }) => {
      const gateway = gatewayEndpoints(observed, name, true);
      return [
        refreshed(observed, name, { ...gateway, kind: 'endpoints' }, endpointsOf(owned, name)),
        refreshed(observed, name, { ...gateway, kind: 'slices' }, slicesOf(owned, name)),
      ].flat();
    });
}

/** Returns of each of our Services that lead to the gateway, and have addresses, whether these are ready. */
export const gatewayReadiness = (owned: OwnedObjects): readonly boolean[] =>
  owned.services
    .filter(({ spec }) => spec?.clusterIP !== 'None')
    .flatMap(({ metadata: { name } }) => [endpointsOf(owned, name), slicesOf(owned, name)])
    .flatMap(({ addresses, alive }) => (addresses.length === 0 ? [] : [alive]));

/** Returns our endpoints of one kind with another gateway; none if there are none, or if they are empty. */
function refreshed(
  observed: Observed,
  name: string,
  known: GatewayEndpoints,
  { metadata, addresses, ports }: Live,
): readonly ApiJson[] {
  if (metadata === undefined || addresses.length === 0) return [];
  const { namespace } = observed;
  const { labels = {}, annotations = {} } = metadata;
  const { [Annotation.remoteGatewayIdentity]: was, ...others } = annotations;
  const former = { ...known, addresses, port: ports[0]?.port ?? 0, identity: was, alive: false };
  const gateway = observed.gateway === undefined ? former : known;
  const { identity, kind } = gateway;
  return render((chart) => {
    endpointsObjects(chart, {
      name,
      namespace,
      labels,
      annotations: identity === undefined ? others : { ...others, [Annotation.remoteGatewayIdentity]: identity },
      kind,
      subsets: [gatewaySubset(gateway, ports)],
    });
  });
}

function endpointsOf(owned: OwnedObjects, service: string): Live {
  const found = indexOf(owned).endpoints.get(service);
  const subsets = found?.subsets ?? [];
  const notReady = subsets.flatMap((subset) => subset.notReadyAddresses ?? []);
  return {
    metadata: found?.metadata,
    addresses: [...subsets.flatMap((subset) => subset.addresses ?? []), ...notReady].map(({ ip }) => ip),
    ports: (subsets[0]?.ports ?? []) as readonly EndpointPort[],
    alive: notReady.length === 0,
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
  };
}
