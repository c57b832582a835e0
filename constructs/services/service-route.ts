/**
 * Gateway API's way to divide HTTP requests to a Service among Services and mirrors: an HTTPRoute whose parent is the
 * Service. Linkerd's proxies follow it by themselves; it needs the Gateway API's CRD.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { fieldError } from '../../crds/field-error.ts';
import { RouteApi } from '../../crds/wire.ts';
import { refuse } from '../common/invalid-props.ts';
import { dnsLabel, dnsSubdomain, portNumber, serviceName } from '../common/prop-rules.ts';
import {
  backendErrors,
  backendName,
  type BackendsProps,
  failoverAnnotations,
  serviceNameOf,
  serviceNamespaceOf,
  type ServiceRef,
} from './backend.ts';

/** Properties of {@link ServiceRoute}. */
export interface ServiceRouteProps extends BackendsProps {
  /** The Service that clients call. */
  readonly service: ServiceRef;
  /**
   * Port of that Service, and of every backend: mirrors have the ports of what they mirror.
   * @default - the one port of a Service of cdk8s-plus
   */
  readonly port?: number | undefined;
  /**
   * Name of the HTTPRoute.
   * @default - that of the Service
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the Service and its backends.
   * @default - that of the Service, the chart's, else that which the manifest is applied to
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
    const { port = onlyPortOf(props.service) } = props;
    const service = serviceNameOf(props.service);
    const namespace = props.namespace ?? serviceNamespaceOf(props.service) ?? Chart.of(this).namespace;
    this.name = props.name ?? service;
    refuse(`ServiceRoute ${this.name}`, [
      serviceName('service', service),
      port === undefined
        ? fieldError('port', undefined, 'is required unless service is a Service of cdk8s-plus with one port')
        : portNumber('port', port),
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

const onlyPortOf = (service: ServiceRef): number | undefined => {
  const [first, ...others] = typeof service === 'string' ? [] : service.ports;
  return others.length === 0 ? first?.port : undefined;
};
