/**
 * The mirror of one pod of a headless Service: a Service of its own, so that the pod can be addressed by name.
 * Its ports are the pod's (rule D6): a pod addressed by name is reached on exactly the port asked for, since no
 * targetPort is applied on the way.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { Label, mirrorName } from '../../../crds/wire.ts';
import { refuse } from '../../common/invalid-props.ts';
import { beside, readJsonProps } from '../../common/props.ts';
import { dnsLabel } from '../../common/prop-rules.ts';
import { endpointsObjects } from './endpoints.ts';
import { type GatewayEndpoints, gatewayErrors, gatewaySubset } from './gateway-endpoints.ts';
import { crossesGateway, type EndpointPort, portErrors, servicePorts } from './ports.ts';
import { staticError, type StaticEndpointsProps } from './static-endpoints.ts';
import {
  endpointsAnnotations,
  mirrorAnnotations,
  mirrorLabels,
  podMetadata,
  type TargetServiceProps,
  targetServiceErrors,
} from './target-service.ts';
import { ENDPOINT_MIRROR_PROPS } from './schema.gen.ts';

/** Properties of {@link EndpointMirror}. */
export interface EndpointMirrorProps extends TargetServiceProps, StaticEndpointsProps {
  /** Hostname of the pod, as its headless Service publishes it. */
  readonly hostname: string;
  /** Ports of the target endpoint (not of the Service); UDP and SCTP ports are left out (rule A5). */
  readonly ports: readonly EndpointPort[];
  /**
   * Name of the Service.
   * @default - `<hostname>-<cluster>`
   */
  readonly name?: string | undefined;
  /**
   * The gateway behind the mirror.
   * @default - no endpoints are rendered: the operator keeps them
   */
  readonly endpoints?: GatewayEndpoints | undefined;
}

/**
 * Service `<hostname>-<cluster>` in the target Service's namespace, and its endpoints if given.
 * @throws InvalidPropsError naming every prop that the API server or Linkerd would refuse
 */
export class EndpointMirror extends Construct {
  /** Name of the Service. */
  readonly name: string;
  /** The Service. */
  readonly service: ApiObject;
  /** The Endpoints object or the EndpointSlices; empty if no endpoints were given. */
  readonly endpoints: readonly ApiObject[];

  constructor(scope: Construct, id: string, given: EndpointMirrorProps) {
    super(scope, id);
    const { props, errors } = readJsonProps<EndpointMirrorProps>(ENDPOINT_MIRROR_PROPS, given);
    const { namespace, hostname, endpoints } = props;
    const host = `${hostname}.${props.service}`;
    const ports = oncePerNumber(props.ports.filter(crossesGateway));
    this.name = props.name ?? mirrorName(hostname, props.targetCluster);
    refuse(`EndpointMirror ${namespace}/${this.name}`, [
      ...errors,
      ...beside(errors, [
        ...targetServiceErrors(props, this.name),
        dnsLabel('hostname', hostname),
        ...portErrors(ports, props.ports),
        ...(endpoints ? gatewayErrors(endpoints) : []),
        staticError(props, endpoints),
      ]),
    ]);

    const copied = { ...props, ...podMetadata(props) };
    const labels = {
      ...mirrorLabels(copied),
      [Label.headlessMirrorSvcName]: mirrorName(props.service, props.targetCluster),
    };
    this.service = new ApiObject(this, 'Resource', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: this.name, namespace, labels, annotations: mirrorAnnotations(copied, host) },
      spec: { type: 'ClusterIP', ports: servicePorts(ports) },
    });
    this.endpoints = endpoints
      ? endpointsObjects(this, {
          name: this.name,
          namespace,
          labels,
          annotations: endpointsAnnotations(props, endpoints.identity, host),
          kind: endpoints.kind,
          static: props.static,
          subsets: [gatewaySubset(endpoints, ports)],
        })
      : [];
  }
}

/** A Service cannot have one number twice, as an endpoint's port under two names would need: the first by name stays. */
export const oncePerNumber = (ports: readonly EndpointPort[]): readonly EndpointPort[] => {
  const kept = new Map<number, EndpointPort>();
  for (const port of ports) {
    const other = kept.get(port.port);
    if (!other || (port.name ?? '') < (other.name ?? '')) kept.set(port.port, port);
  }
  return [...kept.values()];
};
