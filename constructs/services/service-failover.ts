/**
 * A ServiceFailover: the Services that take the requests to a Service, by preference or by weight. The operator makes the
 * routes that it calls for, and changes their weights as backends become ready and not ready. So the routes are not in
 * Git, and nobody undoes what the operator writes.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { readFailover } from '../../crds/failover/settings.ts';
import type { FieldError } from '../../crds/field-error.ts';
import { LABEL_MAX_LENGTH } from '../../crds/names.ts';
import { FailoverApi } from '../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, serviceName } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { goDuration, type TimeSpan } from '../common/time-span.ts';
import { backendName, type BackendRef, type RouteKind, serviceNameOf, type ServiceRef } from '../rendered/index.ts';
import { SERVICE_FAILOVER_PROPS } from './schema.gen.ts';

/** A Service that can take the requests. */
export interface FailoverBackendProps extends BackendRef {
  /**
   * What makes it ready: a number of ready endpoints, or their share of all as in `50%`.
   * @default 1
   */
  readonly minReady?: number | string | undefined;
  /**
   * Share of the requests while it is ready, in proportion to the weights of the others that are: from 1 to 1,000,000. On
   * every backend or on none.
   * @default - none: the first backend that is ready takes all requests
   */
  readonly weight?: number | undefined;
}

/** Properties of {@link ServiceFailover}. */
export interface ServiceFailoverProps {
  /** The Service that clients call. It may be a backend as well. */
  readonly service: ServiceRef;
  /** Services that can take the requests, by preference; at least one, each Service once. */
  readonly backends: readonly FailoverBackendProps[];
  /**
   * Time that a backend must have been ready before requests go back to it; at most 24 hours.
   * @default 30s
   */
  readonly holdDown?: TimeSpan | undefined;
  /**
   * Kind of the routes. Requests of gRPC take any; a GRPCRoute is for who has others for the same Service.
   * @default - HTTPRoute, and TCPRoute for ports that are opaque to Linkerd
   */
  readonly routeKind?: RouteKind | undefined;
  /**
   * Name of the ServiceFailover, at most 63 characters.
   * @default - the name of the Service
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the Service and its backends.
   * @default - that of the Service, else of the chart, else the one of `kubectl`
   */
  readonly namespace?: string | undefined;
}

/**
 * A `linkspan.dev/v1alpha1` ServiceFailover.
 * Synthesis fails for each prop for which the operator would not accept it.
 */
export class ServiceFailover extends Construct {
  /** Name of the ServiceFailover. */
  readonly name: string;
  /** The ServiceFailover. */
  readonly failover: ApiObject;

  constructor(scope: Construct, id: string, given: ServiceFailoverProps) {
    super(scope, id);
    const props = acceptProps(this, SERVICE_FAILOVER_PROPS, given, STAND_IN, (given) => ({
      construct: `ServiceFailover ${nameOf(given)}`,
      found: errorsOf(given),
    }));
    this.name = nameOf(props);
    const namespace = namespaceOf(props) ?? Chart.of(this).namespace;
    this.failover = new ApiObject(this, 'Resource', {
      apiVersion: FailoverApi.apiVersion,
      kind: FailoverApi.kind,
      metadata: { name: this.name, ...(namespace !== undefined && { namespace }) },
      spec: specOf(props),
    });
  }
}

const nameOf = ({ name, service }: ServiceFailoverProps): string => name ?? serviceNameOf(service);

const namespaceOf = ({ namespace, service }: ServiceFailoverProps): string | undefined =>
  namespace ?? (typeof service === 'string' ? undefined : service.metadata.namespace);

const specOf = ({ service, backends, holdDown, routeKind }: ServiceFailoverProps) => ({
  service: serviceNameOf(service),
  backends: backends.map(({ minReady, weight, ...backend }) => ({
    service: backendName(backend),
    ...(minReady !== undefined && { minReady }),
    ...(weight !== undefined && { weight }),
  })),
  ...(holdDown !== undefined && { holdDown: goDuration(holdDown) }),
  ...(routeKind !== undefined && { routeKind }),
});

/** Errors of names, and of what the operator reads: by its own rules. */
const errorsOf = (props: ServiceFailoverProps): readonly (FieldError | undefined)[] => {
  const name = nameOf(props);
  const names = [
    serviceName('service', serviceNameOf(props.service)),
    dnsSubdomain('name', name) ?? (name.length > LABEL_MAX_LENGTH ? tooLong(name) : undefined),
    props.namespace === undefined ? undefined : dnsLabel('namespace', props.namespace),
  ];
  const read = readFailover({ spec: specOf(props) });
  const found = read.ok ? [] : read.errors.map((error) => ({ ...error, path: error.path.replace(/^spec\./, '') }));
  return [...names, ...found.filter(({ path }) => path !== 'service' || names[0] === undefined)];
};

const tooLong = (name: string): FieldError => ({
  path: 'name',
  value: JSON.stringify(name),
  reason: `must have at most ${LABEL_MAX_LENGTH} characters`,
  remedy: 'give the ServiceFailover a shorter name: its routes are labelled with it',
});

const STAND_IN: ServiceFailoverProps = { service: 'invalid', backends: [{ service: 'invalid' }] };
