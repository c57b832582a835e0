import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireBinary } from './binaries.ts';
import { resolve } from './dns.ts';
import { type TestCluster, startCluster } from '../index.ts';
import { onReal } from '../on-each-backing.ts';
import {
  type Api,
  ApiError,
  type Kubelet,
  type KubeObject,
  READY_ANNOTATION,
  api,
  eventually,
  startKubelet,
} from '../workload/index.ts';

interface Slice extends KubeObject {
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly hostname?: string;
    readonly conditions: { readonly ready?: boolean };
  }[];
}

const metadata = (name: string) => ({ name, namespace: 'default' });

const service = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(name),
  spec: { ports: [{ name: 'http', port: 80 }], ...spec },
});

const statefulSet = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: metadata(name),
  spec: {
    replicas,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ name: 'http', containerPort: 80 }] }] },
    },
  },
});

const slicesOf = (client: Api, name: string): Promise<readonly Slice[]> =>
  client.list<Slice>({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    namespace: 'default',
    labelSelector: `kubernetes.io/service-name=${name}`,
  });

const readyHostnames = async (client: Api, name: string): Promise<readonly string[]> =>
  (await slicesOf(client, name))
    .flatMap(({ endpoints }) => endpoints.filter(({ conditions }) => conditions.ready))
    .map(({ hostname }) => hostname ?? '')
    .toSorted();

const bob = { name: 'bob', token: 'bob-token' };

onReal('a test cluster', () => {
  let east: TestCluster;
  let west: TestCluster;
  let eastApi: Api;
  let westApi: Api;
  let kubelet: Kubelet;

  beforeAll(async () => {
    [east, west] = await Promise.all([
      startCluster({ name: 'east', backing: 'real', users: [bob] }),
      startCluster({
        name: 'west',
        backing: 'real',
        dns: true,
        controllers: [
          'serviceaccount-controller',
          'serviceaccount-token-controller',
          'endpoints-controller',
          'endpointslice-controller',
          'endpointslice-mirroring-controller',
          'statefulset-controller',
        ],
      }),
    ]);
    eastApi = api(east);
    westApi = api(west);
    kubelet = await startKubelet(west);
  });

  afterAll(async () => {
    await kubelet.stop();
    await Promise.all([eastApi.close(), westApi.close(), east.stop(), west.stop()]);
  });

  it('stands beside another one and shares nothing with it', async () => {
    await eastApi.create(service('only-east', {}));
    expect(await eastApi.get(service('only-east', {}))).toBeDefined();
    expect(await westApi.get(service('only-east', {}))).toBeUndefined();
  });

  it('lets a user do what RBAC grants and no more', async () => {
    const bobApi = api(east, bob);
    const services = { apiVersion: 'v1', kind: 'Service', namespace: 'default' };
    await expect(bobApi.list(services)).rejects.toMatchObject({ code: 403, reason: 'Forbidden' });

    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: metadata('reader') };
    const rules = [{ apiGroups: [''], resources: ['services'], verbs: ['list'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
    const binding = { ...rbac, kind: 'RoleBinding', roleRef, subjects: [{ kind: 'User', name: bob.name }] };
    const role = { ...rbac, kind: 'Role', rules };
    await eastApi.create(role);
    await eastApi.create(binding);
    await eventually('bob may list Services', async () => (await bobApi.list(services)).length > 0);
    await expect(bobApi.get(service('kubernetes', {}))).rejects.toBeInstanceOf(ApiError);
    await bobApi.close();
  });

  it('counts the requests that were answered, and none of its own', async () => {
    await east.clearAudit();
    await eastApi.create(service('counted', {}));
    await eastApi.patch(service('counted', {}), { metadata: { labels: { a: 'b' } } });
    const mine = (await east.audit()).filter(({ user }) => user === 'admin');
    expect(mine.map(({ verb, resource, name, code }) => [verb, resource, name, code])).toEqual([
      ['create', 'services', 'counted', 201],
      ['patch', 'services', 'counted', 200],
    ]);
    await east.clearAudit();
    expect(await east.audit()).toEqual([]);
  });

  it('runs a StatefulSet whose headless Service has slices with hostnames, and scales it with kubectl', async () => {
    await westApi.create(service('web', { clusterIP: 'None', selector: { app: 'web' } }));
    await westApi.create(statefulSet('web', 3));
    await eventually('three pods are ready', async () => (await readyHostnames(westApi, 'web')).length === 3);
    expect(await readyHostnames(westApi, 'web')).toEqual(['web-0', 'web-1', 'web-2']);

    const kubectl = spawnSync(
      requireBinary('kubectl'),
      ['--kubeconfig', west.kubeconfigFile, 'scale', 'statefulset/web', '--replicas=2'],
      { encoding: 'utf8' },
    );
    expect(kubectl.stdout + kubectl.stderr).toContain('statefulset.apps/web scaled');
    await eventually('the third pod is gone', async () => (await readyHostnames(westApi, 'web')).length === 2);
  });

  it('shows a pod as not ready while its annotation says so', async () => {
    await westApi.create(service('db', { clusterIP: 'None', selector: { app: 'db' } }));
    await westApi.create(statefulSet('db', 1));
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: metadata('db-0') };
    const isReady = async (count: number) => (await readyHostnames(westApi, 'db')).length === count;
    await eventually('db-0 is ready', () => isReady(1));
    await westApi.patch(pod, { metadata: { annotations: { [READY_ANNOTATION]: 'false' } } });
    await eventually('db-0 is not ready', () => isReady(0));
    await westApi.patch(pod, { metadata: { annotations: { [READY_ANNOTATION]: null } } });
    await eventually('db-0 is ready again', () => isReady(1));
  });

  it('fills the token Secret of a ServiceAccount, and knows the ServiceAccount by it', async () => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('robot') };
    await westApi.create(account);
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata('robot-token'), annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
    };
    await westApi.create(secret);
    const token = await eventually(
      'the Secret has a token',
      async () => (await westApi.get<{ data?: { token?: string } }>(secret))?.data?.token,
    );
    const robot = api(west, { token: Buffer.from(token, 'base64').toString() });
    await expect(robot.list(account)).rejects.toThrow('User "system:serviceaccount:default:robot" cannot list');
    await robot.close();
  });

  it('mirrors Endpoints written by hand into slices, and answers DNS for the Service and each hostname', async () => {
    const ports = [{ name: 'http', port: 4143 }];
    const addresses = [
      { ip: '192.0.2.10', hostname: 'set-0' },
      { ip: '192.0.2.11', hostname: 'set-1' },
    ];
    const subsets = [{ addresses, ports }];
    await westApi.create(service('mirror', {}));
    await westApi.create(service('headless', { clusterIP: 'None' }));
    for (const name of ['mirror', 'headless']) {
      const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: metadata(name), subsets };
      await westApi.create(endpoints);
    }
    const mirrored = await eventually('the slice is mirrored', async () => (await slicesOf(westApi, 'mirror'))[0]);
    expect(mirrored.endpoints.map(({ addresses: [ip] }) => ip).toSorted()).toEqual(['192.0.2.10', '192.0.2.11']);

    const { spec } = (await westApi.get<{ spec: { clusterIP: string } }>(service('mirror', {})))!;
    const lookup = (name: string) => resolve(west.dns, `${name}.default.svc.cluster.local`, 'A');
    const both = ['192.0.2.10', '192.0.2.11'];
    await eventually('both addresses resolve', async () => (await lookup('headless')).length === 2);
    expect(await lookup('headless')).toEqual(both);
    expect(await lookup('mirror')).toEqual([spec.clusterIP]);
    expect(await lookup('set-1.headless')).toEqual(['192.0.2.11']);
    expect(await lookup('nobody')).toEqual([]);
  });

  it('keeps data and port when its API server is killed and started again', async () => {
    const kept = await eastApi.create(service('kept', {}));
    await east.kill();
    await expect(eastApi.get(kept)).rejects.toThrow();
    await east.start();
    expect((await eastApi.get(kept))!.metadata.uid).toBe(kept.metadata.uid);
  });

  it('answers what was asked while it was paused, once it is resumed', async () => {
    east.pause();
    const answer = eastApi.get(service('kubernetes', {}));
    expect(await Promise.race([answer, sleep(300, 'silence')])).toBe('silence');
    east.resume();
    expect(await answer).toBeDefined();
  });
});
