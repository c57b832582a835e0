/** `linkspan init` on clusters that answer and one that does not; `linkspan synth` renders what it writes. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { borrowCluster, type TestCluster } from '../../../cluster/index.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { type Api, api } from '../../../cluster/workload/index.ts';
import { LINKS_NAMESPACE, namespace, service } from '../../../support/builders.ts';
import { linkerdConfig } from '../../../support/linkerd-cluster.ts';
import { linkspanHere } from '../../in-process.ts';

interface Kubeconfig {
  readonly clusters: readonly object[];
  readonly contexts: readonly { readonly name: string; readonly context: object }[];
  readonly users: readonly object[];
}

onEachBacking('linkspan init', (backing) => {
  let east: TestCluster;
  let client: Api;
  let directory: string;
  let kubeconfig: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-init-'));
    east = await borrowCluster(backing, 'east');
    client = api(east);
    for (const name of ['linkerd', LINKS_NAMESPACE]) await client.apply(namespace(name));
    await client.apply(linkerdConfig('east'));
    const gateway = service('linkerd-gateway', { namespace: LINKS_NAMESPACE, spec: { type: 'LoadBalancer' } });
    await client.apply(gateway);
    const ingress = [{ ip: '203.0.113.5' }];
    await client.patch(gateway, { status: { loadBalancer: { ingress } } }, { subresource: 'status' });
    const own = parseYaml(east.kubeconfig) as Kubeconfig;
    const dead = parseYaml(
      east.kubeconfig.replace(east.server, 'https://127.0.0.1:1').replaceAll(/\beast\b/g, 'west'),
    ) as Kubeconfig;
    kubeconfig = join(directory, 'kubeconfig');
    const [context] = own.contexts;
    const merged = {
      ...own,
      clusters: [...own.clusters, ...dead.clusters],
      contexts: [
        ...own.contexts,
        ...dead.contexts,
        { ...context, name: 'again' },
        { name: 'stale', context: { ...context?.context, cluster: 'deleted' } },
      ],
      users: [...own.users, ...dead.users],
    };
    await writeFile(kubeconfig, JSON.stringify(merged));
  }, 120_000);
  afterAll(async () => {
    await client.close();
    await east.stop();
    await rm(directory, { recursive: true });
  });

  const run = (...args: readonly string[]) => linkspanHere('init', `--kubeconfig=${kubeconfig}`, ...args);

  test('writes a file that is rendered, and reads the clusters only', { timeout: 30_000 }, async () => {
    const file = join(directory, 'linkspan.yaml');
    await east.clearAudit();
    const { code, stdout, stderr } = await run(`--file=${file}`);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `${file}: 2 clusters, 3 decisions are left to you\n` });
    expect(stderr.split('\n')).toEqual([
      'note: context again is left out: it leads to the API server of east',
      `note: context stale is left out: kubeconfig ${kubeconfig}: context "stale" names cluster "deleted", which does not exist`,
      `note: ${file}: members[1]: clusterDomain and trustDomain, unless both are cluster.local`,
      `note: ${file}: members[1].gatewayAddresses: the addresses at which other clusters reach its gateway`,
      `note: ${file}: operator.image: an image that your clusters can pull`,
      `note: next: \`linkspan synth --file ${file}\`, which writes clusters/`,
      '',
    ]);
    const text = await readFile(file, 'utf8');
    expect(parseYaml(text)).toEqual({
      members: [
        {
          name: 'east',
          clusterDomain: 'east.local',
          trustDomain: 'east.example',
          gatewayAddresses: ['203.0.113.5'],
        },
        { name: 'west', gatewayAddresses: ['gateway.west.example.com'] },
      ],
      operator: { image: 'registry.example.com/linkspan:0.1.0' },
    });
    expect(text).toMatch(/# Context west, https:\/\/127\.0\.0\.1:1; not asked: .*ECONNREFUSED/);
    const verbs = (await east.audit()).filter(({ userAgent }) => userAgent === 'linkspan-cli').map(({ verb }) => verb);
    expect([...new Set(verbs)].sort()).toEqual(['get', 'list']);

    const folder = join(directory, 'clusters');
    const rendered = await linkspanHere('synth', `--file=${file}`, `--output=${folder}`);
    expect(rendered.code, rendered.stderr).toBe(0);

    const again = await run(`--file=${file}`);
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toBe(
      `error: ${file}: is there already, and is not overwritten (name another with --file, or delete it)\n`,
    );
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  test('is refused where every context is stale (L280)', async () => {
    const only = join(directory, 'stale');
    const context = { cluster: 'deleted', user: 'east' };
    const contexts = [
      { name: 'a', context },
      { name: 'b', context },
    ];
    await writeFile(only, JSON.stringify({ ...(parseYaml(east.kubeconfig) as object), contexts }));
    const { code, stderr } = await linkspanHere(
      'init',
      `--kubeconfig=${only}`,
      `--file=${join(directory, 'none.yaml')}`,
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^note: context a is left out: .*\nnote: context b .*\nerror: .* names cluster "deleted", which/,
    );
  });

  test.each<[readonly string[], string]>([
    [['--context=north'], 'has no context "north" (it has east, west, again, stale)'],
    [['--context=east', '--context=again'], '--context: east and again lead to the same API server'],
    [['--context=east', '--image=not an image'], '--image: "not an image" must be'],
    [['--context=east', '--namespace=Mesh'], '--namespace: "Mesh" must be a valid DNS label'],
    [['--context=east', '--context=stale'], 'context "stale" names cluster "deleted", which does not exist'],
    [['--kubeconfig=/nowhere'], 'kubeconfig /nowhere cannot be read'],
    [['--context=east', '--file=/nowhere/linkspan.yaml'], '/nowhere/linkspan.yaml: cannot be written: ENOENT'],
  ])('refuses %j', async (flags, message) => {
    const { code, stdout, stderr } = await run(`--file=${join(directory, 'other.yaml')}`, ...flags);
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
