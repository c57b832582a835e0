/**
 * The Service of a gateway: its type, its ports, and the settings of cloud load balancers.
 * Its ports always lead to those of Linkerd's proxy.
 */
import { ApiObject, type ApiObjectMetadata, JsonPatch } from 'cdk8s';
import { type IPodSelector, Protocol, Service, ServiceType } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import { isAnnotationKey, isLabelKey } from '../../crds/names.ts';
import { isIpAddress } from '../../crds/network.ts';
import { Annotation, Default, Label, Value } from '../../crds/wire.ts';
import { cidr } from '../common/cidr.ts';
import { portNumber } from '../common/prop-rules.ts';

/** Service of the gateway. */
export interface GatewayServiceProps {
  /**
   * Type of the Service.
   * @default LoadBalancer
   */
  readonly type?: 'LoadBalancer' | 'NodePort' | 'ClusterIP' | undefined;
  /**
   * Class of the load balancer.
   * @default - that of the cluster
   */
  readonly loadBalancerClass?: string | undefined;
  /**
   * IP address to request for the load balancer, where its implementation supports it.
   * @default - any
   */
  readonly loadBalancerIP?: string | undefined;
  /**
   * Networks in CIDR notation that may connect, where the load balancer supports it.
   * @default - all
   */
  readonly loadBalancerSourceRanges?: readonly string[] | undefined;
  /**
   * Whether traffic goes to all nodes (`Cluster`), or only to nodes with a gateway, which keeps the clients' addresses
   * (`Local`). GatewayPolicy checks these addresses.
   * @default Cluster
   */
  readonly externalTrafficPolicy?: 'Cluster' | 'Local' | undefined;
  /**
   * Node port for the load balancer's health check of nodes, for type LoadBalancer with `externalTrafficPolicy` Local.
   * @default - chosen by Kubernetes
   */
  readonly healthCheckNodePort?: number | undefined;
  /**
   * Port of the gateway.
   * @default 4143
   */
  readonly port?: number | undefined;
  /**
   * Port of the health endpoint.
   * @default 4191
   */
  readonly probePort?: number | undefined;
  /**
   * Node port of the gateway, which Links to a NodePort gateway name as `gatewayPort`.
   * @default - chosen by Kubernetes
   */
  readonly nodePort?: number | undefined;
  /**
   * Node port of the health endpoint, which Links to a NodePort gateway name as `probe.port`.
   * @default - chosen by Kubernetes
   */
  readonly probeNodePort?: number | undefined;
  /**
   * Additional annotations of the Service, such as those that configure the load balancer of a cloud.
   * @default - none
   */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Labels that the gateway's Service and policies select its pods by. */
export const GATEWAY_PODS = { [Label.app]: Default.gatewayName } as const;

/** Labels of all objects of the gateway. */
export const GATEWAY_LABELS = { ...GATEWAY_PODS, [Label.extension]: Value.extension } as const;

/** The Service of a gateway's pods. JSON patches add the fields that cdk8s-plus has no props for. */
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

/** Props that a Service of cdk8s-plus does not have, with the names of their fields in its object. */
const PATCHED = {
  loadBalancerClass: 'loadBalancerClass',
  loadBalancerIP: 'loadBalancerIp',
  externalTrafficPolicy: 'externalTrafficPolicy',
  healthCheckNodePort: 'healthCheckNodePort',
} as const;

/** Annotations that the gateway sets from its props. Links are generated from them. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  Annotation.gatewayIdentity,
  Annotation.probePeriod,
  Annotation.probePath,
  Annotation.multiclusterGateway,
]);

/** Errors of the props, including those that contradict each other. */
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
      ? fieldError('service', nodePorts, 'must have a different node port for each purpose')
      : undefined,
    ...Object.entries(service.annotations ?? {}).map(([key, value]) => {
      const path = fieldPath('service.annotations', key);
      if (OWN_ANNOTATIONS.has(key))
        return fieldError(path, value, 'must not be set: the gateway sets it', 'use the props of the gateway');
      return isAnnotationKey(key) ? undefined : fieldError(path, value, 'must be a valid annotation key');
    }),
  ];
};
