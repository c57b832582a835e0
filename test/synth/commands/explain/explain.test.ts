/** `linkspan explain`: one Service that works, and others that stop at each of the steps. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../../../cluster/workload/index.ts';
import {
  EXPORTED,
  EXPORTED_FLAT,
  GATEWAY,
  link,
  LINKS_NAMESPACE,
  namespace,
  objectRef,
  service,
  slice,
  statefulSlice,
} from '../../../support/builders.ts';
import { readerOf } from '../../../support/reader.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';

onEachBacking('linkspan explain', (backing) => {
  let clusters: TwoClusters;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, east: { controllers: ['serviceaccount-token-controller'] } });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-explain-'));
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const fromSource = (...args: readonly string[]): Promise<Outcome> =>
    linkspan(directory, 'explain', `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`, ...args);
  const explain = (...args: readonly string[]): Promise<Outcome> =>
    fromSource(`--to-kubeconfig=${clusters.westCluster.kubeconfigFile}`, '--to-context=west', ...args);
  /** The sign and the name of each step, and the last line. */
  const outline = ({ stdout }: Outcome): readonly string[] =>
    stdout
      .split('\n')
      .filter((line) => /^[√‼?×] |^clients /.test(line))
      .map((line) => (line.startsWith('clients') ? line : line.split(' ').slice(0, 2).join(' ')));

  test.each([
    [['web'], 2, '<service>: "web" must have a namespace (as in shop/web, web-west.shop, or -n shop web-west)'],
    [['a/b/c'], 2, '"a/b/c" must be the name of a Service, a URL or an IP address'],
    [['203.0.113.99'], 1, 'address 203.0.113.99: no Service of east has it'],
    [[], 2, "missing required argument 'service'"],
    [['shop/web', '--output=wide'], 2, 'Allowed choices are table, json, yaml.'],
    [
      ['shop/web'],
      1,
      'Links in namespace linkerd-multicluster of east: there is none (make one: `linkspan link --apply --kubeconfig ',
    ],
  ])('%j exits %i', async (flags, expected, message) => {
    const { code, stderr } = await fromSource(...flags);
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
  });

  test('stops at a Link that nobody serves', async () => {
    await clusters.link();
    const found = await explain('shop/web');
    expect(outline(found)).toEqual(['× Link', 'clients reach nothing: it stops at Link']);
    expect(found.stdout).toContain('no operator holds its Lease');
    expect(found.code).toBe(1);
    const unknown = await explain('shop/web', '--name=north');
    expect(unknown.stderr).toContain('none is to cluster north (name the cluster of one of west with --name)');
  });

  test('follows a Service to the address that clients reach', { timeout: 60_000 }, async () => {
    clusters.operator();
    await clusters.ready();
    await clusters.west.apply(service('web', { labels: { ...EXPORTED, tier: 'front' } }));
    await clusters.west.apply(slice('web'));
    await eventually('web-west is there', async () => (await clusters.addresses('web-west'))?.[0] === GATEWAY);
    await eventually('it is reported', async () => (await clusters.mirrorCondition('web'))?.status === 'True');
    const found = await explain('shop/web');
    expect(outline(found), found.stdout + found.stderr).toEqual([
      '√ Link',
      '√ Service',
      '√ export',
      '√ report',
      '√ mirror',
      '√ pods',
      '√ gateway',
      '√ endpoints',
      `clients reach ${GATEWAY}`,
    ]);
    expect(found.code).toBe(0);
    for (const name of ['shop/web', 'shop/web-west']) {
      const known = await fromSource(name);
      expect(outline(known)).toEqual([
        '√ Link',
        '√ report',
        '√ mirror',
        '√ gateway',
        '√ endpoints',
        `clients reach ${GATEWAY}`,
      ]);
      expect(known.stdout).toContain('Service shop/web of west, by Link west of east');
    }
    const json = JSON.parse((await explain('shop/web-west', '--output=json')).stdout) as object;
    expect(json).toMatchObject({
      explanations: [{ namespace: 'shop', name: 'web', link: 'west', reached: [GATEWAY] }],
    });
  });

  test.each<[string, () => Promise<unknown>, string, RegExp]>([
    ['missing', async () => undefined, 'Service', /Service shop\/missing is not in west/],
    [
      'hidden',
      () => clusters.west.apply(service('hidden')),
      'export',
      /no selector of Link west selects it: it has no label mirror.linkerd.io\/exported\n +export it: `kubectl --kubeconfig \S+ --context west -n shop label service hidden mirror.linkerd.io\/exported=true/,
    ],
    [
      'datagrams',
      () => clusters.west.apply(service('datagrams', { labels: EXPORTED, ports: [{ port: 53, protocol: 'UDP' }] })),
      'mirror',
      /InvalidService: all its ports are UDP or SCTP/,
    ],
    [
      `long-${'x'.repeat(56)}`,
      () => clusters.west.apply(service(`long-${'x'.repeat(56)}`, { labels: EXPORTED })),
      'mirror',
      /InvalidName: the name of its mirror/,
    ],
    [
      'taken',
      async () => {
        await clusters.east.apply(service('taken-west'));
        await clusters.west.apply(service('taken', { labels: EXPORTED }));
      },
      'name',
      /Service shop\/taken-west of east is not ours: .+ wrote it/,
    ],
    [
      'idle',
      async () => {
        await clusters.west.apply(service('idle', { labels: EXPORTED }));
        await eventually('idle-west is there', async () => (await clusters.get('Service', 'idle-west')) !== undefined);
      },
      'pods',
      /nothing behind the Service is ready in west: it has no endpoints/,
    ],
  ])('%s stops where it should', { timeout: 30_000 }, async (name, prepare, step, message) => {
    await prepare();
    const found = await explain(`shop/${name}`);
    expect(found.stdout).toMatch(message);
    expect(outline(found).slice(-2)).toEqual([`× ${step}`, `clients reach nothing: it stops at ${step}`]);
    expect(found.code).toBe(1);
  });

  test('stops at a namespace that the source has not', async () => {
    await clusters.west.apply(namespace('far'));
    await clusters.west.apply(service('web', { namespace: 'far', labels: EXPORTED }));
    const found = await explain('far/web');
    expect(found.stdout).toContain('MissingNamespace: namespace far does not exist in the source cluster');
    expect(outline(found).at(-1)).toBe('clients reach nothing: it stops at mirror');
  });

  test('goes on without Leases and Namespaces for a user who may not read them', { timeout: 30_000 }, async () => {
    const { eastCluster, east } = clusters;
    const file = join(directory, 'reader.yaml');
    const rules = [
      { apiGroups: ['multicluster.linkerd.io'], resources: ['links'] },
      { apiGroups: [''], resources: ['services', 'endpoints'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
    ];
    await writeFile(file, await readerOf(eastCluster, east, 'explain-reader', rules));
    const found = await linkspan(directory, 'explain', 'shop/web', `--kubeconfig=${file}`);
    expect(outline(found), found.stderr).toEqual([
      '? access',
      '√ Link',
      '√ report',
      '√ mirror',
      '√ gateway',
      '√ endpoints',
      `clients reach ${GATEWAY}, as far as is known: not of access`,
    ]);
    expect(found.stdout).toMatch(/whether an operator serves the Link is not known: east: .*leases/);
    // Where there is a Service, there is its namespace.
    expect(found.stdout).not.toContain('whether namespace');
    expect(found.code).toBe(1);
  });

  test('takes what a person has in hand', { timeout: 60_000 }, async () => {
    const clusterIP = ((await clusters.get('Service', 'web-west')) as { spec?: { clusterIP?: string } }).spec
      ?.clusterIP;
    for (const given of [
      ['web-west.shop'],
      ['web-west', '-n', 'shop'],
      ['http://web-west.shop.svc.cluster.local:8080/cart'],
      [clusterIP ?? ''],
    ]) {
      const { code, stdout, stderr } = await fromSource(...given);
      expect(stdout, stderr).toContain('Service shop/web of west, by Link west of east');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
  });

  test('takes --namespace for that of the extension where the Service has one, as it once was', async () => {
    const { code, stderr } = await fromSource('shop/web', '--namespace=linkerd-multicluster');
    expect(code).toBe(0);
    expect(stderr).toBe(
      'note: --namespace linkerd-multicluster is taken for that of the extension, as shop/web has one; --multicluster-namespace names it\n',
    );
  });

  test('knows why there is no mirror by the name that clients use', { timeout: 30_000 }, async () => {
    await eventually(
      'it is reported',
      async () => (await clusters.mirrorCondition('taken'))?.reason === 'NameConflict',
    );
    const found = await fromSource('far/web-west');
    expect(outline(found).at(-1)).toBe('clients reach nothing: it stops at report');
    expect(found.stdout).toMatch(
      /MissingNamespace.*\n +create it: `kubectl --kubeconfig \S+ --context east create namespace far`/,
    );
    expect((await fromSource('shop/taken-west')).stdout).toContain('Service shop/taken of west, by Link west of east');
    const unknown = await fromSource('shop/unheard-west');
    expect(unknown.stdout).toContain('Link west does not report on shop/unheard\n');
    expect(unknown.code).toBe(1);
  });

  test('explains a Service beside a Link whose cluster has no name that a label can have (L272)', async () => {
    const bad = link('bad', { targetClusterName: 'West Prod' });
    await clusters.east.apply(bad);
    const found = await explain('shop/web', '--name=west');
    const all = await fromSource('shop/web');
    const invalid = await fromSource('shop/web', '--name=West Prod');
    await clusters.east.delete(bad);
    expect({ code: found.code, stderr: found.stderr }).toEqual({ code: 0, stderr: '' });
    expect({ code: all.code, stderr: all.stderr }).toEqual({ code: 0, stderr: '' });
    expect(invalid.stdout, invalid.stderr).toMatch(/× Link +Link bad is invalid: spec.targetClusterName/);
    expect(invalid.code).toBe(1);
  });

  test('goes on from the source when the target does not answer', { timeout: 60_000 }, async () => {
    const file = join(directory, 'away.yaml');
    await writeFile(file, clusters.westCluster.kubeconfig.replace(/server: .*/, 'server: https://127.0.0.1:1'));
    const found = await fromSource('shop/web', `--to-kubeconfig=${file}`, '--to-context=west');
    expect(outline(found), found.stderr).toEqual([
      '√ Link',
      '? Service',
      '√ report',
      '√ mirror',
      '√ gateway',
      '√ endpoints',
      `clients reach ${GATEWAY}, as far as is known: not of Service`,
    ]);
    expect(found.stdout).toMatch(/\? Service +what is in west is not known: west: .*ECONNREFUSED/);
    expect(found.code).toBe(1);
  });

  test('explains flat mode by the pods of the target', { timeout: 30_000 }, async () => {
    await clusters.west.apply(service('flat', { labels: EXPORTED_FLAT }));
    await clusters.west.apply(slice('flat', { labels: EXPORTED_FLAT, endpoints: [{ ip: '10.244.0.9' }] }));
    await eventually('flat-west is there', async () => (await clusters.get('Service', 'flat-west')) !== undefined);
    const found = await explain('shop/flat');
    expect(outline(found).at(-1), found.stdout).toBe('clients reach 10.244.0.9');
    expect((await fromSource('shop/flat')).stdout).toContain("Linkerd's proxies discover the pods in the target");
  });

  test('explains each pod of a headless Service', { timeout: 30_000 }, async () => {
    await clusters.west.apply(service('db', { labels: EXPORTED, headless: true }));
    await clusters.west.apply(statefulSlice('db', ['db-0', 'db-1'], { notReady: ['db-1'] }));
    await eventually('db-0 is listed', async () => (await clusters.addresses('db-west'))?.length === 1);
    await eventually('db-1-west is there', async () => (await clusters.addresses('db-1-west'))?.length === 1);
    await eventually('it is reported', async () => (await clusters.mirrorCondition('db'))?.status === 'True');
    const found = await explain('shop/db');
    expect(found.stdout).toMatch(new RegExp(`√ pod .*db-0-west, \\S+, leads to ${GATEWAY}`));
    expect(found.stdout).toMatch(/‼ pod .*db-1-west, \S+, is not among the addresses of db-west: its pod is not ready/);
    expect(found.code, found.stdout).toBe(0);
    const pod = await fromSource('shop/db-0-west');
    expect(pod.stdout).toContain('Service shop/db of west, by Link west of east');
  });

  test('stops at a gateway that is down', { timeout: 60_000 }, async () => {
    await clusters.gateway.die();
    await eventually('it is down', async () => (await clusters.condition('GatewayAlive'))?.status === 'False');
    const found = await explain('shop/web');
    expect(outline(found).slice(-2)).toEqual(['× gateway', 'clients reach nothing: it stops at gateway']);
    expect(found.stdout).toMatch(/‼ Link +Link west is not Ready/);
    expect(found.code).toBe(1);
    expect(await shownByReadme()).toEqual(words(found.stdout));
  });

  test('believes no report of an operator whose Link another writes for', { timeout: 60_000 }, async () => {
    await clusters.gateway.revive();
    await clusters.ready();
    await clusters.stopOperators();
    await clusters.east.apply(leaseOf('linkspan-operator', 'linkspan-0', '2026-01-01T00:00:00.000000Z'));
    const now = new Date().toISOString().replace('Z', '000Z');
    await clusters.east.apply(leaseOf('service-mirror-write-west', 'controller-west-0', now));
    const found = await fromSource('shop/web');
    expect(outline(found), found.stderr).toEqual([
      '‼ Link',
      '√ report',
      '√ mirror',
      '? gateway',
      '√ endpoints',
      `clients reach ${GATEWAY}, as far as is known: not of gateway`,
    ]);
    expect(found.stdout).toMatch(
      /‼ Link +Link west: its Lease is held by controller-west-0, which is not the operator/,
    );
    expect(found.code).toBe(1);
  });
});

const leaseOf = (name: string, holderIdentity: string, renewTime: string): ObjectRef =>
  ({
    ...objectRef('coordination.k8s.io/v1', 'Lease', name, LINKS_NAMESPACE),
    spec: { holderIdentity, renewTime, leaseDurationSeconds: 3_600 },
  }) as ObjectRef;

/** The words of what `explain` prints, without what differs from run to run: where files and the probed port are. */
const words = (text: string): readonly string[] =>
  text
    .replaceAll(/ --kubeconfig \S+/g, '')
    .replaceAll(/\b(?:\d+\.){3}\d+:\d+/g, '<address>')
    .trim()
    .split(/\s+/);

/** What the README shows of a gateway that died, below the command. */
async function shownByReadme(): Promise<readonly string[]> {
  const readme = await readFile(new URL('../../../../README.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^\$ linkspan explain [^\n]*\n(.*?)^```$/ms.exec(readme) ?? [];
  return words(shown);
}
