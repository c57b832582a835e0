/**
 * The mirror of a target Service: the Service that clients in the source cluster call, and the endpoints behind it.
 * In gateway mode these are the target's gateway; in flat mode Linkerd's destination controller finds the remote pods
 * by the labels set here, and no endpoints are rendered. The operator and a user's chart render this same construct.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { fieldError } from '../../../crds/field-error.ts';
import { Label, mirrorName } from '../../../crds/wire.ts';
import { refuse } from '../../common/invalid-props.ts';
import { beside, readJsonProps } from '../../common/props.ts';
import { endpointsObjects } from './endpoints.ts';
import { type GatewayEndpoints, gatewayErrors, gatewaySubset } from './gateway-endpoints.ts';
import { crossesGateway, type MirrorPort, portErrors, servicePorts } from './ports.ts';
import { staticError, type StaticEndpointsProps } from './static-endpoints.ts';
import {
  endpointsAnnotations,
  mirrorAnnotations,
  mirrorLabels,
  type TargetServiceProps,
  targetServiceErrors,
} from './target-service.ts';
import { MIRROR_SERVICE_PROPS } from './schema.gen.ts';

/** How traffic reaches the target: through its gateway, or from pod to pod on a flat network. */
export type MirrorMode = 'gateway' | 'remote-discovery';

/** Properties of {@link MirrorService}. */
export interface MirrorServiceProps extends TargetServiceProps, StaticEndpointsProps {
  /** Ports of the target Service; in gateway mode UDP and SCTP ports are left out (rule A5). */
  readonly ports: readonly MirrorPort[];
  /**
   * Whether clients reach the Service through the gateway, or its pods directly on a flat network.
   * @default gateway
   */
  readonly mode?: MirrorMode | undefined;
  /**
   * The gateway behind the mirror; in gateway mode only.
   * @default - no endpoints are rendered: the operator keeps them
   */
  readonly endpoints?: GatewayEndpoints | undefined;
}

/**
 * Service `<service>-<cluster>` in the target Service's namespace, and its endpoints if given.
 * @throws InvalidPropsError naming every prop that the API server or Linkerd would refuse
 */
export class MirrorService extends Construct {
  /** Name of the Service: `<service>-<cluster>`. */
  readonly name: string;
  /** The Service. */
  readonly service: ApiObject;
  /** The Endpoints object or the EndpointSlices; empty if no endpoints were given. */
  readonly endpoints: readonly ApiObject[];
  /** Ports of the target Service that do not cross a gateway, and so are not on the mirror (rule A5). */
  readonly omittedPorts: readonly MirrorPort[];

  constructor(scope: Construct, id: string, given: MirrorServiceProps) {
    super(scope, id);
    const { props, errors } = readJsonProps<MirrorServiceProps>(MIRROR_SERVICE_PROPS, given);
    const { namespace, targetCluster, endpoints } = props;
    const flat = props.mode === 'remote-discovery';
    const ports = flat ? props.ports : props.ports.filter(crossesGateway);
    this.name = mirrorName(props.service, targetCluster);
    this.omittedPorts = flat ? [] : props.ports.filter((port) => !crossesGateway(port));
    refuse(`MirrorService ${namespace}/${this.name}`, [
      ...errors,
      ...beside(errors, [
        ...targetServiceErrors(props, this.name),
        ...portErrors(ports, this.omittedPorts),
        ...(endpoints ? gatewayErrors(endpoints) : []),
        flat && endpoints ? fieldError('endpoints', endpoints, 'must not be set for a mirror in flat mode') : undefined,
        staticError(props, endpoints),
      ]),
    ]);

    const labels = mirrorLabels(props);
    this.service = new ApiObject(this, 'Resource', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: this.name,
        namespace,
        labels: flat
          ? { ...labels, [Label.remoteDiscovery]: targetCluster, [Label.remoteService]: props.service }
          : labels,
        annotations: mirrorAnnotations(props),
      },
      spec: { type: 'ClusterIP', ports: servicePorts(ports) },
    });
    this.endpoints = endpoints
      ? endpointsObjects(this, {
          name: this.name,
          namespace,
          labels,
          annotations: endpointsAnnotations(props, endpoints.identity),
          kind: endpoints.kind,
          static: props.static,
          subsets: [gatewaySubset(endpoints, ports)],
        })
      : [];
  }
}
