/** The rights that `linkspan install` gives the operator are those that federated Services need, by a real API server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiJson } from '../../../../constructs/rendered/render.ts';
import { onReal } from '../../../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../../../cluster/workload/index.ts';
import { GATEWAY, LINKS_NAMESPACE, namespace, objectRef, service, slice } from '../../../support/builders.ts';
import { TestGateway } from '../../../support/gateway.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { TestOperator } from '../../../support/operator.ts';
import { renderedOperator, serviceAccountUser } from '../../../support/rendered-operator.ts';
import { linkspanHere } from '../../in-process.ts';

const OPERATOR = objectRef('apps/v1', 'Deployment', 'linkspan-operator', LINKS_NAMESPACE);
const IMAGE = '--image=registry.example.com/linkspan:0.1.0';

interface Slice extends KubeObject {
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[] | null;
}

onReal('after linkspan install and linkspan link', () => {
  let east: LinkerdCluster;
  let west: LinkerdCluster;
  let directory: string;

  const written = async (command: string, { cluster }: LinkerdCluster, ...flags: readonly string[]): Promise<void> => {
    const { code, stderr } = await linkspanHere(command, `--kubeconfig=${cluster.kubeconfigFile}`, '--apply', ...flags);
    expect(code, stderr).toBe(0);
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-federation-'));
    const controllers = ['serviceaccount-token-controller'];
    const start = (name: string) => startLinkerdCluster({ backing: 'real', name, controllers });
    [east, west] = await Promise.all([start('east'), start('west')]);
    for (const each of [east, west]) {
      await installLinkerd(each);
      await each.client.apply(namespace('shop'));
      await written('install', each, IMAGE);
    }
  }, 180_000);
  afterAll(async () => {
    await Promise.all([east.stop(), west.stop()]);
    await rm(directory, { recursive: true });
  });

  test('a federated Service gets its member through the gateway', { timeout: 90_000 }, async () => {
    const to = [`--to-kubeconfig=${west.cluster.kubeconfigFile}`, `--api-server-address=${west.cluster.server}`];
    await written('link', east, '--to-context=west', ...to, `--gateway-addresses=${GATEWAY}`);
    await west.client.apply(service('web', { labels: { 'mirror.linkerd.io/federated': 'member' } }));
    await west.client.apply(slice('web'));

    const deployment = (await east.client.get<ApiJson>(OPERATOR))!;
    const { kubeconfigFile, flags } = await renderedOperator(east.cluster, east.client, [deployment], directory);
    const gateway = new TestGateway();
    await gateway.revive();
    const operator = new TestOperator(kubeconfigFile, gateway, { flags });
    const slices = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace: 'shop' };
    await eventually(
      'web-federated leads to the gateway of west',
      async () => {
        const found = await east.client.list<Slice>(slices);
        const own = found.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web-federated');
        const addresses = own.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((each) => each.addresses));
        return addresses.includes(GATEWAY);
      },
      60_000,
    );
    await operator.stop();
    await gateway.die();
  });

  test('the operator sees the credentials of a flat network with --flat alone', { timeout: 60_000 }, async () => {
    const maySee = async (): Promise<boolean> => {
      const { body } = await east.client.request<{ readonly status: { readonly allowed: boolean } }>(
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        {
          body: {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            spec: {
              user: serviceAccountUser(LINKS_NAMESPACE, 'linkspan-operator'),
              resourceAttributes: { verb: 'list', resource: 'secrets', namespace: 'linkerd' },
            },
          },
        },
      );
      return body.status.allowed;
    };
    expect(await maySee()).toBe(false);
    await written('upgrade', east, '--flat');
    await eventually('the operator may see them', maySee);
    await written('upgrade', east, '--flat=false', '--wait=false');
    await eventually('the operator may no longer see them', async () => !(await maySee()));
  });
});
