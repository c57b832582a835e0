/**
 * EndpointSlices that are copied: those of a Service of the same cluster, or of a cluster on a flat network, for a Service
 * that stands for it. A copy keeps what readers need to find the pods.
 */
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../../crds/field-error.ts';
import { ENDPOINT_SLICE_MANAGER, Label } from '../../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, ipAddress, portNumber } from '../../common/prop-rules.ts';
import { applicationProtocol, type EndpointPort } from './ports.ts';
import { keepOutOfGit, type StaticEndpointsProps } from './static-endpoints.ts';

/** An EndpointSlice of the Service that is stood for, which is copied. */
export interface CopiedSlice {
  /** Name of the slice. */
  readonly name: string;
  /** Family of its addresses. */
  readonly addressType: 'IPv4' | 'IPv6';
  /** Its endpoints. */
  readonly endpoints: readonly CopiedEndpoint[];
  /** Ports that the endpoints listen on. */
  readonly ports: readonly EndpointPort[];
}

/** An endpoint of a slice that is copied. */
export interface CopiedEndpoint {
  /** IP addresses of the endpoint. */
  readonly addresses: readonly string[];
  /**
   * Hostname of the pod; in a headless ServiceImport only.
   * @default - none
   */
  readonly hostname?: string | undefined;
  /**
   * Whether the endpoint takes requests.
   * @default - ready, by the Kubernetes API
   */
  readonly conditions?: EndpointConditions | undefined;
  /**
   * The pod: by it Linkerd knows the identity and the policy of the endpoint.
   * @default - none
   */
  readonly targetRef?: PodRef | undefined;
  /**
   * Name of the node.
   * @default - not known
   */
  readonly nodeName?: string | undefined;
  /**
   * Name of the zone.
   * @default - not known
   */
  readonly zone?: string | undefined;
}

/** Conditions of an endpoint, as in the Kubernetes API. */
export interface EndpointConditions {
  /**
   * Whether the endpoint takes new requests.
   * @default - true, by the Kubernetes API
   */
  readonly ready?: boolean | undefined;
  /**
   * Whether the endpoint answers, also while it terminates.
   * @default - as ready
   */
  readonly serving?: boolean | undefined;
  /**
   * Whether the endpoint terminates.
   * @default - false, by the Kubernetes API
   */
  readonly terminating?: boolean | undefined;
}

/** A reference to a pod of the same cluster and namespace. */
export interface PodRef {
  /** Kind of the object: `Pod`. */
  readonly kind: string;
  /** Name of the pod. */
  readonly name: string;
  /**
   * Namespace of the pod.
   * @default - none
   */
  readonly namespace?: string | undefined;
  /**
   * uid of the pod.
   * @default - none
   */
  readonly uid?: string | undefined;
}

/** Properties of {@link copiedSlice}. */
export interface CopiedSliceProps extends StaticEndpointsProps {
  /** Name of the copy. */
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Renders the copy of a slice. To synthesize it for Git is an error, unless it is static. */
export const copiedSlice = (
  scope: Construct,
  { addressType, endpoints, ports }: CopiedSlice,
  { name, namespace, labels, ...props }: CopiedSliceProps,
): ApiObject => {
  const slice = new ApiObject(scope, 'Resource', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { ...labels, [Label.endpointSliceManagedBy]: ENDPOINT_SLICE_MANAGER } },
    addressType,
    endpoints: endpoints.map(({ addresses, conditions, hostname, targetRef, nodeName, zone }) => ({
      addresses,
      conditions: conditions ?? {},
      hostname,
      targetRef,
      nodeName,
      zone,
    })),
    ports: ports.map(({ name: portName = '', port, protocol = 'TCP', appProtocol }) => ({
      name: portName,
      port,
      protocol,
      appProtocol: appProtocol || undefined,
    })),
  });
  keepOutOfGit(slice, props);
  return slice;
};

/** Errors of a slice that is copied under another name. */
export const copiedSliceErrors = (
  path: string,
  { name, endpoints, ports }: CopiedSlice,
  copy: string,
): readonly (FieldError | undefined)[] => [
  dnsSubdomain(`${path}.name`, name) ?? tooLong(`${path}.name`, name, copy),
  ...endpoints.flatMap(({ addresses, hostname }, i) => [
    ...addresses.map((address, k) => ipAddress(`${path}.endpoints[${i}].addresses[${k}]`, address)),
    hostname === undefined ? undefined : dnsLabel(`${path}.endpoints[${i}].hostname`, hostname),
  ]),
  ...ports.flatMap(({ name: portName = '', port, appProtocol }, i) => [
    ports.findIndex((each) => (each.name ?? '') === portName) < i
      ? fieldError(`${path}.ports[${i}].name`, portName, 'must be unique')
      : undefined,
    portNumber(`${path}.ports[${i}].port`, port),
    applicationProtocol(`${path}.ports[${i}].appProtocol`, appProtocol),
  ]),
];

/** Longest name of an EndpointSlice. */
const SLICE_NAME_MAX = 253;

const tooLong = (path: string, name: string, copy: string): FieldError | undefined =>
  copy.length <= SLICE_NAME_MAX
    ? undefined
    : fieldError(
        path,
        name,
        `must be shorter: the name of its copy would have ${copy.length} characters, over ${SLICE_NAME_MAX}`,
      );
