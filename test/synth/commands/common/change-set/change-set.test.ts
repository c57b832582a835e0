/** Change sets on API servers: what is compared, refused, kept and written, whoever has made an object. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { ApiJson } from '../../../../../constructs/rendered/render.ts';
import { Cluster } from '../../../../../synth/commands/common/cluster.ts';
import { CommandError } from '../../../../../synth/commands/common/command-error.ts';
import { compare, conflictProblems, shown } from '../../../../../synth/commands/common/change-set/compare.ts';
import { execute } from '../../../../../synth/commands/common/change-set/execute.ts';
import { changesText } from '../../../../../synth/commands/common/change-set/text.ts';
import { ALL_FIELDS, type Want } from '../../../../../synth/commands/common/change-set/want.ts';
import { ResultReport } from '../../../../../synth/commands/common/output.ts';
import { borrowCluster, type TestCluster } from '../../../../cluster/index.ts';
import { onEachBacking } from '../../../../cluster/on-each-backing.ts';
import { api, type Api } from '../../../../cluster/workload/index.ts';
import { namespace } from '../../../../support/builders.ts';

const gateway = (spec: object): ApiJson => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'gateway', namespace: 'shop' },
  spec: { ports: [{ name: 'mc-gateway', port: 4143, protocol: 'TCP' }], ...spec },
});

onEachBacking('a change set', (backing) => {
  let server: TestCluster;
  let client: Api;
  let cluster: Cluster;

  beforeAll(async () => {
    server = await borrowCluster(backing, 'east');
    client = api(server);
    await client.apply(namespace('shop'));
    cluster = await Cluster.open({ kubeconfig: server.kubeconfigFile });
  });
  afterEach(() => client.delete(gateway({})));
  afterAll(async () => {
    await client.close();
    await cluster.close();
    await server.stop();
  });

  const want = (spec: object, more: Partial<Want> = {}): Want => ({ cluster, object: gateway(spec), ...more });
  const found = () => client.get<{ spec: { type: string; ports: { port: number }[] } }>(gateway({}));
  const outcomes = async (...wants: readonly Want[]): Promise<readonly string[]> => {
    const changes = await compare(wants);
    const report = new ResultReport('json');
    await execute(changes, report);
    return changes.map(({ outcome }) => outcome);
  };

  test('creates, leaves alone, and changes what is its own', async () => {
    expect(await outcomes(want({ type: 'ClusterIP' }))).toEqual(['created']);
    await server.clearAudit();
    expect(await outcomes(want({ type: 'ClusterIP' }))).toEqual(['unchanged']);
    expect(await outcomes(want({ type: 'NodePort' }))).toEqual(['configured']);
    expect(await found()).toMatchObject({ spec: { type: 'NodePort' } });
  });

  test('refuses what is being deleted: it would take the changes, and go with them (L215)', async () => {
    const held = { ...gateway({}), metadata: { ...gateway({}).metadata, finalizers: ['example.com/load-balancer'] } };
    await client.apply(held);
    await client.delete(held);
    const refused = await compare([want({}), want({ type: 'LoadBalancer' })]).catch((error: unknown) => error);
    expect((refused as CommandError).problems).toEqual([
      {
        object: 'Service shop/gateway of east',
        reason: 'is being deleted; finalizers keep it: example.com/load-balancer',
        remedy: 'run the command again when it is gone',
      },
    ]);
    await client.patch(held, { metadata: { finalizers: null } });
    expect(await outcomes(want({}))).toEqual(['created']);
  });

  test('names the field, both values and the manager of what somebody else has set', async () => {
    await client.apply(gateway({ type: 'ClusterIP' }));
    const changes = await compare([want({ type: 'LoadBalancer' })]);
    const problems = conflictProblems(changes, 'add --force-conflicts');
    expect(problems).toEqual([
      {
        object: 'Service shop/gateway of east',
        reason: expect.stringMatching(
          /^spec\.type would change from ClusterIP to LoadBalancer, and \S+ has set it$/,
        ) as string,
        remedy: 'add --force-conflicts',
      },
    ]);
    expect(
      conflictProblems(await compare([want({ type: 'LoadBalancer' }, { takes: [['spec', 'type']] })]), ''),
    ).toEqual([]);
    expect(conflictProblems(await compare([want({ type: 'LoadBalancer' }, { takes: ALL_FIELDS })]), '')).toEqual([]);
    expect(changesText(changes)).toMatch(
      /^east:\n~ Service shop\/gateway\n(.*\n)* {4}spec\.type: ClusterIP → LoadBalancer {2}\(set by \S+\)\n/,
    );
  });

  test('keeps what it yields as somebody else has it, and writes the rest', async () => {
    await client.apply(gateway({ type: 'ClusterIP', ports: [{ name: 'mc-gateway', port: 14143, protocol: 'TCP' }] }));
    const yields = [
      ['spec', 'type'],
      ['spec', 'ports'],
    ];
    const wanted = want({ type: 'LoadBalancer', sessionAffinity: 'ClientIP' }, { yields });
    const changes = await compare([wanted]);
    expect(changes[0]?.kept.map(({ path, before, after }) => [path.join('.'), before, after])).toContainEqual([
      'spec.type',
      'ClusterIP',
      'LoadBalancer',
    ]);
    await execute(changes, new ResultReport('json'));
    expect(await found()).toMatchObject({
      spec: { type: 'ClusterIP', sessionAffinity: 'ClientIP', ports: [{ port: 14143 }] },
    });
  });

  test('keeps what it has set itself of a field of which somebody else has changed a part', async () => {
    const ports = (port: number) => ({
      ports: [
        { name: 'mc-gateway', port: 4143, protocol: 'TCP', targetPort: 4143 },
        { name: 'mc-probe', port, protocol: 'TCP', targetPort: 4191 },
      ],
    });
    await outcomes(want(ports(4191)));
    await client.patch(gateway({}), { spec: ports(14191) });
    const changes = await compare([want(ports(4191), { yields: [['spec', 'ports']] })]);
    expect(changes[0]?.kept.map(({ path }) => path.join('.'))).toEqual(['spec.ports.mc-probe.port']);
    await execute(changes, new ResultReport('json'));
    expect((await found())?.spec.ports.map(({ port }) => port)).toEqual([4143, 14191]);
  });

  test('writes what was announced although somebody has changed another field meanwhile', async () => {
    await outcomes(want({ type: 'ClusterIP' }));
    const changes = await compare([want({ type: 'NodePort' })]);
    await client.patch(gateway({}), { metadata: { labels: { touched: 'yes' } } });
    await execute(changes, new ResultReport('json'));
    expect(await found()).toMatchObject({ spec: { type: 'NodePort' }, metadata: { labels: { touched: 'yes' } } });
  });

  test('compares anew what somebody has changed between its read and its dry run', async () => {
    await outcomes(want({ type: 'ClusterIP' }));
    const preview = vi.spyOn(cluster, 'preview');
    preview.mockImplementationOnce(async (object) => {
      await client.patch(gateway({}), { metadata: { labels: { touched: 'yes' } } });
      preview.mockRestore();
      return cluster.preview(object);
    });
    expect(await outcomes(want({ type: 'ClusterIP' }))).toEqual(['unchanged']);
    expect(await found()).toMatchObject({ metadata: { labels: { touched: 'yes' } } });
  });

  test('writes nothing that was not announced', async () => {
    await outcomes(want({ type: 'ClusterIP' }));
    const changes = await compare([want({ type: 'NodePort' })]);
    await client.patch(gateway({}), { spec: { type: 'LoadBalancer' } });
    await expect(execute(changes, new ResultReport('json'))).rejects.toThrow(CommandError);
    expect(await found()).toMatchObject({ spec: { type: 'LoadBalancer' } });
  });

  test('creates nothing over an object that somebody has made meanwhile', async () => {
    const changes = await compare([want({ type: 'NodePort' })]);
    await client.apply(gateway({ type: 'ClusterIP' }));
    await expect(execute(changes, new ResultReport('json'))).rejects.toThrow(CommandError);
    expect(await found()).toMatchObject({ spec: { type: 'ClusterIP' } });
  });
});

test.each([
  ['Service', 'ClusterIP', 'ClusterIP'],
  ['Service', undefined, 'none'],
  ['Service', 'two\nlines', String.raw`"two\nlines"`],
  ['Secret', 'token', '(not shown)'],
])('of a %s, %j is shown in one line as %s', (kind, value, text) => {
  expect(shown(kind, value)).toBe(text);
});
