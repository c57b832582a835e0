/** `linkspan check --gateway-access` as it is typed, in a cluster that exports. */
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GatewayPolicy, MirrorOperator } from '../../../../../constructs/index.ts';
import { render } from '../../../../../constructs/rendered/render.ts';
import { borrowCluster, type TestCluster } from '../../../../cluster/index.ts';
import { READERS } from '../../../../cluster/guests.ts';
import { onEachBacking } from '../../../../cluster/on-each-backing.ts';
import { api, type Api } from '../../../../cluster/workload/index.ts';
import { EXPORTED, LINKS_NAMESPACE, namespace, objectRef, service } from '../../../../support/builders.ts';
import { installLinkerd } from '../../../../support/linkerd-cluster.ts';
import { OWN_ADDRESS } from '../../../../support/own-address.ts';
import { ANCHOR } from '../../../../support/trust-anchors.ts';
import { linkspan, type Outcome } from '../../../linkspan.ts';
import { linkerdConfig } from '../installed.ts';
import { connections, diagnosticsText, identity, inShop, metricsText } from './proxy-metrics.ts';

interface Printed {
  readonly success: boolean;
  readonly gatewayAccess: {
    readonly proxies: readonly object[];
    readonly uses: readonly Readonly<Record<string, unknown>>[];
    readonly notSeen: readonly string[];
  };
  readonly categories: readonly {
    readonly checks: readonly { readonly id: string; readonly result: string; readonly error?: string }[];
  }[];
}

const METRICS = metricsText(
  connections({ client: 'shop/a', host: inShop('web'), count: 3 }),
  connections({ client: 'shop/a', host: inShop('bare') }),
  connections({ client: 'shop/b', host: inShop('hidden'), count: 2 }),
);

onEachBacking('linkspan check --gateway-access', (backing) => {
  let cluster: TestCluster;
  let client: Api;
  let directory: string;
  let proxy: Server;
  let answer: { readonly code: number; readonly text: string };

  beforeAll(async () => {
    cluster = await borrowCluster(backing, 'west');
    client = api(cluster);
    directory = await mkdtemp(join(tmpdir(), 'linkspan-access-'));
    proxy = createServer((_, response) => response.writeHead(answer.code).end(answer.text));
    await new Promise<void>((resolve) => proxy.listen(0, resolve));
    await installLinkerd({ cluster, client });
    await client.apply(linkerdConfig(ANCHOR));
    for (const name of [LINKS_NAMESPACE, 'shop']) await client.apply(namespace(name));
    const installed = render((chart) => {
      new GatewayPolicy(chart, 'Policy', { namespace: LINKS_NAMESPACE });
      new MirrorOperator(chart, 'Operator', {
        namespace: LINKS_NAMESPACE,
        image: 'linkspan:0.1.0',
        gatewayAccess: 'open',
      });
    });
    for (const each of installed) await client.apply(each);
    const clients = { 'linkspan.dev/clients': 'shop/a' };
    await client.apply(service('web', { labels: EXPORTED, annotations: clients }));
    await client.apply(service('bare', { labels: EXPORTED }));
    await client.apply(service('hidden'));
    await runGateway();
  }, 120_000);
  afterAll(async () => {
    proxy.close();
    await client.close();
    await cluster.stop();
    await rm(directory, { recursive: true });
  });

  /** A pod of the gateway, whose proxy is the server of this test. */
  const runGateway = async (): Promise<void> => {
    const { port } = proxy.address() as AddressInfo;
    const ports = [{ name: 'linkerd-admin', containerPort: port }];
    const pod = {
      ...objectRef('v1', 'Pod', 'gateway-0', LINKS_NAMESPACE),
      metadata: { name: 'gateway-0', namespace: LINKS_NAMESPACE, labels: { app: 'linkerd-gateway' } },
      spec: { containers: [{ name: 'linkerd-proxy', image: 'proxy', ports }] },
    };
    const started = { name: 'linkerd-proxy', state: { running: { startedAt: '2026-11-20T10:00:00Z' } } };
    const containerStatuses = [{ ...started, ready: true, restartCount: 0, image: 'proxy', imageID: '' }];
    await client.apply(pod);
    const status = { phase: 'Running', podIP: OWN_ADDRESS, podIPs: [{ ip: OWN_ADDRESS }], containerStatuses };
    await client.patch(pod, { status }, { subresource: 'status' });
  };

  const run = (...args: readonly string[]): Promise<Outcome> =>
    linkspan(directory, 'check', '--gateway-access', `--kubeconfig=${cluster.kubeconfigFile}`, ...args);
  const json = async (...args: readonly string[]): Promise<Printed> =>
    JSON.parse((await run('--output=json', ...args)).stdout) as Printed;
  const notGreen = ({ categories }: Printed): Readonly<Record<string, string>> =>
    Object.fromEntries(
      categories.flatMap(({ checks }) =>
        checks.filter(({ result }) => result !== 'success').map(({ id, result }) => [id, result]),
      ),
    );
  const metricsFile = async (text: string): Promise<string> => {
    const file = join(directory, 'gateway.metrics');
    await writeFile(file, text);
    return `--gateway-metrics=${file}`;
  };

  test('a proxy that answers nobody is an error, and what is used is not judged', async () => {
    answer = { code: 403, text: '' };
    const printed = await json();
    expect(notGreen(printed)).toEqual({
      'access-usage': 'error',
      'exported-used': 'skipped',
      'clients-used': 'skipped',
      'clients-named': 'warning',
    });
    expect(printed.gatewayAccess).toMatchObject({ proxies: [], uses: [] });
    const { code, stdout } = await run();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^connections through the gateway, as counted by nobody,\n/);
    expect(stdout).toContain(
      '× it is known who uses the gateway\n    × Pod linkerd-multicluster/gateway-0: its metrics are not known: ',
    );
    expect(stdout).toContain(
      '`linkerd diagnostics proxy-metrics -n linkerd-multicluster deploy/linkerd-gateway --kubeconfig',
    );
  });

  test('what it has counted is read from a file, and what would be refused is named', async () => {
    const file = await metricsFile(diagnosticsText({ 'gateway-0': METRICS }));
    const { code, stdout } = await run(file);
    expect(code).toBe(1);
    expect(stdout).toContain(`
CLIENT   SERVICE       PORT   OPAQUE   CONNECTIONS   EXPORTED   CLIENTS
shop/a   shop/bare     80     no       1             admitted   404
shop/b   shop/hidden   80     no       2             404        404
shop/a   shop/web      80     no       3             admitted   admitted
`);
    expect(stdout).toContain('counted by gateway-0 since 2026-11-20T10:00:00Z,');
    expect(stdout).toContain('× Service shop/hidden: is not exported, and shop/b opened 2 connections to it: 404\n');
    expect(stdout).toContain('× Service shop/bare: names no clients, and shop/a opened 1 connection to it: 404\n');
    const printed = await json(file);
    expect(printed.success).toBe(false);
    expect(notGreen(printed)).toEqual({
      'exported-used': 'error',
      'clients-used': 'error',
      'clients-named': 'warning',
    });
    expect(printed.gatewayAccess.uses).toContainEqual({
      client: 'shop/b',
      identity: identity('shop/b'),
      service: 'shop/hidden',
      host: inShop('hidden'),
      port: 80,
      opaque: false,
      connections: 2,
      exported: '404',
      clients: '404',
    });
  });

  test('a proxy that answers is asked through the API server', async () => {
    answer = { code: 200, text: METRICS };
    const { gatewayAccess, ...printed } = await json();
    // Only a real API server asks pods.
    const isAsked = backing === 'real' && OWN_ADDRESS !== undefined;
    expect(gatewayAccess.uses).toHaveLength(isAsked ? 3 : 0);
    expect(notGreen({ gatewayAccess, ...printed })['access-usage']).toBe(isAsked ? undefined : 'error');
  });

  test('when each finding is followed, all is green, but for what nobody uses any more', async () => {
    const file = await metricsFile(diagnosticsText({ 'gateway-0': METRICS }));
    await client.apply(service('hidden', { labels: EXPORTED, annotations: { 'linkspan.dev/clients': 'shop/b' } }));
    await client.apply(service('bare', { labels: EXPORTED, annotations: { 'linkspan.dev/clients': 'shop/a' } }));
    const { code, stdout } = await run(file);
    expect(stdout).toContain('Status check results are √');
    expect(code).toBe(0);
  });

  test('with credentials that may read nothing, nothing is green', async () => {
    const powerless = join(directory, 'powerless');
    await writeFile(powerless, cluster.kubeconfigFor(READERS[2].token));
    const file = await metricsFile(diagnosticsText({ 'gateway-0': METRICS }));
    const { code, stdout } = await run(`--kubeconfig=${powerless}`, file);
    expect(code).toBe(1);
    expect(stdout.split('\n').filter((line) => line.startsWith('√'))).toEqual(['√ the Kubernetes API can be queried']);
  });

  test.each([
    [['--pre'], '--gateway-access: must not be used with --pre'],
    [['--link=west'], '--link: must not be used with --gateway-access'],
    [['--gateway-metrics=/nowhere'], '--gateway-metrics /nowhere: cannot be read: ENOENT'],
    [['--gateway-metrics=empty'], "--gateway-metrics empty: has no metrics of Linkerd's proxy"],
  ])('refuses %j', async (flags, message) => {
    await writeFile(join(directory, 'empty'), 'go_goroutines 7\n');
    const outcome = await run(...flags);
    expect(outcome.stderr).toContain(message);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
  });

  test('refuses metrics that nothing is to be made of', async () => {
    const outcome = await linkspan(directory, 'check', `--kubeconfig=${cluster.kubeconfigFile}`, '--gateway-metrics=x');
    expect(outcome.stderr).toContain('--gateway-metrics: must be used with --gateway-access (give both)');
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
  });
});
