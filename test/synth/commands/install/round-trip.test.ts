/**
 * Install, link, export, unlink, uninstall: afterwards both clusters hold what they held before. The operator runs with the
 * rights of the account that `install` has made.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiJson } from '../../../../constructs/rendered/render.ts';
import { onReal } from '../../../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../../../cluster/workload/index.ts';
import { EXPORTED, namespace, service, slice } from '../../../support/builders.ts';
import { everything } from '../../../support/everything.ts';
import { TestGateway } from '../../../support/gateway.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { TestOperator } from '../../../support/operator.ts';
import { renderedOperator } from '../../../support/rendered-operator.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';

const IMAGE = '--image=registry.example.com/linkspan:0.1.0';
const NAMESPACE = 'linkerd-multicluster';
const CONTROLLERS = ['namespace-controller', 'serviceaccount-token-controller'];

const mirror: ObjectRef = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web-west', namespace: 'shop' } };

onReal('install, link, export, unlink, uninstall', () => {
  let east: LinkerdCluster;
  let west: LinkerdCluster;
  let directory: string;
  const gateway = new TestGateway();
  let operator: TestOperator | undefined;
  let before: readonly (readonly string[])[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-round-trip-'));
    await gateway.revive();
    const start = (name: string) => startLinkerdCluster({ backing: 'real', name, controllers: CONTROLLERS });
    [east, west] = await Promise.all([start('east'), start('west')]);
    for (const each of [east, west]) {
      await installLinkerd(each);
      await each.client.apply(namespace('shop'));
    }
    await west.client.apply(service('web', { labels: EXPORTED }));
    await west.client.apply(slice('web'));
    before = await inBoth();
  }, 120_000);
  afterAll(async () => {
    await operator?.stop();
    await gateway.die();
    await Promise.all([east.stop(), west.stop()]);
    await rm(directory, { recursive: true });
  });

  const inBoth = async () => [await everything(east.client), await everything(west.client)];
  const on = ({ cluster }: LinkerdCluster): readonly string[] => [`--kubeconfig=${cluster.kubeconfigFile}`];
  const pair = (): readonly string[] => [
    ...on(east),
    `--to-kubeconfig=${west.cluster.kubeconfigFile}`,
    '--to-context=west',
  ];
  const run = async (...args: readonly string[]): Promise<Outcome> => {
    const outcome = await linkspan(directory, ...args);
    expect(outcome.code, outcome.stderr).toBe(0);
    return outcome;
  };

  test('mirrors what is exported', { timeout: 90_000 }, async () => {
    const { stdout } = await run('install', ...on(east), IMAGE, '--output=json');
    await Promise.all([east, west].map((each) => run('install', ...on(each), IMAGE, '--apply')));
    await west.client.patch(
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'linkerd-gateway', namespace: NAMESPACE } },
      { status: { loadBalancer: { ingress: [{ ip: '203.0.113.20' }] } } },
      { subresource: 'status' },
    );
    const { items } = JSON.parse(stdout) as { readonly items: readonly ApiJson[] };
    const { kubeconfigFile, flags } = await renderedOperator(east.cluster, east.client, items, directory);
    operator = new TestOperator(kubeconfigFile, gateway, { flags });

    const address = `--api-server-address=${west.cluster.server}`;
    await run('link', ...pair(), address, '--apply', '--wait', '--timeout=60s');
    await eventually('web-west is there', () => east.client.get(mirror));
  });

  test('is not taken away while it is in use', { timeout: 30_000 }, async () => {
    const [source, target] = await Promise.all(
      [east, west].map((each) => linkspan(directory, 'uninstall', ...on(each), '--apply')),
    );
    expect([source, target]).toMatchObject([
      { code: 1, stdout: '' },
      { code: 1, stdout: '' },
    ]);
    expect(source?.stderr).toBe(
      `error: Link linkerd-multicluster/west of east: is there (linkspan unlink --name west --apply --kubeconfig ${east.cluster.kubeconfigFile} --context east)\n`,
    );
    // How east is called here, nothing in west says.
    expect(target?.stderr).toMatch(
      /^error: ServiceAccount linkerd-multicluster\/linkerd-service-mirror-remote-access-east of west: another cluster reads this one with it \(unlink it from that cluster, or revoke it: `kubectl --kubeconfig \S+ --context west /,
    );
  });

  test('leaves nothing behind', { timeout: 90_000 }, async () => {
    await run('unlink', ...pair(), '--apply', '--timeout=60s');
    await operator?.stop();
    const outcomes = await Promise.all([east, west].map((each) => run('uninstall', ...on(each), '--apply')));
    for (const { stderr } of outcomes) expect(stderr).not.toContain('stays');
    // Kubernetes tidies up after a kind that is gone.
    await expect.poll(inBoth, { timeout: 20_000 }).toEqual(before);

    const again = await run('uninstall', ...on(east), '--apply');
    expect(again).toMatchObject({
      stdout: '',
      stderr: `note: nothing is left of Linkspan in namespace ${NAMESPACE} of east\n`,
    });
  });
});
