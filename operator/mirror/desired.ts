/**
 * What must exist in the source cluster for one target Service: observed state in, manifests out, by rendering the
 * same constructs that users compose. Pure. Services come first; endpoints are rendered for Services that are ours,
 * since they carry ClusterIPs, and so that a name that somebody else's Service has never gets endpoints of ours.
 */
import { EndpointMirror, HeadlessMirror, MirrorService, render, type ApiJson } from '../../constructs/mirror/index.ts';
import type { GatewayEndpoints, MirrorPort } from '../../constructs/mirror/index.ts';
import { Annotation, Label, mirrorName, Value } from '../../crds/wire.ts';
import type { Desired } from '../runtime/plan.ts';
import { describe } from '../kube/errors.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  NAMESPACES,
  SERVICES,
  type Endpoints,
  type EndpointSlice,
  type Service,
} from '../kube/objects.ts';
import { claimId } from './names.ts';
import type { Observed, OwnedObjects } from './observed.ts';
import { hostsOf, type Refusal, type Shape } from './shape.ts';
import { mirrorSubsets } from './target-endpoints.ts';

/** Local names by claim id: the name, or who has it instead. */
export type Names = ReadonlyMap<string, { readonly name: string } | { readonly lostTo: string }>;

export interface Manifests {
  readonly namespaces: readonly Desired[];
  readonly services: readonly Desired[];
  readonly endpoints: readonly Desired[];
  /** Names of owned Services and endpoints that must stay as they are: what decides about them is not known yet. */
  readonly kept: ReadonlySet<string>;
  /** Why something, or all of it, is not mirrored. */
  readonly refusals: readonly Refusal[];
}

/** A change of this annotation alone is no reason to write (rule B4). */
const COMPARISON = { ignoredAnnotations: new Set<string>([Annotation.remoteResourceVersion]) };

const NOTHING: Manifests = { namespaces: [], services: [], endpoints: [], kept: new Set(), refusals: [] };

export function desired(observed: Observed, shape: Shape, names: Names, owner: string): Manifests {
  switch (shape.kind) {
    case 'absent':
      return NOTHING;
    case 'refused':
      return {
        ...NOTHING,
        refusals: [shape.refusal],
        kept: shape.touch === 'leave' ? namesOf(observed.owned) : new Set(),
      };
    case 'flat':
    case 'clusterIP':
    case 'headless': {
      const own = names.get(claimId(owner));
      if (own === undefined || 'lostTo' in own) return { ...NOTHING, refusals: [lost(observed, own?.lostTo)] };
      const { link, namespace, namespaceState } = observed;
      return {
        ...(shape.kind === 'headless' ? headless(observed, shape, names, owner) : single(observed, shape)),
        namespaces: namespaceState === 'missing' ? [namespaceManifest(namespace, link.cluster)] : [],
      };
    }
  }
}

type Mirrorable = Exclude<Shape, { kind: 'absent' | 'refused' }>;

function single(observed: Observed, shape: Mirrorable): Manifests {
  const { link, name, owned } = observed;
  const local = mirrorName(name, link.cluster);
  const flat = shape.kind === 'flat';
  const known = flat || (shape.kind === 'clusterIP' && shape.endpoints !== undefined);
  const ready = shape.kind === 'clusterIP' && shape.endpoints?.anyReady === true;
  const ours = owned.services.some(({ metadata }) => metadata.name === local);
  const objects = render((chart) => {
    new MirrorService(chart, 'mirror', {
      ...common(observed, shape.service),
      mode: flat ? 'remote-discovery' : 'gateway',
      endpoints: flat || !known || !ours ? undefined : gatewayEndpoints(observed, local, ready),
    });
  });
  return {
    ...NOTHING,
    ...split(objects),
    kept: known ? new Set() : keptEndpoints(owned, local),
  };
}

function headless(
  observed: Observed,
  shape: Mirrorable & { readonly kind: 'clusterIP' | 'headless' },
  names: Names,
  owner: string,
): Manifests {
  const { link, name, owned } = observed;
  const local = mirrorName(name, link.cluster);
  const services = new Map(owned.services.map((service) => [service.metadata.name, service]));
  const { endpoints } = shape;
  const refusals: Refusal[] = [];
  const clusterIPs = new Map<string, string>();
  const objects: ApiJson[] = [];
  for (const host of hostsOf(shape)) {
    const given = names.get(claimId(owner, host.hostname));
    if (given === undefined || 'lostTo' in given) {
      refusals.push(lost(observed, given?.lostTo, host.hostname));
      continue;
    }
    const there = services.get(given.name);
    const ip = there?.spec?.clusterIP;
    if (ip !== undefined && ip !== '' && ip !== 'None') clusterIPs.set(host.hostname, ip);
    try {
      // A chart of its own for each pod: a construct tree of a thousand pods costs more than a thousand small ones.
      const rendered = render((chart) => {
        new EndpointMirror(chart, 'mirror', {
          ...common(observed, shape.service),
          hostname: host.hostname,
          name: given.name,
          ports: host.ports,
          endpoints:
            there === undefined ? undefined : gatewayEndpoints(observed, given.name, endpoints?.anyReady === true),
        });
      });
      objects.push(...rendered);
    } catch (error) {
      refusals.push({ reason: 'InvalidService', message: describe(error) });
    }
  }
  const mirror = render((chart) => {
    new HeadlessMirror(chart, 'mirror', {
      ...common(observed, shape.service),
      endpoints:
        endpoints === undefined || !services.has(local)
          ? undefined
          : {
              identity: link.gateway?.identity,
              kind: link.endpointsKind,
              subsets: mirrorSubsets(endpoints.subsets, clusterIPs),
            },
    });
  });
  return {
    ...NOTHING,
    ...split([...objects, ...mirror]),
    refusals,
    kept: endpoints === undefined ? allBut(namesOf(owned), serviceId(local)) : new Set(),
  };
}

function common({ link, name, namespace }: Observed, service: Service) {
  const { labels, annotations, resourceVersion } = service.metadata;
  return {
    service: name,
    namespace,
    cluster: link.cluster,
    clusterDomain: link.clusterDomain,
    labels,
    annotations,
    excludedLabels: link.excludedLabels,
    excludedAnnotations: link.excludedAnnotations,
    remoteResourceVersion: resourceVersion,
    ports: (service.spec?.ports ?? []).map(
      ({ name: portName, protocol, port, targetPort, appProtocol }) =>
        ({ name: portName, protocol, port, targetPort, appProtocol }) as MirrorPort,
    ),
  };
}

/**
 * The gateway as the endpoints of `name`. Before the first verdict readiness stays as it was, and starts ready
 * (rule F2); before the first lookup of the gateway's name its addresses stay as they were.
 */
function gatewayEndpoints({ link, gateway, owned }: Observed, name: string, ready: boolean): GatewayEndpoints {
  const before = addressesOf(owned, name);
  return {
    addresses: gateway.addresses.length > 0 ? gateway.addresses : before.addresses,
    port: link.gateway?.port ?? 0,
    identity: link.gateway?.identity,
    alive: gateway.alive ?? before.alive,
    ready,
    kind: link.endpointsKind,
  };
}

/** The gateway addresses that our endpoints of a Service have now, and whether any of them is listed as not ready. */
function addressesOf(
  owned: OwnedObjects,
  name: string,
): { readonly addresses: readonly string[]; readonly alive: boolean } {
  const subsets = owned.endpoints.find(({ metadata }) => metadata.name === name)?.subsets ?? [];
  const endpoints = owned.slices
    .filter(({ metadata }) => metadata.labels?.[Label.serviceName] === name)
    .flatMap((slice) => slice.endpoints ?? []);
  const notReady = subsets.flatMap((subset) => subset.notReadyAddresses ?? []);
  return {
    addresses: [
      ...subsets.flatMap((subset) => subset.addresses ?? []).map(({ ip }) => ip),
      ...notReady.map(({ ip }) => ip),
      ...endpoints.flatMap(({ addresses }) => addresses),
    ],
    alive: notReady.length === 0 && endpoints.every(({ conditions }) => conditions?.ready !== false),
  };
}

/**
 * Our endpoints with just the gateway brought up to date: for a target that cannot be read. What was empty stays
 * empty, ports stay as they are, and headless mirrors point at endpoint mirrors, not at the gateway.
 */
export function gatewayRefreshed({ link, gateway, owned, namespaceState }: Observed): readonly Desired[] {
  if (link.gateway === undefined || namespaceState === 'forbidden' || namespaceState === 'unreadable') return [];
  const headlessNames = new Set(
    owned.services.filter(({ spec }) => spec?.clusterIP === 'None').map(({ metadata }) => metadata.name),
  );
  const { port, identity } = link.gateway;
  const metadata = ({ metadata: { name, namespace, labels, annotations = {} } }: Endpoints | EndpointSlice) => {
    const { [Annotation.remoteGatewayIdentity]: _, ...others } = annotations;
    return {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      annotations: identity === undefined ? others : { ...others, [Annotation.remoteGatewayIdentity]: identity },
    };
  };
  const endpoints = owned.endpoints
    .filter((object) => !headlessNames.has(object.metadata.name) && (object.subsets ?? []).length > 0)
    .map((object): Desired => {
      const before = addressesOf({ ...owned, slices: [] }, object.metadata.name);
      const addresses = (gateway.addresses.length > 0 ? gateway.addresses : before.addresses).map((ip) => ({ ip }));
      const [first] = object.subsets ?? [];
      const subset = {
        [(gateway.alive ?? before.alive) ? 'addresses' : 'notReadyAddresses']: addresses,
        ports: (first?.ports ?? []).map((each) => ({ ...each, port })),
      };
      return { of: ENDPOINTS, object: { metadata: metadata(object), subsets: [subset] } as Endpoints };
    });
  const slices = owned.slices
    .filter(
      ({ metadata: { labels = {} }, endpoints: list }) =>
        !headlessNames.has(labels[Label.serviceName] ?? '') && (list ?? []).length > 0,
    )
    .map((object): Desired => {
      const ofFamily = (ip: string): boolean => ip.includes(':') === (object.addressType === 'IPv6');
      const known = gateway.addresses.filter(ofFamily);
      const addresses = known.length > 0 ? known : (object.endpoints ?? []).flatMap((each) => each.addresses);
      const before = (object.endpoints ?? []).every(({ conditions }) => conditions?.ready !== false);
      return {
        of: ENDPOINT_SLICES,
        object: {
          metadata: metadata(object),
          addressType: object.addressType,
          endpoints: addresses.map((ip) => ({ addresses: [ip], conditions: { ready: gateway.alive ?? before } })),
          ports: (object.ports ?? []).map((each) => ({ ...each, port })),
        } as EndpointSlice,
      };
    });
  return [...endpoints, ...slices];
}

const namespaceManifest = (name: string, cluster: string): Desired => ({
  of: NAMESPACES,
  object: {
    metadata: { name, labels: { [Label.mirroredService]: Value.true, [Label.clusterName]: cluster } },
  },
});

function lost({ name, link }: Observed, winner: string | undefined, hostname?: string): Refusal {
  const local = mirrorName(hostname ?? name, link.cluster);
  const what = hostname === undefined ? 'the mirror' : `the endpoint mirror of pod ${hostname}`;
  const by =
    winner === undefined ? 'no name is a valid Service name' : `${winner} is older, or first by name, and has it`;
  return { reason: 'NameConflict', message: `${what} would be called ${local}, but ${by}` };
}

/** Rendered objects by what they are; each with what decides whether it differs. */
function split(objects: readonly ApiJson[]): Pick<Manifests, 'services' | 'endpoints'> {
  const services: Desired[] = [];
  const endpoints: Desired[] = [];
  for (const object of objects) {
    if (object.kind === 'Service') services.push({ of: SERVICES, object, comparison: COMPARISON });
    else if (object.kind === 'Endpoints') endpoints.push({ of: ENDPOINTS, object });
    else endpoints.push({ of: ENDPOINT_SLICES, object });
  }
  return { services, endpoints };
}

/** How {@link Manifests.kept} names an object. */
export const serviceId = (name: string): string => `services/${name}`;
export const endpointsId = (name: string): string => `endpoints/${name}`;
export const sliceId = (name: string): string => `endpointslices/${name}`;

const namesOf = (owned: OwnedObjects): ReadonlySet<string> =>
  new Set([
    ...owned.services.map(({ metadata }) => serviceId(metadata.name)),
    ...owned.endpoints.map(({ metadata }) => endpointsId(metadata.name)),
    ...owned.slices.map(({ metadata }) => sliceId(metadata.name)),
  ]);

const keptEndpoints = (owned: OwnedObjects, service: string): ReadonlySet<string> =>
  new Set([
    endpointsId(service),
    ...owned.slices
      .filter(({ metadata }) => metadata.labels?.[Label.serviceName] === service)
      .map(({ metadata }) => sliceId(metadata.name)),
  ]);

const allBut = (names: ReadonlySet<string>, but: string): ReadonlySet<string> =>
  new Set([...names].filter((name) => name !== but));
