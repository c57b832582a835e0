/**
 * Exports put on the target and awaited in the source cluster: the step most scenarios start with, and the barrier
 * that shows the operator has seen what was done before.
 */
import { eventually } from '../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  GATEWAY,
  link,
  service,
  type ServiceOptions,
  slice,
  statefulSlice,
} from './builders.ts';
import type { EndpointsObject } from './objects.ts';
import type { TwoClusters } from './two-clusters.ts';

/** Exports a Service with one ready pod, and waits until its mirror of cluster west is ready. */
export async function exportReady(clusters: TwoClusters, name: string, options: ServiceOptions = {}): Promise<void> {
  const { namespace = 'shop' } = options;
  await clusters.west.apply(service(name, { labels: EXPORTED, ...options }));
  await clusters.west.apply(slice(name, { namespace }));
  await eventually(`${name}-west is ready`, async () => {
    return (await clusters.addresses(`${name}-west`, namespace))?.includes(GATEWAY);
  });
}

/** Exports a headless Service over ready pods of these names, and waits until its mirror lists them all. */
export async function exportHeadless(
  clusters: TwoClusters,
  name: string,
  hostnames: readonly string[],
  options: ServiceOptions = {},
): Promise<void> {
  const { namespace = 'shop' } = options;
  await clusters.west.apply(service(name, { labels: EXPORTED, headless: true, ...options }));
  await clusters.west.apply(statefulSlice(name, hostnames, { namespace }));
  await eventually(`${name}-west lists ${hostnames.join(', ')}`, async () => {
    const hosts = await hostsOf(clusters, `${name}-west`, namespace);
    return Object.keys(hosts ?? {}).join() === [...hostnames].sort().join();
  });
}

/** The hostnames that a headless mirror lists, sorted, with their addresses; undefined if it has no Endpoints. */
export async function hostsOf(
  clusters: TwoClusters,
  name: string,
  namespace = 'shop',
): Promise<Readonly<Record<string, string>> | undefined> {
  const found = await clusters.get<EndpointsObject>('Endpoints', name, namespace);
  if (found === undefined) return undefined;
  const addresses = (found.subsets ?? []).flatMap((subset) => subset.addresses ?? []);
  const entries = addresses.map(({ hostname = '', ip }) => [hostname, ip] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A second Link to the same target under another cluster name, without a probe. */
export async function linkTo(clusters: TwoClusters, name: string, spec: object = {}): Promise<void> {
  await clusters.east.apply(credentials(name, clusters.westCluster.kubeconfig));
  await clusters.east.apply(link(name, { probeSpec: undefined, ...spec }));
  await eventually(
    `Link ${name} has caught up`,
    async () => (await clusters.condition('Synced', name))?.status === 'True',
  );
}
