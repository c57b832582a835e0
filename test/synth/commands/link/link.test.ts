/** `linkspan link` and `linkspan unlink` on two clusters with the controllers and the operator that they rely on. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkCrd } from '../../../../crds/index.ts';
import { gatewayIdentity, LOCAL_WRITE_LEASE, OPERATOR_LEASE } from '../../../../crds/wire.ts';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { readAccountToken } from '../../../../operator/kube/account-token.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import type { TestCluster } from '../../../cluster/index.ts';
import { type Api, eventually, installCrd, type KubeObject, type ObjectRef } from '../../../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  LINKS_NAMESPACE,
  namespace,
  objectRef,
  secretRef,
  service,
  slice,
} from '../../../support/builders.ts';
import type { LinkObject } from '../../../support/objects.ts';
import { linkerdConfig, linkerdGateway } from '../../../support/linkerd-cluster.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

const IDENTITY = gatewayIdentity('linkerd', 'west.example');
const ACCOUNT = 'linkerd-service-mirror-remote-access-east';

const GATEWAY = linkerdGateway('west');
const RBAC = 'rbac.authorization.k8s.io/v1';
const credentialsRef = (within: string) => secretRef('cluster-credentials-west', within);
const linkRef = objectRef('multicluster.linkerd.io/v1alpha3', 'Link', 'west', LINKS_NAMESPACE);
const ACCESS = [
  objectRef('v1', 'ServiceAccount', ACCOUNT, LINKS_NAMESPACE),
  secretRef('linkspan-peer-east'),
  secretRef(`${ACCOUNT}-token`),
  objectRef(RBAC, 'Role', ACCOUNT, LINKS_NAMESPACE),
  objectRef(RBAC, 'RoleBinding', ACCOUNT, LINKS_NAMESPACE),
  objectRef(RBAC, 'ClusterRole', ACCOUNT),
  objectRef(RBAC, 'ClusterRoleBinding', ACCOUNT),
];

/** A manifest, as far as it is read here. */
interface LinkManifest extends KubeObject {
  readonly spec?: { readonly gatewayAddress?: string };
}

/** Leases of the operator itself, whatever Links there are. */
const OF_OPERATOR = [OPERATOR_LEASE, LOCAL_WRITE_LEASE];

/** Runs the program as users do, in a process with variables of its own. */
const cli = async (env: NodeJS.ProcessEnv, args: readonly string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const program = new URL('../../../../synth/cli.ts', import.meta.url).pathname;
    execFile(process.execPath, [program, ...args], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });

/** What a cluster has of the kinds that the commands write: `Kind namespace/name`, sorted. */
const everything = async (client: Api): Promise<readonly string[]> => {
  const kinds = [
    ['v1', 'Secret'],
    ['v1', 'Service'],
    ['v1', 'ServiceAccount'],
    ['v1', 'Namespace'],
    [RBAC, 'Role'],
    [RBAC, 'RoleBinding'],
    [RBAC, 'ClusterRole'],
    [RBAC, 'ClusterRoleBinding'],
    ['coordination.k8s.io/v1', 'Lease'],
    ['multicluster.linkerd.io/v1alpha3', 'Link'],
  ] as const;
  const lists = await Promise.all(
    kinds.map(async ([apiVersion, kind]) => {
      // The Link's kind is not there before a Link can be.
      return client.list({ apiVersion, kind }).catch(() => []);
    }),
  );
  return lists
    .flat()
    .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)
    .filter((name) => !OF_OPERATOR.some((lease) => name.endsWith(`/${lease}`)))
    .sort();
};

onEachBacking('linkspan link and unlink', (backing) => {
  let clusters: TwoClusters;
  let directory: string;
  let before: readonly (readonly string[])[];

  beforeAll(async () => {
    const minting = { controllers: ['serviceaccount-token-controller'] };
    clusters = await TwoClusters.start({ backing, west: minting });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-link-'));
    await clusters.east.apply(namespace('linkerd'));
    for (const each of [namespace('linkerd'), namespace(LINKS_NAMESPACE), linkerdConfig('west'), GATEWAY]) {
      await clusters.west.apply(each);
    }
    before = await inBoth();
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const inBoth = async () => [await everything(clusters.east), await everything(clusters.west)];
  const pair = (): readonly string[] => [
    `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`,
    `--context=${clusters.eastCluster.name}`,
    `--to-kubeconfig=${clusters.westCluster.kubeconfigFile}`,
    `--to-context=${clusters.westCluster.name}`,
  ];
  const address = (): string => `--api-server-address=${clusters.westCluster.server}`;
  const run = (command: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(command, ...pair(), ...args);
  const giveAddress = (client = clusters.west, ip = '203.0.113.20') =>
    client.patch(GATEWAY, { status: { loadBalancer: { ingress: [{ ip }] } } }, { subresource: 'status' });
  /** A kubeconfig of the cluster whose context has another name. */
  const renamed = async ({ name, kubeconfig }: TestCluster, context: string): Promise<string> => {
    const file = join(directory, `${name}-as-${context}`);
    const parsed = parseYaml(kubeconfig) as { contexts: object[] };
    const contexts = parsed.contexts.map((each) => ({ ...each, name: context }));
    await writeFile(file, JSON.stringify({ ...parsed, contexts, 'current-context': context }));
    return file;
  };
  const writes = () => commandWrites(clusters.eastCluster, clusters.westCluster);
  const kubeconfigIn = async (within: string): Promise<string> => {
    const ref = credentialsRef(within);
    const secret = await clusters.east.get<KubeObject & { readonly data: { readonly kubeconfig: string } }>(ref);
    return Buffer.from(secret?.data.kubeconfig ?? '', 'base64').toString();
  };
  const tokenIn = async (within: string): Promise<string> => /token: (\S+)/.exec(await kubeconfigIn(within))?.[1] ?? '';

  describe('before there is a Link', () => {
    test('name every obstacle at once, and write nothing', async () => {
      const { code, stdout, stderr } = await run('link', '--apply');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr.split('\n')).toEqual([
        `error: API server of west: ${clusters.westCluster.server} leads to this machine, and pods of east cannot reach it (name the address that they reach with --api-server-address)`,
        'error: Service linkerd-multicluster/linkerd-gateway of west: its load balancer has no address yet (wait for it with --wait, or name one with --gateway-addresses)',
        '',
      ]);
      expect(await writes()).toEqual([]);
    });

    test.each([
      [['--gateway-name=gate'], 'Service linkerd-multicluster/gate of west: not found: the target has no gateway'],
      [
        ['--namespace=nope', '--gateway=false'],
        'Namespace nope of west: not found (install the multicluster extension there, or name its namespace with --namespace, which is the same in both clusters)',
      ],
      [['--api-server-address=http://a', '--gateway=false'], '--api-server-address: "http://a" must be an https URL'],
      [['--linkerd-namespace=nope', '--gateway=false'], 'Namespace nope of east: not found (install Linkerd there'],
      [['--federation=flat', '--gateway-addresses=10.0.0.1'], '--federation=flat: needs --flat'],
    ])('with %j: %s', async (flags, message) => {
      const { code, stderr } = await run('link', address(), ...flags);
      expect(code).toBe(1);
      expect(stderr).toContain(`error: ${message}`);
    });

    test.each([
      [['--context=north'], 'has no context "north" (it has east)'],
      [['--name=West_1'], '--name: "West_1" must be a valid DNS label'],
      [['--wait'], '--wait: needs --apply'],
      [['--source-api-server-address=https://a'], '--source-api-server-address: needs --both'],
      [['--gateway=false', '--gateway-port=1'], '--gateway-port: must not be used with --gateway=false'],
      [['--both', '--gateway-addresses=10.0.0.1'], '--gateway-addresses: must not be used with --both'],
      [['--gateway=false', '--federation=gateway'], '--federation=gateway: must not be used with --gateway=false'],
      [['--flat=false', '--federation=flat'], '--federation=flat: must not be used with --flat=false'],
      [['--federation=both'], 'Allowed choices are gateway, flat.'],
      [['--gateway-port=0'], "option '--gateway-port <port>' argument '0' is invalid. It must be between 1 and 65535."],
      [['--gateway=maybe'], 'It must be true or false.'],
      [['--timeout=soon'], 'It must be a duration such as 30s, 5m or 1h.'],
    ])('refuse %j as a usage error', async (flags, message) => {
      const { code, stderr } = await run('link', address(), ...flags);
      expect(stderr).toContain(message);
      expect(code).toBe(2);
    });

    test('say what the operator of linkspan install lacks to create namespaces (L278)', async () => {
      const record = objectRef('v1', 'ConfigMap', 'linkspan-install', LINKS_NAMESPACE);
      const flags = [address(), '--gateway=false', '--enable-namespace-creation'];
      const noted = async (settings?: string) => {
        const data =
          settings === undefined ? {} : { version: '0.1.0', settings: `linkerdNamespace: linkerd\n${settings}` };
        if (settings !== undefined) await clusters.east.apply({ ...record, data } as ObjectRef);
        const { stderr } = await run('link', ...flags);
        return stderr.split('\n').filter((line) => line.includes('namespaces'));
      };
      expect(await noted()).toEqual([]);
      const remedy = `\`linkspan upgrade --grant-namespace-creation --apply --kubeconfig ${clusters.eastCluster.kubeconfigFile} --context east\``;
      expect(await noted('')).toEqual([`note: the operator of east may not create namespaces: ${remedy}`]);
      for (const settings of ['grantNamespaceCreation: true\n', 'values: {enableNamespaceCreation: true}\n'])
        expect(await noted(settings)).toEqual([]);
      await clusters.east.delete(record);
    });

    test('refuse one cluster given twice', async () => {
      const { eastCluster } = clusters;
      const { code, stderr } = await run(
        'link',
        `--to-kubeconfig=${eastCluster.kubeconfigFile}`,
        '--to-context=east',
        '--name=a',
      );
      expect(stderr).toContain(
        'contexts east and east: lead to the same cluster: its namespace kube-system has the uid ',
      );
      expect(code).toBe(2);
    });

    test('warn of a server that only CAs of this machine prove, which pods do not have', async () => {
      const { caData, kubeconfig, server } = clusters.westCluster;
      const [file, ca] = [join(directory, 'without-ca'), join(directory, 'ca.pem')];
      await writeFile(file, kubeconfig.replace(/^ +certificate-authority-data: .*\n/m, ''));
      await writeFile(ca, Buffer.from(caData, 'base64'));
      const { stderr } = await cli({ NODE_EXTRA_CA_CERTS: ca }, [
        ...['link', ...pair(), `--to-kubeconfig=${file}`, `--api-server-address=${server}`],
        ...['--gateway-addresses=203.0.113.20'],
      ]);
      expect(stderr).toContain(
        `warning: the kubeconfig names no CA for ${server}, so that the credentials get the own CA`,
      );
      expect(await writes()).toEqual([]);
    });

    test('say that a server cannot be reached', async () => {
      const file = join(directory, 'nowhere');
      const nowhere = clusters.westCluster.kubeconfig.replace(clusters.westCluster.server, 'https://127.0.0.1:1');
      await writeFile(file, nowhere);
      const { code, stderr } = await run('link', `--to-kubeconfig=${file}`, address());
      expect(stderr).toMatch(/^error: west: .*ECONNREFUSED.* \(check that https:\/\/127\.0\.0\.1:1 is up/);
      expect(code).toBe(1);
    });
  });

  describe('with a gateway', () => {
    beforeAll(() => giveAddress());

    test('print what they would write, without a token, and write nothing', async () => {
      const { code, stdout, stderr } = await run('link', address());
      expect(code).toBe(0);
      expect(stderr).toContain('note: the credentials of west are left out');
      expect(stdout).toContain('# west: the account with which east reads');
      expect(stdout).not.toContain('cluster-credentials-west\n  namespace');
      const inOnePipe = 'warning: the manifests are of two clusters, each under a comment that names it';
      expect(stderr).toContain(inOnePipe);
      const asked = await run('link', address(), '--output=json');
      expect(asked.stderr).not.toContain(inOnePipe);
      const json = JSON.parse(asked.stdout) as {
        clusters: { context: string; objects: KubeObject[] }[];
      };
      expect(json.clusters.map(({ context, objects }) => [context, ...objects.map(({ kind }) => kind)])).toEqual([
        ['west', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding', 'Secret'],
        ['east', 'Link'],
      ]);
      const headless = await run('link', address(), '--enable-headless-services', '--output=json');
      expect(headless.stdout).toContain('"enableHeadlessServices": true');
      const linked = await run('link', address(), '--service-exports=false', '--output=json');
      expect(linked.stdout).toContain('"serviceExports": false');
      expect(headless.stdout).not.toContain('serviceExports');
      expect(await writes()).toEqual([]);
    });

    test('write the account, both Secrets and the Link, and wait until it is Ready', { timeout: 60_000 }, async () => {
      clusters.operator();
      const { code, stdout, stderr } = await run('link', address(), '--flat', '--apply', '--wait', '--timeout=50s');
      expect({ code, stdout }, stderr).toEqual({
        code: 0,
        stdout: [
          `serviceaccount/${ACCOUNT} created in west`,
          `clusterrole/${ACCOUNT} created in west`,
          `clusterrolebinding/${ACCOUNT} created in west`,
          `role/${ACCOUNT} created in west`,
          `rolebinding/${ACCOUNT} created in west`,
          'secret/linkspan-peer-east created in west',
          `secret/${ACCOUNT}-token created in west`,
          'secret/cluster-credentials-west created in east',
          'secret/cluster-credentials-west created in east',
          'link/west created in east',
          '',
        ].join('\n'),
      });
      expect(stderr).toMatch(/Link west of east is Ready\n$/);

      const made = await clusters.east.get<LinkObject & { readonly spec: object }>(linkRef);
      expect(made?.spec).toMatchObject({
        targetClusterName: 'west',
        targetClusterDomain: 'west.local',
        gatewayAddress: '203.0.113.20',
        gatewayPort: '4143',
        gatewayIdentity: IDENTITY,
        probeSpec: { path: '/ready', port: '4191', period: '1s' },
      });
      const copy = await clusters.east.get(credentialsRef('linkerd'));
      expect(copy?.metadata.annotations).toEqual({
        'multicluster.linkerd.io/cluster-domain': 'west.local',
        'multicluster.linkerd.io/trust-domain': 'west.example',
      });
      expect(parseYaml(await kubeconfigIn(LINKS_NAMESPACE))).toMatchObject({
        clusters: [{ cluster: { server: clusters.westCluster.server } }],
      });
    });

    test("P1, P6: give the Link a token that ends, and Linkerd's copy one of its own that does not", async () => {
      const [own, copy] = await Promise.all([LINKS_NAMESPACE, 'linkerd'].map((each) => tokenIn(each)));
      const { boundTo, issuedAtMs, expiresAtMs } = readAccountToken(own!)!;
      expect((expiresAtMs - issuedAtMs) / 3_600_000).toBe(48);
      const peer = await clusters.west.get(secretRef('linkspan-peer-east'));
      expect(boundTo).toEqual({ name: 'linkspan-peer-east', uid: peer?.metadata.uid });
      expect(readAccountToken(copy!)).toBeUndefined();
      const stored = await clusters.west.get<KubeObject & { readonly data: { readonly token: string } }>(
        secretRef(`${ACCOUNT}-token`),
      );
      expect(copy).toBe(Buffer.from(stored!.data.token, 'base64').toString());
    });

    test('mirror what is exported', { timeout: 60_000 }, async () => {
      await clusters.west.apply(service('web', { labels: EXPORTED }));
      await clusters.west.apply(slice('web'));
      await eventually('web-west is there', async () => (await clusters.addresses('web-west'))?.[0] === '203.0.113.20');
    });

    test('change nothing when they run again, and keep what no flag says again', async () => {
      const { code, stdout } = await run('link', address(), '--apply', '--output=json');
      expect(code).toBe(0);
      const { results } = JSON.parse(stdout) as { results: { outcome: string }[] };
      expect(results.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 10 }, () => 'unchanged'));
    });

    test('refuse a second Link to the cluster', async () => {
      const other = {
        ...linkRef,
        metadata: { ...linkRef.metadata, name: 'other' },
        spec: { targetClusterName: 'north' },
      };
      await clusters.east.apply(other);
      const named = await run('link', address(), '--name=other');
      expect(named.stderr).toContain('Link linkerd-multicluster/other of east: is to cluster north');
      const unlinked = await run('unlink', '--name=other', '--apply');
      expect(unlinked.stderr).toContain('Link linkerd-multicluster/other of east: is to cluster north');
      const another = await run('link', address(), '--name=north');
      expect(another.stderr).toContain(
        'Link linkerd-multicluster/other of east: is to cluster north already (add --name other to change that Link, or name another cluster with --name)',
      );
      expect([named.code, unlinked.code, another.code]).toEqual([1, 1, 1]);
      await clusters.east.delete(other);
    });

    test('find the Link by its cluster where --name is forgotten', async () => {
      const forgotten = [
        `--to-kubeconfig=${await renamed(clusters.westCluster, 'prod-west')}`,
        '--to-context=prod-west',
      ];
      const linked = await run('link', ...forgotten, address());
      expect(linked.code, linked.stderr).toBe(0);
      expect(linked.stderr).toContain(
        'warning: Link linkerd-multicluster/west of east leads to prod-west already: to change it instead of adding a second one, add --name west\n',
      );
      expect(await run('unlink', ...forgotten, '--apply')).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'error: Link linkerd-multicluster/west of east: leads to prod-west, and there is no Link of that name (add --name west)\n',
      });
      const meant = await run('link', ...forgotten, address(), '--name=second');
      expect(meant.stderr).not.toContain('leads to prod-west already');
      const gone = await run('unlink', ...forgotten, '--name=second');
      expect(gone.stderr).toContain('nothing is left of a Link to second in east');
    });

    test('tell clusters apart whose contexts have one name', async () => {
      const [east, west] = [
        await renamed(clusters.eastCluster, 'default'),
        await renamed(clusters.westCluster, 'default'),
      ];
      const both = [`--kubeconfig=${east}`, '--context=default', `--to-kubeconfig=${west}`, '--to-context=default'];
      const names = ['--name=west', '--source-name=east'];
      const { stdout } = await run('link', ...both, ...names, address(), '--service-exports=false', '--output=diff');
      expect(stdout).toMatch(
        RegExp(`^default \\(${west}\\):\n  7 objects would not change\n\ndefault \\(${east}\\):\n~ Link `),
      );
      const json = (await run('unlink', ...both, ...names, '--output=json')).stdout;
      const { clusters: listed } = JSON.parse(json) as { clusters: { context: string }[] };
      expect(listed.map(({ context }) => context)).toEqual([`default (${east})`, `default (${west})`]);
    });

    test('list what they would delete, and delete nothing', async () => {
      await clusters.eastCluster.clearAudit();
      await clusters.westCluster.clearAudit();
      const { code, stdout, stderr } = await run('unlink', '--output=json');
      expect(code).toBe(0);
      expect(stderr).toContain('the operator would remove 2 mirrors from east');
      const { clusters: listed } = JSON.parse(stdout) as { clusters: { context: string; objects: KubeObject[] }[] };
      expect(listed.map(({ context, objects }) => [context, ...objects.map(({ kind }) => kind)])).toEqual([
        ['east', 'Link', 'Secret', 'Secret'],
        ['west', 'Secret', 'Secret', 'RoleBinding', 'ClusterRoleBinding', 'Role', 'ClusterRole', 'ServiceAccount'],
      ]);
      expect(await writes()).toEqual([]);
    });

    test('leave both clusters as they were', { timeout: 60_000 }, async () => {
      await clusters.west.delete(slice('web'));
      await clusters.west.delete(service('web'));
      const { code, stdout, stderr } = await run('unlink', '--apply', '--timeout=50s');
      expect(code, stderr).toBe(0);
      expect(stdout.split('\n')).toEqual([
        'link/west deleted in east',
        'secret/cluster-credentials-west deleted in east',
        'secret/cluster-credentials-west deleted in east',
        `secret/${ACCOUNT}-token deleted in west`,
        'secret/linkspan-peer-east deleted in west',
        `rolebinding/${ACCOUNT} deleted in west`,
        `clusterrolebinding/${ACCOUNT} deleted in west`,
        `role/${ACCOUNT} deleted in west`,
        `clusterrole/${ACCOUNT} deleted in west`,
        `serviceaccount/${ACCOUNT} deleted in west`,
        '',
      ]);
      expect(await inBoth()).toEqual(before);
      for (const each of ACCESS) expect(await clusters.west.get(each)).toBeUndefined();

      const again = await run('unlink', '--cluster-name=west', '--apply');
      expect(again).toMatchObject({ code: 0, stdout: '' });
      expect(again.stderr).toContain('note: no account of east was found in west');
      expect(again.stderr).toContain('nothing is left of a Link to west in east');
    });
  });

  test('remove mirrors and memberships at once with an operator that was away', { timeout: 60_000 }, async () => {
    await run('link', address(), '--apply', '--wait', '--timeout=50s');
    const labels = { ...EXPORTED, 'mirror.linkerd.io/federated': 'member' };
    await clusters.west.apply(service('web', { labels }));
    await clusters.west.apply(slice('web'));
    await eventually('web-west is there', async () => (await clusters.addresses('web-west')) !== undefined);
    // By the defaults, federated Services lead through the gateway.
    const federated = () => clusters.get('Service', 'web-federated');
    await eventually('web-federated is there', async () => (await federated()) !== undefined);
    await clusters.stopOperators();
    const away = await run('unlink', '--apply', '--timeout=1s');
    expect(away.stderr).toContain('mirrors of west in east: 2 are left after 1 s');
    clusters.operator();
    const { code, stderr } = await run('unlink', '--apply', '--timeout=30s');
    expect(code, stderr).toBe(0);
    expect([await clusters.get('Service', 'web-west'), await federated()]).toEqual([undefined, undefined]);
    await clusters.west.delete(slice('web'));
    await clusters.west.delete(service('web'));
  });

  const linkedWithMirror = async (): Promise<void> => {
    const linked = await run('link', address(), '--apply', '--wait', '--timeout=50s');
    expect(linked.code, linked.stderr).toBe(0);
    await clusters.west.apply(service('web', { labels: EXPORTED }));
    await clusters.west.apply(slice('web'));
    await eventually('web-west is there', async () => (await clusters.addresses('web-west')) !== undefined);
  };

  test('leave mirrors where the operator writes nothing, and name them (A3, L276)', { timeout: 60_000 }, async () => {
    await linkedWithMirror();
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
    const left = service('dns-west', { namespace: 'kube-system', labels });
    await clusters.east.apply(left);
    const { code, stderr } = await run('unlink', '--apply', '--timeout=20s');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      `note: mirrors of west in namespace kube-system of east stay, since the operator writes nothing there; \`kubectl --kubeconfig ${clusters.eastCluster.kubeconfigFile} --context east --namespace kube-system delete service/dns-west\` deletes them\n`,
    );
    expect(await clusters.get('Service', 'web-west')).toBeUndefined();
    expect(await clusters.east.get(left)).toBeDefined();
    await clusters.east.delete(left);
  });

  /** A second Link of the cluster, which nobody serves. */
  const suspendedBeside = async (changes: object = {}): Promise<KubeObject> => {
    const { spec } = (await clusters.east.get<LinkManifest>(linkRef))!;
    const annotations = { 'linkspan.dev/suspended': 'true' };
    const metadata = { ...linkRef.metadata, name: 'second', annotations };
    const second = { ...linkRef, metadata, spec: { ...spec, ...changes } };
    return clusters.east.apply(second);
  };

  test(
    'leave the mirrors to another Link of the cluster, and find it by its own name',
    { timeout: 120_000 },
    async () => {
      await linkedWithMirror();
      const { spec } = (await clusters.east.get<LinkManifest>(linkRef))!;
      const second = { ...linkRef, metadata: { ...linkRef.metadata, name: 'second' }, spec };
      await clusters.east.apply(second);
      const stay = 'mirrors of west stay, since Link second names this cluster, too';
      expect((await run('unlink')).stderr).toContain(`note: the 2 ${stay}`);
      const { uid } = (await clusters.get('Service', 'web-west'))!.metadata;
      const first = await run('unlink', '--apply', '--timeout=30s');
      expect(first.code, first.stderr).toBe(0);
      expect(first.stderr).toContain(
        'Secret linkerd-multicluster/cluster-credentials-west of east stays, since Link second',
      );
      expect(first.stdout).toBe('link/west deleted in east\n');
      expect((await clusters.get('Service', 'web-west'))?.metadata.uid).toBe(uid);

      const refusal = `error: Link linkerd-multicluster/second of east: is to cluster west (delete it with \`kubectl --kubeconfig ${clusters.eastCluster.kubeconfigFile} --context east -n linkerd-multicluster delete links.multicluster.linkerd.io second\`, and run the command again with --name west)\n`;
      for (const name of ['west', 'second']) {
        const refused = await run('unlink', `--name=${name}`, '--apply', '--timeout=1s');
        expect(refused).toEqual({ code: 1, stdout: '', stderr: refusal });
      }
      await clusters.east.delete(second);
      const last = await run('unlink', '--apply', '--timeout=50s');
      expect(last.code, last.stderr).toBe(0);
      expect(last.stdout).toContain('secret/cluster-credentials-west deleted in east\n');
      expect(last.stdout).toContain(`serviceaccount/${ACCOUNT} deleted in west\n`);
      expect(await clusters.get('Service', 'web-west')).toBeUndefined();
      await clusters.west.delete(slice('web'));
      await clusters.west.delete(service('web'));
    },
  );

  test(
    'leave the mirrors to a suspended Link of the cluster, whose record stays with them (E9, H9, L196)',
    { timeout: 120_000 },
    async () => {
      await linkedWithMirror();
      const { uid } = (await clusters.get('Service', 'web-west'))!.metadata;
      const second = await suspendedBeside();
      const first = await run('unlink', '--apply', '--timeout=30s');
      expect(first.code, first.stderr).toBe(0);
      expect((await clusters.get('Service', 'web-west'))?.metadata.uid).toBe(uid);
      const again = await run('unlink', '--apply', '--timeout=30s');
      expect({ code: again.code, stdout: again.stdout }, again.stderr).toEqual({ code: 0, stdout: '' });
      await clusters.east.delete(second);
      await eventually(
        'what it kept goes with it',
        async () => (await clusters.get('Service', 'web-west')) === undefined,
      );
      const last = await run('unlink', '--apply', '--timeout=50s');
      expect(last.code, last.stderr).toBe(0);
      await clusters.west.delete(slice('web'));
      await clusters.west.delete(service('web'));
    },
  );

  test(
    'are finished where a run was stopped half-way beside another Link of the cluster (L198)',
    { timeout: 120_000 },
    async () => {
      await linkedWithMirror();
      const secret = (await clusters.east.get(credentialsRef(LINKS_NAMESPACE)))!;
      const own = { ...secret, metadata: secretRef('cluster-credentials-second').metadata };
      await clusters.east.apply(own);
      const second = await suspendedBeside({ clusterCredentialsSecret: own.metadata.name });
      // The first thing that the command does; then it is stopped.
      await clusters.east.delete(linkRef);
      const finished = await run('unlink', '--apply', '--timeout=30s');
      expect(finished.code, finished.stderr).toBe(0);
      expect(finished.stdout).toBe('secret/cluster-credentials-west deleted in east\n');
      expect(await clusters.get('Service', 'web-west')).toBeDefined();
      await clusters.east.delete(second);
      await clusters.east.delete(own);
      const last = await run('unlink', '--apply', '--timeout=50s');
      expect(last.code, last.stderr).toBe(0);
      await clusters.west.delete(slice('web'));
      await clusters.west.delete(service('web'));
    },
  );

  test('go both ways, each with the gateway of its target', { timeout: 60_000 }, async () => {
    await installCrd(clusters.westCluster, linkCrd);
    await clusters.east.apply(GATEWAY);
    const back = `--source-api-server-address=${clusters.eastCluster.server}`;
    const refused = await run('link', '--both', address(), back);
    expect(refused.stderr).toContain('Service linkerd-multicluster/linkerd-gateway of east: its load balancer has no');
    await giveAddress(clusters.east, '203.0.113.10');

    const { code, stdout, stderr } = await run('link', '--both', address(), back, '--output=json');
    expect(code, stderr).toBe(0);
    const printed = JSON.parse(stdout) as { clusters: { context: string; objects: LinkManifest[] }[] };
    const names = ({ objects }: { objects: LinkManifest[] }) =>
      objects
        .filter(({ kind }) => kind === 'ServiceAccount' || kind === 'Link')
        .map(({ kind, metadata, spec }) => [kind, metadata.name, spec?.gatewayAddress]);
    expect(printed.clusters.map((each) => [each.context, ...names(each)])).toEqual([
      ['west', ['ServiceAccount', ACCOUNT, undefined]],
      ['east', ['Link', 'west', '203.0.113.20']],
      ['east', ['ServiceAccount', 'linkerd-service-mirror-remote-access-west', undefined]],
      ['west', ['Link', 'east', '203.0.113.10']],
    ]);
  });

  test('keep the credentials while mirrors are left that no operator removes', async () => {
    await clusters.east.apply(service('web-north', { labels: { 'mirror.linkerd.io/cluster-name': 'north' } }));
    await clusters.east.apply(credentials('north', 'none'));
    const { code, stdout, stderr } = await run('unlink', '--name=north', '--apply', '--timeout=1s');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('mirrors of north in east: 1 are left after 1 s (see whether the operator runs');
    expect(await clusters.east.get(credentials('north', 'none'))).toBeDefined();
  });

  test('say that nobody makes tokens that do not end, and what to do', { timeout: 60_000 }, async () => {
    const silent: TestCluster = clusters.eastCluster;
    const reversed = [
      `--kubeconfig=${clusters.westCluster.kubeconfigFile}`,
      `--to-kubeconfig=${silent.kubeconfigFile}`,
      '--to-context=east',
    ];
    const { code, stderr } = await linkspanHere(
      'link',
      ...reversed,
      `--api-server-address=${silent.server}`,
      '--gateway-addresses=203.0.113.30',
      '--flat',
      '--apply',
      '--timeout=1s',
    );
    expect(stderr).toContain('has no token after 1 s (see whether kube-controller-manager of east runs');
    expect(code).toBe(1);
  });
});
