/** What the API server or Linkerd would refuse in a ServiceImport, its derived Service and its slices. */
import { type FieldError, fieldError } from '../../../crds/field-error.ts';
import { Default } from '../../../crds/wire.ts';
import {
  annotationsErrors,
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  isIPv6,
  labelsErrors,
  portNumber,
  serviceName,
} from '../../common/prop-rules.ts';
import { copiedSliceErrors } from '../mirror/copied-slice.ts';
import { gatewayErrors } from '../mirror/gateway-endpoints.ts';
import { podHostname } from './pods.ts';
import { importPorts } from './ports.ts';
import type { ImportedCluster, ImportedPod, ServiceImportProps } from './props.ts';
import { copyName } from './slices.ts';
import { portErrors } from '../mirror/ports.ts';
import { staticError } from '../mirror/static-endpoints.ts';

type Found = readonly (FieldError | undefined)[];

/** Longest session, in seconds, as the API server has it for Services. */
const MAX_SESSION_SECONDS = 86_400;

/** Errors of the props of a ServiceImport. */
export const importErrors = (props: ServiceImportProps): Found => {
  const { service, namespace, type, ports, clusters = [], labels, annotations } = props;
  const hasEndpoints = clusters.some((each) => each.endpoints ?? each.slices);
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
  const families = ips.map(familyOf);
  const isOrdered = ips.length === 0 || ipFamilies.length === 0 || String(families) === String(ipFamilies);
  return [
    ...ipsErrors('ips', ips),
    new Set(ipFamilies).size < ipFamilies.length
      ? fieldError('ipFamilies', ipFamilies, 'must name each family once')
      : undefined,
    isOrdered ? undefined : fieldError('ipFamilies', ipFamilies, 'must be the families of ips, in the same order'),
  ];
};

/** Errors of the addresses of a Service. */
const ipsErrors = (path: string, ips: readonly string[]): Found => [
  ...ips.map((ip, index) => ipAddress(`${path}[${index}]`, ip)),
  new Set(ips.map(familyOf)).size < ips.length
    ? fieldError(path, ips, 'must have one address of each family')
    : undefined,
];

const familyOf = (ip: string): string => (isIPv6(ip) ? 'IPv6' : 'IPv4');

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
  { id, targetCluster, targetClusterDomain, ports, endpoints, pods, slices }: ImportedCluster,
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
    only('endpoints', endpoints, isGateway, 'for a gateway'),
    only('pods', pods, isGateway && type === 'Headless', 'for a gateway, if type is Headless'),
    only('slices', slices, !isGateway, 'on a flat network, or without targetCluster'),
    ...(endpoints ? gatewayErrors(endpoints, `${path}.endpoints.`) : []),
    ...podsErrors(pods ?? [], `${path}.pods`),
    ...(slices ?? []).flatMap((slice, index) =>
      copiedSliceErrors(`${path}.slices[${index}]`, slice, copyName(service, targetCluster, slice.name)),
    ),
  ];
};

function podsErrors(pods: readonly ImportedPod[], path: string): Found {
  const hostnames = pods.map(podHostname);
  return pods.flatMap((pod, index) => {
    const at = `${path}[${index}]`;
    const hostname = hostnames[index] ?? '';
    return [
      pod.hostname === undefined && pod.address === undefined
        ? fieldError(`${at}.hostname`, undefined, 'is required without address')
        : dnsLabel(`${at}.${pod.hostname === undefined ? 'address' : 'hostname'}`, hostname),
      pod.address === undefined ? undefined : ipAddress(`${at}.address`, pod.address),
      hostnames.indexOf(hostname) < index ? fieldError(`${at}.hostname`, hostname, 'must be unique') : undefined,
      ...pod.ports.map(({ port }, k) => portNumber(`${at}.ports[${k}].port`, port)),
      ...ipsErrors(`${at}.ips`, pod.ips ?? []),
    ];
  });
}
