/** The latency of gateways, as the metrics of who probes them have it. Linkerd's controller has the same metrics. Pure. */

const SERIES = /^gateway_latency\{(?:[^}]*,)?target_cluster_name="([^"\\]*)"[^}]*\} (\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/gim;

/** Milliseconds by target cluster, from metrics in Prometheus' text format. */
export const latenciesIn = (metrics: string): ReadonlyMap<string, number> =>
  new Map([...metrics.matchAll(SERIES)].map(([, cluster = '', value]) => [cluster, Math.round(Number(value))]));
