/**
 * What a ServiceImport says and how it is reached, once it is decided which clusters it is made of (rules K2, K3). Pure.
 */
import type { ImportPort, ImportType, ServiceImportProps } from '../../constructs/rendered/index.ts';
import { Annotation } from '../../crds/wire.ts';
import type { IpFamily } from '../kube/objects.ts';
import { isFlat } from '../source/owner.ts';
import { portUnion, type Resolution } from './conflicts.ts';
import { derivedAddresses, isOfImport } from './membership.ts';
import { type ObservedImport, targetOf } from './observed.ts';
import { recordedOrder } from './precedence.ts';
import type { Shape, Source } from './sources.ts';

/** Why a ServiceImport cannot be used. */
export interface ImportRefusal {
  readonly reason: 'Pending' | 'IPFamilyNotSupported';
  readonly message: string;
}

/** What a ServiceImport says, and how it is reached. */
export interface ImportPlan extends Shape {
  readonly sources: readonly Source[];
  /** Empty: headless, or the API server has yet to choose an address. */
  readonly ips: readonly string[];
  /** Empty: the cluster cannot reach the Service. */
  readonly ipFamilies: readonly IpFamily[];
  readonly fields: ImportFields;
  /** The exports that it is made of, in the order in which they count; undefined if that is not known. */
  readonly order: string | undefined;
}

/** What the ServiceImport says beside this. */
export type ImportFields = Pick<
  ServiceImportProps,
  | 'sessionAffinity'
  | 'sessionAffinitySeconds'
  | 'internalTrafficPolicy'
  | 'trafficDistribution'
  | 'labels'
  | 'annotations'
  | 'opaquePorts'
>;

/**
 * @param resolution of the exports that decide; undefined if the ServiceImport says what it says now
 */
export function planOf(
  observed: ObservedImport,
  type: ImportType,
  sources: readonly Source[],
  resolution: (Resolution & { readonly order: string }) | undefined,
): ImportPlan {
  const { live } = observed;
  const mode = modeOf(observed, sources);
  const wanted = (resolution?.first.ipFamilies ?? live?.spec?.ipFamilies ?? []) as readonly IpFamily[];
  const ips = type === 'Headless' ? [] : addressesOf(observed);
  return {
    type,
    mode,
    sources,
    ips,
    ports: portsOf(observed, sources, resolution),
    ipFamilies: ips.length > 0 ? ips.map(familyOf) : familiesOf(observed.families, wanted, mode),
    fields: resolution === undefined ? fieldsOf(observed) : exportedFields(resolution.first),
    order: resolution === undefined ? recordedOrder(observed) : resolution.order,
  };
}

/**
 * The union of the ports of known exports; of a ServiceImport that is written anew while a cluster is not known, also those
 * that its derived Service has: that cluster's among them.
 */
function portsOf(
  { live, derived, name }: ObservedImport,
  sources: readonly Source[],
  resolution: Resolution | undefined,
): readonly ImportPort[] {
  if (resolution === undefined) return (live?.spec?.ports ?? []) as readonly ImportPort[];
  const { ports } = resolution;
  const stays = sources.some(({ exported }) => exported === undefined);
  if (!stays || derived === undefined || !isOfImport(name, derived)) return ports;
  const had = (derived.spec?.ports ?? []) as readonly ImportPort[];
  const others = had.map(({ name, port, protocol, appProtocol }) => ({ name, port, protocol, appProtocol }));
  return portUnion([...ports, ...others]);
}

/** Of all that the first export has, what the construct takes over as it is. */
const exportedFields = ({
  sessionAffinity,
  sessionAffinitySeconds,
  internalTrafficPolicy,
  trafficDistribution,
  labels,
  annotations,
  opaquePorts,
}: Resolution['first']): ImportFields => ({
  sessionAffinity,
  sessionAffinitySeconds,
  internalTrafficPolicy,
  trafficDistribution,
  labels,
  annotations,
  opaquePorts,
});

/** What the ServiceImport says now, while it is not known what all clusters export. */
function fieldsOf({ live, derived, podServices }: ObservedImport): ImportFields {
  const { sessionAffinity, sessionAffinityConfig, internalTrafficPolicy, trafficDistribution } = live?.spec ?? {};
  return {
    ...({ sessionAffinity, internalTrafficPolicy } as ImportFields),
    sessionAffinitySeconds: sessionAffinityConfig?.clientIP?.timeoutSeconds,
    trafficDistribution,
    labels: live?.metadata.labels,
    annotations: live?.metadata.annotations,
    opaquePorts: [derived, ...podServices]
      .map((service) => service?.metadata.annotations?.[Annotation.opaquePorts])
      .find((ports) => ports !== undefined),
  };
}

/**
 * Through gateways if any Link wants that, or no other cluster exports the Service: Kubernetes' own slices lead to the
 * pods of this one. A membership that stays as it is cannot change its shape, so the shape stays too.
 */
function modeOf({ derived, name }: ObservedImport, sources: readonly Source[]): Shape['mode'] {
  const stays = sources.some(({ exported }) => exported === undefined);
  if (stays && derived !== undefined && isOfImport(name, derived))
    return isFlat(derived) ? 'remote-discovery' : 'gateway';
  const modes = sources.flatMap(({ exporter }) => targetOf(exporter)?.mode ?? []);
  return modes.length > 0 && modes.every((mode) => mode === 'remote-discovery') ? 'remote-discovery' : 'gateway';
}

/**
 * Families of a ServiceImport that has no addresses: those of the first export that the cluster has, or, where requests
 * go through gateways, the cluster's own.
 */
function familiesOf(
  families: readonly IpFamily[],
  wanted: readonly IpFamily[],
  mode: Shape['mode'],
): readonly IpFamily[] {
  if (wanted.length === 0) return families.slice(0, 1);
  const shared = wanted.filter((family) => families.includes(family));
  return shared.length === 0 && mode === 'gateway' ? families.slice(0, 1) : shared;
}

const familyOf = (ip: string): IpFamily => (ip.includes(':') ? 'IPv6' : 'IPv4');

/**
 * The addresses of the ServiceImport: those of the derived Service, or, if that was deleted, those that it had, which the
 * new one gets, unless another has taken them.
 */
function addressesOf(observed: ObservedImport): readonly string[] {
  const { live, name, isAddressTaken } = observed;
  const has = derivedAddresses(observed);
  if (has.length > 0) return has;
  return isAddressTaken || live === undefined || !isOfImport(name, live) ? [] : (live.spec?.ips ?? []);
}
