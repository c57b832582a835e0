/**
 * The Service that a gateway is reached by: its type, its ports, and the settings of cloud load balancers.
 * Whatever ports it has, they lead to those of Linkerd's proxy.
 */
import { ApiObject, type ApiObjectMetadata, JsonPatch } from 'cdk8s';
import { type IPodSelector, Protocol, Service, ServiceType } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import { isLabelKey } from '../../crds/names.ts';
import { isIpAddress } from '../../crds/network.ts';
import { Annotation, Default, Label, Value } from '../../crds/wire.ts';
import { cidr } from '../common/cidr.ts';
import { portNumber } from '../common/prop-rules.ts';

/** How the gateway is reached from outside of the cluster. */
export interface GatewayServiceProps {
  /**
   * Type of the Service.
   * @default LoadBalancer
   */
  readonly type?: 'LoadBalancer' | 'NodePort' | 'ClusterIP' | undefined;
  /**
   * Which implementation makes the load balancer.
   * @default - the cluster's
   */
  readonly loadBalancerClass?: string | undefined;
  /**
   * Address that the load balancer is to have, where its implementation lets that be asked for.
   * @default - any
   */
  readonly loadBalancerIP?: string | undefined;
  /**
   * Networks in CIDR notation that the load balancer lets in, where its implementation can do that.
   * @default - all
   */
  readonly loadBalancerSourceRanges?: readonly string[] | undefined;
  /**
   * `Local` keeps the clients' addresses, which GatewayPolicy looks at, and sends traffic to nodes with a gateway only.
   * @default - Kubernetes' own: Cluster
   */
  readonly externalTrafficPolicy?: 'Cluster' | 'Local' | undefined;
  /**
   * Node port that the load balancer asks which nodes have a gateway; for a LoadBalancer with policy `Local`.
   * @default - one that Kubernetes picks
   */
  readonly healthCheckNodePort?: number | undefined;
  /**
   * Port of the gateway.
   * @default 4143
   */
  readonly port?: number | undefined;
  /**
   * Port of the gateway's health endpoint.
   * @default 4191
   */
  readonly probePort?: number | undefined;
  /**
   * Node port of the gateway: `gatewayPort` of Links to a NodePort gateway.
   * @default - one that Kubernetes picks
   */
  readonly nodePort?: number | undefined;
  /**
   * Node port of the health endpoint: `probe.port` of Links to a NodePort gateway.
   * @default - one that Kubernetes picks
   */
  readonly probeNodePort?: number | undefined;
  /**
   * Further annotations, such as those that a cloud's load balancers are set up by.
   * @default - none
   */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** What the gateway's Service and policies select its pods by. */
export const GATEWAY_PODS = { [Label.app]: Default.gatewayName } as const;

/** Labels of what belongs to the gateway. */
export const GATEWAY_LABELS = { ...GATEWAY_PODS, [Label.extension]: Value.extension } as const;

/** The Service of a gateway's pods; what cdk8s-plus has no words for is added by JSON patches. */
export const gatewayService = (
  scope: Construct,
  pods: IPodSelector,
  props: GatewayServiceProps,
  metadata: ApiObjectMetadata,
): Service => {
  const { type = 'LoadBalancer', port = Default.gatewayPort, probePort = Default.probePort } = props;
  const { nodePort, probeNodePort, loadBalancerSourceRanges } = props;
  const protocol = Protocol.TCP;
  const service = new Service(scope, 'Service', {
    metadata,
    type: TYPES[type],
    selector: pods,
    ports: [
      {
        name: Default.gatewayPortName,
        protocol,
        port,
        targetPort: Default.gatewayPort,
        ...(nodePort !== undefined && { nodePort }),
      },
      {
        name: Default.probePortName,
        protocol,
        port: probePort,
        targetPort: Default.probePort,
        ...(probeNodePort !== undefined && { nodePort: probeNodePort }),
      },
    ],
    ...(loadBalancerSourceRanges && { loadBalancerSourceRanges: [...loadBalancerSourceRanges] }),
  });
  ApiObject.of(service).addJsonPatch(
    // An empty list that a load balancer may fill.
    JsonPatch.remove('/spec/externalIPs'),
    ...Object.entries(PATCHED).flatMap(([prop, field]) => {
      const value = props[prop as keyof typeof PATCHED];
      return value === undefined ? [] : [JsonPatch.add(`/spec/${field}`, value)];
    }),
  );
  return service;
};

const TYPES = {
  LoadBalancer: ServiceType.LOAD_BALANCER,
  NodePort: ServiceType.NODE_PORT,
  ClusterIP: ServiceType.CLUSTER_IP,
} as const;

/** Props that a Service of cdk8s-plus does not have, and what it calls the fields of their object. */
const PATCHED = {
  loadBalancerClass: 'loadBalancerClass',
  loadBalancerIP: 'loadBalancerIp',
  externalTrafficPolicy: 'externalTrafficPolicy',
  healthCheckNodePort: 'healthCheckNodePort',
} as const;

/** Annotations that the gateway sets from its props, since Links are made of them. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  Annotation.gatewayIdentity,
  Annotation.probePeriod,
  Annotation.probePath,
  Annotation.multiclusterGateway,
]);

/** What the API server would refuse in the Service, or what contradicts itself. */
export const gatewayServiceErrors = (service: GatewayServiceProps): readonly (FieldError | undefined)[] => {
  const { type = 'LoadBalancer', port = Default.gatewayPort, probePort = Default.probePort } = service;
  const { nodePort, probeNodePort, healthCheckNodePort, externalTrafficPolicy, loadBalancerIP } = service;
  const onlyFor = (prop: keyof GatewayServiceProps, holds: boolean, what: string): FieldError | undefined =>
    service[prop] === undefined || holds
      ? undefined
      : fieldError(`service.${prop}`, service[prop], `may only be used with ${what}`);
  const optionalPort = (prop: 'nodePort' | 'probeNodePort' | 'healthCheckNodePort'): FieldError | undefined =>
    service[prop] === undefined ? undefined : portNumber(`service.${prop}`, service[prop]);
  const nodePorts = [nodePort, probeNodePort, healthCheckNodePort].filter((each) => each !== undefined);
  const balanced = type === 'LoadBalancer';
  return [
    onlyFor('loadBalancerClass', balanced, 'type LoadBalancer'),
    service.loadBalancerClass !== undefined && !isLabelKey(service.loadBalancerClass)
      ? fieldError(
          'service.loadBalancerClass',
          service.loadBalancerClass,
          'must be a valid class name',
          'as in a.example/lb',
        )
      : undefined,
    onlyFor('loadBalancerIP', balanced, 'type LoadBalancer'),
    loadBalancerIP !== undefined && !isIpAddress(loadBalancerIP)
      ? fieldError('service.loadBalancerIP', loadBalancerIP, 'must be a valid IP address')
      : undefined,
    onlyFor('loadBalancerSourceRanges', balanced, 'type LoadBalancer'),
    ...(service.loadBalancerSourceRanges ?? []).map((range, index) =>
      cidr(`service.loadBalancerSourceRanges[${index}]`, range),
    ),
    onlyFor('externalTrafficPolicy', type !== 'ClusterIP', 'types LoadBalancer and NodePort'),
    onlyFor(
      'healthCheckNodePort',
      balanced && externalTrafficPolicy === 'Local',
      'type LoadBalancer and externalTrafficPolicy Local',
    ),
    optionalPort('healthCheckNodePort'),
    portNumber('service.port', port),
    portNumber('service.probePort', probePort),
    port === probePort ? fieldError('service.probePort', probePort, 'must differ from port') : undefined,
    onlyFor('nodePort', type !== 'ClusterIP', 'types LoadBalancer and NodePort'),
    optionalPort('nodePort'),
    onlyFor('probeNodePort', type !== 'ClusterIP', 'types LoadBalancer and NodePort'),
    optionalPort('probeNodePort'),
    new Set(nodePorts).size < nodePorts.length
      ? fieldError('service', nodePorts, 'must have a node port of its own for each purpose')
      : undefined,
    ...Object.entries(service.annotations ?? {}).map(([key, value]) => {
      const path = fieldPath('service.annotations', key);
      if (OWN_ANNOTATIONS.has(key))
        return fieldError(path, value, 'must not be set: the gateway sets it', 'use the props for it');
      return isLabelKey(key) ? undefined : fieldError(path, value, 'must be a valid annotation key');
    }),
  ];
};
