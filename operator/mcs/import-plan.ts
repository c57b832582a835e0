/**
 * Plans the content of a ServiceImport, and how clients reach it, from the exports of the clusters that are part of it
 * (rules K2, K3). Pure.
 */
import type { ImportPort, ImportType, ServiceImportProps } from '../../constructs/rendered/index.ts';
import { Annotation } from '../../crds/wire.ts';
import type { IpFamily } from '../kube/objects.ts';
import { isFlat } from '../source/owner.ts';
import { portUnion, type Resolution } from './conflicts.ts';
import { derivedAddresses, isOfImport, modeOfSlices } from './membership.ts';
import { type ObservedImport, targetOf } from './observed.ts';
import type { Shape, Source } from './sources.ts';

/** Why a ServiceImport cannot be used. */
export interface ImportRefusal {
  readonly reason: 'Pending' | 'IPFamilyNotSupported';
  readonly message: string;
}

/** Content of a ServiceImport, and how clients reach it. */
export interface ImportPlan extends Shape {
  readonly sources: readonly Source[];
  /** Addresses; empty if the ServiceImport is headless, or the API server has yet to assign an address. */
  readonly ips: readonly string[];
  /**
   * IP families of the addresses. If there are no addresses, the families that {@link familiesOf} returns, which can be
   * none.
   */
  readonly ipFamilies: readonly IpFamily[];
  readonly fields: ImportFields;
  /**
   * Entries of the exports in the order to record (precedence.ts), separated by commas; undefined if the order is not
   * known.
   */
  readonly order: string | undefined;
}

/**
 * Fields of the ServiceImport and its Services that are taken from the deciding export ({@link Resolution.first}).
 * While the present content stays, they have their present values. The construct leaves out labels and annotations that
 * must not be copied (rule B2).
 */
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
 * Plans the content of one ServiceImport, and how clients reach it.
 * @param resolution the resolved exports that the content is taken from; undefined if the present content stays
 * @param order the order of exports to record; undefined if it is not known
 */
export function planOf(
  observed: ObservedImport,
  type: ImportType,
  sources: readonly Source[],
  resolution: Resolution | undefined,
  order: string | undefined,
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
    order,
  };
}

/**
 * Returns the ports of the ServiceImport:
 * - Without a resolution: its present ports, because its present content stays.
 * - With a resolution: the ports of all exports that are imported. If the ServiceImport also has a cluster whose exports
 *   or id are not known, the ports of our existing derived Service are added, because they include the ports of that
 *   cluster. There is a resolution beside such a cluster only if the ServiceImport was deleted or has no valid spec.
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

/** Returns the fields that are taken unchanged from the deciding export. */
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

/**
 * Returns the present fields of the ServiceImport and its Services. They stay while there is no resolution to take them
 * from.
 */
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
 * Returns how clients reach the ServiceImport. The first of these cases that applies decides:
 * - The exports of one of its clusters are not known, and the derived Service exists: the mode of that Service stays.
 * - At least one of its targets counts, and all that count are on a flat network: flat.
 * - All other cases: gateway. An example is a Service that only the local cluster exports: copies of the local slices
 *   then lead to the pods.
 *
 * The Link of a target decides whether the target is on a flat network. If a target has no session, its slices decide.
 * A target that has neither a session nor slices does not count.
 */
function modeOf(observed: ObservedImport, sources: readonly Source[]): Shape['mode'] {
  const { derived, name } = observed;
  const stays = sources.some(({ exported }) => exported === undefined);
  if (stays && derived !== undefined && isOfImport(name, derived))
    return isFlat(derived) ? 'remote-discovery' : 'gateway';
  const targets = sources.map(({ exporter }) => targetOf(exporter)).filter((target) => target !== undefined);
  const modes = targets
    .map((target) => target.mode ?? modeOfSlices(observed, target))
    .filter((mode) => mode !== undefined);
  return modes.length > 0 && modes.every((mode) => mode === 'remote-discovery') ? 'remote-discovery' : 'gateway';
}

/**
 * Returns the IP families of a ServiceImport without addresses: those wanted families that the source cluster supports.
 * If the source cluster supports none of them, the result is its preferred family in gateway mode, and empty in flat
 * mode.
 * @param families IP families of the source cluster, the preferred one first
 * @param wanted IP families of the deciding export, or the present ones if the content stays; if empty, the preferred
 *   family of the source cluster is used
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
 * Returns the addresses of the ServiceImport: those of the derived Service. If the derived Service has none, for
 * example because it was deleted, returns the addresses that the ServiceImport lists, so that a new derived Service
 * gets them again. The list is empty if the ServiceImport lists none either, or if another Service has taken them.
 */
function addressesOf(observed: ObservedImport): readonly string[] {
  const { live, name, isAddressTaken } = observed;
  const has = derivedAddresses(observed);
  if (has.length > 0) return has;
  return isAddressTaken || live === undefined || !isOfImport(name, live) ? [] : (live.spec?.ips ?? []);
}
