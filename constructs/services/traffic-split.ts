/**
 * A TrafficSplit of SMI: divides requests to a Service among Services and mirrors, for Linkerd's SMI extension and for
 * linkerd-failover. It needs the CRD of that extension; ServiceRoute does the same without it.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { RouteApi } from '../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, serviceName } from '../common/prop-rules.ts';
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
import { TRAFFIC_SPLIT_PROPS } from './schema.ts';

/** Properties of {@link TrafficSplit}. */
export interface TrafficSplitProps extends BackendsProps {
  /** The Service that clients call. */
  readonly service: ServiceRef;
  /**
   * Name of the TrafficSplit.
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
 * A `split.smi-spec.io/v1alpha2` TrafficSplit.
 * Synthesis fails for each invalid Service, weight and backend.
 */
export class TrafficSplit extends Construct {
  /** Name of the TrafficSplit. */
  readonly name: string;
  /** The TrafficSplit. */
  readonly trafficSplit: ApiObject;

  constructor(scope: Construct, id: string, given: TrafficSplitProps) {
    super(scope, id);
    const props = acceptProps(this, TRAFFIC_SPLIT_PROPS, given, STAND_IN, (given) => ({
      construct: `TrafficSplit ${given.name ?? serviceNameOf(given.service)}`,
      found: [
        serviceName('service', serviceNameOf(given.service)),
        given.name === undefined ? undefined : dnsSubdomain('name', given.name),
        given.namespace === undefined ? undefined : dnsLabel('namespace', given.namespace),
        ...backendErrors(given),
      ],
    }));
    const service = serviceNameOf(props.service);
    const namespace = props.namespace ?? serviceNamespaceOf(props.service) ?? Chart.of(this).namespace;

    this.name = props.name ?? service;

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

const STAND_IN: TrafficSplitProps = { service: 'invalid', backends: [{ service: 'invalid', weight: 1 }] };
