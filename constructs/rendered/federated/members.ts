/**
 * The members of a federated Service, in both shapes: the annotations that Linkerd's destination controller reads on a
 * flat network (rule I4), and an EndpointSlice for each cluster that is reached through its gateway (rule I5).
 */
import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../../crds/field-error.ts';
import { Annotation, Default, federatedEntry, federatedName, Label, remoteFqName, Value } from '../../../crds/wire.ts';
import { dnsLabel, dnsSubdomain } from '../../common/prop-rules.ts';
import { copiedSlice, copiedSliceErrors, type CopiedSlice } from '../mirror/copied-slice.ts';
import { endpointsObjects } from '../mirror/endpoints.ts';
import { type GatewayEndpoints, gatewayErrors, gatewaySubset } from '../mirror/gateway-endpoints.ts';
import type { MirrorMode } from '../mirror/mirror-service.ts';
import type { EndpointPort, MirrorPort } from '../mirror/ports.ts';
import type { StaticEndpointsProps } from '../mirror/static-endpoints.ts';

/** A target cluster whose Service is a member of a federated Service. */
export interface FederatedMember {
  /** Name of the target cluster: `spec.targetClusterName` of its Link. */
  readonly targetCluster: string;
  /**
   * DNS domain of the target cluster; in gateway mode only.
   * @default cluster.local
   */
  readonly targetClusterDomain?: string | undefined;
  /**
   * Ports of the Service in that cluster; in gateway mode only. Those that the federated Service does not have under the
   * same name, number and protocol are left out.
   * @default - those of the federated Service
   */
  readonly ports?: readonly MirrorPort[] | undefined;
  /**
   * The gateway of the cluster; in gateway mode only.
   * @default - no slices are rendered for the cluster: the operator keeps them
   */
  readonly endpoints?: FederatedGateway | undefined;
}

/** The gateway of a member. Its addresses are rendered as EndpointSlices. */
export interface FederatedGateway extends Omit<GatewayEndpoints, 'kind'> {}

/** The member of a federated Service that is in the same cluster. */
export interface FederatedLocalMember {
  /**
   * The EndpointSlices of the local Service; in gateway mode only.
   * @default - none
   */
  readonly slices?: readonly CopiedSlice[] | undefined;
}

/** The members of a federated Service, and the Service itself. */
export interface FederatedMembersProps extends StaticEndpointsProps {
  /** Name of the Services that join: the federated Service is `<service>-federated`. */
  readonly service: string;
  /** Namespace of these Services, and so of the federated one. */
  readonly namespace: string;
  /**
   * Target clusters whose Service is a member, in any order.
   * @default - none: the local member alone
   */
  readonly members?: readonly FederatedMember[] | undefined;
  /**
   * The member in the same cluster; `{}` in flat mode.
   * @default - none
   */
  readonly local?: FederatedLocalMember | undefined;
}

/** The annotations by which Linkerd's destination controller finds members on a flat network, the clusters sorted. */
export const membershipAnnotations = (
  service: string,
  targetClusters: readonly string[],
  local: boolean,
): Record<string, string> => ({
  ...(targetClusters.length > 0 && {
    [Annotation.remoteDiscovery]: [...targetClusters]
      .sort()
      .map((cluster) => federatedEntry(service, cluster))
      .join(','),
  }),
  ...(local && { [Annotation.localDiscovery]: service }),
});

/** The ports of a federated Service that a member has, under the same name, number and protocol. */
export const sharedPorts = <P extends EndpointPort>(
  ports: readonly P[],
  ofMember: readonly EndpointPort[],
): readonly P[] => {
  const had = new Set(ofMember.map(portKey));
  return ports.filter((port) => had.has(portKey(port)));
};

const portKey = ({ name = '', port, protocol = 'TCP' }: EndpointPort): string => `${name}/${port}/${protocol}`;

/**
 * The slices of all members, in gateway mode. The dot after the Service's name keeps their names apart from those of the
 * slices of any Service's own, such as the mirror of `web` from a cluster called `federated-west`.
 */
export const memberSlices = (
  scope: Construct,
  { members = [], local, ...props }: FederatedMembersProps,
  ports: readonly EndpointPort[],
): readonly ApiObject[] => [
  ...members.flatMap((member) => gatewaySlices(scope, props, member, ports)),
  ...(local?.slices ?? []).map((slice) => localSlice(scope, props, slice)),
];

const LABELS = { [Label.mirroredService]: Value.true, [Label.federation]: Value.gatewayFederation };

const gatewaySlices = (
  scope: Construct,
  { service, namespace, static: isStatic }: FederatedMembersProps,
  { targetCluster, targetClusterDomain = Default.clusterDomain, ports: had, endpoints }: FederatedMember,
  all: readonly EndpointPort[],
): readonly ApiObject[] => {
  const ports = had === undefined ? all : sharedPorts(all, had);
  if (endpoints === undefined || ports.length === 0) return [];
  const name = federatedName(service);
  return endpointsObjects(new Construct(scope, `Member-${targetCluster}`), {
    name,
    namespace,
    slicePrefix: `${name}.${targetCluster}`,
    labels: { ...LABELS, [Label.federationMember]: targetCluster },
    annotations: {
      [Annotation.remoteSvcFqName]: remoteFqName(service, namespace, targetClusterDomain),
      ...(endpoints.identity ? { [Annotation.remoteGatewayIdentity]: endpoints.identity } : {}),
    },
    kind: 'slices',
    static: isStatic,
    subsets: [gatewaySubset(endpoints, ports)],
  });
};

const localSlice = (
  scope: Construct,
  { service, namespace, static: isStatic }: FederatedMembersProps,
  slice: CopiedSlice,
): ApiObject =>
  copiedSlice(new Construct(scope, `Local-${slice.name}`), slice, {
    name: localSliceName(service, slice.name),
    namespace,
    labels: { ...LABELS, [Label.serviceName]: federatedName(service) },
    static: isStatic,
  });

/** No target cluster has a name with a dot. */
const localSliceName = (service: string, slice: string): string => `${federatedName(service)}.local.${slice}`;

/** Errors of the members of a federated Service. */
export const memberErrors = (
  { service, members = [], local }: FederatedMembersProps,
  mode: MirrorMode,
): readonly (FieldError | undefined)[] => {
  const clusters = members.map(({ targetCluster }) => targetCluster);
  return [
    members.length === 0 && local === undefined
      ? fieldError('members', members, 'must not be empty', 'name a target cluster, or set local')
      : undefined,
    ...members.flatMap((member, index) => [
      clusters.indexOf(member.targetCluster) < index
        ? fieldError(`members[${index}].targetCluster`, member.targetCluster, 'must be unique')
        : undefined,
      ...remoteErrors(member, `members[${index}]`, mode),
    ]),
    ...localErrors(service, local, mode),
  ];
};

const remoteErrors = (
  { targetCluster, targetClusterDomain, ports, endpoints }: FederatedMember,
  path: string,
  mode: MirrorMode,
): readonly (FieldError | undefined)[] => [
  dnsLabel(`${path}.targetCluster`, targetCluster),
  ...(mode === 'gateway'
    ? []
    : [onlyThroughGateways(`${path}.ports`, ports), onlyThroughGateways(`${path}.endpoints`, endpoints)]),
  dnsSubdomain(`${path}.targetClusterDomain`, targetClusterDomain ?? Default.clusterDomain),
  ...(endpoints ? gatewayErrors(endpoints, `${path}.endpoints.`) : []),
];

const localErrors = (
  service: string,
  local: FederatedLocalMember | undefined,
  mode: MirrorMode,
): readonly (FieldError | undefined)[] => {
  const slices = local?.slices;
  return [
    mode === 'gateway' ? undefined : onlyThroughGateways('local.slices', slices),
    ...(slices ?? []).flatMap((slice, index) =>
      copiedSliceErrors(`local.slices[${index}]`, slice, localSliceName(service, slice.name)),
    ),
  ];
};

const onlyThroughGateways = (path: string, value: unknown): FieldError | undefined =>
  value === undefined
    ? undefined
    : fieldError(path, value, 'must not be set in flat mode', 'set mode: gateway, or remove it');
