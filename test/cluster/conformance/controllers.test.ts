/** Kubernetes' own controllers, as far as tests and the demo need them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type TestCluster } from '../index.ts';
import { onBothBackings } from '../on-each-backing.ts';
import {
  type Api,
  api,
  eventually,
  type Kubelet,
  type ObjectRef,
  READY_ANNOTATION,
  startKubelet,
} from '../workload/index.ts';
import type { Any } from './server.ts';

interface Slice extends Any {
  readonly addressType: string;
  readonly endpoints:
    | readonly { readonly addresses: readonly string[]; readonly hostname?: string; readonly targetRef?: object }[]
    | null;
  readonly ports: readonly object[] | null;
}

onBothBackings("Kubernetes' own controllers", (backing) => {
  const namespace = 'default';
  let cluster: TestCluster;
  let client: Api;
  let kubelet: Kubelet;

  beforeAll(async () => {
    const controllers = [
      'statefulset-controller',
      'endpoints-controller',
      'endpointslice-controller',
      'endpointslice-mirroring-controller',
    ];
    cluster = await startCluster({ name: 'controllers', backing, controllers });
    client = api(cluster);
    kubelet = await startKubelet(cluster);
  });

  afterAll(async () => {
    await kubelet.stop();
    await client.close();
    await cluster.stop();
  });

  const slicesOf = (service: string): Promise<readonly Slice[]> =>
    client.list<Slice>({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace,
      labelSelector: `kubernetes.io/service-name=${service}`,
    });
  const podNames = async (app: string): Promise<readonly string[]> =>
    (await client.list({ apiVersion: 'v1', kind: 'Pod', namespace, labelSelector: `app=${app}` }))
      .map(({ metadata }) => metadata.name)
      .toSorted();

  const headless = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { team: 'a' } },
    spec: {
      clusterIP: 'None',
      selector: { app: name },
      ports: [{ name: 'http', port: 80, targetPort: 'web' }],
      ...more,
    },
  });
  const statefulSet = (name: string, replicas: number) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ name: 'web', containerPort: 8080 }] }] },
      },
    },
  });

  it('give a headless Service over a StatefulSet its slice, with hostnames', async () => {
    const name = 'web';
    await client.apply(headless(name));
    await client.apply(statefulSet(name, 2));
    const slice = await eventually('two endpoints are ready', async () => {
      const [found] = await slicesOf(name);
      return found?.endpoints?.length === 2 && JSON.stringify(found).split('"ready":true').length === 3
        ? found
        : undefined;
    });
    expect(slice.metadata.labels).toEqual({
      team: 'a',
      'kubernetes.io/service-name': name,
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'service.kubernetes.io/headless': '',
    });
    expect(slice.addressType).toBe('IPv4');
    expect(slice.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    const endpoints = slice.endpoints!.toSorted((a, b) => (a.hostname! < b.hostname! ? -1 : 1));
    expect(endpoints[0]).toEqual({
      addresses: [expect.any(String)],
      conditions: { ready: true, serving: true, terminating: false },
      hostname: 'web-0',
      nodeName: kubelet.node,
      targetRef: { kind: 'Pod', namespace, name: 'web-0', uid: expect.any(String) as string },
    });
    const endpointsObject = await eventually('the Endpoints list both', async () => {
      const found = await client.get<Any & { subsets?: { addresses?: { hostname: string }[]; ports: object[] }[] }>({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name, namespace },
      });
      return found?.subsets?.[0]?.addresses?.length === 2 ? found : undefined;
    });
    expect(endpointsObject.subsets![0]!.addresses!.map(({ hostname }) => hostname).toSorted()).toEqual([
      'web-0',
      'web-1',
    ]);
    expect(endpointsObject.subsets![0]!.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    expect(endpointsObject.metadata.labels).toMatchObject({ team: 'a', 'service.kubernetes.io/headless': '' });
  });

  it('show a Pod that is not ready as such, and count it again when it is', async () => {
    const name = 'flaky';
    await client.apply(headless(name));
    await client.apply(statefulSet(name, 1));
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'flaky-0', namespace } };
    const condition = async (ready: boolean): Promise<boolean> => {
      const [slice] = await slicesOf(name);
      return JSON.stringify(slice?.endpoints ?? []).includes(
        `"conditions":{"ready":${ready},"serving":${ready},"terminating":false}`,
      );
    };
    await eventually('ready', () => condition(true));
    await client.patch(pod, { metadata: { annotations: { [READY_ANNOTATION]: 'false' } } });
    await eventually('not ready', () => condition(false));
    await client.patch(pod, { metadata: { annotations: { [READY_ANNOTATION]: 'true' } } });
    await eventually('ready again', () => condition(true));
  });

  it('scale a StatefulSet up and down from its highest number', async () => {
    const name = 'scaled';
    await client.apply(headless(name));
    await client.apply(statefulSet(name, 1));
    const scaleTo = async (replicas: number): Promise<void> => {
      await client.patch(statefulSet(name, replicas), { spec: { replicas } }, { subresource: 'scale' });
      const expected = Array.from({ length: replicas }, (_, index) => `scaled-${index}`);
      await eventually(
        `${replicas} pods`,
        async () => JSON.stringify(await podNames(name)) === JSON.stringify(expected),
      );
    };
    await scaleTo(3);
    await scaleTo(1);
    await eventually(
      'the status follows',
      async () => (await client.get<Any>(statefulSet(name, 1)))?.status.readyReplicas === 1,
    );
  });

  it('leave a placeholder slice where a Service selects nothing', async () => {
    const name = 'lonely';
    await client.apply(headless(name));
    const slice = await eventually('a slice', async () => (await slicesOf(name))[0]);
    expect([slice.addressType, slice.endpoints ?? [], slice.ports ?? []]).toEqual(['IPv4', [], []]);
  });

  it('leave the slice and the Endpoints of a Service that loses its selector, and mirror the latter', async () => {
    const name = 'unselected';
    const selected = headless(name) as ObjectRef & { readonly spec: object };
    await client.apply(selected);
    const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name, namespace } };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels: { app: name }, annotations: { [READY_ANNOTATION]: 'true' } },
      spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ name: 'web', containerPort: 8080 }] }] },
    };
    await client.apply(pod);
    await eventually('both list the pod', async () => {
      const [slice] = await slicesOf(name);
      const found = await client.get<Any & { readonly subsets?: readonly object[] }>(endpoints);
      return (slice?.endpoints ?? []).length === 1 && found?.subsets?.length === 1;
    });
    await client.patch(selected, { spec: { selector: null } });
    const managers = async (): Promise<string> =>
      (await slicesOf(name))
        .map(({ metadata }) => metadata.labels?.['endpointslice.kubernetes.io/managed-by'] ?? '')
        .toSorted()
        .join();
    const both = 'endpointslice-controller.k8s.io,endpointslicemirroring-controller.k8s.io';
    await eventually('the Endpoints are mirrored', async () => (await managers()) === both);
    await client.delete(pod);
    expect((await slicesOf(name)).map(({ metadata }) => metadata.labels?.['team'])).toEqual(['a', 'a']);
  });

  it('mirror hand-made Endpoints of a Service without a selector, with labels and annotations', async () => {
    const name = 'mirror-east';
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true' };
    const annotations = { 'mirror.linkerd.io/remote-gateway-identity': 'gateway.id' };
    const endpoints = (subset: object) => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace, labels, annotations },
      subsets: [{ ...subset, ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }],
    });
    await client.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels },
      spec: { ports: [{ name: 'http', port: 80 }] },
    } as ObjectRef);
    await client.apply(endpoints({ addresses: [{ ip: '192.0.2.1', hostname: 'web-0' }] }));
    const slice = await eventually('the mirror slice', async () => (await slicesOf(name))[0]);
    expect(slice.metadata.labels).toEqual({
      ...labels,
      'kubernetes.io/service-name': name,
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    });
    expect(slice.metadata.annotations).toEqual(annotations);
    expect(slice.endpoints).toEqual([{ addresses: ['192.0.2.1'], conditions: { ready: true }, hostname: 'web-0' }]);
    expect(slice.ports).toEqual([{ name: 'http', port: 4143, protocol: 'TCP' }]);
    await client.apply(endpoints({ notReadyAddresses: [{ ip: '192.0.2.1' }] }));
    await eventually('not ready', async () =>
      JSON.stringify(await slicesOf(name)).includes('"conditions":{"ready":false}'),
    );
    await client.apply({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace, labels: { ...labels, 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    } as ObjectRef);
    await eventually('the slice is gone', async () => (await slicesOf(name)).length === 0);
  });
});
