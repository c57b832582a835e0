/** `linkspan link` over a Link that is there: what no flag gives stays, whoever has made the Link. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { link, LINKS_NAMESPACE, namespace, secretRef } from '../../../support/builders.ts';
import { linkerdConfig, linkerdGateway } from '../../../support/linkerd-cluster.ts';
import type { LinkObject } from '../../../support/objects.ts';
import type { KubeObject } from '../../../cluster/workload/index.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

type Live = LinkObject & { readonly spec: Readonly<Record<string, unknown>> };

onEachBacking('linkspan link again', (backing) => {
  let clusters: TwoClusters;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, west: { controllers: ['serviceaccount-token-controller'] } });
    await clusters.east.apply(namespace('linkerd'));
    for (const each of [
      namespace('linkerd'),
      namespace(LINKS_NAMESPACE),
      linkerdConfig('west'),
      linkerdGateway('west'),
    ]) {
      await clusters.west.apply(each);
    }
    await giveAddress('203.0.113.20');
  }, 120_000);
  beforeEach(() => Promise.all([clusters.eastCluster.clearAudit(), clusters.westCluster.clearAudit()]));
  afterEach(async () => {
    await clusters.east.delete(link('west'));
    await clusters.east.delete(secretRef('cluster-credentials-west'));
  });
  afterAll(() => clusters.stop());

  const giveAddress = (ip: string) =>
    clusters.west.patch(
      linkerdGateway('west'),
      { status: { loadBalancer: { ingress: [{ ip }] } } },
      { subresource: 'status' },
    );
  const command = (...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(
      ...args,
      `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`,
      `--to-kubeconfig=${clusters.westCluster.kubeconfigFile}`,
      '--to-context=west',
    );
  const run = (...args: readonly string[]): Promise<Outcome> =>
    command('link', `--api-server-address=${clusters.westCluster.server}`, ...args);
  const live = async (): Promise<Live['spec'] | undefined> => (await clusters.east.get<Live>(link('west')))?.spec;
  const writes = () => commandWrites(clusters.eastCluster, clusters.westCluster);

  /** What the gateway of west and its domains are, as another manager has them in a Link. */
  const FACTS = {
    targetClusterDomain: 'west.local',
    gatewayAddress: '203.0.113.20',
    gatewayIdentity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.west.example',
    probeSpec: { path: '/ready', port: '4191', period: '1s', timeout: '7s', failureThreshold: '5' },
  };

  test.each(['kubectl-client-side-apply', 'argocd-controller', 'helm'])(
    'keeps the selectors and the settings of a Link that %s has made, and owns none of them',
    { timeout: 30_000 },
    async (fieldManager) => {
      const spec = {
        ...FACTS,
        selector: { matchLabels: { team: 'shop' } },
        enableHeadlessServices: true,
        excludedLabels: ['team'],
        clusterCredentialsSecret: 'west-credentials',
      };
      await clusters.east.apply(link('west', spec), { fieldManager });
      const before = await live();
      // One flag is given, so that the Link is written.
      const { code, stderr } = await run('--service-exports=false', '--apply');
      expect(code, stderr).toBe(0);
      expect(await live()).toEqual({ ...before, serviceExports: false });
      expect(await clusters.east.get(secretRef('west-credentials'))).toBeDefined();
      expect(await clusters.east.get(secretRef('cluster-credentials-west'))).toBeUndefined();
      await clusters.east.delete(secretRef('west-credentials'));

      // The manager is still alone in having set it: what it takes away goes.
      await clusters.east.apply(link('west', { ...spec, excludedLabels: undefined }), { fieldManager });
      expect((await live())?.['excludedLabels']).toBeUndefined();
    },
  );

  test('knows the cluster of a Link of another name', { timeout: 30_000 }, async () => {
    const prod = link('prod', { ...FACTS, targetClusterName: 'west', clusterCredentialsSecret: undefined });
    await clusters.east.apply(prod, { fieldManager: 'linkspan-cli' });
    const refused = await run('--name=prod', '--apply');
    expect(refused.stderr).toContain(
      'error: Link linkerd-multicluster/prod of east: is to cluster west (name the new one with --name; if west is that cluster, make its credentials with `linkspan credentials mint --apply --name prod ',
    );
    const flags = [`--kubeconfig=${clusters.eastCluster.kubeconfigFile}`, '--to-context=west', '--name=prod', '--flat'];
    const west = [
      `--to-kubeconfig=${clusters.westCluster.kubeconfigFile}`,
      `--api-server-address=${clusters.westCluster.server}`,
    ];
    const minted = await linkspanHere('credentials', 'mint', ...flags, ...west, '--source-name=prod-east', '--apply');
    expect(minted.code, minted.stderr).toBe(0);
    const COPY = secretRef('cluster-credentials-west', 'linkerd');
    for (const each of [secretRef('cluster-credentials-west'), COPY])
      expect(await clusters.east.get(each)).toBeDefined();
    expect(await clusters.east.get(secretRef('cluster-credentials-prod', 'linkerd'))).toBeUndefined();

    const { code, stdout, stderr } = await run(
      '--name=prod',
      '--source-name=prod-east',
      '--excluded-labels=team',
      '--apply',
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('secret/cluster-credentials-west unchanged in east\nlink/prod configured in east\n');
    const spec = (await clusters.east.get<Live>(prod))?.spec;
    expect(spec).toMatchObject({ targetClusterName: 'west', excludedLabels: ['team'] });
    await clusters.east.delete(prod);
    await clusters.east.delete(COPY);
  });

  test('gives no gateway to a Link without one unless a flag says so', { timeout: 30_000 }, async () => {
    const none = { gatewayAddress: undefined, gatewayIdentity: undefined, probeSpec: undefined, selector: undefined };
    await clusters.east.apply(link('west', none), { fieldManager: 'linkspan-cli' });
    for (const flag of ['--gateway-addresses=203.0.113.77', '--gateway-port=4144', '--gateway-name=gw']) {
      const refused = await run(flag, '--apply');
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(
        `error: ${flag.replace(/=.*/, '')}: is of a gateway, and Link linkerd-multicluster/west of east has none (add --gateway, or remove it)\n`,
      );
    }
    expect(await writes()).toEqual([]);
    const { code, stderr } = await run('--gateway', '--gateway-addresses=203.0.113.77', '--apply');
    expect(code, stderr).toBe(0);
    expect((await live())?.['gatewayAddress']).toBe('203.0.113.77');
  });

  test('refuses, before anything is written, to change what somebody else has set', { timeout: 30_000 }, async () => {
    const spec = { ...FACTS, gatewayAddress: 'gateway.example.com', selector: { matchLabels: { team: 'shop' } } };
    await clusters.east.apply(link('west', spec), { fieldManager: 'kubectl' });
    const refused = await run('--apply');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'error: Link linkerd-multicluster/west of east: spec.gatewayAddress would change from gateway.example.com to 203.0.113.20, and kubectl has set it (give the value by its flag, or add --force-conflicts to change it)',
    );
    expect(await writes()).toEqual([]);

    const shown = await run('--output=diff');
    expect(shown.stdout).toContain('spec.gatewayAddress: gateway.example.com → 203.0.113.20  (set by kubectl)');
    expect(shown.stderr).toContain('--apply would be refused');
    expect(await writes()).toEqual([]);

    const given = await run('--gateway-addresses=203.0.113.77', '--apply');
    expect(given.code, given.stderr).toBe(0);
    expect(await live()).toMatchObject({ gatewayAddress: '203.0.113.77', selector: { matchLabels: { team: 'shop' } } });
    expect((await live())?.['selector']).toEqual({ matchLabels: { team: 'shop' } });
  });

  test('changes all that was read anew with --force-conflicts, and no selector', { timeout: 30_000 }, async () => {
    await clusters.east.apply(link('west', { selector: { matchLabels: { team: 'shop' } } }), { fieldManager: 'helm' });
    const { code, stderr } = await run('--force-conflicts', '--apply');
    expect(code, stderr).toBe(0);
    const spec = await live();
    expect(spec).toMatchObject({ gatewayAddress: '203.0.113.20', targetClusterDomain: 'west.local' });
    expect(spec?.['selector']).toEqual({ matchLabels: { team: 'shop' } });
  });

  test('keeps its own settings, prints them, and follows the gateway', { timeout: 60_000 }, async () => {
    const settings = [
      '--enable-headless-services',
      '--service-exports=false',
      '--federation=gateway',
      '--excluded-labels=team',
    ];
    await run(...settings, '--apply');
    const before = await live();
    expect(before).toMatchObject({
      enableHeadlessServices: true,
      serviceExports: false,
      federation: 'gateway',
      excludedLabels: ['team'],
    });
    const printed = await run('--output=json');
    expect(printed.stdout).toContain('"enableHeadlessServices": true');
    await giveAddress('203.0.113.21');
    const again = await run('--apply');
    expect(again.stdout, again.stderr).toContain('link/west configured in east');
    expect(await live()).toEqual({ ...before, gatewayAddress: '203.0.113.21' });
    await giveAddress('203.0.113.20');

    await run('--enable-headless-services=false', '--excluded-labels=', '--service-exports', '--apply');
    expect(await live()).toMatchObject({ enableHeadlessServices: false, serviceExports: true, federation: 'gateway' });
    expect((await live())?.['excludedLabels']).toBeUndefined();
  });

  test('keeps an address that was given, until none is', { timeout: 60_000 }, async () => {
    await run('--gateway-addresses=gate.example.com', '--gateway-port=443', '--apply');
    await run('--apply');
    expect(await live()).toMatchObject({ gatewayAddress: 'gate.example.com', gatewayPort: '443' });
    await run('--gateway-addresses=', '--apply');
    expect(await live()).toMatchObject({ gatewayAddress: '203.0.113.20', gatewayPort: '443' });
  });

  test('is flat only if that is asked for, and from then on', { timeout: 60_000 }, async () => {
    const rules = async (): Promise<string> =>
      JSON.stringify(
        await clusters.west.get({
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'linkerd-service-mirror-remote-access-east' },
        }),
      );
    const COPY = secretRef('cluster-credentials-west', 'linkerd');
    await run('--apply');
    expect(await live()).toMatchObject({ federation: 'gateway' });
    expect((await live())?.['remoteDiscoverySelector']).toBeUndefined();
    expect([await clusters.east.get(COPY), (await rules()).includes('"pods"')]).toEqual([undefined, false]);

    await run('--flat', '--apply');
    await run('--apply');
    expect((await live())?.['remoteDiscoverySelector']).toBeDefined();
    expect([(await clusters.east.get(COPY)) !== undefined, (await rules()).includes('"pods"')]).toEqual([true, true]);
    const off = await run('--flat=false', '--apply');
    expect(off.stderr).toContain('Secret linkerd/cluster-credentials-west of east: Linkerd reads west with it');
    await clusters.east.delete(COPY);
    expect((await run('--flat=false', '--apply')).code).toBe(0);
    expect((await rules()).includes('"pods"')).toBe(false);
  });

  test("makes Linkerd's copy anew when its token is void, with what others have put on it", async () => {
    const COPY = secretRef('cluster-credentials-west', 'linkerd');
    const get = () => clusters.east.get<KubeObject & { readonly data?: object }>(COPY);
    await run('--flat', '--apply');
    await clusters.east.patch(COPY, { metadata: { labels: { team: 'mesh' } } });
    const before = await get();
    await clusters.west.delete(secretRef('linkerd-service-mirror-remote-access-east-token'));
    const { code, stdout, stderr } = await run('--flat', '--apply');
    expect(code, stderr).toBe(0);
    const after = await get();
    expect(after?.metadata.labels).toEqual(before?.metadata.labels);
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(after?.data).not.toEqual(before?.data);
    expect(stdout).toContain(
      'secret/cluster-credentials-west deleted in east\nsecret/cluster-credentials-west created in east\n',
    );
    const again = await run('--flat', '--apply');
    expect(again.stdout).not.toMatch(/created|configured|deleted/);
    await clusters.east.delete(COPY);
    expect((await run('--flat=false', '--apply')).code).toBe(0);
  });

  test(
    "keeps the token of Linkerd's copy while it is valid, and the record of a rotation that was stopped (L208)",
    { timeout: 60_000 },
    async () => {
      const [COPY, SECRET] = [secretRef('cluster-credentials-west', 'linkerd'), secretRef('cluster-credentials-west')];
      const copy = async () => {
        const { metadata, data } = (await clusters.east.get<KubeObject & { readonly data?: object }>(COPY))!;
        return [metadata.uid, data];
      };
      const record = async () => (await clusters.east.get(SECRET))?.metadata.annotations?.['linkspan.dev/rotation'];
      await run('--flat', '--apply');
      const before = await copy();
      const stopped = await command('credentials', 'rotate', 'west', '--apply', '--timeout=1s');
      expect(stopped.stderr).toContain('does not use the new token after 1 s');
      const recorded = await record();
      expect(recorded).toContain(`"namespace":"linkerd"`);
      const { code, stderr } = await run('--flat', '--apply');
      expect(code, stderr).toBe(0);
      expect([await copy(), await record()]).toEqual([before, recorded]);
      await clusters.east.delete(COPY);
      for (const name of ['linkspan-peer-east-2', 'linkerd-service-mirror-remote-access-east-token-2'])
        await clusters.west.delete(secretRef(name));
      expect((await run('--flat=false', '--apply')).code).toBe(0);
    },
  );

  test('limits the account to namespaces, and takes its rights in the cluster', { timeout: 60_000 }, async () => {
    await run('--apply');
    const { code, stdout, stderr } = await run('--export-namespaces=shop', '--apply');
    expect(code, stderr).toBe(0);
    const account = 'linkerd-service-mirror-remote-access-east';
    expect(stdout).toContain(`role/${account} created in west`);
    expect(stdout.split('\n').slice(-3)).toEqual([
      `clusterrolebinding/${account} deleted in west`,
      `clusterrole/${account} deleted in west`,
      '',
    ]);
    expect(await live()).toMatchObject({ targetNamespaces: ['shop'] });
    const again = await run('--apply');
    expect(again.stdout).not.toMatch(/created|configured|deleted/);
    await clusters.east.delete(link('west'));
    const anew = await run('--apply');
    expect(anew.stdout.split('\n').filter((line) => /created|configured|deleted/.test(line))).toEqual([
      'link/west created in east',
    ]);
    expect(await live()).toMatchObject({ targetNamespaces: ['shop'] });
  });
});
