/**
 * The yardstick: the very writes that the operator makes for its mirrors, Service and Endpoints by server-side apply,
 * through the same client and as many at once, but with nothing to find out and nothing to decide.
 */
import { MirrorService, render } from '../../constructs/index.ts';
import type { KubeClient } from '../../operator/kube/client.ts';
import { ENDPOINTS, type KubeObject, SERVICES } from '../../operator/kube/objects.ts';
import { concurrently } from '../../test/support/concurrently.ts';

/** Target cluster in the labels of these mirrors, which the operator does not serve. */
export const RAW_CLUSTER = 'raw';

const gateway = (alive: boolean) => ({
  addresses: ['203.0.113.10'],
  port: 4143,
  identity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
  alive,
  ready: true,
});

/** Mirrors of Services as the stage makes them, rendered before the clock runs. */
const rendered = (service: string, alive: boolean): readonly KubeObject[] =>
  render((chart) => {
    new MirrorService(chart, 'mirror', {
      service,
      namespace: 'shop',
      targetCluster: RAW_CLUSTER,
      targetClusterDomain: 'cluster.local',
      remoteResourceVersion: '12345',
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
      endpoints: gateway(alive),
    });
  });

/** Prepares the writes of one mirror for each Service; the function it returns makes them. */
export const rawWrites = (
  client: KubeClient,
  services: readonly string[],
  concurrency: number,
): (() => Promise<void>) => {
  const mirrors = services.map((service) => rendered(service, true));
  return () =>
    concurrently(mirrors, concurrency, async (objects) => {
      for (const { metadata, ...rest } of objects as readonly (KubeObject & { readonly kind: string })[]) {
        const of = rest.kind === 'Service' ? SERVICES : ENDPOINTS;
        await client.apply(of, { ...rest, metadata: { ...metadata, resourceVersion: '1' } });
      }
    });
};

/** Prepares the writes that mark those mirrors not ready. */
export const rawDeaths = (
  client: KubeClient,
  services: readonly string[],
  concurrency: number,
): (() => Promise<void>) => {
  const endpoints = services.flatMap((service) => rendered(service, false)).filter((object) => 'subsets' in object);
  return () => concurrently(endpoints, concurrency, (object) => client.apply(ENDPOINTS, object));
};
