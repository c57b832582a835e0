/**
 * The probe Service of a Link: the target's gateway on its probe port. The operator probes the gateway through it, and
 * `linkerd multicluster gateways` lists it. Its addresses are always ready: the probe is what finds out (rule F4).
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { Annotation, Default, Label, probeName, Value } from '../../../crds/wire.ts';
import { refuse } from '../../common/invalid-props.ts';
import { beside, readJsonProps } from '../../common/props.ts';
import { dnsLabel, serviceName } from '../../common/prop-rules.ts';
import { type EndpointsKind, endpointsObjects } from './endpoints.ts';
import { gatewayErrors, gatewaySubset } from './gateway-endpoints.ts';
import { servicePorts } from './ports.ts';
import type { StaticEndpointsProps } from './static-endpoints.ts';
import { GATEWAY_PROBE_PROPS } from './schema.gen.ts';

/** Properties of {@link GatewayProbe}. */
export interface GatewayProbeProps extends StaticEndpointsProps {
  /** Name of the Link. */
  readonly link: string;
  /** Name of the target cluster. */
  readonly targetCluster: string;
  /**
   * Namespace of the multicluster extension.
   * @default linkerd-multicluster
   */
  readonly namespace?: string | undefined;
  /** The gateway's probe port: `spec.probeSpec.port` of the Link. */
  readonly port: number;
  /** IP addresses of the gateway, in any order. */
  readonly addresses: readonly string[];
  /**
   * TLS identity of the gateway: `spec.gatewayIdentity` of the Link.
   * @default - none: proxies send plaintext
   */
  readonly identity?: string | undefined;
  /**
   * What to render the addresses as.
   * @default endpoints
   */
  readonly kind?: EndpointsKind | undefined;
}

/**
 * Service `probe-<link>`, and its endpoints.
 * @throws InvalidPropsError naming every prop that the API server would refuse
 */
export class GatewayProbe extends Construct {
  /** Name of the Service: `probe-<link>`. */
  readonly name: string;
  /** The Service. */
  readonly service: ApiObject;
  /** The Endpoints object or the EndpointSlices. */
  readonly endpoints: readonly ApiObject[];

  constructor(scope: Construct, id: string, given: GatewayProbeProps) {
    super(scope, id);
    const { props, errors } = readJsonProps<GatewayProbeProps>(GATEWAY_PROBE_PROPS, given);
    const { targetCluster, port, addresses, identity, namespace = Default.multiclusterNamespace } = props;
    this.name = probeName(props.link);
    refuse(`GatewayProbe ${namespace}/${this.name}`, [
      ...errors,
      ...beside(errors, [
        serviceName('name', this.name),
        dnsLabel('targetCluster', targetCluster),
        dnsLabel('namespace', namespace),
        ...gatewayErrors({ addresses, port }, ''),
      ]),
    ]);

    const ports = [{ name: Default.probePortName, port }];
    this.service = new ApiObject(this, 'Resource', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: this.name,
        namespace,
        labels: {
          [Label.mirroredGateway]: Value.true,
          [Label.clusterName]: targetCluster,
          [Label.extension]: Value.extension,
        },
      },
      spec: { type: 'ClusterIP', ports: servicePorts(ports) },
    });
    this.endpoints = endpointsObjects(this, {
      name: this.name,
      namespace,
      labels: { [Label.clusterName]: targetCluster },
      annotations: identity ? { [Annotation.remoteGatewayIdentity]: identity } : {},
      kind: props.kind,
      static: props.static,
      subsets: [gatewaySubset({ addresses, port }, ports)],
    });
  }
}
