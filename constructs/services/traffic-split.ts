/**
 * A TrafficSplit of SMI: divides requests to a Service among Services and mirrors, for Linkerd's SMI extension and for
 * linkerd-failover. It needs the CRD of that extension; ServiceRoute does the same without it.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { RouteApi } from '../../crds/wire.ts';
import { acceptProps } from '../common/props.ts';
import {
  backendName,
  routeErrors,
  routeMetadata,
  routeName,
  type RouteProps,
  serviceNameOf,
} from '../rendered/index.ts';
import { TRAFFIC_SPLIT_PROPS } from './schema.gen.ts';

/** Properties of {@link TrafficSplit}. */
export interface TrafficSplitProps extends RouteProps {}

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
      construct: `TrafficSplit ${routeName(given)}`,
      found: routeErrors(given),
    }));
    this.name = routeName(props);

    this.trafficSplit = new ApiObject(this, 'Resource', {
      apiVersion: RouteApi.trafficSplit,
      kind: 'TrafficSplit',
      metadata: routeMetadata(this, props),
      spec: {
        service: serviceNameOf(props.service),
        backends: props.backends.map((backend) => ({ service: backendName(backend), weight: backend.weight })),
      },
    });
  }
}

const STAND_IN: TrafficSplitProps = { service: 'invalid', backends: [{ service: 'invalid', weight: 1 }] };
