/** `linkspan allow` and `linkspan link-gen`, for who reaches one cluster at a time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteAccess } from '../../../../constructs/index.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { readAccountToken } from '../../../../operator/kube/account-token.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../../../cluster/workload/index.ts';
import {
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

const ACCOUNT = 'linkerd-service-mirror-remote-access-default';
const GATEWAY = linkerdGateway('west');

onEachBacking('linkspan allow and link-gen', (backing) => {
  let clusters: TwoClusters;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, west: { controllers: ['serviceaccount-token-controller'] } });
    await clusters.east.apply(namespace('linkerd'));
    await clusters.west.apply(namespace('linkerd'));
    for (const each of [LINKS_NAMESPACE, 'bank']) await clusters.west.apply(namespace(each));
    await clusters.west.apply(linkerdConfig('west'));
  }, 120_000);
  afterAll(() => clusters.stop());

  const run = (command: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(command, `--kubeconfig=${clusters.westCluster.kubeconfigFile}`, ...args);
  const address = (): string => `--api-server-address=${clusters.westCluster.server}`;
  const generate = (...args: readonly string[]): Promise<Outcome> =>
    run('link-gen', '--cluster-name=west', address(), ...args);
  const tokenIn = (object: KubeObject & { readonly data?: Readonly<Record<string, string>> }): string =>
    /token: (\S+)/.exec(Buffer.from(object.data?.['kubeconfig'] ?? '', 'base64').toString())?.[1] ?? '';
  const documents = (text: string): readonly KubeObject[] =>
    text.split(/^---$/m).map((each) => parseYaml(each) as KubeObject);

  test('allow needs no cluster to print the account, and never prints its namespace', async () => {
    const { code, stdout } = await linkspanHere(
      'allow',
      '--service-account-name=reader',
      '--ignore-cluster',
      '--kubeconfig=/nowhere',
    );
    expect(code).toBe(0);
    expect(documents(stdout).map(({ kind, metadata }) => `${kind ?? ''} ${metadata.name}`)).toEqual([
      'ServiceAccount reader',
      'ClusterRole reader',
      'ClusterRoleBinding reader',
      'Role reader',
      'RoleBinding reader',
      'Secret linkspan-peer-reader',
    ]);
    const lasting = await linkspanHere(
      'allow',
      '--service-account-name=reader',
      '--ignore-cluster',
      '--long-lived-token',
    );
    expect(documents(lasting.stdout).map(({ metadata }) => metadata.name)).toContain('reader-token');
  });

  test.each([
    [['--service-account-name=Reader'], '--service-account-name: "Reader" must be a valid DNS subdomain'],
    [['--service-account-name=a', '--namespace=A'], '--namespace: "A" must be a valid DNS label'],
    [[], "required option '--service-account-name <name>' not specified"],
    [['--service-account-name=a', '--as=me'], 'It is not taken: name a context of that user with --context.'],
    [['--service-account-name=a', '--output=table'], 'Allowed choices are yaml, json.'],
    [['--service-account-name=a', '--context=north'], 'has no context "north" (it has west)'],
  ])('allow refuses %j', async (flags, message) => {
    const { code, stderr } = await run('allow', ...flags);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test.each([
    [['--cluster-name=West'], '--cluster-name: "West" must be a valid DNS label'],
    [[], "required option '--cluster-name <name>' not specified"],
    [['--cluster-name=west', '--selector=a=b=c'], '--selector: "a=b=c" must be a label query'],
    [
      ['--cluster-name=west', '--federated-service-selector=a,,b', '-l=c('],
      '--federated-service-selector: "a,,b" must be a label query',
    ],
    [['--cluster-name=west', '--gateway-port=0'], 'It must be between 1 and 65535.'],
    [['--cluster-name=west', '--api-addr=a:1'], 'It is not taken: no control plane is asked.'],
  ])('link-gen refuses %j', async (flags, message) => {
    const { code, stderr } = await run('link-gen', ...flags);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test('link-gen names every obstacle at once', async () => {
    const { code, stdout, stderr } = await run('link-gen', '--cluster-name=west');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      `error: API server of west: ${clusters.westCluster.server} leads to this machine, and pods of other clusters cannot reach it (name the address that they reach with --api-server-address)`,
      `error: ServiceAccount linkerd-multicluster/${ACCOUNT} of west: not found (make it with \`linkspan allow -n linkerd-multicluster --service-account-name ${ACCOUNT} --apply --kubeconfig ${clusters.westCluster.kubeconfigFile} --context west\`, or name another with --service-account-name)`,
      'error: Service linkerd-multicluster/linkerd-gateway of west: not found: the target has no gateway (install one, name it with --gateway-name and --gateway-namespace, or use --gateway=false for flat mode only)',
      '',
    ]);
  });

  test('allow writes the account, and refuses one that exists', async () => {
    const { code, stdout, stderr } = await run('allow', `--service-account-name=${ACCOUNT}`, '--flat', '--apply');
    expect({ code, stdout }, stderr).toEqual({
      code: 0,
      stdout: [
        `serviceaccount/${ACCOUNT} created in west`,
        `clusterrole/${ACCOUNT} created in west`,
        `clusterrolebinding/${ACCOUNT} created in west`,
        `role/${ACCOUNT} created in west`,
        `rolebinding/${ACCOUNT} created in west`,
        'secret/linkspan-peer-default created in west',
        `secret/${ACCOUNT}-token created in west`,
        '',
      ].join('\n'),
    });
    const again = await run('allow', `--service-account-name=${ACCOUNT}`, '--apply');
    expect(again.stderr).toContain(`ServiceAccount linkerd-multicluster/${ACCOUNT} of west: exists already`);
    expect(again.code).toBe(1);
    const forced = await run('allow', `--service-account-name=${ACCOUNT}`, '--apply', '--ignore-cluster');
    expect(forced.stdout.match(/ unchanged in west/g)).toHaveLength(7);
  });

  test('allow takes rights that an account is to have no more', { timeout: 60_000 }, async () => {
    const limit = (...flags: readonly string[]): Promise<Outcome> =>
      run('allow', '--service-account-name=wide', '--ignore-cluster', '--apply', ...flags);
    await limit();
    const role = objectRef('rbac.authorization.k8s.io/v1', 'ClusterRole', 'wide');
    const theirs = { apiGroups: [''], resources: ['services'], verbs: ['list'] };
    await clusters.west.patch(role, { rules: [theirs] });
    const refused = await limit('--export-namespaces=shop');
    expect(refused.stderr).toMatch(
      /^error: ClusterRole wide of west: is not among the rights that the account is to have, and is set by .* \(add --force-conflicts to delete it\)\n$/,
    );
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' });
    const { code, stdout, stderr } = await limit('--export-namespaces=shop', '--force-conflicts');
    expect(code, stderr).toBe(0);
    expect(stdout.split('\n').slice(-3)).toEqual([
      'clusterrolebinding/wide deleted in west',
      'clusterrole/wide deleted in west',
      '',
    ]);
    const again = await limit();
    expect(again.stdout).not.toMatch(/created|configured|deleted/);
    const all = await limit('--export-namespaces=shop,bank');
    expect(all.stdout).toContain('role/wide created in west\n');
    expect((await limit('--export-namespaces=shop')).stdout.split('\n').slice(-3)).toEqual([
      'rolebinding/wide deleted in west',
      'role/wide deleted in west',
      '',
    ]);
  });

  test("allow takes an account of Git that lacks the rights of Linkerd's controller as it is", async () => {
    const access = { sourceCluster: 'lean', name: 'lean', namespace: LINKS_NAMESPACE, linkerdController: false };
    const manifests = render((chart) => {
      new RemoteAccess(chart, 'access', access);
    });
    for (const object of manifests) {
      await clusters.west.apply(object, { fieldManager: 'argocd-controller' });
    }
    const { code, stdout, stderr } = await run('allow', '--service-account-name=lean', '--ignore-cluster', '--apply');
    expect(code, stderr).toBe(0);
    expect(stdout).not.toMatch(/created|configured|deleted/);
  });

  test('link-gen reports an account without a token, whatever others have', async () => {
    const metadata = { name: 'bare', namespace: LINKS_NAMESPACE };
    await clusters.west.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    const bare = '--service-account-name=bare';
    for (const [flags, message] of [
      [['--gateway=false'], /bare of west: has no token that does not end \(make one with .* --flat --apply/],
      [
        ['--long-lived-token'],
        /bare of west: has no token that does not end \(make one with .* --long-lived-token --apply/,
      ],
      [
        [],
        /bare of west: has no token \(give it the right to renew one with `linkspan allow .* --ignore-cluster --apply/,
      ],
    ] as const) {
      const { code, stderr } = await generate(bare, ...flags);
      expect(stderr).toMatch(message);
      expect(code).toBe(1);
    }
  });

  test('link-gen reports a gateway without an address, and one without an identity', async () => {
    await clusters.west.apply(GATEWAY);
    const pending = await generate();
    expect(pending.stderr).toContain(
      'its load balancer has no address yet (run the command again when it has one, or name one with --gateway-addresses)',
    );
    const plain = { ...GATEWAY, metadata: { ...GATEWAY.metadata, name: 'plain', annotations: {} } };
    await clusters.west.apply(plain);
    const { stderr } = await generate('--gateway-name=plain', '--gateway-addresses=203.0.113.20');
    expect(stderr).toContain('has no annotation mirror.linkerd.io/gateway-identity, without which proxies send');
  });

  test('link-gen records a gateway that is not the usual one', async () => {
    const given = ['--gateway-addresses=203.0.113.20', '--flat=false'];
    await clusters.west.apply({ ...GATEWAY, metadata: { ...GATEWAY.metadata, name: 'public' } });
    const { stdout, stderr } = await generate('--gateway-name=public', ...given);
    expect(stdout, stderr).toContain('linkspan.dev/given: gatewayAddress,gateway=/public\n');
    const usual = await generate(...given);
    expect(usual.stdout, usual.stderr).toContain('linkspan.dev/given: gatewayAddress\n');
  });

  test('link-gen prints what makes the source mirror Services', { timeout: 60_000 }, async () => {
    await clusters.west.patch(
      GATEWAY,
      { status: { loadBalancer: { ingress: [{ ip: '203.0.113.20' }] } } },
      { subresource: 'status' },
    );
    const { code, stdout, stderr } = await generate(
      '--excluded-labels=team,example.com/*',
      '--selector=mirror.linkerd.io/exported=true,!internal',
    );
    expect(code, stderr).toBe(0);
    const objects = documents(stdout) as readonly LinkObject[];
    expect(objects.map(({ kind, metadata }) => `${kind ?? ''} ${metadata.namespace ?? ''}/${metadata.name}`)).toEqual([
      'Secret linkerd-multicluster/cluster-credentials-west',
      'Secret linkerd/cluster-credentials-west',
      'Link linkerd-multicluster/west',
    ]);
    expect(objects[1]?.metadata).toMatchObject({
      labels: { 'multicluster.linkerd.io/cluster-name': 'west' },
      annotations: {
        'multicluster.linkerd.io/trust-domain': 'west.example',
        'multicluster.linkerd.io/cluster-domain': 'west.local',
      },
    });
    const [own, copy] = objects.map((each) => tokenIn(each));
    expect(readAccountToken(own!)?.boundTo?.name).toBe('linkspan-peer-default');
    expect(readAccountToken(copy!)).toBeUndefined();
    const peer = await clusters.west.get(secretRef('linkspan-peer-default'));
    expect(peer?.metadata.annotations).toMatchObject({ 'linkspan.dev/token-given': 'true' });
    const lasting = documents((await generate('--long-lived-token')).stdout).map((each) => tokenIn(each));
    expect(lasting.slice(0, 2)).toEqual([copy, copy]);
    expect(objects[2]).toMatchObject({
      spec: {
        gatewayAddress: '203.0.113.20',
        gatewayPort: '4143',
        selector: {
          matchLabels: { 'mirror.linkerd.io/exported': 'true' },
          matchExpressions: [{ key: 'internal', operator: 'DoesNotExist' }],
        },
        remoteDiscoverySelector: { matchLabels: { 'mirror.linkerd.io/exported': 'remote-discovery' } },
        federatedServiceSelector: { matchLabels: { 'mirror.linkerd.io/federated': 'member' } },
        excludedLabels: ['team', 'example.com/*'],
      },
    });
    const stream = await generate('--output=json', '--gateway=false');
    expect(stream.stdout.match(/^}$/gm)).toHaveLength(3);
    expect(stream.stdout).not.toContain('gatewayAddress');

    const limited = documents((await generate('--service-account-name=wide')).stdout);
    expect(limited.at(-1)).toMatchObject({ kind: 'Link', spec: { targetNamespaces: ['shop'] } });
    expect(JSON.stringify(objects[2])).not.toContain('targetNamespaces');

    clusters.operator();
    for (const each of objects) await clusters.east.apply(each);
    await clusters.west.apply(service('web', { labels: EXPORTED }));
    await clusters.west.apply(slice('web'));
    await eventually('web-west is there', async () => (await clusters.addresses('web-west'))?.[0] === '203.0.113.20');
    await clusters.ready();
  });
});
