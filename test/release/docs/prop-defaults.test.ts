/** The schema of a construct's props, which editors show, gives the same defaults as the docstrings of the props. */
import { expect, test } from 'vitest';
import { ARGO_CD_PROPS } from '../../../constructs/argo-cd/schema.ts';
import { CLUSTER_SET_PROPS, MULTICLUSTER_PROPS } from '../../../constructs/cluster-set/schema.ts';
import { GATEWAY_POLICY_PROPS, GATEWAY_PROPS, REMOTE_ACCESS_PROPS } from '../../../constructs/gateway/schema.ts';
import { LINK_CREDENTIALS_PROPS, LINK_PROPS } from '../../../constructs/link/schema.ts';
import {
  ALERTS_PROPS,
  DASHBOARD_PROPS,
  MONITOR_PROPS,
  MONITORING_PROPS,
} from '../../../constructs/monitoring/schema.ts';
import { SERVICE_ROUTE_PROPS } from '../../../constructs/rendered/route/schema.ts';
import { MIRROR_OPERATOR_PROPS } from '../../../constructs/operator/schema.ts';
import { SERVICE_FAILOVER_PROPS, TRAFFIC_SPLIT_PROPS } from '../../../constructs/services/schema.ts';
import { meaningAndDefault } from './cluster-file.ts';
import { propsReference } from './props.ts';

const SCHEMAS = {
  Alerts: ALERTS_PROPS,
  ArgoCd: ARGO_CD_PROPS,
  ClusterSet: CLUSTER_SET_PROPS,
  Dashboard: DASHBOARD_PROPS,
  Gateway: GATEWAY_PROPS,
  GatewayPolicy: GATEWAY_POLICY_PROPS,
  Link: LINK_PROPS,
  LinkCredentials: LINK_CREDENTIALS_PROPS,
  MirrorOperator: MIRROR_OPERATOR_PROPS,
  Monitor: MONITOR_PROPS,
  Monitoring: MONITORING_PROPS,
  Multicluster: MULTICLUSTER_PROPS,
  RemoteAccess: REMOTE_ACCESS_PROPS,
  ServiceFailover: SERVICE_FAILOVER_PROPS,
  ServiceRoute: SERVICE_ROUTE_PROPS,
  TrafficSplit: TRAFFIC_SPLIT_PROPS,
};

/**
 * Reports whether two texts give one default. A docstring may add a detail (`all, by a ClusterRole`), and defaults that
 * depend on the chart or on other constructs end in one that always holds.
 */
const agree = (docstring: string, schema: string): boolean =>
  docstring === schema ||
  [', ', ': '].some((mark) => docstring.startsWith(`${schema}${mark}`)) ||
  [', else ', '; of Multicluster and ClusterSet, ', '; of Monitoring, '].some((mark) =>
    docstring.endsWith(`${mark}${schema}`),
  );

const { byConstruct } = propsReference();

test.each(Object.entries(SCHEMAS))(
  'the schema of %s has the defaults of its docstrings',
  (construct, { properties }) => {
    const different = byConstruct.get(construct)?.props.flatMap(({ name, default: documented }) => {
      const { description } = (properties as Readonly<Record<string, { readonly description: string }>>)[name] ?? {};
      const [, fallback] = meaningAndDefault(description ?? '');
      const docstring = documented?.replaceAll('`', '');
      if (docstring === undefined ? fallback === undefined : agree(docstring, fallback ?? '')) return [];
      return [{ name, docstring, schema: fallback }];
    });
    expect(different).toEqual([]);
  },
);
