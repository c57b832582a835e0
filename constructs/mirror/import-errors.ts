/** What the API server or Linkerd would refuse in a ServiceImport, its derived Service and its slices. */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Default } from '../../crds/wire.ts';
import {
  annotationsErrors,
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  isIPv6,
  labelsErrors,
  portNumber,
  serviceName,
} from '../common/prop-rules.ts';
import { copiedSliceErrors } from './copied-slice.ts';
import { gatewayErrors } from './gateway-endpoints.ts';
import { importPorts } from './import-ports.ts';
import type { ImportedCluster, ServiceImportProps } from './import-props.ts';
import { copyName } from './import-slices.ts';
import { portErrors } from './ports.ts';
import { staticError } from './static-endpoints.ts';

type Found = readonly (FieldError | undefined)[];

/** Longest session, in seconds, as the API server has it for Services. */
const MAX_SESSION_SECONDS = 86_400;

/** Errors of the props of a ServiceImport. */
export const importErrors = (props: ServiceImportProps): Found => {
  const { service, namespace, type, ports, clusters = [], labels, annotations } = props;
  const hasEndpoints = clusters.some((each) => each.endpoints ?? each.endpointMirrors ?? each.slices);
  return [
    serviceName('service', service),
    dnsLabel('namespace', namespace),
    ...(type === 'Headless' && ports.length === 0 ? [] : portErrors(importPorts(ports))),
    ...addressErrors(props),
    ...affinityErrors(props),
    ...labelsErrors('labels', labels),
    ...annotationsErrors('annotations', annotations),
    ...clusters.flatMap((cluster, index) => [
      ...uniqueErrors(clusters, cluster, index),
      ...clusterErrors(props, cluster, `clusters[${index}]`),
    ]),
    staticError(props, hasEndpoints || undefined),
  ];
};

const addressErrors = ({ type, ips = [], ipFamilies = [] }: ServiceImportProps): Found => {
  if (type === 'Headless' && ips.length > 0)
    return [fieldError('ips', ips, 'must not be set if type is Headless', 'remove it')];
  const families = ips.map((ip) => (isIPv6(ip) ? 'IPv6' : 'IPv4'));
  const isOrdered = ips.length === 0 || ipFamilies.length === 0 || String(families) === String(ipFamilies);
  return [
    ...ips.map((ip, index) => ipAddress(`ips[${index}]`, ip)),
    new Set(families).size < families.length
      ? fieldError('ips', ips, 'must have one address of each family')
      : undefined,
    new Set(ipFamilies).size < ipFamilies.length
      ? fieldError('ipFamilies', ipFamilies, 'must name each family once')
      : undefined,
    isOrdered ? undefined : fieldError('ipFamilies', ipFamilies, 'must be the families of ips, in the same order'),
  ];
};

const affinityErrors = ({ sessionAffinity, sessionAffinitySeconds: seconds }: ServiceImportProps): Found => {
  if (seconds === undefined) return [];
  const path = 'sessionAffinitySeconds';
  return [
    sessionAffinity === 'ClientIP'
      ? undefined
      : fieldError(path, seconds, 'may only be set if sessionAffinity is ClientIP', 'remove it'),
    seconds >= 1 && seconds <= MAX_SESSION_SECONDS
      ? undefined
      : fieldError(path, seconds, `must be between 1 and ${MAX_SESSION_SECONDS}`),
  ];
};

const uniqueErrors = (
  clusters: readonly ImportedCluster[],
  { id, targetCluster }: ImportedCluster,
  at: number,
): Found =>
  [
    ['id', id, clusters.findIndex((each) => each.id === id)] as const,
    ['targetCluster', targetCluster, clusters.findIndex((each) => each.targetCluster === targetCluster)] as const,
  ].map(([field, value, first]) =>
    first < at ? fieldError(`clusters[${at}].${field}`, value, 'must be unique') : undefined,
  );

const clusterErrors = (
  { service, type, mode = 'gateway' }: ServiceImportProps,
  { id, targetCluster, targetClusterDomain, ports, endpoints, endpointMirrors, slices }: ImportedCluster,
  path: string,
): Found => {
  const isGateway = mode === 'gateway' && targetCluster !== undefined;
  const only = (field: string, value: unknown, holds: boolean, when: string): FieldError | undefined =>
    value === undefined || holds ? undefined : fieldError(`${path}.${field}`, undefined, `may only be set ${when}`);
  return [
    dnsLabel(`${path}.id`, id),
    targetCluster === undefined ? undefined : dnsLabel(`${path}.targetCluster`, targetCluster),
    dnsSubdomain(`${path}.targetClusterDomain`, targetClusterDomain ?? Default.clusterDomain),
    ...(ports ?? []).map(({ port }, index) => portNumber(`${path}.ports[${index}].port`, port)),
    only('endpoints', endpoints, isGateway && type !== 'Headless', 'for a gateway, if type is ClusterSetIP'),
    only('endpointMirrors', endpointMirrors, isGateway && type === 'Headless', 'for a gateway, if type is Headless'),
    only('slices', slices, !isGateway, 'on a flat network, or without targetCluster'),
    ...(endpoints ? gatewayErrors(endpoints, `${path}.endpoints.`) : []),
    ...(endpointMirrors ?? []).flatMap(({ addresses }, i) =>
      addresses.flatMap(({ hostname, ip }, k) => [
        dnsLabel(`${path}.endpointMirrors[${i}].addresses[${k}].hostname`, hostname),
        ipAddress(`${path}.endpointMirrors[${i}].addresses[${k}].ip`, ip),
      ]),
    ),
    ...(slices ?? []).flatMap((slice, index) =>
      copiedSliceErrors(`${path}.slices[${index}]`, slice, copyName(service, targetCluster, slice.name)),
    ),
  ];
};
