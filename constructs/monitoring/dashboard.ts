/**
 * The operator's metrics as a Grafana dashboard, in a ConfigMap that Grafana's sidecar finds by its label. Each
 * version of Linkspan renders the same bytes. The panels are in dashboard-panels.ts.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { Default } from '../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, labelErrors } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { DASHBOARD_SECTIONS } from './dashboard-panels.ts';
import { DASHBOARD_VARIABLES, type DashboardPanel } from './dashboard-queries.ts';
import { DASHBOARD_PROPS } from './schema.gen.ts';

/** Properties of {@link Dashboard}. */
export interface DashboardProps {
  /**
   * Name of the ConfigMap. The key of the dashboard is the name and `.json`, which the sidecar uses as the name of a file.
   * @default linkspan-dashboard
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the ConfigMap, which the sidecar must watch.
   * @default - the chart's, else `linkerd-multicluster`, and of Monitoring the operator's
   */
  readonly namespace?: string | undefined;
  /**
   * Label by which Grafana's sidecar finds the ConfigMap.
   * @default grafana_dashboard
   */
  readonly label?: string | undefined;
  /**
   * Value of the label.
   * @default 1
   */
  readonly labelValue?: string | undefined;
  /**
   * Folder of the dashboard in Grafana, as annotation `grafana_folder`. The sidecar must be configured to read it.
   * @default - the folder of the sidecar
   */
  readonly folder?: string | undefined;
}

/**
 * A ConfigMap with the dashboard.
 * Synthesis fails for each prop that the API server would refuse.
 */
export class Dashboard extends Construct {
  /** Name of the ConfigMap. */
  readonly name: string;
  /** The ConfigMap. */
  readonly configMap: ApiObject;

  constructor(scope: Construct, id: string, given: DashboardProps = {}) {
    super(scope, id);
    const chart = Chart.of(this);
    const withDefaults = ({
      name = 'linkspan-dashboard',
      namespace = chart.namespace ?? Default.multiclusterNamespace,
      label = 'grafana_dashboard',
      labelValue = '1',
      folder,
    }: DashboardProps) => ({ name, namespace, label, labelValue, folder });
    const props = acceptProps(this, DASHBOARD_PROPS, given, {}, (given) => {
      const { name, namespace, label, labelValue } = withDefaults(given);
      return {
        construct: `Dashboard ${namespace}/${name}`,
        found: [
          dnsSubdomain('name', name),
          dnsLabel('namespace', namespace),
          ...labelErrors('label', label, labelValue),
        ],
      };
    });
    const { name, namespace, label, labelValue, folder } = withDefaults(props);
    this.name = name;
    this.configMap = new ApiObject(this, 'Resource', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace,
        labels: { [label]: labelValue },
        ...(folder !== undefined && { annotations: { grafana_folder: folder } }),
      },
      data: { [`${name}.json`]: `${JSON.stringify(dashboard(), undefined, 2)}\n` },
    });
  }
}

/** Of Grafana 12 and 13; those before read it too. */
const SCHEMA_VERSION = 42;
const COLUMNS = 24;
const HEIGHTS = { row: 1, panel: 8 } as const;
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' } as const;

const dashboard = (): object => ({
  uid: 'linkspan',
  title: 'Linkspan',
  tags: ['linkerd', 'linkspan', 'multicluster'],
  schemaVersion: SCHEMA_VERSION,
  editable: true,
  graphTooltip: 1,
  refresh: '1m',
  time: { from: 'now-6h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
      // Also what has no such label, where a Prometheus has one cluster alone.
      { ...variable('cluster', DASHBOARD_VARIABLES.cluster), label: 'Source cluster', allValue: '.*' },
      { ...variable('job', DASHBOARD_VARIABLES.job), hide: 2 },
      { ...variable('target', DASHBOARD_VARIABLES.target), label: 'Target cluster' },
    ],
  },
  panels: panels(),
});

const variable = (name: string, query: string) => ({
  name,
  type: 'query',
  datasource: DATASOURCE,
  query: { query, refId: name },
  // When the time range changes, since Links come and go.
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  current: { text: 'All', value: '$__all' },
});

/** Rows of panels as wide as the page, one after the other, with ids in their order. */
const panels = (): readonly object[] => {
  const placed: object[] = [];
  let y = 0;
  for (const section of DASHBOARD_SECTIONS) {
    const id = placed.length + 1;
    const gridPos = { x: 0, y, w: COLUMNS, h: HEIGHTS.row };
    placed.push({ id, type: 'row', title: section.title, collapsed: false, gridPos, panels: [] });
    y += HEIGHTS.row;
    let x = 0;
    for (const each of section.panels) {
      if (x + each.width > COLUMNS) {
        x = 0;
        y += HEIGHTS.panel;
      }
      placed.push({ id: placed.length + 1, ...panel(each), gridPos: { x, y, w: each.width, h: HEIGHTS.panel } });
      x += each.width;
    }
    y += HEIGHTS.panel;
  }
  return placed;
};

const panel = ({ title, description, kind, unit = 'short', queries }: DashboardPanel): object => {
  const isState = kind === 'good-states' || kind === 'bad-states';
  return {
    title,
    ...(description !== undefined && { description }),
    type: kind === 'number' ? 'stat' : isState ? 'state-timeline' : 'timeseries',
    datasource: DATASOURCE,
    fieldConfig: {
      defaults: isState ? { mappings: [states(kind === 'good-states')] } : { unit, min: 0 },
      overrides: [],
    },
    ...(isState && { options: { mergeValues: true, showValue: 'never', legend: { showLegend: false } } }),
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  };
};

const states = (oneIsGood: boolean): object => ({
  type: 'value',
  options: {
    0: { text: 'no', color: oneIsGood ? 'red' : 'green' },
    1: { text: 'yes', color: oneIsGood ? 'green' : 'red' },
  },
});
