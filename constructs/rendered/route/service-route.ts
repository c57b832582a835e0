/**
 * A route of the Gateway API whose parent is a Service: divides requests to it, or connections, among Services and
 * mirrors. Linkerd's proxies support it without an extension. It needs the CRD of its kind.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { MAX_BACKENDS } from '../../../crds/failover/schema.ts';
import { fieldError } from '../../../crds/field-error.ts';
import { RouteApi } from '../../../crds/wire.ts';
import { labelsErrors, portNumber } from '../../common/prop-rules.ts';
import { acceptProps } from '../../common/props.ts';
import { backendName, routeErrors, routeMetadata, routeName, type RouteProps, serviceNameOf } from './backends.ts';
import { SERVICE_ROUTE_PROPS } from './schema.gen.ts';

/** A kind of route that Linkerd's proxies follow when its parent is a Service. */
export type RouteKind = 'HTTPRoute' | 'GRPCRoute' | 'TCPRoute';

/** Properties of {@link ServiceRoute}. */
export interface ServiceRouteProps extends RouteProps {
  /**
   * Port of the Service and of every backend. A mirror has the ports of its target Service.
   * @default - the one port of a Service of cdk8s-plus
   */
  readonly port?: number | undefined;
  /**
   * Kind of the route: `TCPRoute` divides connections, for ports that are opaque to Linkerd.
   * @default HTTPRoute
   */
  readonly kind?: RouteKind | undefined;
  /**
   * Labels of the route.
   * @default - none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * A `gateway.networking.k8s.io` HTTPRoute, GRPCRoute or TCPRoute. Its references name their namespace where it is known:
 * without one, a route in another namespace than its Service would mean another backend to some readers.
 * Synthesis fails for each invalid Service, port, weight and backend, and for more backends than the Gateway API takes.
 */
export class ServiceRoute extends Construct {
  /** Name of the route. */
  readonly name: string;
  /** The route. */
  readonly route: ApiObject;

  constructor(scope: Construct, id: string, given: ServiceRouteProps) {
    super(scope, id);
    const props = acceptProps(this, SERVICE_ROUTE_PROPS, given, STAND_IN, (given) => ({
      construct: `ServiceRoute ${routeName(given)}`,
      found: [
        portOf(given) === undefined
          ? fieldError('port', undefined, 'is required unless service is a Service of cdk8s-plus with one port')
          : portNumber('port', portOf(given) ?? 0),
        ...routeErrors(given),
        given.backends.length > MAX_BACKENDS
          ? fieldError(
              'backends',
              undefined,
              `must have at most ${MAX_BACKENDS} items`,
              'the Gateway API takes no more',
            )
          : undefined,
        ...labelsErrors('labels', given.labels),
      ],
    }));
    const { kind = 'HTTPRoute', labels } = props;
    const port = portOf(props);
    const metadata = routeMetadata(this, props);
    const within = metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
    this.name = routeName(props);

    this.route = new ApiObject(this, 'Resource', {
      apiVersion: RouteApi[kind],
      kind,
      metadata: { ...metadata, ...(labels && { labels }) },
      spec: {
        parentRefs: [
          { group: RouteApi.coreGroup, kind: 'Service', ...within, name: serviceNameOf(props.service), port },
        ],
        rules: [
          {
            backendRefs: props.backends.map((backend) => ({
              ...within,
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
