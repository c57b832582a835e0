/**
 * The Service that joins the Services of one name in several clusters (rules I1 to I5). In flat mode Linkerd's
 * destination controller finds the pods of each member by annotations, and no endpoints are rendered. In gateway mode
 * each member has EndpointSlices: the gateway of a target cluster, or the pods of the local Service.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { federatedName, Label, Value } from '../../../crds/wire.ts';
import { refuse } from '../../common/invalid-props.ts';
import { beside, readJsonProps } from '../../common/props.ts';
import { annotationsErrors, dnsLabel, labelsErrors, serviceName } from '../../common/prop-rules.ts';
import { copiedAnnotations, copiedLabels, type Metadata } from '../mirror/copied-metadata.ts';
import { type FederatedMembersProps, memberErrors, memberSlices, membershipAnnotations } from './members.ts';
import type { MirrorMode } from '../mirror/mirror-service.ts';
import { crossesGateway, type MirrorPort, portErrors, servicePorts } from '../mirror/ports.ts';
import { FEDERATED_SERVICE_PROPS } from './schema.gen.ts';
import { staticError } from '../mirror/static-endpoints.ts';

/** Properties of {@link FederatedService}. */
export interface FederatedServiceProps extends FederatedMembersProps {
  /** Ports of the member whose ports count (rule I3); in gateway mode UDP and SCTP ports are left out (rule A5). */
  readonly ports: readonly MirrorPort[];
  /**
   * Whether clients reach the members' pods directly on a flat network, or each target cluster through its gateway.
   * @default remote-discovery
   */
  readonly mode?: MirrorMode | undefined;
  /**
   * Labels of the member whose labels count (rule I3); those that must not be copied are left out here (rule B2).
   * @default - none
   */
  readonly labels?: Metadata | undefined;
  /**
   * Annotations of that member; those that must not be copied are left out here (rules B2 and B3).
   * @default - none
   */
  readonly annotations?: Metadata | undefined;
  /**
   * Further labels to leave out: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedLabels?: readonly string[] | undefined;
  /**
   * Further annotations to leave out: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedAnnotations?: readonly string[] | undefined;
}

/**
 * Service `<service>-federated` in the namespace of its members, and in gateway mode the slices of each.
 * @throws InvalidPropsError naming every prop that the API server or Linkerd would refuse
 */
export class FederatedService extends Construct {
  /** Name of the Service: `<service>-federated`. */
  readonly name: string;
  /** The Service. */
  readonly service: ApiObject;
  /** The EndpointSlices of all members; empty in flat mode. */
  readonly endpoints: readonly ApiObject[];
  /** Ports that do not cross a gateway, and so are not on the Service (rule A5). */
  readonly omittedPorts: readonly MirrorPort[];

  constructor(scope: Construct, id: string, given: FederatedServiceProps) {
    super(scope, id);
    const { props, errors } = readJsonProps<FederatedServiceProps>(FEDERATED_SERVICE_PROPS, given);
    const { service, namespace, members = [], local, mode = 'remote-discovery' } = props;
    const isFlat = mode === 'remote-discovery';
    const ports = isFlat ? props.ports : props.ports.filter(crossesGateway);
    const labels = copiedLabels(props.labels ?? {}, props.excludedLabels);
    const annotations = copiedAnnotations(props.annotations ?? {}, props.excludedAnnotations);
    this.name = federatedName(service);
    this.omittedPorts = isFlat ? [] : props.ports.filter((port) => !crossesGateway(port));
    refuse(`FederatedService ${namespace}/${this.name}`, [
      ...errors,
      ...beside(errors, [
        serviceName('service', service),
        dnsLabel('namespace', namespace),
        serviceName('name', this.name),
        ...portErrors(ports, this.omittedPorts),
        ...labelsErrors('labels', labels),
        ...annotationsErrors('annotations', annotations),
        ...memberErrors(props, mode),
        staticError(props, isFlat ? undefined : (local?.slices ?? members.find(({ endpoints }) => endpoints))),
      ]),
    ]);

    const clusters = members.map(({ targetCluster }) => targetCluster);
    this.service = new ApiObject(this, 'Resource', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: this.name,
        namespace,
        labels: {
          ...labels,
          [Label.mirroredService]: Value.true,
          ...(!isFlat && { [Label.federation]: Value.gatewayFederation }),
        },
        annotations: {
          ...annotations,
          ...(isFlat && membershipAnnotations(service, clusters, local !== undefined)),
        },
      },
      spec: { type: 'ClusterIP', ports: servicePorts(ports) },
    });
    this.endpoints = isFlat ? [] : memberSlices(this, props, ports);
  }
}
