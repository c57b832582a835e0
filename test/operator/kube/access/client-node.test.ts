/** Access by a kubeconfig of client-node, for programs that run the operator as a library. */
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientNodeAccess } from '../../../../operator/index.ts';
import { KubeClient } from '../../../../operator/kube/client.ts';
import { NAMESPACES } from '../../../../operator/kube/objects.ts';
import { startCluster, type TestCluster } from '../../../cluster/index.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster({ backing: 'simulated', name: 'east' });
});
afterAll(() => cluster.stop());

const configOf = (text: string): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromString(text);
  return config;
};

test('a client that has it reads the cluster', async () => {
  const access = await clientNodeAccess(configOf(cluster.kubeconfig));
  const client = new KubeClient(access, { userAgent: 'test', fieldManager: 'test' });
  expect((await client.read(NAMESPACES, undefined, 'default')).metadata.name).toBe('default');
  await client.close();
});

test('its credentials are those of the kubeconfig at each request', async () => {
  const config = configOf(cluster.kubeconfig);
  const access = await clientNodeAccess(config);
  Object.assign(config.getUsers()[0]!, { token: 'another' });
  expect(JSON.stringify(await access.authorization())).toContain('Bearer another');
});

test('it goes through the proxy of the cluster', async () => {
  const config = configOf(cluster.kubeconfig.replace(/(\n +)(server: )/, '$1proxy-url: http://127.0.0.1:3128$1$2'));
  expect((await clientNodeAccess(config)).proxy?.href).toBe('http://127.0.0.1:3128/');
});

test('a context without a cluster is refused', async () => {
  const config = configOf(cluster.kubeconfig);
  config.setCurrentContext('none');
  await expect(clientNodeAccess(config)).rejects.toThrow('has no cluster for context "none"');
});
