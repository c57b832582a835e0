/**
 * A ServiceMonitor, by which a Prometheus of the Prometheus Operator finds the operator's pods. It scrapes every replica,
 * since each may become the leader.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { OPERATOR_NAME, OperatorPort } from '../../crds/wire.ts';
import { goDuration, type TimeSpan } from '../common/time-span.ts';
import { type MirrorOperator, operatorStandIn } from '../operator/mirror-operator.ts';
import { labelsErrors } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { MONITORING_API, prometheusDuration } from './prop-rules.ts';
import { MONITOR_PROPS } from './schema.gen.ts';

/** Properties of {@link Monitor}. */
export interface MonitorProps {
  /** The operator that is scraped; the ServiceMonitor is in its namespace. */
  readonly operator: MirrorOperator;
  /**
   * Labels that Prometheus selects its ServiceMonitors by, as in `{ release: 'kube-prometheus-stack' }`.
   * @default - none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Time between scrapes; a text may be any Prometheus duration, such as `1d`.
   * @default - that of the Prometheus
   */
  readonly interval?: TimeSpan | undefined;
}

/**
 * A `monitoring.coreos.com/v1` ServiceMonitor, `linkspan-operator`.
 * Synthesis fails for each prop that the API server would refuse.
 */
export class Monitor extends Construct {
  /** The ServiceMonitor. */
  readonly serviceMonitor: ApiObject;

  constructor(scope: Construct, id: string, given: MonitorProps) {
    super(scope, id);
    const props = acceptProps<MonitorProps>(this, MONITOR_PROPS, given, undefined, ({ labels, interval }) => ({
      construct: `Monitor ${OPERATOR_NAME}`,
      found: [...labelsErrors('labels', labels), prometheusDuration('interval', interval)],
    }));
    const operator = (props.operator as MirrorOperator | undefined) ?? operatorStandIn(this);
    const { labels, interval } = props;
    const service = operator.metricsService.metadata.toJson() as { readonly labels: object };
    this.serviceMonitor = new ApiObject(this, 'Resource', {
      apiVersion: MONITORING_API,
      kind: 'ServiceMonitor',
      metadata: { name: OPERATOR_NAME, namespace: operator.namespace, ...(labels !== undefined && { labels }) },
      spec: {
        selector: { matchLabels: service.labels },
        endpoints: [{ port: OperatorPort.name, interval: interval === undefined ? undefined : goDuration(interval) }],
      },
    });
  }
}
