/**
 * The metrics of one operator, in a registry of its own. Names are either Linkerd's, which `linkerd multicluster
 * gateways` and its dashboards read, or those of controller-runtime and client-go, which people have dashboards for;
 * only what has no name in the field starts with `linkspan_`.
 */
import { Registry, collectDefaultMetrics } from 'prom-client';
import { accessMetrics } from './access.ts';
import { controllerMetrics } from './controller.ts';
import { failoverMetrics } from './failover.ts';
import { instrumentsOf } from './instruments.ts';
import { linkMetrics } from './link.ts';
import { requestMetrics } from './requests.ts';
import { targetMetrics } from './target.ts';

export interface MetricsOptions {
  /** Whether memory, CPU, event loop and garbage collection of the process are measured too. @default true */
  readonly process?: boolean;
  /** Whether anything is measured: a simulation looks at nothing. @default true */
  readonly recorded?: boolean;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of one operator; nothing global is touched. */
export function createMetrics(options: MetricsOptions = {}) {
  const registry = new Registry();
  const { recorded = true } = options;
  if (recorded && (options.process ?? true)) collectDefaultMetrics({ register: registry });
  const instruments = instrumentsOf(registry, recorded);
  const { gauge } = instruments;
  return {
    registry,
    ...targetMetrics(instruments),
    ...linkMetrics(instruments),
    ...failoverMetrics(instruments),
    ...accessMetrics(instruments),
    serviceImports: gauge(
      'linkspan_service_imports',
      'ServiceImports that the operator writes, by whether they are ready: true or false',
      'ready',
    ),
    ...requestMetrics(instruments),
    ...controllerMetrics(instruments),
    /** Always 1. */
    buildInfo: gauge(
      'linkspan_build_info',
      'Always 1, for the version of Linkspan and of Node that runs',
      'version',
      'node_version',
    ),
    /** 1 while this process leads; `name` is the Lease's. */
    leader: gauge(
      'leader_election_master_status',
      'Whether this replica holds the Lease called name, and leads (1), or not (0)',
      'name',
    ),
  };
}
