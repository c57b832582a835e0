/**
 * Two fresh clusters that are brought up from Git and by nothing else: the repository of examples/gitops, with the
 * addresses of the clusters that run, applied by the commands of its README. The operators have what was rendered for
 * them, arguments and rights, and the tokens that Kubernetes minted. Its third cluster never comes up, and is removed.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Yaml } from 'cdk8s';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClusterSetMember, type ClusterSetProps, remoteAccessName } from '../../constructs/index.ts';
import type { ApiJson } from '../../constructs/rendered/render.ts';
import { parseYaml } from '../../operator/kube/access/yaml.ts';
import { requireBinary } from '../cluster/real/binaries.ts';
import { startCluster, type TestCluster } from '../cluster/index.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { type Api, api, eventually, installCrd, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, link, LINKS_NAMESPACE, namespace, service, slice } from '../support/builders.ts';
import { TestGateway } from '../support/gateway.ts';
import { meshCrds } from '../support/mesh-crds.ts';
import { renderedOperator, serviceAccountUser } from '../support/rendered-operator.ts';
import { commandBlocks } from '../release/examples/readme.ts';
import { linkspan } from '../synth/linkspan.ts';
import type { EndpointsObject, LinkObject } from '../support/objects.ts';
import { LASTING_LEASE, TestOperator } from '../support/operator.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'gitops');
const DEADLINE_MS = 60_000;
const GATEWAYS: Readonly<Record<string, string>> = {
  east: '203.0.113.10',
  west: '203.0.113.20',
  north: '203.0.113.30',
};

/** The commands that the README has below a heading, a block each. */
const commandsOf = async (heading: string): Promise<readonly string[]> =>
  (await commandBlocks('gitops')).filter((block) => block.heading === heading).map(({ commands }) => commands);

/** A cluster that runs, and what the test has of it. */
class Site {
  readonly cluster: TestCluster;
  readonly client: Api;
  readonly gateway = new TestGateway();
  operator: TestOperator | undefined;

  constructor(cluster: TestCluster) {
    this.cluster = cluster;
    this.client = api(cluster);
  }

  /** The IPs behind a mirror, `!` before those that are not ready; undefined if there are no Endpoints. */
  async addresses(name: string): Promise<readonly string[] | undefined> {
    const ref = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name, namespace: 'shop' } };
    const found = await this.client.get<EndpointsObject>(ref);
    return (
      found &&
      (found.subsets ?? []).flatMap(({ addresses = [], notReadyAddresses = [] }) => [
        ...addresses.map(({ ip }) => ip),
        ...notReadyAddresses.map(({ ip }) => `!${ip}`),
      ])
    );
  }

  async condition(target: string, type: string): Promise<string | undefined> {
    const conditions = (await this.client.get<LinkObject>(link(target)))?.status?.conditions;
    return conditions?.find((condition) => condition.type === type)?.status;
  }

  async stop(): Promise<void> {
    await this.operator?.stop();
    await this.client.close();
    await this.gateway.die();
    await this.cluster.stop();
  }
}

onReal('two clusters that were brought up from Git alone', () => {
  let directory: string;
  let repository: string;
  let east: Site;
  let west: Site;

  beforeAll(async () => {
    // As the Deployment sets it: it spares a look at Service default/kubernetes.
    process.env['POD_IPS'] = '10.244.0.1';
    directory = await mkdtemp(join(tmpdir(), 'linkspan-git-only-'));
    const controllers = ['root-ca-certificate-publisher-controller', 'namespace-controller'];
    const start = async (name: string): Promise<Site> => {
      const site = new Site(await startCluster({ backing: 'real', name, controllers }));
      for (const crd of meshCrds) await installCrd(site.cluster, crd);
      await site.client.apply(namespace('shop'));
      await site.gateway.revive();
      return site;
    };
    [east, west] = await Promise.all([start('east'), start('west')]);
    repository = join(directory, 'repository');
    await cp(EXAMPLE, repository, { recursive: true, filter: (path) => !path.endsWith('node_modules') });
    const { members, ...rest } = await clusterFile();
    await synthesize({
      ...rest,
      members: members.map((member) => ({
        ...member,
        gatewayAddresses: [GATEWAYS[member.name]!],
        gateway: { ...member.gateway, probePeriod: '500ms' },
      })),
    });
    await shell('git init --quiet');
    await commit();
  }, 120_000);

  afterAll(async () => {
    delete process.env['POD_IPS'];
    await Promise.all([east.stop(), west.stop()]);
    await rm(directory, { recursive: true });
  });

  const commit = async (): Promise<void> => {
    const identity = '-c user.name=test -c user.email=test@example.com';
    await shell(`git add --all && git ${identity} commit --quiet --message=test`);
  };

  /** A member as it is once its Links are gone, and before it goes. */
  const leaving =
    (name: string) =>
    (member: ClusterSetMember): ClusterSetMember =>
      member.name === name ? { ...member, operator: true } : member;

  const clusterFile = async (): Promise<ClusterSetProps & { readonly argoCd?: object }> =>
    parseYaml(await readFile(join(repository, 'linkspan.yaml'), 'utf8')) as ClusterSetProps;

  const synthesize = async (props: ClusterSetProps, stderr = ''): Promise<void> => {
    await writeFile(join(repository, 'linkspan.yaml'), Yaml.stringify(props));
    expect(await linkspan(repository, 'synth')).toMatchObject({ code: 0, stderr });
  };

  /** What a user's shell prints, in the repository, with a kubeconfig that has both clusters. */
  const shell = async (commands: string): Promise<string> => {
    const env = {
      PATH: [dirname(requireBinary('kubectl')), process.env['PATH']].join(delimiter),
      HOME: directory,
      KUBECONFIG: [east.cluster.kubeconfigFile, west.cluster.kubeconfigFile].join(delimiter),
    };
    const { stdout } = await promisify(execFile)('sh', ['-euc', commands], { cwd: repository, env });
    return stdout;
  };

  /** What was rendered for a cluster. */
  const objectsOf = async (name: string): Promise<readonly ApiJson[]> => {
    const folder = join(repository, 'clusters', name);
    const files = await readdir(folder);
    return Promise.all(files.map(async (file) => parseYaml(await readFile(join(folder, file), 'utf8')) as ApiJson));
  };

  /** Runs the operator of a cluster with what is rendered for it now. */
  const runOperator = async (site: Site, target: Site): Promise<void> => {
    const { cluster, client } = site;
    const { kubeconfigFile, flags } = await renderedOperator(cluster, client, await objectsOf(cluster.name), directory);
    const probed = `probe-${target.cluster.name}.${LINKS_NAMESPACE}.svc=127.0.0.1:${target.gateway.address.port}`;
    site.operator = new TestOperator(kubeconfigFile, target.gateway, {
      // Where nothing is rendered the operator's own defaults hold, but for Leases that a busy machine would lose.
      flags: { enableHeadlessServices: false, ...LASTING_LEASE, ...flags, probeConnectTo: [probed] },
    });
  };

  const runOperators = () => Promise.all([runOperator(east, west), runOperator(west, east)]);

  const stopOperators = () => Promise.all([east.operator?.stop(), west.operator?.stop()]);

  const exportFrom = async ({ client }: Site, name: string): Promise<void> => {
    await client.apply(service(name, { labels: EXPORTED }));
    await client.apply(slice(name));
  };

  const isMirrored = async (site: Site, name: string, { cluster }: Site): Promise<boolean> =>
    (await site.addresses(`${name}-${cluster.name}`))?.join() === GATEWAYS[cluster.name];

  /** What was asked of either cluster so far, by anybody. */
  const requests = async () => [...(await east.cluster.audit()), ...(await west.cluster.audit())];

  const refused = async () => (await requests()).filter(({ code }) => code === 403);

  test('come up by the commands of the README', { timeout: 120_000 }, async () => {
    const [apply = ''] = await commandsOf('Apply with kubectl');
    expect(apply).toContain('for cluster in east west north;');
    const printed = await shell(apply.replace('east west north', 'east west'));
    expect(printed).toContain('link.multicluster.linkerd.io/west created');

    const [credentials = '', getLinks = ''] = await commandsOf('Credentials');
    const known = credentials.split('\n').filter((line) => !line.includes('north'));
    await shell(
      known
        .join('\n')
        .replace('https://api.east.example.com:6443', east.cluster.server)
        .replace('https://api.west.example.com:6443', west.cluster.server),
    );
    expect(await shell(getLinks)).toMatch(/^west +west/m);

    await runOperators();
    for (const [site, target] of [
      [east, 'west'],
      [west, 'east'],
    ] as const) {
      const ready = async () => (await site.condition(target, 'Ready')) === 'True';
      await eventually(`the Link of ${site.cluster.name} to ${target} is ready`, ready, DEADLINE_MS);
    }
  });

  test("mirror each other's exports with the addresses of the gateways", { timeout: 120_000 }, async () => {
    await exportFrom(east, 'web');
    await west.client.apply(service('web'));
    await west.client.apply(slice('web'));
    const [label = ''] = await commandsOf('Export a Service');
    expect(await shell(label)).toBe('service/web labeled\n');
    await eventually('web-west is ready in east', () => isMirrored(east, 'web', west), DEADLINE_MS);
    await eventually('web-east is ready in west', () => isMirrored(west, 'web', east), DEADLINE_MS);
  });

  test('mark the mirrors of a dead gateway, until it lives again', { timeout: 180_000 }, async () => {
    await west.gateway.die();
    const dead = async () => (await east.addresses('web-west'))?.join() === `!${GATEWAYS['west']!}`;
    await eventually('web-west is not ready', dead, DEADLINE_MS);
    expect(await west.addresses('web-east')).toEqual([GATEWAYS['east']]);

    await west.gateway.revive();
    await eventually('web-west is ready again', () => isMirrored(east, 'web', west), DEADLINE_MS);
  });

  test('are not changed by the same folders, applied again', async () => {
    for (const cluster of ['east', 'west']) {
      expect(await shell(`kubectl --context=${cluster} diff -f clusters/${cluster}`)).toBe('');
    }
  });

  test('take a token that was replaced', { timeout: 120_000 }, async () => {
    await shell(`kubectl --context=west --namespace=${LINKS_NAMESPACE} delete secret linkspan-peer-east`);
    await shell('kubectl --context=west apply -f clusters/west');
    await shell(`./credentials.sh east west ${west.cluster.server}`);
    await exportFrom(west, 'renewed');
    await eventually('renewed-west is ready in east', () => isMirrored(east, 'renewed', west), DEADLINE_MS);
  });

  test('remove the mirror of what is no longer exported', { timeout: 120_000 }, async () => {
    await west.client.patch(service('web'), { metadata: { labels: { 'mirror.linkerd.io/exported': null } } });
    const gone = async () =>
      (await east.client.get(service('web-west'))) === undefined && (await east.addresses('web-west')) === undefined;
    await eventually('web-west is gone', gone, DEADLINE_MS);
    expect(await west.addresses('web-east')).toEqual([GATEWAYS['east']]);
  });

  test('need no command but those that are run here, or where the examples are installed', async () => {
    const sections = new Set((await commandBlocks('gitops')).map(({ heading }) => heading));
    const here = ['Apply with kubectl', 'Credentials', 'Export a Service', 'Remove a cluster'];
    expect([...sections].sort()).toEqual([...here, 'Apply with Argo CD', 'Start'].sort());
  });

  test('have refused nobody anything', async () => {
    expect(await refused()).toEqual([]);
    const users = new Set((await requests()).map(({ user }) => user));
    const accounts = ['linkspan-operator', ...['east', 'west'].map(remoteAccessName)];
    expect(accounts.filter((name) => !users.has(serviceAccountUser(LINKS_NAMESPACE, name)))).toEqual([]);
  });

  test('forget a cluster that is removed, and keep the others', { timeout: 120_000 }, async () => {
    const mirror = service('renewed-west');
    const before = await east.client.get(mirror);
    const { members, ...rest } = await clusterFile();
    const pairs = [
      { source: 'east', target: 'west' },
      { source: 'east', target: 'north' },
      { source: 'west', target: 'east' },
      { source: 'west', target: 'north' },
    ];
    await synthesize({ ...rest, members: members.map(leaving('north')), topology: { type: 'pairs', pairs } });
    const [, unlink = '', leave = '', secrets = ''] = await commandsOf('Remove a cluster');
    expect(unlink).toContain('in east west north; do');
    // There is no cluster north here.
    const known = (commands: string): string =>
      commands.replaceAll('east west north', 'east west').replaceAll(/^kubectl --context=north .*$/gm, '');
    expect(await shell(known(unlink))).not.toContain('link.multicluster.linkerd.io "north" deleted');
    await commit();
    await synthesize({ ...rest, members: members.filter(({ name }) => name !== 'north') });
    expect(await shell(known(leave))).toContain('link.multicluster.linkerd.io "north" deleted');
    await shell(secrets);
    await commit();

    for (const site of [east, west]) {
      expect(await site.client.get(link('north'))).toBeUndefined();
      const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
      const accounts = await site.client.list({ ...account, namespace: LINKS_NAMESPACE });
      expect(accounts.map(({ metadata }) => metadata.name).filter((name) => name.endsWith('-north'))).toEqual([]);
    }
    expect((await east.client.get(mirror))?.metadata.uid).toBe(before?.metadata.uid);

    // As the Deployments do, whose arguments have changed; the last requests of the old ones may have been refused.
    await stopOperators();
    await Promise.all([east.cluster.clearAudit(), west.cluster.clearAudit()]);
    await runOperators();
    await exportFrom(west, 'later');
    await eventually('later-west is ready in east', () => isMirrored(east, 'later', west), DEADLINE_MS);
    expect(await refused()).toEqual([]);
  });

  test('are left by one of them without a trace', { timeout: 120_000 }, async () => {
    // Argo CD, which is not here, would run in the cluster that goes, and would be stopped first.
    await rm(join(repository, 'clusters', 'argocd'), { recursive: true });
    const { members, argoCd: _, ...rest } = await clusterFile();
    const unlinked = members.map((member) => leaving('west')(leaving('east')(member)));
    await synthesize({ ...rest, members: unlinked, topology: { type: 'pairs', pairs: [] } });
    const commands = await commandsOf('Remove a cluster');
    const [alone = '', unlink = '', leave = ''] = commands.map((each) => each.replaceAll('north', 'east'));
    await east.client.apply(service('both', { labels: { 'mirror.linkerd.io/federated': 'member' } }));
    await eventually(
      'both-federated is there',
      async () => (await east.client.get(service('both-federated'))) !== undefined,
      DEADLINE_MS,
    );
    await shell(alone);
    const [deleted = '', ...waited] = unlink.replaceAll('east west east', 'east west').split(/(?=^kubectl )/m);
    await shell(deleted);
    for (const commands of waited) await shell(commands);
    expect(await east.client.get(service('renewed-west'))).toBeUndefined();
    expect(await east.client.get(service('both-federated'))).toBeUndefined();
    const leases = await east.client.list({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      namespace: LINKS_NAMESPACE,
    });
    expect(leases.filter(({ metadata }) => metadata.name.startsWith('service-mirror-write-'))).toEqual([]);
    await commit();
    await east.operator?.stop();
    const warning = 'warning: linkspan.yaml: members: a single cluster has nothing to link with\n';
    await synthesize({ ...rest, members: unlinked.filter(({ name }) => name === 'west') }, warning);
    await shell(leave.replaceAll('east west east', 'west east').replaceAll('in east west;', 'in west;'));
    expect(await east.client.get(namespace(LINKS_NAMESPACE))).toBeUndefined();
    const crds = await east.client.list({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' });
    const names = (all: readonly ObjectRef[]) => all.map(({ metadata }) => metadata.name).sort();
    expect(names(crds)).toEqual(names([...meshCrds]));
  });
});
