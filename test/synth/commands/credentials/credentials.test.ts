/** `linkspan credentials mint` and `rotate`, with the operator that takes up what they write. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteAccess } from '../../../../constructs/index.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import { FIELD_MANAGER } from '../../../../crds/wire.ts';
import { readAccountToken } from '../../../../operator/kube/account-token.ts';
import { renewedKubeconfig } from '../../../../operator/target/renewal/renewed-kubeconfig.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../../../cluster/simulated/start.ts';
import { eventually, type KubeObject, type ObjectRef } from '../../../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace, objectRef, secretRef } from '../../../support/builders.ts';
import { linkerdChart } from '../../../support/linkerd-chart.ts';
import { applySecret, kubeconfigIn, tokenIn } from '../../../support/tokens.ts';
import { ANCHOR } from '../../../support/trust-anchors.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

const ACCOUNT = 'linkerd-service-mirror-remote-access-east';

type SecretObject = KubeObject & { readonly data: Readonly<Record<string, string>> };
const SECRET = secretRef('cluster-credentials-west');
const COPY = secretRef('cluster-credentials-west', 'linkerd');

onEachBacking('linkspan credentials', (backing) => {
  let clusters: TwoClusters;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, west: { controllers: ['serviceaccount-token-controller'] } });
    await clusters.east.apply(namespace('linkerd'));
    await clusters.west.apply(namespace(LINKS_NAMESPACE));
    await clusters.east.apply(link('west', { gatewayAddress: undefined, probeSpec: undefined }));
  }, 120_000);
  afterAll(() => clusters.stop());

  const run = (command: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(
      'credentials',
      command,
      `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`,
      `--to-kubeconfig=${clusters.westCluster.kubeconfigFile}`,
      '--to-context=west',
      ...args,
    );
  const address = (): string => `--api-server-address=${clusters.westCluster.server}`;
  const writes = () => commandWrites(clusters.eastCluster, clusters.westCluster);
  const kubeconfigOf = (ref: ObjectRef): Promise<string> => kubeconfigIn(clusters.east, ref);
  const tokenOf = async (ref: ObjectRef): Promise<string> => tokenIn(await kubeconfigOf(ref));
  const lastingToken = async (name: string): Promise<string> =>
    Buffer.from((await clusters.west.get<SecretObject>(secretRef(name)))?.data['token'] ?? '', 'base64').toString();
  /** Name of the Secret that the token of the Link is bound to. */
  const boundTo = async (): Promise<string | undefined> => readAccountToken(await tokenOf(SECRET))?.boundTo?.name;
  const hours = async (): Promise<number> => {
    const { issuedAtMs, expiresAtMs } = readAccountToken(await tokenOf(SECRET))!;
    return (expiresAtMs - issuedAtMs) / 3_600_000;
  };

  test.each([
    ['mint', ['--name=West'], 2, '--name: "West" must be a valid DNS label'],
    ['mint', ['--api-server-address=http://a'], 1, '--api-server-address: "http://a" must be an https URL'],
    ['mint', ['--linkerd-namespace=linkerd-multicluster'], 2, '--linkerd-namespace: must differ from --namespace'],
    ['mint', [], 1, 'leads to this machine, and pods of east cannot reach it'],
    ['rotate', [], 2, "missing required argument 'link'"],
    ['rotate', ['north'], 1, 'Link linkerd-multicluster/north of east: not found'],
    ['rotate', ['west'], 1, 'Secret linkerd-multicluster/cluster-credentials-west of east: not found (make new'],
    ['mint', ['--token-lifetime=9m'], 2, 'It must be at least 10m.'],
    ['rotate', ['west', '--timeout=soon'], 2, 'It must be a duration such as 30s, 5m or 1h.'],
  ])('%s %j exits %i', async (command, flags, expected, message) => {
    const { code, stderr } = await run(command, ...flags);
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
  });

  test('mint prints, and with --apply makes, what a Link from Git needs', { timeout: 60_000 }, async () => {
    const printed = await run('mint', address(), '--flat');
    expect(printed.code, printed.stderr).toBe(0);
    expect(printed.stdout).toContain('name: linkspan-peer-east');
    expect(printed.stdout).toContain(`name: ${ACCOUNT}-token`);
    expect(printed.stdout).not.toContain('kind: Link');
    expect(printed.stdout).not.toContain('kubeconfig:');
    expect(await writes()).toEqual([]);

    const { code, stdout, stderr } = await run('mint', address(), '--flat', '--apply');
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
        '',
      ].join('\n'),
    });
    expect([await boundTo(), await hours()]).toEqual(['linkspan-peer-east', 48]);
    expect(await tokenOf(COPY)).toBe(await lastingToken(`${ACCOUNT}-token`));
    const again = await run('mint', address(), '--apply');
    expect(again.stdout.match(/ unchanged in /g)).toHaveLength(9);
    expect((await run('mint', address())).stdout).toContain('kubeconfig:');
  });

  test("mint takes an account of Git that lacks the rights of Linkerd's controller as it is", async () => {
    const access = { sourceCluster: 'lean', namespace: LINKS_NAMESPACE, linkerdController: false };
    const manifests = render((chart) => {
      new RemoteAccess(chart, 'access', access);
    });
    for (const object of manifests) {
      await clusters.west.apply(object, { fieldManager: 'argocd-controller' });
    }
    const { code, stdout, stderr } = await run('mint', address(), '--name=south', '--source-name=lean', '--apply');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('clusterrole/linkerd-service-mirror-remote-access-lean unchanged in west\n');
    expect(stdout).toContain('secret/cluster-credentials-south created in east\n');
  });

  test('mint deletes no rights that others keep', { timeout: 60_000 }, async () => {
    await clusters.west.apply(namespace('bank'));
    const manifests = render((chart) => {
      new RemoteAccess(chart, 'access', {
        ...{ sourceCluster: 'git', namespace: LINKS_NAMESPACE, exportNamespaces: ['shop', 'bank'] },
      });
    });
    for (const object of manifests) await clusters.west.apply(object, { fieldManager: 'argocd-controller' });
    const flags = [address(), '--name=bank', '--source-name=git', '--export-namespaces=shop'];
    const foreign =
      'Role bank/linkerd-service-mirror-remote-access-git of west: is not among the rights that the account is to have, and is set by argocd-controller';
    const { code, stdout, stderr } = await run('mint', ...flags, '--apply');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`error: ${foreign} (add --force-conflicts to delete it)\n`);
    expect((await run('mint', ...flags)).stderr).toContain(`warning: ${foreign}; --apply would be refused\n`);
    const forced = await run('mint', ...flags, '--apply', '--force-conflicts');
    expect(forced.stdout).toContain('role/linkerd-service-mirror-remote-access-git deleted in west\n');
  });

  test.each([
    ['json', /^{\n  "clusters": \[/],
    ['yaml', /^---\n# west: objects that would be deleted\n/],
    ['diff', /^- +ClusterRoleBinding/m],
  ])('revoke prints what it would delete as %s', async (format, expected) => {
    const kubeconfig = `--kubeconfig=${clusters.westCluster.kubeconfigFile}`;
    const { code, stdout, stderr } = await linkspanHere(
      'credentials',
      'revoke',
      'lean',
      kubeconfig,
      `--output=${format}`,
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(expected);
    expect(stdout).toContain('linkerd-service-mirror-remote-access-lean');
  });

  test('mint leaves a kubeconfig as the operator writes it, with the CA that is to follow', async () => {
    const renewed = renewedKubeconfig(
      await kubeconfigOf(SECRET),
      { token: await tokenOf(SECRET), publishedCa: ANCHOR },
      Date.now(),
    );
    const kubeconfig = Buffer.from(renewed.text).toString('base64');
    await clusters.east.patch(SECRET, { data: { kubeconfig } }, { fieldManager: FIELD_MANAGER });
    const { code, stdout, stderr } = await run('mint', address(), '--apply');
    expect(code, stderr).toBe(0);
    expect(stdout.match(/ unchanged in /g)).toHaveLength(9);
    expect(await kubeconfigOf(SECRET)).toBe(renewed.text);
  });

  test('mint replaces a token that is void, by one that lives as long or as long as is said', async () => {
    await clusters.west.delete(secretRef('linkspan-peer-east'));
    const short = await run('mint', address(), '--apply', '--token-lifetime=2h');
    expect(short.code, short.stderr).toBe(0);
    expect(short.stdout).toContain('secret/linkspan-peer-east created in west');
    expect(short.stdout).toContain('secret/cluster-credentials-west configured in east');
    expect(await hours()).toBe(2);
    await clusters.west.delete(secretRef('linkspan-peer-east'));
    await run('mint', address(), '--apply');
    expect([await boundTo(), await hours()]).toEqual(['linkspan-peer-east', 2]);
    expect((await run('mint', address(), '--apply')).stdout.match(/ unchanged in /g)).toHaveLength(9);
  });

  test('mint keeps the address of credentials that only their void token shows to be of the target', async () => {
    const { server } = clusters.westCluster;
    const elsewhere = server.replace('127.0.0.1', 'localhost');
    const kubeconfig = Buffer.from((await kubeconfigOf(SECRET)).replace(server, elsewhere)).toString('base64');
    const annotations = { 'linkspan.dev/target-cluster-uid': null };
    const asKept = { metadata: { annotations }, data: { kubeconfig } };
    await clusters.east.patch(SECRET, asKept, { fieldManager: FIELD_MANAGER });
    await clusters.west.delete(secretRef('linkspan-peer-east'));
    const { code, stderr } = await run('mint', '--apply');
    expect(code, stderr).toBe(0);
    expect(await boundTo()).toBe('linkspan-peer-east');
    expect(await kubeconfigOf(SECRET)).toContain(`server: ${elsewhere}\n`);
    await run('mint', address(), '--apply');
    expect(await kubeconfigOf(SECRET)).toContain(`server: ${server}\n`);
  });

  test("P1: mint and rotate keep a token that does not end while Linkerd's controller writes for the Link", async () => {
    const lease = {
      ...objectRef('coordination.k8s.io/v1', 'Lease', 'service-mirror-write-west', LINKS_NAMESPACE),
      spec: {
        holderIdentity: 'linkerd-controller-0',
        leaseDurationSeconds: 30,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    };
    await clusters.east.apply(lease);
    const kept = 'could not renew one that does (hand the Link over to the operator first with `linkspan migrate west';
    for (const [command, token] of [
      [['rotate', 'west'], await lastingToken(`${ACCOUNT}-token`)],
      [['mint', address()], await linkerdToken()],
    ] as const) {
      await applySecret(clusters.eastCluster, credentials('west', clusters.westCluster.kubeconfigFor(token)));
      const [name, ...args] = command;
      const { code, stderr } = await run(name, ...args, '--apply');
      expect(stderr).toContain(kept);
      expect([code, await tokenOf(SECRET)]).toEqual([1, token]);
    }
    await run('mint', address(), '--apply', '--force-conflicts');
    expect(await boundTo()).toBe('linkspan-peer-east');
    await clusters.east.delete(lease);
  });

  test('mint keeps the limits of an account before a Link is there', { timeout: 60_000 }, async () => {
    const flags = [address(), '--name=north', '--source-name=limited', '--apply'];
    const first = await run('mint', ...flags, '--export-namespaces=shop');
    expect(first.code, first.stderr).toBe(0);
    const again = await run('mint', ...flags);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).not.toMatch(/created|configured|deleted/);
    await clusters.westCluster.clearAudit();
    const missing = await run('mint', ...flags, '--export-namespaces=shpo');
    expect(missing.stderr).toContain(
      'error: Namespace shpo of west: not found (create it, or correct --export-namespaces)\n',
    );
    const flat = await run('mint', ...flags, '--flat');
    expect(flat.stderr).toContain(
      'error: --flat: needs the rights to read the whole target, and the Link or its account is limited to shop (leave it out, or add --export-namespaces= to lift the limit)\n',
    );
    expect([missing.code, flat.code, await commandWrites(clusters.westCluster)]).toEqual([1, 1, []]);
    // Only who says so takes the limits away.
    const wide = await run('mint', ...flags, '--export-namespaces=');
    expect(wide.stdout).toContain('clusterrole/linkerd-service-mirror-remote-access-limited created in west\n');
    expect(wide.stdout).toContain('role/linkerd-service-mirror-remote-access-limited deleted in west\n');
  });

  test('rotate leaves the old token alone while no operator uses the new one', { timeout: 60_000 }, async () => {
    const before = await tokenOf(SECRET);
    const copied = await tokenOf(COPY);
    const printed = await run('rotate', 'west');
    expect(printed.stdout).toContain('name: linkspan-peer-east-2');
    expect(printed.stdout).toContain(`name: ${ACCOUNT}-token-2`);
    expect(printed.stderr.split('\n').filter((line) => line.startsWith('note:'))).toEqual([
      'note: Secret linkerd-multicluster/cluster-credentials-west of east would get a new token',
      'note: Secret linkerd/cluster-credentials-west of east would get a new token',
      `note: Secret linkerd-multicluster/${ACCOUNT}-token of west would be deleted`,
      'note: Secret linkerd-multicluster/linkspan-peer-east of west would be deleted',
    ]);
    const reported = { type: 'CredentialsValid', status: 'True', reason: 'Valid', message: 'another is in use' };
    const conditions = [{ ...reported, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    await clusters.east.patch(link('west'), { status: { conditions } }, { subresource: 'status' });
    const { code, stderr } = await run('rotate', 'west', '--apply', '--timeout=1s', '--token-lifetime=3h');
    expect(stderr).toContain(
      'Link linkerd-multicluster/west of east: does not use the new token after 1 s: it reports that it uses the old one (the old token still works',
    );
    expect(code).toBe(1);
    expect([await boundTo(), await hours()]).toEqual(['linkspan-peer-east-2', 3]);
    expect(await tokenOf(COPY)).toBe(copied);
    expect(await clusters.west.get(secretRef(readAccountToken(before)!.boundTo!.name))).toBeDefined();
  });

  test('rotate leaves alone what is where its record says, and is of others', { timeout: 60_000 }, async () => {
    const theirs = secretRef('cluster-credentials-west', 'theirs');
    await clusters.east.apply(namespace('theirs'));
    await clusters.east.apply({ ...credentials('west', clusters.eastCluster.kubeconfig), ...theirs });
    const before = await clusters.east.get(theirs);
    const recorded = (await clusters.east.get(SECRET))?.metadata.annotations?.['linkspan.dev/rotation'] ?? '{}';
    const record = (text: string) =>
      clusters.east.patch(
        SECRET,
        { metadata: { annotations: { 'linkspan.dev/rotation': text } } },
        { fieldManager: 'linkspan-cli' },
      );
    const { copy, ...rest } = JSON.parse(recorded) as { readonly copy: object };
    await record(JSON.stringify({ ...rest, copy: { ...copy, namespace: 'theirs' } }));
    const { code, stdout, stderr } = await run('rotate', 'west', '--apply', '--timeout=30s');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      "error: Secret theirs/cluster-credentials-west of east: is where a rotation that was stopped had Linkerd's copy, and is not of account",
    );
    expect(await clusters.east.get(theirs)).toEqual(before);
    await record(recorded);
    await clusters.east.delete(theirs);
  });

  test('rotate looks for the copy where the run that was stopped found it (L209)', { timeout: 60_000 }, async () => {
    const { code, stderr } = await run('rotate', 'west', '--linkerd-namespace=elsewhere');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('note: Secret linkerd/cluster-credentials-west of east would get a new token\n');
  });

  test(
    'rotate goes on where it was stopped, also between the two writes of the copy',
    { timeout: 60_000 },
    async () => {
      const copied = (await clusters.east.get(COPY))?.metadata;
      const recorded = async (): Promise<string | undefined> =>
        (await clusters.east.get(SECRET))?.metadata.annotations?.['linkspan.dev/rotation'];
      const before: unknown = JSON.parse((await recorded()) ?? '{}');
      expect(before).toMatchObject({ copy: { namespace: 'linkerd', labels: copied?.labels } });
      const written = await tokenOf(SECRET);
      await clusters.east.delete(COPY);
      clusters.operator();
      await clusters.ready();
      const { code, stdout, stderr } = await run('rotate', 'west', '--apply', '--timeout=30s');
      expect(code, stderr).toBe(0);
      expect(stdout.split('\n')).toEqual([
        'secret/linkspan-peer-east-2 unchanged in west',
        `secret/${ACCOUNT}-token-2 unchanged in west`,
        'secret/cluster-credentials-west unchanged in east',
        'secret/cluster-credentials-west created in east',
        `secret/${ACCOUNT}-token deleted in west`,
        'secret/linkspan-peer-east deleted in west',
        '',
      ]);
      expect(await tokenOf(SECRET)).toBe(written);
      expect(await tokenOf(COPY)).toBe(await lastingToken(`${ACCOUNT}-token-2`));
      expect((await clusters.east.get(COPY))?.metadata).toMatchObject({
        labels: copied?.labels,
        annotations: copied?.annotations,
      });
      expect(await recorded()).toBeUndefined();
    },
  );

  test('rotate revokes every older token once the operator uses the new one', { timeout: 60_000 }, async () => {
    const copied = (await clusters.east.get(COPY))?.metadata;
    const { code, stdout, stderr } = await run('rotate', 'west', '--apply', '--timeout=30s');
    expect(code, stderr).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'secret/linkspan-peer-east created in west',
      `secret/${ACCOUNT}-token created in west`,
      'secret/cluster-credentials-west configured in east',
      'secret/cluster-credentials-west deleted in east',
      'secret/cluster-credentials-west created in east',
      `secret/${ACCOUNT}-token-2 deleted in west`,
      'secret/linkspan-peer-east-2 deleted in west',
      '',
    ]);
    expect([await boundTo(), await hours()]).toEqual(['linkspan-peer-east', 3]);
    expect(await tokenOf(COPY)).toBe(await lastingToken(`${ACCOUNT}-token`));
    const renewed = (await clusters.east.get(COPY))?.metadata;
    expect(renewed?.uid).not.toBe(copied?.uid);
    expect(renewed).toMatchObject({ labels: copied?.labels, annotations: copied?.annotations });
    const condition = await clusters.condition('CredentialsValid');
    expect(condition).toMatchObject({ status: 'True', message: expect.stringContaining('is in use') as string });
    const kept = await run('mint', address(), '--apply');
    expect(kept.stdout.match(/ unchanged in /g)).toHaveLength(9);
  });

  test(
    'rotate refuses a Link that is suspended: no operator would use the token (H9)',
    { timeout: 60_000 },
    async () => {
      const suspend = (value: string | null): Promise<unknown> =>
        clusters.east.patch(link('west'), { metadata: { annotations: { 'linkspan.dev/suspended': value } } });
      const before = [await tokenOf(SECRET), await tokenOf(COPY)];
      await suspend('true');
      await eventually('nobody looks at it', async () => {
        return (await clusters.condition('CredentialsValid'))?.status === 'Unknown';
      });
      for (const flags of [[], ['--apply', '--timeout=30s']]) {
        const { code, stderr } = await run('rotate', 'west', ...flags);
        expect(stderr).toContain(
          'Link linkerd-multicluster/west of east: the operator does not serve it, and would not take the new token up: Suspended: annotation linkspan.dev/suspended leaves',
        );
        expect(code).toBe(1);
      }
      expect([await tokenOf(SECRET), await tokenOf(COPY)]).toEqual(before);
      expect(await clusters.west.get(secretRef('linkspan-peer-east-2'))).toBeUndefined();
      await suspend(null);
      await clusters.ready();
    },
  );

  test('P1: rotate gives a Link whose token does not end one that does', { timeout: 60_000 }, async () => {
    const lasting = clusters.westCluster.kubeconfigFor(await lastingToken(`${ACCOUNT}-token`));
    await applySecret(clusters.eastCluster, credentials('west', lasting));
    // What is valid stays as it is.
    const minted = await run('mint', address(), '--apply');
    expect(minted.code, minted.stderr).toBe(0);
    expect(await boundTo()).toBeUndefined();
    const { code, stdout, stderr } = await run('rotate', 'west', '--apply', '--timeout=30s');
    expect(code, stderr).toBe(0);
    expect([await boundTo(), await hours()]).toEqual(['linkspan-peer-east', 48]);
    expect(stdout).toContain(`secret/${ACCOUNT}-token deleted in west`);
    expect(await tokenOf(COPY)).toBe(await lastingToken(`${ACCOUNT}-token-2`));
  });

  /** A token of the account of Linkerd's chart, as its command line gives it to a Link. */
  const linkerdToken = async (): Promise<string> => {
    const account = 'linkerd-service-mirror-remote-access-default';
    const named = ({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name.startsWith(account);
    for (const each of linkerdChart.filter(named)) await clusters.west.apply(each);
    await expect.poll(() => lastingToken(`${account}-token`)).not.toBe('');
    return lastingToken(`${account}-token`);
  };

  test("P2: rotate refuses an account that may not renew its token, like that of Linkerd's chart", async () => {
    const account = 'linkerd-service-mirror-remote-access-default';
    const lasting = clusters.westCluster.kubeconfigFor(await linkerdToken());
    await applySecret(clusters.eastCluster, credentials('west', lasting));
    await clusters.eastCluster.clearAudit();
    await clusters.westCluster.clearAudit();
    const { code, stdout, stderr } = await run('rotate', 'west', '--apply', '--revoke');
    expect({ code, stdout, writes: await writes() }).toEqual({ code: 1, stdout: '', writes: [] });
    expect(stderr).toContain(
      `error: ServiceAccount linkerd-multicluster/${account} of west: may not renew a token that ends (give the Link an account that may with \`linkspan credentials mint --apply --name west `,
    );
    const minted = await run('mint', address(), '--apply');
    expect(minted.code, minted.stderr).toBe(0);
    expect([await boundTo(), await hours()]).toEqual(['linkspan-peer-east', 48]);
  });

  test("rotate keeps the token of a copy that it does not find, since no flag names Linkerd's namespace", async () => {
    const copied = `${ACCOUNT}-token-2`;
    const without = await run('rotate', 'west', '--linkerd-namespace=elsewhere', '--apply', '--timeout=30s');
    expect(without.code, without.stderr).toBe(0);
    expect(without.stderr).toContain(`Secret linkerd-multicluster/${copied} of west stays, since others may use`);
    expect(without.stdout).toContain('secret/linkspan-peer-east deleted in west\n');
    expect(await tokenOf(COPY)).toBe(await lastingToken(copied));
    const { code, stdout, stderr } = await run('rotate', 'west', '--apply', '--timeout=30s');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`secret/${copied} deleted in west\n`);
    expect(await tokenOf(COPY)).toBe(await lastingToken(`${ACCOUNT}-token`));
  });

  test.runIf(backing === 'simulated')(
    'P6: rotate keeps a token that does not end where it may not look for its copy',
    { timeout: 60_000 },
    async () => {
      const copied = `${ACCOUNT}-token`;
      const { faults } = clusters.eastCluster as SimulatedCluster;
      // Who runs it may read the Secrets of the namespaces that the flags name.
      faults.refuse({
        failure: { kind: 'status', code: 403 },
        match: ({ verb, resource, namespace }) => verb === 'list' && resource === 'secrets' && namespace === undefined,
      });
      for (const old of ['linkspan-peer-east', 'linkspan-peer-east-2']) {
        const { code, stdout, stderr } = await run('rotate', 'west', '--linkerd-namespace=elsewhere', '--apply');
        expect(code, stderr).toBe(0);
        expect(stderr).toContain(`Secret linkerd-multicluster/${copied} of west stays, since others may use`);
        expect(stdout).toContain(`secret/${old} deleted in west\n`);
      }
      faults.clear();
      expect(await tokenOf(COPY)).toBe(await lastingToken(copied));
    },
  );

  test('P6: mint and rotate leave a copy alone that reads the token of its pod', { timeout: 60_000 }, async () => {
    const ofPod = (await kubeconfigOf(COPY)).replace(
      /token: .*/,
      'tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token',
    );
    await clusters.east.patch(COPY, { data: { kubeconfig: Buffer.from(ofPod).toString('base64') } });
    const { metadata } = (await clusters.east.get(COPY))!;
    const minted = await run('mint', address(), '--flat', '--apply');
    expect(minted.code, minted.stderr).toBe(0);
    const rotated = await run('rotate', 'west', '--apply', '--timeout=30s');
    expect(rotated.code, rotated.stderr).toBe(0);
    expect((await clusters.east.get(COPY))?.metadata).toEqual(metadata);
    expect(await kubeconfigOf(COPY)).toBe(ofPod);
  });

  test('rotate keeps the token of an account that is for another cluster', { timeout: 60_000 }, async () => {
    const account = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: ACCOUNT, namespace: LINKS_NAMESPACE },
    };
    const record = (uid: string) =>
      clusters.west.patch(account, { metadata: { annotations: { 'linkspan.dev/source-cluster-uid': uid } } });
    await record('another');
    const { code, stdout, stderr } = await run('rotate', 'west', '--apply');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(`linkspan-peer-east-2 of west stays, since others may use account ${ACCOUNT}`);
    expect(stdout).not.toContain('deleted in west');
    expect(await boundTo()).toBe('linkspan-peer-east');
    expect(await clusters.west.get(secretRef('linkspan-peer-east-2'))).toBeDefined();
  });

  test('rotate refuses credentials that it did not find in the target', async () => {
    await clusters.stopOperators();
    await clusters.east.apply(credentials('west', clusters.westCluster.kubeconfig));
    const { code, stderr } = await run('rotate', 'west', '--apply');
    expect(stderr).toMatch(/its token is of no account in namespace linkerd-multicluster of west|has a client cert/);
    expect(code).toBe(1);
    await clusters.east.apply(credentials('west', 'garbage'));
    const garbage = await run('rotate', 'west', '--apply');
    expect(garbage.stderr).toMatch(/it is not a kubeconfig .*\(make new credentials with/);
  });
});
