/**
 * Exports put on the target and awaited in the source cluster: the step most scenarios start with, and the barrier
 * that shows the operator has seen what was done before.
 */
import { eventually } from '../cluster/workload/index.ts';
import { credentials, EXPORTED, link, service, type ServiceOptions, slice, statefulSlice } from './builders.ts';
import type { EndpointsObject, World } from './world.ts';

/** The address of the gateway that links() of builders.ts name. */
export const GATEWAY = '203.0.113.10';

/** Exports a Service with one ready pod, and waits until its mirror of cluster west is ready. */
export async function exportReady(world: World, name: string, options: ServiceOptions = {}): Promise<void> {
  const { namespace = 'shop' } = options;
  await world.west.apply(service(name, { labels: EXPORTED, ...options }));
  await world.west.apply(slice(name, { namespace }));
  await eventually(`${name}-west is ready`, async () => {
    return (await world.addresses(`${name}-west`, namespace))?.includes(GATEWAY);
  });
}

/** Exports a headless Service over ready pods of these names, and waits until its mirror lists them all. */
export async function exportHeadless(
  world: World,
  name: string,
  hostnames: readonly string[],
  options: ServiceOptions = {},
): Promise<void> {
  const { namespace = 'shop' } = options;
  await world.west.apply(service(name, { labels: EXPORTED, headless: true, ...options }));
  await world.west.apply(statefulSlice(name, hostnames, { namespace }));
  await eventually(`${name}-west lists ${hostnames.join(', ')}`, async () => {
    const hosts = await hostsOf(world, `${name}-west`, namespace);
    return Object.keys(hosts ?? {}).join() === [...hostnames].sort().join();
  });
}

/** The hostnames that a headless mirror lists, sorted, with their addresses; undefined if it has no Endpoints. */
export async function hostsOf(
  world: World,
  name: string,
  namespace = 'shop',
): Promise<Readonly<Record<string, string>> | undefined> {
  const found = await world.get<EndpointsObject>('Endpoints', name, namespace);
  if (found === undefined) return undefined;
  const addresses = (found.subsets ?? []).flatMap((subset) => subset.addresses ?? []);
  const entries = addresses.map(({ hostname = '', ip }) => [hostname, ip] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A second Link to the same target under another cluster name, without a probe. */
export async function linkTo(world: World, name: string, spec: object = {}): Promise<void> {
  await world.east.apply(credentials(name, world.westCluster.kubeconfig));
  await world.east.apply(link(name, { probeSpec: undefined, ...spec }));
  await eventually(
    `Link ${name} has caught up`,
    async () => (await world.condition('Synced', name))?.status === 'True',
  );
}
