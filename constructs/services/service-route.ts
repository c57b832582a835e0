/**
 * An HTTPRoute whose parent is a Service: divides HTTP requests to it among Services and mirrors. Linkerd's proxies
 * support it without an extension. It needs the CRD of the Gateway API.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { fieldError } from '../../crds/field-error.ts';
import { RouteApi } from '../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, portNumber, serviceName } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import {
  backendErrors,
  backendName,
  type BackendsProps,
  failoverAnnotations,
  serviceNameOf,
  serviceNamespaceOf,
  type ServiceRef,
} from './backend.ts';
import { SERVICE_ROUTE_PROPS } from './schema.ts';

/** Properties of {@link ServiceRoute}. */
export interface ServiceRouteProps extends BackendsProps {
  /** The Service that clients call. */
  readonly service: ServiceRef;
  /**
   * Port of the Service and of every backend. A mirror has the ports of its target Service.
   * @default - the one port of a Service of cdk8s-plus
   */
  readonly port?: number | undefined;
  /**
   * Name of the HTTPRoute.
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
 * A `gateway.networking.k8s.io/v1` HTTPRoute.
 * Synthesis fails for each invalid Service, port, weight and backend.
 */
export class ServiceRoute extends Construct {
  /** Name of the HTTPRoute. */
  readonly name: string;
  /** The HTTPRoute. */
  readonly httpRoute: ApiObject;

  constructor(scope: Construct, id: string, given: ServiceRouteProps) {
    super(scope, id);
    const props = acceptProps(this, SERVICE_ROUTE_PROPS, given, STAND_IN, (given) => ({
      construct: `ServiceRoute ${given.name ?? serviceNameOf(given.service)}`,
      found: [
        serviceName('service', serviceNameOf(given.service)),
        portOf(given) === undefined
          ? fieldError('port', undefined, 'is required unless service is a Service of cdk8s-plus with one port')
          : portNumber('port', portOf(given) ?? 0),
        given.name === undefined ? undefined : dnsSubdomain('name', given.name),
        given.namespace === undefined ? undefined : dnsLabel('namespace', given.namespace),
        ...backendErrors(given),
      ],
    }));
    const service = serviceNameOf(props.service);
    const namespace = props.namespace ?? serviceNamespaceOf(props.service) ?? Chart.of(this).namespace;
    const port = portOf(props);
    this.name = props.name ?? service;

    this.httpRoute = new ApiObject(this, 'Resource', {
      apiVersion: RouteApi.httpRoute,
      kind: 'HTTPRoute',
      metadata: {
        name: this.name,
        ...(namespace !== undefined && { namespace }),
        ...failoverAnnotations(props.failover),
      },
      spec: {
        parentRefs: [{ group: RouteApi.coreGroup, kind: 'Service', name: service, port }],
        rules: [
          {
            backendRefs: props.backends.map((backend) => ({
              name: backendName(backend),
              port,
              weight: backend.weight,
            })),
          },
        ],
      },
    });
  }
}

/** The port that is given, or the only one of a Service of cdk8s-plus. */
const portOf = ({ service, port }: ServiceRouteProps): number | undefined => {
  if (port !== undefined || typeof service === 'string') return port;
  const [first, ...others] = service.ports;
  return others.length === 0 ? first?.port : undefined;
};

const STAND_IN: ServiceRouteProps = { service: 'invalid', port: 1, backends: [{ service: 'invalid', weight: 1 }] };
