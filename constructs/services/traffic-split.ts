/**
 * SMI's way to divide requests to a Service among Services and mirrors, for Linkerd's SMI extension and for
 * linkerd-failover; it needs that extension's CRD. ServiceRoute does the same without it.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { RouteApi } from '../../crds/wire.ts';
import { refuse } from '../common/invalid-props.ts';
import { dnsLabel, dnsSubdomain, serviceName } from '../common/prop-rules.ts';
import {
  backendErrors,
  backendName,
  type BackendsProps,
  failoverAnnotations,
  serviceNameOf,
  serviceNamespaceOf,
  type ServiceRef,
} from './backend.ts';

/** Properties of {@link TrafficSplit}. */
export interface TrafficSplitProps extends BackendsProps {
  /** The Service that clients call. */
  readonly service: ServiceRef;
  /**
   * Name of the TrafficSplit.
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
 * A `split.smi-spec.io/v1alpha2` TrafficSplit.
 * @throws InvalidPropsError naming every invalid Service, weight and backend
 */
export class TrafficSplit extends Construct {
  /** Name of the TrafficSplit. */
  readonly name: string;
  /** The TrafficSplit. */
  readonly trafficSplit: ApiObject;

  constructor(scope: Construct, id: string, props: TrafficSplitProps) {
    super(scope, id);
    const service = serviceNameOf(props.service);
    const namespace = props.namespace ?? serviceNamespaceOf(props.service) ?? Chart.of(this).namespace;
    this.name = props.name ?? service;
    refuse(`TrafficSplit ${this.name}`, [
      serviceName('service', service),
      dnsSubdomain('name', this.name),
      namespace === undefined ? undefined : dnsLabel('namespace', namespace),
      ...backendErrors(props),
    ]);

    this.trafficSplit = new ApiObject(this, 'Resource', {
      apiVersion: RouteApi.trafficSplit,
      kind: 'TrafficSplit',
      metadata: {
        name: this.name,
        ...(namespace !== undefined && { namespace }),
        ...failoverAnnotations(props.failover),
      },
      spec: {
        service,
        backends: props.backends.map((backend) => ({ service: backendName(backend), weight: backend.weight })),
      },
    });
  }
}
