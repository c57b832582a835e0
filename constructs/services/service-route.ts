/**
 * Gateway API's way to divide HTTP requests to a Service among Services and mirrors: an HTTPRoute whose parent is the
 * Service. Linkerd's proxies follow it by themselves; it needs the Gateway API's CRD.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { RouteApi } from '../../crds/wire.ts';
import { refuse } from '../common/invalid-props.ts';
import { dnsLabel, dnsSubdomain, portNumber, serviceName } from '../common/prop-rules.ts';
import { backendErrors, backendName, type BackendsProps, failoverAnnotations } from './backend.ts';

/** Properties of {@link ServiceRoute}. */
export interface ServiceRouteProps extends BackendsProps {
  /** The Service that clients call. */
  readonly service: string;
  /** Port of that Service, and of every backend: mirrors have the ports of what they mirror. */
  readonly port: number;
  /**
   * Name of the HTTPRoute.
   * @default - that of the Service
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the Service and its backends.
   * @default - the chart's, else that which the manifest is applied to
   */
  readonly namespace?: string | undefined;
}

/**
 * A `gateway.networking.k8s.io/v1` HTTPRoute.
 * @throws InvalidPropsError naming every invalid Service, port, weight and backend
 */
export class ServiceRoute extends Construct {
  /** Name of the HTTPRoute. */
  readonly name: string;
  /** The HTTPRoute. */
  readonly httpRoute: ApiObject;

  constructor(scope: Construct, id: string, props: ServiceRouteProps) {
    super(scope, id);
    const { service, port } = props;
    const namespace = props.namespace ?? Chart.of(this).namespace;
    this.name = props.name ?? service;
    refuse(`ServiceRoute ${this.name}`, [
      serviceName('service', service),
      portNumber('port', port),
      dnsSubdomain('name', this.name),
      namespace === undefined ? undefined : dnsLabel('namespace', namespace),
      ...backendErrors(props),
    ]);

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
