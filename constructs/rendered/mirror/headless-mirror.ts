/**
 * The mirror of a headless Service: a headless Service whose endpoints are the endpoint mirrors of its pods, so that
 * DNS answers for the whole set and for each pod by hostname. An endpoint mirror's own readiness follows the gateway;
 * here every address is ready.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { FieldError } from '../../../crds/field-error.ts';
import { mirrorName } from '../../../crds/wire.ts';
import { refuse } from '../../common/invalid-props.ts';
import { beside, readJsonProps } from '../../common/props.ts';
import { dnsLabel, ipAddress, portNumber } from '../../common/prop-rules.ts';
import { type EndpointsKind, endpointsObjects, type EndpointsSubset } from './endpoints.ts';
import { crossesGateway, type EndpointPort, type MirrorPort, portErrors, servicePorts } from './ports.ts';
import { staticError, type StaticEndpointsProps } from './static-endpoints.ts';
import {
  endpointsAnnotations,
  mirrorAnnotations,
  mirrorLabels,
  type TargetServiceProps,
  targetServiceErrors,
} from './target-service.ts';
import { HEADLESS_MIRROR_PROPS } from './schema.gen.ts';

/** A pod behind a headless mirror. */
export interface HeadlessMirrorAddress {
  /** Hostname of the pod. */
  readonly hostname: string;
  /** ClusterIP of the pod's endpoint mirror. */
  readonly ip: string;
}

/** Pods that listen on the same ports. */
export interface HeadlessMirrorSubset {
  /** The pods, in any order. */
  readonly addresses: readonly HeadlessMirrorAddress[];
  /** Ports of the target's endpoints; UDP and SCTP ports are left out (rule A5). */
  readonly ports: readonly EndpointPort[];
}

/** The pods behind a headless mirror, by the endpoint mirrors that stand for them. */
export interface HeadlessMirrorEndpoints {
  /**
   * TLS identity of the target's gateway: `spec.gatewayIdentity` of the Link.
   * @default - none
   */
  readonly identity?: string | undefined;
  /**
   * What to render the addresses as.
   * @default endpoints
   */
  readonly kind?: EndpointsKind | undefined;
  /** The pods; subsets without an address are left out. */
  readonly subsets: readonly HeadlessMirrorSubset[];
}

/** Properties of {@link HeadlessMirror}. */
export interface HeadlessMirrorProps extends TargetServiceProps, StaticEndpointsProps {
  /** Ports of the target Service; UDP and SCTP ports are left out (rule A5). */
  readonly ports: readonly MirrorPort[];
  /**
   * The pods behind the mirror.
   * @default - no endpoints are rendered: the operator keeps them
   */
  readonly endpoints?: HeadlessMirrorEndpoints | undefined;
}

/**
 * Headless Service `<service>-<cluster>` in the target Service's namespace, and its endpoints if given.
 * @throws InvalidPropsError naming every prop that the API server or Linkerd would refuse
 */
export class HeadlessMirror extends Construct {
  /** Name of the Service: `<service>-<cluster>`. */
  readonly name: string;
  /** The Service. */
  readonly service: ApiObject;
  /** The Endpoints object or the EndpointSlices; empty if no endpoints were given. */
  readonly endpoints: readonly ApiObject[];
  /** Ports of the target Service that do not cross a gateway, and so are not on the mirror (rule A5). */
  readonly omittedPorts: readonly MirrorPort[];

  constructor(scope: Construct, id: string, given: HeadlessMirrorProps) {
    super(scope, id);
    const { props, errors } = readJsonProps<HeadlessMirrorProps>(HEADLESS_MIRROR_PROPS, given);
    const { namespace, endpoints } = props;
    const ports = props.ports.filter(crossesGateway);
    this.name = mirrorName(props.service, props.targetCluster);
    this.omittedPorts = props.ports.filter((port) => !crossesGateway(port));
    refuse(`HeadlessMirror ${namespace}/${this.name}`, [
      ...errors,
      ...beside(errors, [
        ...targetServiceErrors(props, this.name),
        ...portErrors(ports, this.omittedPorts),
        ...(endpoints?.subsets ?? []).flatMap(subsetErrors),
        staticError(props, endpoints),
      ]),
    ]);

    const labels = mirrorLabels(props);
    this.service = new ApiObject(this, 'Resource', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: this.name, namespace, labels, annotations: mirrorAnnotations(props) },
      spec: { type: 'ClusterIP', clusterIP: 'None', ports: servicePorts(ports) },
    });
    this.endpoints = endpoints
      ? endpointsObjects(this, {
          name: this.name,
          namespace,
          labels,
          annotations: endpointsAnnotations(props, endpoints.identity),
          kind: endpoints.kind,
          static: props.static,
          subsets: orderedSubsets(endpoints.subsets),
        })
      : [];
  }
}

/** Ready subsets of the ports that cross a gateway, the one with the first hostname first. */
const orderedSubsets = (subsets: readonly HeadlessMirrorSubset[]): readonly EndpointsSubset[] =>
  subsets
    .map(({ addresses, ports }) => ({ addresses, ports: ports.filter(crossesGateway), state: 'ready' as const }))
    .filter(({ addresses, ports }) => addresses.length > 0 && ports.length > 0)
    .map((subset) => ({
      subset,
      place: placeOfSubset(subset.addresses.map(({ hostname }) => hostname).sort()[0], subset),
    }))
    .sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0))
    .map(({ subset }) => subset);

/** Returns the text that subsets are ordered by. @param first the first hostname */
export const placeOfSubset = (first = '', { ports }: Pick<HeadlessMirrorSubset, 'ports'>): string =>
  `${first} ${JSON.stringify(ports)}`;

const subsetErrors = (
  { addresses, ports }: HeadlessMirrorSubset,
  index: number,
): readonly (FieldError | undefined)[] => {
  const path = `endpoints.subsets[${index}]`;
  return [
    ...addresses.flatMap(({ hostname, ip }, i) => [
      dnsLabel(`${path}.addresses[${i}].hostname`, hostname),
      ipAddress(`${path}.addresses[${i}].ip`, ip),
    ]),
    ...ports.map(({ port }, i) => portNumber(`${path}.ports[${i}].port`, port)),
  ];
};
