/**
 * An HTTPRoute whose parent is a Service: divides HTTP requests to it among Services and mirrors. Linkerd's proxies
 * support it without an extension. It needs the CRD of the Gateway API.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { fieldError } from '../../crds/field-error.ts';
import { RouteApi } from '../../crds/wire.ts';
import { portNumber } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { backendName, routeErrors, routeMetadata, routeName, type RouteProps, serviceNameOf } from './backend.ts';
import { SERVICE_ROUTE_PROPS } from './schema.ts';

/** Properties of {@link ServiceRoute}. */
export interface ServiceRouteProps extends RouteProps {
  /**
   * Port of the Service and of every backend. A mirror has the ports of its target Service.
   * @default - the one port of a Service of cdk8s-plus
   */
  readonly port?: number | undefined;
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
      construct: `ServiceRoute ${routeName(given)}`,
      found: [
        portOf(given) === undefined
          ? fieldError('port', undefined, 'is required unless service is a Service of cdk8s-plus with one port')
          : portNumber('port', portOf(given) ?? 0),
        ...routeErrors(given),
      ],
    }));
    const port = portOf(props);
    this.name = routeName(props);

    this.httpRoute = new ApiObject(this, 'Resource', {
      apiVersion: RouteApi.httpRoute,
      kind: 'HTTPRoute',
      metadata: routeMetadata(this, props),
      spec: {
        parentRefs: [{ group: RouteApi.coreGroup, kind: 'Service', name: serviceNameOf(props.service), port }],
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
