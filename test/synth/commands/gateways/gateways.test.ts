/** `linkspan gateways`, with the operator whose metrics have the latency. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linkCrd } from '../../../../crds/index.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../../../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, link, LINKS_NAMESPACE, service, slice } from '../../../support/builders.ts';
import { OWN_ADDRESS } from '../../../support/own-address.ts';
import { readerOf } from '../../../support/reader.ts';
import type { TestOperator } from '../../../support/operator.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';

const IDENTITY = 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local';
onEachBacking('linkspan gateways', (backing) => {
  let clusters: TwoClusters;
  let directory: string;
  let operator: TestOperator;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, east: { controllers: ['serviceaccount-token-controller'] } });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-gateways-'));
    await clusters.link();
    await clusters.west.apply(service('web', { labels: EXPORTED }));
    await clusters.west.apply(slice('web'));
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const run = (...args: readonly string[]): Promise<Outcome> =>
    linkspan(directory, 'gateways', `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`, ...args);

  test.each([
    [['--output=text'], 2, 'Allowed choices are table, wide, json, yaml.'],
    [['--wait=1'], 2, 'It must be a duration such as 30s, 5m or 1h.'],
    [['--as-group=x'], 2, 'It is not taken: name a context of a user in that group'],
    [['--namespace=nope'], 0, 'no Link in namespace nope of east has a gateway'],
    [['--cluster-name=north'], 1, 'no Link to cluster north in namespace linkerd-multicluster of east has a gateway'],
  ])('%j exits %i', async (flags, expected, message) => {
    const { code, stderr } = await run(...flags);
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
  });

  test('is refused where there are no Links', async () => {
    // A cluster is lent with the kinds that others have installed.
    await clusters.west.delete(linkCrd);
    const flag = `--kubeconfig=${clusters.westCluster.kubeconfigFile}`;
    const { stderr } = await eventually('they are no longer served', async () => {
      const outcome = await linkspan(directory, 'gateways', flag);
      return outcome.code === 1 && outcome;
    });
    expect(stderr).toContain(
      'CustomResourceDefinition links.multicluster.linkerd.io of west: not found: the cluster has',
    );
  });

  /** Whether anybody can say that the gateway is alive: nobody can. */
  const expectUnknown = async (why: RegExp, ...args: readonly string[]): Promise<void> => {
    const { code, stdout, stderr } = await run(...args);
    expect(stdout).toMatch(/^CLUSTER +ALIVE +NUM_SVC +LATENCY\nwest +unknown +\d +-\n$/);
    expect(stderr).toMatch(why);
    expect(code).toBe(1);
    const [found] = JSON.parse((await run(...args, '--output=json')).stdout) as readonly object[];
    expect(found).toMatchObject({ clusterName: 'west', alive: null });
  };

  test('a gateway that nobody probes is not known to be alive', async () => {
    await expectUnknown(
      /^note: no latency for west: no operator is seen to hold the Lease of the Link\nnote: whether the gateway of west is alive is not known: no operator holds its Lease: [^\n]*\n$/,
    );
  });

  test('an operator outside the cluster has no metrics to ask for', { timeout: 60_000 }, async () => {
    operator = clusters.operator({ flags: { adminAddress: '0.0.0.0:0' } });
    await clusters.ready();
    await eventually('web-west is there', async () => (await clusters.get('Service', 'web-west')) !== undefined);
    const { stdout, stderr } = await run();
    expect(stdout).toMatch(/\nwest +True +1 +-\n$/);
    expect(stderr).toBe(
      'note: no latency for west: the operator, linkspan-0, is no pod of namespace linkerd-multicluster\n',
    );
  });

  test('shows the latency that the operator has measured', { timeout: 60_000 }, async () => {
    const pod: ObjectRef & { readonly spec: object } = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'linkspan-0', namespace: LINKS_NAMESPACE },
      spec: {
        containers: [
          {
            name: 'controller',
            image: 'linkspan',
            ports: [{ name: 'linkspan-admin', containerPort: operator.admin?.port }],
          },
        ],
      },
    };
    await clusters.east.apply(pod);
    await clusters.east.patch(pod, { status: { podIP: OWN_ADDRESS } }, { subresource: 'status' });
    const { code, stdout, stderr } = await run('--output=json');
    expect(code).toBe(0);
    const [found] = JSON.parse(stdout) as readonly { readonly latency?: number }[];
    expect(found).toMatchObject({
      clusterName: 'west',
      alive: true,
      numberOfServices: 1,
      link: 'west',
      addresses: [GATEWAY],
      port: '4143',
      identity: IDENTITY,
    });
    const wide = await run('--output=wide', '--cluster-name=west');
    expect(wide.stdout).toMatch(
      new RegExp(`west +True +1 +(-|\\d+ms) +west +${GATEWAY} +${GATEWAY} +4143 +${IDENTITY}\n$`),
    );
    // Only a real API server asks pods.
    const isAsked = backing === 'real' && OWN_ADDRESS !== undefined;
    expect(found?.latency, stderr).toBeTypeOf(isAsked ? 'number' : 'undefined');
    expect(wide.stdout).toMatch(isAsked ? / \d+ms / : / - /);
  });

  test('a Link without a gateway is left out', async () => {
    await clusters.east.apply(link('flat', { gatewayAddress: undefined, probeSpec: undefined }));
    const { code, stdout } = await run();
    expect(stdout).not.toContain('flat');
    expect(code).toBe(0);
    await clusters.east.delete(link('flat'));
  });

  test('a user who may not read Leases does not know whether it is alive', { timeout: 30_000 }, async () => {
    const rules = [
      { apiGroups: ['multicluster.linkerd.io'], resources: ['links'] },
      { apiGroups: [''], resources: ['services'] },
    ];
    const file = join(directory, 'reader.yaml');
    await writeFile(file, await readerOf(clusters.eastCluster, clusters.east, 'gateways-reader', rules));
    await expectUnknown(
      /whether an operator serves it is not known: east: .*leases.*forbidden/,
      `--kubeconfig=${file}`,
    );
  });

  test('a gateway that is down is an exit code of 1', { timeout: 60_000 }, async () => {
    await clusters.gateway.die();
    await eventually('it is down', async () => (await clusters.condition('GatewayAlive'))?.status === 'False');
    const { code, stdout } = await run();
    expect(stdout).toMatch(/\nwest +False +/);
    expect(code).toBe(1);
    await clusters.gateway.revive();
    await eventually('it is back', async () => (await clusters.condition('GatewayAlive'))?.status === 'True');
    expect((await run()).code).toBe(0);
  });

  test('a gateway is not known to be alive any more once the operator has gone', { timeout: 60_000 }, async () => {
    await clusters.stopOperators();
    await clusters.gateway.die();
    await expectUnknown(/no operator holds its Lease/);
  });
});
