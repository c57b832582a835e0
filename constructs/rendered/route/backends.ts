/**
 * What a TrafficSplit and a ServiceRoute have in common: the Service that clients call, and its backends, which are
 * Services of this cluster and mirrors of Services of other clusters, with weights.
 */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../../crds/field-error.ts';
import { Annotation, mirrorName } from '../../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, serviceName } from '../../common/prop-rules.ts';

/**
 * A Service of any version of cdk8s-plus.
 * @instanceOf Service
 */
export interface ServiceObject {
  /** Name of the Service. */
  readonly name: string;
  /** Metadata of the Service, with its namespace. */
  readonly metadata: { readonly namespace?: string | undefined };
  /** Ports of the Service. */
  readonly ports: readonly { readonly port: number }[];
}

/** The name of a Service, or a Service of cdk8s-plus. */
export type ServiceRef = string | ServiceObject;

/** A Service, here or in another cluster. */
export interface BackendRef {
  /** Name of the Service in its own cluster, or the Service. */
  readonly service: ServiceRef;
  /**
   * Target cluster of the Service. Requests go to its mirror in this cluster.
   * @default - this cluster
   */
  readonly targetCluster?: string | undefined;
}

/** A backend: a Service that gets a share of the requests. */
export interface Backend extends BackendRef {
  /** Share of the requests, in proportion to the weights of the others: from 0 to 1,000,000. */
  readonly weight: number;
}

/** A backend in the order of failover. */
export interface RankedBackend extends BackendRef {
  /**
   * Ignored, so that the objects of `backends` can be used.
   * @default - none
   */
  readonly weight?: number | undefined;
}

/** Props of backends. */
export interface BackendsProps {
  /** Services that share the requests; at least one, each Service once. */
  readonly backends: readonly Backend[];
  /**
   * Order of failover: backends by preference. It is rendered as an annotation, for a controller that changes weights.
   * @default - none
   */
  readonly failover?: readonly RankedBackend[] | undefined;
}

/** Props of an object that divides the requests to a Service. */
export interface RouteProps extends BackendsProps {
  /** The Service that clients call. */
  readonly service: ServiceRef;
  /**
   * Name of the object.
   * @default - the name of the Service
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the Service and its backends.
   * @default - that of the Service, else of the chart, else the one of `kubectl`
   */
  readonly namespace?: string | undefined;
}

const MAX_WEIGHT = 1_000_000;

/** Name of a Service in its own cluster. */
export const serviceNameOf = (service: ServiceRef): string => (typeof service === 'string' ? service : service.name);

/** Namespace of a Service; undefined if only its name is known, or it has none of its own. */
const serviceNamespaceOf = (service: ServiceRef): string | undefined =>
  typeof service === 'string' ? undefined : service.metadata.namespace;

/** Name of an object that divides requests. */
export const routeName = ({ name, service }: RouteProps): string => name ?? serviceNameOf(service);

/** Metadata of an object that divides requests, with the order of failover as an annotation. */
export const routeMetadata = (scope: Construct, props: RouteProps) => {
  const namespace = props.namespace ?? serviceNamespaceOf(props.service) ?? Chart.of(scope).namespace;
  return {
    name: routeName(props),
    ...(namespace !== undefined && { namespace }),
    ...(props.failover && { annotations: { [Annotation.failover]: props.failover.map(backendName).join(',') } }),
  };
};

/** Name of the Service in this cluster. */
export const backendName = ({ service, targetCluster }: BackendRef): string =>
  targetCluster === undefined ? serviceNameOf(service) : mirrorName(serviceNameOf(service), targetCluster);

/** Errors of an object that divides requests. */
export const routeErrors = (props: RouteProps): readonly (FieldError | undefined)[] => [
  serviceName('service', serviceNameOf(props.service)),
  props.name === undefined ? undefined : dnsSubdomain('name', props.name),
  props.namespace === undefined ? undefined : dnsLabel('namespace', props.namespace),
  ...backendErrors(props),
];

/** Errors of backends and their order. */
const backendErrors = ({ backends, failover = [] }: BackendsProps): readonly (FieldError | undefined)[] => {
  const names = backends.map(backendName);
  const order = failover.map(backendName);
  return [
    backends.length === 0 ? fieldError('backends', backends, 'must not be empty') : undefined,
    backends.length > 0 && backends.every(({ weight }) => weight === 0)
      ? fieldError('backends', undefined, 'must have at least one weight above 0')
      : undefined,
    ...backends.flatMap(({ weight }, index) => [
      serviceName(`backends[${index}].service`, names[index] ?? ''),
      names.indexOf(names[index] ?? '') < index
        ? fieldError(`backends[${index}].service`, names[index], 'must be unique')
        : undefined,
      Number.isInteger(weight) && weight >= 0 && weight <= MAX_WEIGHT
        ? undefined
        : fieldError(`backends[${index}].weight`, weight, `must be a whole number between 0 and ${MAX_WEIGHT}`),
    ]),
    ...order.map((name, index) => {
      if (!names.includes(name)) return fieldError(`failover[${index}].service`, name, 'must be the name of a backend');
      return order.indexOf(name) < index ? fieldError(`failover[${index}].service`, name, 'must be unique') : undefined;
    }),
  ];
};
