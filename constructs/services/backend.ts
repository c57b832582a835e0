/**
 * Where requests to a Service are sent: Services of this cluster and mirrors of those of others, with weights. The same
 * for a TrafficSplit and for an HTTPRoute.
 */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Annotation, mirrorName } from '../../crds/wire.ts';
import { serviceName } from '../common/prop-rules.ts';

/** A Service as cdk8s-plus has it, in any of its versions. */
export interface ServiceObject {
  /** Name of the Service. */
  readonly name: string;
  /** Metadata, of which the namespace is read. */
  readonly metadata: { readonly namespace?: string | undefined };
  /** Ports of the Service. */
  readonly ports: readonly { readonly port: number }[];
}

/** The name of a Service, or a Service of cdk8s-plus. */
export type ServiceRef = string | ServiceObject;

/** A Service, here or in another cluster. */
export interface BackendRef {
  /** The Service, which has the same name in every cluster. */
  readonly service: ServiceRef;
  /**
   * The target cluster of the Service: requests go to its mirror here.
   * @default - this cluster
   */
  readonly targetCluster?: string | undefined;
}

/** A Service that gets a share of the requests. */
export interface Backend extends BackendRef {
  /** Share, in proportion to those of the others: a whole number up to 1,000,000; 0 for none. */
  readonly weight: number;
}

/** Backends that share the requests to a Service, and their order of failover. */
export interface BackendsProps {
  /** At least one; each Service once. */
  readonly backends: readonly Backend[];
  /**
   * Backends in the order in which to fall back on them: kept with the object as an annotation, for a controller that
   * changes weights by it.
   * @default - none
   */
  readonly failover?: readonly BackendRef[] | undefined;
}

const MAX_WEIGHT = 1_000_000;

/** Name of a Service in its own cluster. */
export const serviceNameOf = (service: ServiceRef): string => (typeof service === 'string' ? service : service.name);

/** Namespace of a Service; undefined if only its name is known, or it has none of its own. */
export const serviceNamespaceOf = (service: ServiceRef): string | undefined =>
  typeof service === 'string' ? undefined : service.metadata.namespace;

/** Name of the Service in this cluster. */
export const backendName = ({ service, targetCluster }: BackendRef): string =>
  targetCluster === undefined ? serviceNameOf(service) : mirrorName(serviceNameOf(service), targetCluster);

/** The annotations that keep the order of failover. */
export const failoverAnnotations = (failover: readonly BackendRef[] | undefined) =>
  failover === undefined ? {} : { annotations: { [Annotation.failover]: failover.map(backendName).join(',') } };

/** Errors of backends and their order. */
export const backendErrors = ({ backends, failover = [] }: BackendsProps): readonly (FieldError | undefined)[] => {
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
