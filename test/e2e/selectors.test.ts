/**
 * Somebody gives a Service of ours a selector, and Kubernetes' own controllers make endpoints of the pods that it selects:
 * rule C3 of behaviour.md.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type Kubelet, type KubeObject, type ObjectRef, startKubelet } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, LINKS_NAMESPACE, namespace, objectRef, service, slice } from '../support/builders.ts';
import { untilReady } from '../support/exports.ts';
import { installMcs, serviceExport, uninstallMcs } from '../support/mcs.ts';
import type { EndpointsObject, ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 40_000;
const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const OURS = 'linkspan.dev';
const COPY = 'endpointslicemirroring-controller.k8s.io';
const SELECTED = 'endpointslice-controller.k8s.io';

/** What a client of a Service is led to, and by whom. */
interface Led {
  readonly by: readonly string[];
  readonly to: readonly string[];
}

interface SliceObject extends KubeObject {
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[] | null;
}

/** The Services of ours: name, namespace, and whether v1 Endpoints may be behind them. */
const SERVICES: readonly (readonly [name: string, within: string, hasEndpoints: boolean])[] = [
  ['web-west', 'shop', true],
  ['probe-west', LINKS_NAMESPACE, true],
  ['web-federated', 'shop', false],
  ['web-clusterset', 'shop', false],
];

onEachBacking('a selector that somebody gives a Service of ours', (backing) => {
  let clusters: TwoClusters;
  let kubelet: Kubelet;
  beforeAll(async () => {
    const controllers = ['endpoints-controller', 'endpointslice-controller', 'endpointslice-mirroring-controller'];
    clusters = await TwoClusters.start({ backing, east: { controllers } });
    for (const cluster of [clusters.eastCluster, clusters.westCluster]) await installMcs(cluster);
    await clusters.east.apply(namespace('linkerd'));
    kubelet = await startKubelet(clusters.eastCluster);
    const federatedServiceSelector = { matchLabels: MEMBER };
    await clusters.link({ federation: 'gateway', federatedServiceSelector });
    await clusters.west.apply(service('web', { labels: { ...EXPORTED, ...MEMBER } }));
    await clusters.west.apply(slice('web', { labels: { ...EXPORTED, ...MEMBER } }));
    await clusters.west.apply(serviceExport('web'));
    for (const within of ['shop', LINKS_NAMESPACE]) await clusters.east.apply(podIn(within));
  });
  afterAll(async () => {
    await kubelet.stop();
    await clusters.stopOperators();
    for (const cluster of [clusters.east, clusters.west]) await uninstallMcs(cluster);
    await clusters.stop();
  });

  const ledBy = async (name: string, within: string): Promise<Led> => {
    const slices = await clusters.east.list<SliceObject>({
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace: within },
      labelSelector: `kubernetes.io/service-name=${name}`,
    });
    const addresses = slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((each) => each.addresses));
    return {
      by: [...new Set(slices.map(({ metadata }) => metadata.labels?.[MANAGED_BY] ?? 'hand'))].toSorted(),
      to: [...new Set(addresses)],
    };
  };
  /** Waits until nobody is led anywhere but to the gateway. */
  const untilRight = (name: string, within: string, by: string): Promise<unknown> =>
    eventually(
      `${name} leads to the gateway alone`,
      async () => JSON.stringify(await ledBy(name, within)) === JSON.stringify({ by: [by], to: [GATEWAY] }),
      DEADLINE_MS,
    );
  const liveService = (name: string, within: string) => clusters.get<ServiceObject>('Service', name, within);

  test.each(['endpoints', 'slices'])(
    'is removed, with all that Kubernetes has made of it, where endpoints are %s (C3)',
    async (endpoints) => {
      clusters.operator({ flags: { endpoints } });
      await eventually('all is there', async () => (await liveService('web-clusterset', 'shop')) !== undefined);
      for (const [name, within, hasEndpoints] of SERVICES) {
        const by = hasEndpoints && endpoints === 'endpoints' ? COPY : OURS;
        await untilRight(name, within, by);
        const before = (await liveService(name, within))!;
        // However soon the operator puts it right, Kubernetes sees it first.
        await clusters.stopOperators();
        await clusters.east.patch(ref(name, within), { spec: { selector: { app: 'mine' } } });
        await eventually(
          `Kubernetes makes endpoints of ${name}`,
          async () => (await ledBy(name, within)).by.includes(SELECTED),
          DEADLINE_MS,
        );
        clusters.operator({ flags: { endpoints } });
        await untilRight(name, within, by);
        const after = (await liveService(name, within))!;
        expect(after.spec).not.toHaveProperty('selector');
        expect(after.metadata.uid).toBe(before.metadata.uid);
        const left = await clusters.get<EndpointsObject>('Endpoints', name, within);
        if (by === OURS) expect(left).toBeUndefined();
        else expect(await clusters.addresses(name, within)).toEqual([GATEWAY]);
      }
      await clusters.stopOperators();
    },
  );

  test('does not come by hand either: slices that somebody makes for a mirror are deleted (C3)', async () => {
    clusters.operator();
    await untilReady(clusters, 'web');
    await untilRight('web-west', 'shop', COPY);
    const byHand = slice('web-west', { name: 'by-hand' });
    const labels = { 'kubernetes.io/service-name': 'web-west', [MANAGED_BY]: 'somebody' };
    await clusters.east.apply({ ...byHand, metadata: { ...byHand.metadata, labels } } as ObjectRef);
    await untilRight('web-west', 'shop', COPY);
    expect(await clusters.get('EndpointSlice', 'by-hand')).toBeUndefined();
  });
});

const ref = (name: string, within: string): ObjectRef => objectRef('v1', 'Service', name, within);

/** A pod that the kubelet makes ready, and that the selector selects. */
const podIn = (within: string): ObjectRef => {
  const pod = {
    ...objectRef('v1', 'Pod', 'mine', within),
    metadata: { name: 'mine', namespace: within, labels: { app: 'mine' } },
    spec: { containers: [{ name: 'main', image: 'main', ports: [{ name: 'http', containerPort: 8080 }] }] },
  };
  return pod;
};
