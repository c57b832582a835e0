/**
 * Exports put on the target and awaited in the source cluster: the step most scenarios start with, and the barrier
 * that shows the operator has seen what was done before.
 */
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
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
import type { EndpointsObject, ServiceObject } from './objects.ts';
import type { TwoClusters } from './two-clusters.ts';

/** For a busy machine. */
const DEADLINE_MS = 60_000;

/** Exports a Service with one ready pod: by its name one like any other, or as it is given. */
export async function exportService(
  clusters: TwoClusters,
  of: string | ObjectRef,
  options: ServiceOptions = {},
): Promise<void> {
  const object = typeof of === 'string' ? service(of, { labels: EXPORTED, ...options }) : of;
  const { name, namespace = 'shop' } = object.metadata;
  await clusters.west.apply(object);
  await clusters.west.apply(slice(name, { namespace }));
}

/** Exports a Service with one ready pod, and waits until its mirror of cluster west is ready. @returns the mirror */
export async function exportReady(
  clusters: TwoClusters,
  of: string | ObjectRef,
  options: ServiceOptions = {},
): Promise<ServiceObject> {
  await exportService(clusters, of, options);
  const { name, namespace = options.namespace } = typeof of === 'string' ? { name: of } : of.metadata;
  return untilReady(clusters, name, namespace);
}

/** Exports many, and waits until all of their mirrors are ready. */
export async function exportAllReady(clusters: TwoClusters, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => exportReady(clusters, name)));
}

/** Waits until the mirror of cluster west has the gateway behind it, ready. @returns the mirror */
export async function untilReady(clusters: TwoClusters, name: string, namespace = 'shop'): Promise<ServiceObject> {
  // Endpoints come before their Service.
  await addressesAre(clusters, `${name}-west`, [GATEWAY], namespace);
  return eventually(`${name}-west exists`, () => findMirror(clusters, name, namespace), DEADLINE_MS);
}

/** Waits until there is no mirror of cluster west any more. */
export const untilGone = (clusters: TwoClusters, name: string) =>
  eventually(`${name}-west is gone`, async () => (await findMirror(clusters, name)) === undefined, DEADLINE_MS);

/** Waits until Endpoints have just these addresses, `!` before those that are not ready. */
export const addressesAre = (clusters: TwoClusters, name: string, expected: readonly string[], namespace = 'shop') =>
  eventually(
    `${name} has ${expected.join() || 'no addresses'}`,
    async () => (await clusters.addresses(name, namespace))?.join() === expected.join(),
    DEADLINE_MS,
  );

/** The mirror of cluster west, if it is there. */
export const findMirror = (
  clusters: TwoClusters,
  name: string,
  namespace = 'shop',
): Promise<ServiceObject | undefined> => clusters.get<ServiceObject>('Service', `${name}-west`, namespace);

/** The mirror of cluster west, once it is there. */
export const mirrorOf = (clusters: TwoClusters, name: string, namespace = 'shop'): Promise<ServiceObject> =>
  eventually(`${name}-west is there`, () => findMirror(clusters, name, namespace), DEADLINE_MS);

/** What clients of a mirror know it by: neither may change while it lives. */
export const identityOf = ({ metadata, spec }: ServiceObject): object => ({
  uid: metadata.uid,
  clusterIP: spec.clusterIP,
});

/** The identities of mirrors of cluster west; undefined for those that are not there. */
export const identitiesOf = (
  clusters: TwoClusters,
  names: readonly string[],
): Promise<readonly (object | undefined)[]> =>
  Promise.all(
    names.map(async (name) => {
      const found = await findMirror(clusters, name);
      return found && identityOf(found);
    }),
  );

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
