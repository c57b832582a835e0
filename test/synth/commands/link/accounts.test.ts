/** Whose an account is, and which cluster is which: what link, mint, unlink and rotate refuse and leave alone. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { readAccountToken } from '../../../../operator/kube/account-token.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../../../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace, objectRef, secretRef } from '../../../support/builders.ts';
import { linkerdConfig } from '../../../support/linkerd-cluster.ts';
import { readerOf } from '../../../support/reader.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';

const CONTROLLERS = ['serviceaccount-token-controller', 'root-ca-certificate-publisher-controller'];

const accountRef = (source: string) =>
  objectRef('v1', 'ServiceAccount', `linkerd-service-mirror-remote-access-${source}`, LINKS_NAMESPACE);
const SECRET = secretRef('cluster-credentials-west');

type SecretObject = KubeObject & { readonly data?: Readonly<Record<string, string>> };

onEachBacking('accounts of two source clusters', (backing) => {
  let first: TwoClusters;
  let second: TwoClusters;
  let directory: string;

  beforeAll(async () => {
    first = await TwoClusters.start({ backing, west: { controllers: CONTROLLERS } });
    second = await TwoClusters.start({ backing });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-accounts-'));
    for (const each of [namespace('linkerd'), namespace(LINKS_NAMESPACE), linkerdConfig('west')])
      await first.west.apply(each);
    await second.west.apply(namespace(LINKS_NAMESPACE));
  }, 120_000);
  afterAll(async () => {
    await Promise.all([first.stop(), second.stop()]);
    await rm(directory, { recursive: true });
  });

  const from = (source: TwoClusters, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(
      ...args,
      `--kubeconfig=${source.eastCluster.kubeconfigFile}`,
      `--to-kubeconfig=${first.westCluster.kubeconfigFile}`,
      '--to-context=west',
    );
  const mint = (source: TwoClusters, ...args: readonly string[]): Promise<Outcome> =>
    from(source, 'credentials', 'mint', `--api-server-address=${first.westCluster.server}`, '--apply', ...args);
  const kubeconfigOf = async (source: TwoClusters): Promise<string> =>
    Buffer.from((await source.east.get<SecretObject>(SECRET))?.data?.['kubeconfig'] ?? '', 'base64').toString();

  test('an account is for one source cluster, whatever its context is called', { timeout: 60_000 }, async () => {
    const made = await mint(first);
    expect(made.code, made.stderr).toBe(0);
    const held = await kubeconfigOf(first);
    const { code, stdout, stderr } = await mint(second);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: ServiceAccount linkerd-multicluster\/linkerd-service-mirror-remote-access-east of west: another source cluster reads with it, .* \(name this source otherwise with --source-name\)$/m,
    );
    expect(await second.east.get(SECRET)).toBeUndefined();
    const named = await mint(second, '--source-name=east-2');
    expect(named.code, named.stderr).toBe(0);
    expect(await kubeconfigOf(second)).not.toBe(held);
  });

  test("unlink leaves another source's account, and finds its own without its name", { timeout: 60_000 }, async () => {
    const { code, stdout, stderr } = await from(second, 'unlink', '--name=west', '--apply', '--timeout=5s');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('serviceaccount/linkerd-service-mirror-remote-access-east-2 deleted in west');
    expect(await first.west.get(accountRef('east'))).toBeDefined();
    expect(await first.west.get(accountRef('east-2'))).toBeUndefined();
    const again = await from(second, 'unlink', '--name=west', '--apply', '--timeout=5s');
    expect(again.stderr).toContain(
      'note: ServiceAccount linkerd-multicluster/linkerd-service-mirror-remote-access-east of west stays, since another source cluster reads with it',
    );
    expect(await first.west.get(accountRef('east'))).toBeDefined();
  });

  test(
    "an account that says nothing is the source's only if the source has its token",
    { timeout: 60_000 },
    async () => {
      const shared = accountRef('default');
      await first.west.apply(shared);
      const refused = await mint(second, '--source-name=default');
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(
        /does not say which source cluster it is for, and another may read with it \(name this source otherwise with --source-name, or if it is for this one alone, run `kubectl .* annotate serviceaccount /,
      );
      const left = await from(second, 'unlink', '--name=west', '--source-name=default', '--apply', '--timeout=5s');
      expect(left.stderr).toMatch(
        /stays, since others may read with it; to remove it, run `kubectl --kubeconfig .* delete/,
      );
      expect(await first.west.get(shared)).toBeDefined();
    },
  );

  test('credentials say which target they are for', { timeout: 60_000 }, async () => {
    const elsewhere = [`--to-kubeconfig=${second.westCluster.kubeconfigFile}`, '--to-context=west'];
    const address = `--api-server-address=${second.westCluster.server}`;
    const source = `--kubeconfig=${first.eastCluster.kubeconfigFile}`;
    await first.east.apply(link('west'));
    for (const args of [['credentials', 'mint', address], ['unlink'], ['credentials', 'rotate', 'west']]) {
      const { code, stderr } = await linkspanHere(...args, source, ...elsewhere, '--apply');
      expect(stderr).toContain('Secret linkerd-multicluster/cluster-credentials-west of east: is for another cluster');
      expect(code).toBe(1);
    }
  });

  test('one cluster by two addresses is one', { timeout: 60_000 }, async () => {
    const text = await readFile(first.eastCluster.kubeconfigFile, 'utf8');
    const again = join(directory, 'again');
    const elsewhere = text
      .replaceAll('https://127.0.0.1', 'https://localhost')
      .replace(/certificate-authority-data: \S+/, 'insecure-skip-tls-verify: true');
    await writeFile(again, elsewhere.replaceAll('east', 'west'));
    const last = await linkspanHere(
      'credentials',
      'mint',
      `--kubeconfig=${first.eastCluster.kubeconfigFile}`,
      `--to-kubeconfig=${again}`,
      '--to-context=west',
      '--api-server-address=https://a.example.com',
    );
    expect(last.code, last.stderr).toBe(2);
    expect(last.stderr).toContain('lead to the same cluster: its namespace kube-system has the uid ');
  });

  test('a Secret that a controller keeps is written by nobody else', { timeout: 60_000 }, async () => {
    const kept = await first.east.get<SecretObject & { readonly type: string }>(SECRET);
    const owner = {
      apiVersion: 'external-secrets.io/v1',
      kind: 'ExternalSecret',
      name: 'west',
      uid: 'c0ffee00-0000-4000-8000-000000000000',
      controller: true,
    };
    const owned = { ...SECRET, type: kept?.type, data: kept?.data };
    const metadata = { ...SECRET.metadata, ownerReferences: [owner] };
    await first.east.apply({ ...owned, metadata }, { fieldManager: 'external-secrets' });
    for (const args of [[], ['--force-conflicts']]) {
      const { code, stderr } = await from(first, 'credentials', 'rotate', 'west', '--apply', ...args);
      expect(stderr).toContain(
        'Secret linkerd-multicluster/cluster-credentials-west of east: ExternalSecret west keeps it, and would take back what is written (put new credentials where ExternalSecret west takes them from: `linkspan credentials mint',
      );
      expect(code).toBe(1);
    }
    // With the valid token that it has, there is nothing to write.
    const again = await from(first, 'credentials', 'mint', '--apply');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).not.toContain('cluster-credentials-west');
    const unlinked = await from(first, 'unlink', '--name=west');
    expect(unlinked.stderr).toContain('cluster-credentials-west of east stays, since ExternalSecret west keeps it');
    await first.east.delete(SECRET);
  });

  test('tokens of an account that is gone are replaced', { timeout: 60_000 }, async () => {
    await mint(first);
    const before = await kubeconfigOf(first);
    const account = accountRef('east');
    const metadata = {
      name: `${account.metadata.name}-token`,
      namespace: LINKS_NAMESPACE,
      annotations: { 'kubernetes.io/service-account.name': account.metadata.name },
    };
    const type = 'kubernetes.io/service-account-token';
    const dead = { apiVersion: 'v1', kind: 'Secret', type, metadata };
    await first.west.delete(account);
    await first.west.apply(account);
    await first.west.apply(dead);
    await first.west.patch(dead, { metadata: { annotations: { 'kubernetes.io/service-account.uid': 'gone' } } });
    const { code, stdout, stderr } = await mint(first);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('secret/cluster-credentials-west configured in east');
    const { uid } = (await first.west.get(account))!.metadata;
    const tokenIn = (kubeconfig: string) => readAccountToken(/token: (\S+)/.exec(kubeconfig)?.[1] ?? '');
    expect(tokenIn(before)?.uid).not.toBe(uid);
    expect(tokenIn(await kubeconfigOf(first))?.uid).toBe(uid);
    expect(await first.west.get(dead)).toBeUndefined();
    const again = await mint(first);
    expect(again.stdout).toContain('secret/cluster-credentials-west unchanged in east');
  });

  test('an account with whose token somebody else reads is nobody else’s', { timeout: 60_000 }, async () => {
    const name = accountRef('north').metadata.name;
    const west = [`--kubeconfig=${first.westCluster.kubeconfigFile}`, '--context=west'];
    const allowed = await linkspanHere('allow', ...west, `--service-account-name=${name}`, '--apply');
    expect(allowed.code, allowed.stderr).toBe(0);
    // Nobody has asked for a token of it yet.
    const printed = await from(
      second,
      'credentials',
      'mint',
      '--source-name=north',
      '--api-server-address=https://a.example.com',
    );
    expect(printed.code, printed.stderr).toBe(0);
    const generated = await linkspanHere(
      ...[
        'link-gen',
        ...west,
        '--cluster-name=west',
        `--service-account-name=${name}`,
        '--gateway-addresses=203.0.113.20',
      ],
      ...['--api-server-address=https://a.example.com', '--gateway=false', '--flat=false'],
    );
    expect(generated.stderr).toBe('');
    const { code, stderr } = await mint(second, '--source-name=north');
    expect(stderr).toContain(
      `${name} of west: does not say which source cluster it is for, and another may read with it`,
    );
    expect(code).toBe(1);
  });

  test('nor is one whose token that does not end was printed', { timeout: 60_000 }, async () => {
    const { name } = accountRef('lasting').metadata;
    const west = [`--kubeconfig=${first.westCluster.kubeconfigFile}`, '--context=west'];
    const account = `--service-account-name=${name}`;
    const allowed = await linkspanHere('allow', ...west, account, '--long-lived-token', '--apply');
    expect(allowed.code, allowed.stderr).toBe(0);
    const address = '--api-server-address=https://a.example.com';
    const only = ['--long-lived-token', '--gateway=false', '--flat=false'];
    const secret = async () => (await first.west.get<SecretObject>(secretRef(`${name}-token`)))?.data?.['token'];
    await eventually('the token is made', async () => (await secret()) !== undefined);
    const generate = (...flags: readonly string[]) =>
      linkspanHere('link-gen', ...flags, account, '--cluster-name=west', address, ...only);
    const reader = join(directory, 'reader');
    const rules = [
      { apiGroups: [''], resources: ['secrets', 'serviceaccounts', 'configmaps', 'namespaces'] },
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'] },
    ];
    await writeFile(reader, await readerOf(first.westCluster, first.west, 'generating', rules));
    const unmarked = await generate(`--kubeconfig=${reader}`, '--context=west');
    expect(unmarked.code, unmarked.stderr).toBe(0);
    expect(unmarked.stderr).toMatch(
      /^warning: .*forbidden.*: until its token is used, .* annotates the Secret with linkspan\.dev\/token-given=true$/m,
    );
    const generated = await generate(...west);
    expect(generated.code, generated.stderr).toBe(0);
    const { code, stderr } = await mint(second, '--source-name=lasting');
    expect(stderr).toContain(
      `${name} of west: does not say which source cluster it is for, and another may read with it`,
    );
    expect(code).toBe(1);
  });

  test(
    'nor is one of which mint has printed credentials, also when they are rotated',
    { timeout: 60_000 },
    async () => {
      const { name } = accountRef('printed').metadata;
      const west = [`--kubeconfig=${first.westCluster.kubeconfigFile}`, '--context=west'];
      const allowed = await linkspanHere('allow', ...west, `--service-account-name=${name}`, '--apply');
      expect(allowed.code, allowed.stderr).toBe(0);
      const named = ['--name=west-printed', '--source-name=printed'];
      const print = () =>
        from(
          first,
          ...['credentials', 'mint', `--api-server-address=${first.westCluster.server}`, ...named],
          ...['-o', 'yaml'],
        );
      expect((await print()).code).toBe(0);
      // Whoever has lost what was printed prints it again.
      const { code, stdout, stderr } = await print();
      expect(code, stderr).toBe(0);
      const unknown = `${name} of west: does not say which source cluster it is for, and another may read with it`;
      const other = await mint(second, ...named);
      expect(other.stderr).toContain(unknown);

      const printed = stdout
        .split(/^---$/m)
        .slice(1)
        .map((each) => parseYaml(each) as KubeObject & { readonly type?: string });
      const written = printed.find(({ type }) => type === 'mirror.linkerd.io/remote-kubeconfig')!;
      await first.east.apply(written, { fieldManager: 'linkspan-cli' });
      await first.east.apply(link('west-printed'));
      const operator = first.operator();
      const rotated = await from(
        first,
        ...['credentials', 'rotate', 'west-printed', '--source-name=printed', '--apply', '--timeout=20s'],
      );
      await operator.stop();
      expect(rotated.stdout, rotated.stderr).toContain('secret/linkspan-peer-printed deleted in west');
      const later = await mint(second, ...named);
      expect(later.stderr).toContain(unknown);
      const own = await mint(first, ...named);
      expect(own.code, own.stderr).toBe(0);
    },
  );

  test('two Links of one account: neither takes what the other reads', { timeout: 60_000 }, async () => {
    await first.east.apply(namespace('linkerd'));
    await first.west.apply(namespace('shop'));
    await first.west.apply(namespace('bank'));
    const limited = (name: string, ...namespaces: readonly string[]) =>
      mint(first, `--name=${name}`, '--source-name=limited', `--export-namespaces=${namespaces.join(',')}`);
    const flat = (name: string, ...args: readonly string[]) =>
      mint(first, `--name=${name}`, '--source-name=flat', ...args);
    for (const made of [await limited('west-a', 'shop'), await flat('west-c', '--flat')])
      expect(made.code, made.stderr).toBe(0);

    const narrowed = await limited('west-b', 'bank');
    const another = await limited('west-b', 'bank', 'shop');
    const lean = await flat('west-d', '--flat=false');
    expect([narrowed.code, narrowed.stdout, lean.code, lean.stdout]).toEqual([1, '', 1, '']);
    const account = 'ServiceAccount linkerd-multicluster/linkerd-service-mirror-remote-access';
    const shared = (keep: string): string =>
      `name this source otherwise with --source-name, for an account of its own, or keep the rights with ${keep}`;
    expect(narrowed.stderr).toContain(
      `error: ${account}-limited of west: Secret linkerd-multicluster/cluster-credentials-west-a of east reads with it, and would lose shop (${shared('--export-namespaces=shop,bank')})\n`,
    );
    expect(lean.stderr).toContain(
      'error: Secret linkerd/cluster-credentials-west-c of east: Linkerd reads west with it, and would fail without the rights that --flat=false takes away',
    );
    expect(lean.stderr).toContain(
      `error: ${account}-flat of west: Secret linkerd-multicluster/cluster-credentials-west-c of east reads with it, and would lose the rights of a flat network (${shared('--flat')})\n`,
    );
    // Linkerd may be in a namespace that no flag names.
    const COPY = secretRef('cluster-credentials-west-c', 'linkerd');
    const copy = await first.east.get(COPY);
    await first.east.apply(namespace('mesh'));
    await first.east.apply({ ...copy!, metadata: { name: 'cluster-credentials-west-c', namespace: 'mesh' } });
    await first.east.delete(COPY);
    const elsewhere = await flat('west-d', '--flat=false');
    expect(elsewhere.stderr).toContain('Secret mesh/cluster-credentials-west-c of east: Linkerd reads west with it');
    // Nobody loses by more of them, nor by an account of one's own.
    expect(another.code, another.stderr).toBe(0);
    const own = await flat('west-d', '--flat=false', '--source-name=flat-d');
    expect(own.code, own.stderr).toBe(0);
    const everything = await limited('west-b');
    expect(everything.code, everything.stderr).toBe(0);
    expect((await limited('west-b', 'bank', 'shop')).stderr).toContain('would lose all other namespaces');
  });

  test('unlink keeps credentials that another Link uses without naming them', { timeout: 60_000 }, async () => {
    await first.east.apply(credentials('north', 'x'));
    await first.east.apply(link('north', { clusterCredentialsSecret: undefined }));
    await first.east.apply(link('west', { clusterCredentialsSecret: 'cluster-credentials-north' }));
    const { stdout, stderr } = await linkspanHere(
      'unlink',
      `--kubeconfig=${first.eastCluster.kubeconfigFile}`,
      '--name=west',
      '--apply',
      '--timeout=5s',
    );
    expect(stderr).toContain('cluster-credentials-north of east stays, since Link north uses it');
    expect(stdout).toContain('link/west deleted in east');
    expect(await first.east.get(secretRef('cluster-credentials-north'))).toBeDefined();
  });
});
