/** `linkspan uninstall`: what it removes, what it leaves to others, and what it refuses. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { routeAuthorization } from '../../../../operator/access/objects.ts';
import { Label, LinkApi } from '../../../../crds/wire.ts';
import { requireBinary } from '../../../cluster/real/binaries.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import type { KubeObject, ObjectRef } from '../../../cluster/workload/index.ts';
import { link, namespace, objectRef, service } from '../../../support/builders.ts';
import { everything } from '../../../support/everything.ts';
import { linkerdChart } from '../../../support/linkerd-chart.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

const IMAGE = '--image=registry.example.com/linkspan:0.1.0';
const NAMESPACE = 'linkerd-multicluster';

const ref = (apiVersion: string, kind: string, name: string): ObjectRef => objectRef(apiVersion, kind, name, NAMESPACE);
const LEASES = ['linkspan-operator', 'local-service-mirror-write'];
const leaseOf = (name: string): ObjectRef =>
  ({
    ...ref('coordination.k8s.io/v1', 'Lease', name),
    spec: { holderIdentity: 'linkspan-0', leaseDurationSeconds: 30 },
  }) as ObjectRef;
const LINKS_CRD = objectRef('apiextensions.k8s.io/v1', 'CustomResourceDefinition', LinkApi.crd);

onEachBacking('linkspan uninstall', (backing) => {
  let east: LinkerdCluster;
  let before: readonly string[];

  beforeAll(async () => {
    east = await startLinkerdCluster({ backing, name: 'east', controllers: ['namespace-controller'] });
    await installLinkerd(east);
    before = await everything(east.client);
  }, 120_000);
  afterAll(() => east.stop());

  const run = (command: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(command, `--kubeconfig=${east.cluster.kubeconfigFile}`, ...args);
  const writes = () => commandWrites(east.cluster);
  const asBefore = () => expect.poll(() => everything(east.client), { timeout: 20_000 }).toEqual(before);

  describe('of an installation', () => {
    beforeEach(async () => {
      const { code, stderr } = await run('install', IMAGE, '--apply');
      expect(code, stderr).toBe(0);
      await east.cluster.clearAudit();
    }, 60_000);

    test('lists what it would delete, and deletes nothing', async () => {
      const { code, stdout } = await run('uninstall', '--output=json');
      expect(code).toBe(0);
      const { clusters } = JSON.parse(stdout) as {
        readonly clusters: readonly { readonly objects: readonly KubeObject[] }[];
      };
      const kinds = clusters[0]?.objects.map(({ kind }) => kind) ?? [];
      expect(kinds).toHaveLength(24);
      expect([kinds.slice(0, 2), kinds.slice(-2)]).toEqual([
        ['Deployment', 'Deployment'],
        ['CustomResourceDefinition', 'Namespace'],
      ]);
      expect(await writes()).toEqual([]);
    });

    test('refuses while there are Links, mirrors, or another installation', { timeout: 30_000 }, async () => {
      const here = link('west');
      await east.client.apply(here);
      const mirror = service('web-west', {
        namespace: 'default',
        labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
      });
      await east.client.apply(mirror);
      const used = await run('uninstall', '--apply');
      await east.client.delete(here);
      const left = await run('uninstall', '--apply');
      await east.client.delete(mirror);
      const reader = ref('v1', 'ServiceAccount', 'reader');
      const labels = { 'linkerd.io/extension': 'multicluster' };
      await east.client.apply({ ...reader, metadata: { ...reader.metadata, labels } } as ObjectRef);
      const read = await run('uninstall', '--apply');
      await east.client.delete(reader);
      const elsewhere = await run('uninstall', '--apply', '--namespace=other');

      const given = `--kubeconfig ${east.cluster.kubeconfigFile} --context east`;
      expect([used, left, read, elsewhere].map(({ code, stdout }) => [code, stdout])).toEqual([
        [1, ''],
        [1, ''],
        [1, ''],
        [1, ''],
      ]);
      expect([used.stderr, left.stderr, read.stderr, elsewhere.stderr]).toEqual([
        `error: Link linkerd-multicluster/west of east: is there (linkspan unlink --name west --apply ${given})\n`,
        'error: mirrors of west in east: 1 are left without a Link (wait until the operator has removed them, or see its log)\n',
        `error: ServiceAccount linkerd-multicluster/reader of east: another cluster reads this one with it (unlink it from that cluster, or revoke it: \`kubectl ${given} --namespace linkerd-multicluster delete serviceaccount/reader\`)\n`,
        'error: ConfigMap linkerd-multicluster/linkspan-install of east: Linkspan is installed in that namespace (use --namespace linkerd-multicluster, or uninstall it first)\n',
      ]);
      expect(await writes()).toEqual([]);
    });

    test('leaves alone what an operator elsewhere follows, and who runs here, that nothing records (L223)', async () => {
      const second = (object: ObjectRef) => ({ ...object, metadata: { ...object.metadata, namespace: 'from-git' } });
      const labels = { 'linkerd.io/extension': 'multicluster' };
      const mirrored = {
        namespace: 'default',
        labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
      };
      const lease = {
        ...second(leaseOf('linkspan-operator')),
        spec: {
          holderIdentity: 'linkspan-1',
          leaseDurationSeconds: 3_600,
          renewTime: new Date().toISOString().replace('Z', '000Z'),
        },
      };
      const federated = {
        namespace: 'default',
        labels: { 'mirror.linkerd.io/mirrored-service': 'true' },
        annotations: { 'linkspan.dev/operator': 'from-git', 'multicluster.linkerd.io/remote-discovery': 'web@west' },
      };
      const pod = {
        ...ref('v1', 'Pod', 'reader'),
        spec: { serviceAccountName: 'reader', containers: [{ name: 'a', image: 'a' }] },
      };
      const reader = {
        ...ref('v1', 'ServiceAccount', 'reader'),
        metadata: { ...ref('v1', 'ServiceAccount', 'reader').metadata, labels },
      };
      const beside = [
        namespace('from-git'),
        lease,
        link('west', {}, { namespace: 'from-git' }),
        service('web-west', mirrored),
        service('web-federated', federated),
        reader as ObjectRef,
        pod as ObjectRef,
      ];
      for (const each of beside) await east.client.apply(each);
      const followed = await run('uninstall');
      await east.client.delete(lease);
      await east.client.delete(beside[4] as ObjectRef);
      const linked = await run('uninstall');
      for (const each of beside.toReversed()) await east.client.delete(each);
      expect([followed.stderr, linked.stderr].filter((text) => text.includes('error: '))).toEqual([]);
      expect([followed.code, linked.code]).toEqual([0, 0]);
      await expect.poll(() => east.client.get(namespace('from-git')), { timeout: 20_000 }).toBeUndefined();
    });

    test('leaves to an installation in another namespace what both have', { timeout: 60_000 }, async () => {
      const other = '--namespace=second';
      const record = ref('v1', 'ConfigMap', 'linkspan-install');
      const own = (await east.client.get(record))!;
      // install sees no other installation, as where two people type it at once.
      await east.client.delete(record);
      const second = await run('install', IMAGE, other, '--apply');
      expect(second.code, second.stderr).toBe(0);
      const { metadata } = own;
      const recorded = {
        ...own,
        metadata: { name: metadata.name, namespace: metadata.namespace, labels: metadata.labels },
      };
      await east.client.apply(recorded as ObjectRef);
      const shared = [LINKS_CRD, objectRef('rbac.authorization.k8s.io/v1', 'ClusterRole', 'linkspan-operator')];
      const mirror = service('web-west', {
        namespace: 'default',
        labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
      });
      const theirs = [link('west', {}, { namespace: 'second' }), mirror];
      for (const each of theirs) await east.client.apply(each);

      const first = await run('uninstall', '--apply');
      expect(first.code, first.stderr).toBe(0);
      expect(first.stderr).toMatch(
        /^note: what is not of namespace linkerd-multicluster stays for the installation in second; .* upgrade --namespace second --apply/,
      );
      expect(await east.client.get(namespace(NAMESPACE))).toBeUndefined();
      for (const each of [...shared, ...theirs]) expect(await east.client.get(each), each.kind).toBeDefined();
      const again = await run('upgrade', other, '--apply');
      expect(again.code, again.stderr).toBe(0);

      for (const each of theirs) await east.client.delete(each);
      const last = await run('uninstall', other, '--apply');
      expect(last.code, last.stderr).toBe(0);
      expect(last.stderr).not.toContain('stays');
      await asBefore();
    });

    test('goes without what it cannot render of the record (L273)', { timeout: 60_000 }, async () => {
      const record = ref('v1', 'ConfigMap', 'linkspan-install');
      const settings = 'linkerdNamespace: linkerd\nvalues: {later: 1}\n';
      await east.client.patch(record, { data: { version: '9.9.9', settings } });
      const { code, stderr } = await run('uninstall', '--apply');
      const [note, ...waits] = stderr.trimEnd().split('\n');
      expect(note).toMatch(/^note: what stays that linkspan install has not made is not all known: /);
      for (const wait of waits) expect(wait).toMatch(/^waiting for /);
      expect(code, stderr).toBe(0);
      await asBefore();
    });

    test('finishes what was stopped half-way', { timeout: 60_000 }, async () => {
      // In the order of the command: the Deployments first, the CRDs and the namespace last.
      const { stdout } = await run('uninstall', '--output=json');
      const { clusters } = JSON.parse(stdout) as { readonly clusters: readonly { readonly objects: ObjectRef[] }[] };
      for (const each of clusters[0]!.objects.slice(0, 15)) await east.client.delete(each);
      const { code, stderr } = await run('uninstall', '--apply');
      expect(code, stderr).toBe(0);
      await asBefore();
    });

    test.runIf(backing === 'real')(
      'keeps the namespace, and no more, while an aggregated API server is down',
      { timeout: 60_000 },
      async () => {
        const down = {
          ...objectRef('apiregistration.k8s.io/v1', 'APIService', 'v1beta1.external.metrics.k8s.io'),
          spec: {
            group: 'external.metrics.k8s.io',
            version: 'v1beta1',
            groupPriorityMinimum: 100,
            versionPriority: 100,
            insecureSkipTLSVerify: true,
            service: { name: 'keda', namespace: 'default', port: 443 },
          },
        } as ObjectRef;
        await east.client.apply(down);
        await expect
          .poll(async () => (await east.client.request('GET', '/apis/external.metrics.k8s.io/v1beta1')).code)
          .toBe(503);
        const { code, stderr } = await run('uninstall', '--apply');
        await east.client.delete(down);
        expect(code, stderr).toBe(0);
        expect(stderr).toMatch(
          /^note: Namespace linkerd-multicluster of east stays: what others have in it is not known: .*external\.metrics\.k8s\.io/,
        );
        expect(await east.client.get(ref('apps/v1', 'Deployment', 'linkspan-operator'))).toBeUndefined();
        expect((await run('uninstall', '--apply')).stdout).toContain('namespace/linkerd-multicluster deleted in east');
        await asBefore();
      },
    );

    test('keeps the CRDs and the namespace that others come to use while pods end', { timeout: 60_000 }, async () => {
      const operator = ref('apps/v1', 'Deployment', 'linkspan-operator');
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'linkspan-operator-1', uid: 'of-no-matter' };
      const name = 'linkspan-operator-1-0';
      const labels = { 'app.kubernetes.io/name': 'linkspan', 'app.kubernetes.io/component': 'operator' };
      const pod = {
        ...ref('v1', 'Pod', name),
        metadata: { name, namespace: NAMESPACE, labels, ownerReferences: [owner] },
        spec: {
          serviceAccountName: 'linkspan-operator',
          containers: [{ name: 'controller', image: 'linkspan:0.1.0' }],
        },
      } as ObjectRef;
      await east.client.apply(pod);
      const running = run('uninstall', '--apply');
      await expect.poll(() => east.client.get(operator), { timeout: 20_000 }).toBeUndefined();
      const others = [
        namespace('other'),
        link('north', {}, { namespace: 'other' }),
        ref('v1', 'ServiceAccount', 'theirs'),
      ];
      for (const each of others) await east.client.apply(each);
      await east.client.delete(pod, { gracePeriodSeconds: 0 });
      const { code, stdout, stderr } = await running;
      expect(code, stderr).toBe(0);
      expect(stderr.split('\n').filter((line) => line.startsWith('note:'))).toEqual([
        'note: CustomResourceDefinition links.multicluster.linkerd.io of east stays: it has Link other/north',
        'note: Namespace linkerd-multicluster of east stays: it has ServiceAccount linkerd-multicluster/theirs',
      ]);
      expect(stdout).toContain('customresourcedefinition/servicefailovers.linkspan.dev deleted in east\n');
      for (const each of others) expect(await east.client.get(each), each.metadata.name).toBeDefined();
      for (const each of others.toReversed()) await east.client.delete(each);
      expect((await run('uninstall', '--apply')).code).toBe(0);
      await asBefore();
    });

    test(
      'leaves mirrors where the operator writes nothing, and names them (A3, L276)',
      { timeout: 60_000 },
      async () => {
        const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
        const mirrors = ['kube-system', 'default'].map((each) => service('web-west', { namespace: each, labels }));
        for (const each of mirrors) await east.client.apply(each);
        const note = (name: string): string =>
          `note: mirrors of west in namespace ${name} of east stay, since the operator writes nothing there; \`kubectl --kubeconfig ${east.cluster.kubeconfigFile} --context east --namespace ${name} delete service/web-west\` deletes them`;
        const refused = await run('uninstall', '--apply');
        expect(refused.code).toBe(1);
        expect(refused.stderr).toMatch(/^error: mirrors of west in east: 1 are left without a Link \(.*\)\n$/);
        const operator = ref('apps/v1', 'Deployment', 'linkspan-operator');
        const env = [{ name: 'LINKSPAN_MIRROR_NAMESPACES', value: 'shop' }];
        const template = { spec: { containers: [{ name: 'controller', env }] } };
        await east.client.apply({ ...operator, spec: { template } } as ObjectRef, { fieldManager: 'test' });
        const { code, stderr } = await run('uninstall', '--apply');
        expect(code, stderr).toBe(0);
        expect(stderr.split('\n').filter((line) => line.includes('mirrors'))).toEqual([
          note('default'),
          note('kube-system'),
        ]);
        for (const each of mirrors) {
          expect(await east.client.get(each)).toBeDefined();
          await east.client.delete(each);
        }
        await asBefore();
      },
    );

    test(
      'keeps the CRDs and the namespace while others use them, and removes them later',
      { timeout: 60_000 },
      async () => {
        const others = [
          namespace('other'),
          ref('v1', 'ServiceAccount', 'theirs'),
          link('north', {}, { namespace: 'other' }),
          {
            ...objectRef('linkspan.dev/v1alpha1', 'ServiceFailover', 'web', 'other'),
            spec: { service: 'web', backends: [{ service: 'web' }] },
          } as ObjectRef,
        ];
        for (const each of others) await east.client.apply(each);
        const first = await run('uninstall', '--apply');
        expect(first.code, first.stderr).toBe(0);
        expect(first.stderr.split('\n')).toEqual([
          'note: CustomResourceDefinition links.multicluster.linkerd.io of east stays: it has Link other/north',
          'note: CustomResourceDefinition servicefailovers.linkspan.dev of east stays: it has ServiceFailover other/web',
          'note: Namespace linkerd-multicluster of east stays: it has ServiceAccount linkerd-multicluster/theirs',
          '',
        ]);
        expect(await east.client.get(others[1]!)).toBeDefined();
        expect(await east.client.get(others[2]!)).toBeDefined();

        for (const each of others.toReversed()) await east.client.delete(each);
        const again = await run('uninstall', '--apply');
        expect(again.stdout.split('\n')).toEqual([
          'customresourcedefinition/links.multicluster.linkerd.io deleted in east',
          'customresourcedefinition/servicefailovers.linkspan.dev deleted in east',
          'namespace/linkerd-multicluster deleted in east',
          '',
        ]);
        await asBefore();
      },
    );
  });

  test.runIf(backing === 'real')(
    'removes what kubectl has applied of the manifests that install prints',
    { timeout: 60_000 },
    async () => {
      const { stdout } = await run('install', IMAGE, '--ha');
      const kubectl = promisify(execFile)(requireBinary('kubectl'), [
        ...['--kubeconfig', east.cluster.kubeconfigFile],
        ...['apply', '--server-side', '--validate=strict', '-f', '-'],
      ]);
      kubectl.child.stdin?.end(stdout);
      await kubectl;
      const shown = await run('upgrade');
      expect(shown).toMatchObject({ code: 0, stdout: 'east:\n  24 objects would not change\n' });
      const { code, stderr } = await run('uninstall', '--apply');
      expect(code, stderr).toBe(0);
      expect(stderr).not.toContain('stays');
      await asBefore();
    },
  );

  test(
    'is refused beside an operator that others have made, until it is gone (L279)',
    { timeout: 60_000 },
    async () => {
      await run('install', IMAGE, '--apply');
      const operator = ref('apps/v1', 'Deployment', 'linkspan-operator');
      const { metadata, ...rest } = (await east.client.get(operator))!;
      const { [Label.managedBy]: _, ...labels } = metadata.labels ?? {};
      const { name, namespace: inside } = metadata;
      await east.client.delete(operator);
      await east.client.create({ ...rest, metadata: { name, namespace: inside, labels } } as ObjectRef);

      const refused = await run('uninstall', '--apply');
      expect(refused.stderr).toBe(
        'error: Deployment linkerd-multicluster/linkspan-operator of east: was not made by linkspan install, and needs what would be deleted (delete it where its manifests are kept, and run the command again)\n',
      );
      expect(refused.code).toBe(1);
      expect(await east.client.get(ref('v1', 'ServiceAccount', 'linkspan-operator'))).toBeDefined();

      await east.client.delete(operator);
      const { code, stderr } = await run('uninstall', '--apply');
      expect(code, stderr).toBe(0);
      await asBefore();
    },
  );

  test('leaves rights that an account of another namespace has come to use (L283)', { timeout: 60_000 }, async () => {
    await run('install', IMAGE, '--apply');
    const binding = objectRef('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'linkspan-operator');
    const role = objectRef('rbac.authorization.k8s.io/v1', 'ClusterRole', 'linkspan-operator');
    const subjects = [{ kind: 'ServiceAccount', name: 'linkspan-operator', namespace: 'from-git' }];
    await east.client.patch(binding, { subjects }, { fieldManager: 'argocd-controller' });
    const { code, stderr } = await run('uninstall', '--apply');
    expect(code, stderr).toBe(0);
    for (const each of [binding, role]) {
      const title = `${each.kind} linkspan-operator of east`;
      expect(stderr).toContain(`${title} stays: it gives rights to ServiceAccount from-git/linkspan-operator\n`);
      expect(await east.client.get(each)).toBeDefined();
    }
    await east.client.delete(binding);
    await run('uninstall', '--apply');
    await asBefore();
  });

  test('leaves the namespace that a user has made as it was', { timeout: 60_000 }, async () => {
    const own = { ...namespace(NAMESPACE), metadata: { name: NAMESPACE, labels: { team: 'mesh' } } };
    await east.client.apply(own);
    const labels = async () => (await east.client.get(own))?.metadata.labels;
    const made = await labels();
    await run('install', IMAGE, '--apply');
    expect(await labels()).toMatchObject({ team: 'mesh', 'linkerd.io/extension': 'multicluster' });
    for (const name of LEASES) await east.client.create(leaseOf(name), { fieldManager: 'linkspan' });

    const { stderr } = await run('uninstall', '--apply');
    expect(stderr).toContain('note: Namespace linkerd-multicluster of east stays: linkspan install has not made it\n');
    expect(await labels()).toEqual(made);
    for (const name of LEASES) expect(await east.client.get(leaseOf(name)), name).toBeUndefined();
    await east.client.delete(own);
    await asBefore();
  });

  test("leaves what Linkerd's chart has made, also where a label says otherwise", { timeout: 60_000 }, async () => {
    const [own, crd, ...rest] = linkerdChart.filter(({ kind }) => kind !== 'Link');
    await east.client.apply(own!);
    await east.client.apply(crd!);
    for (const each of rest) await east.client.apply(each);
    await run('install', IMAGE, '--apply');
    // As `linkspan install | kubectl apply --server-side` does.
    const gateway = ref('v1', 'Service', 'linkerd-gateway');
    const lease = leaseOf('local-service-mirror-write');
    await east.client.create(lease, { fieldManager: 'linkspan' });
    await east.client.patch(lease, { spec: { holderIdentity: 'local-mirror' } }, { fieldManager: 'controller' });
    const annotations = { 'linkerd.io/created-by': 'linkerd/cli edge-26.8.1' };
    await east.client.patch(gateway, {
      metadata: { labels: { [Label.managedBy]: 'linkspan' }, annotations },
    });

    const { code, stderr } = await run('uninstall', '--apply');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('Service linkerd-multicluster/linkerd-gateway of east stays');
    for (const each of linkerdChart.filter(({ kind }) => kind !== 'Link'))
      expect(await east.client.get(each), each.metadata.name).toBeDefined();
    for (const each of [LINKS_CRD, lease]) expect(await east.client.get(each), each.metadata.name).toBeDefined();
    expect(await east.client.get(ref('apps/v1', 'Deployment', 'linkspan-operator'))).toBeUndefined();
  });

  test("leaves no gateway of Linkerd's chart that refuses everyone", { timeout: 60_000 }, async () => {
    for (const each of linkerdChart.filter(({ kind }) => kind !== 'Link')) await east.client.apply(each);
    await run('install', IMAGE, '--apply');
    const opening = ref('policy.linkerd.io/v1alpha1', 'AuthorizationPolicy', 'linkerd-gateway');
    const kept = routeAuthorization(NAMESPACE, 'abc', 'linkspan-abc-0').object as unknown as ObjectRef;
    // The operator has closed it.
    await east.client.delete(opening);
    await east.client.apply(kept);
    const refused = await run('uninstall', '--apply');
    expect(refused.stderr).toContain(
      'error: AuthorizationPolicy linkerd-multicluster/linkspan-abc-0 of east: is of the policy that admits clients to a gateway that stays',
    );
    expect(refused.stderr).toContain('linkspan upgrade --gateway-access open');
    expect(refused.code).toBe(1);
    expect(await east.client.get(kept)).toBeDefined();
    // And it is open again, by a policy that the upgrade has made.
    await run('upgrade', '--gateway-access=open', '--wait=false', '--apply');
    await east.client.delete(kept);
    const { code, stderr } = await run('uninstall', '--apply');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      'AuthorizationPolicy linkerd-multicluster/linkerd-gateway of east stays: the gateway stays',
    );
    expect(await east.client.get(opening)).toBeDefined();
  });
});
