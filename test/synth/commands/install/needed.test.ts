/** What still needs an installation: `linkspan uninstall` refuses while it is there, with the command that removes it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { requireBinary } from '../../../cluster/real/binaries.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { installCrd, type KubeObject, type ObjectRef } from '../../../cluster/workload/index.ts';
import { link, namespace, objectRef, service } from '../../../support/builders.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { installMcs, serviceExport, serviceImportRef } from '../../../support/mcs.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

const NAMESPACE = 'linkerd-multicluster';
const NAME = 'west-reads';
const RBAC = 'rbac.authorization.k8s.io';

const ref = (apiVersion: string, kind: string, name: string): ObjectRef => objectRef(apiVersion, kind, name, NAMESPACE);
const ACCOUNT = ref('v1', 'ServiceAccount', NAME);
const ROLE = objectRef(`${RBAC}/v1`, 'ClusterRole', NAME);
const BINDING = objectRef(`${RBAC}/v1`, 'ClusterRoleBinding', NAME);
const TOKEN = ref('v1', 'Secret', `${NAME}-token`);

const PEER = ref('v1', 'Secret', 'linkspan-peer-west');
const OF_ACCOUNT = { 'linkspan.dev/service-account': NAME };

const labelled = (object: ObjectRef, labels: Readonly<Record<string, string>>): ObjectRef =>
  ({ ...object, metadata: { ...object.metadata, labels } }) as ObjectRef;
const extension = (object: ObjectRef): ObjectRef => labelled(object, { 'linkerd.io/extension': 'multicluster' });

const granted = (role: ObjectRef, binding: ObjectRef): readonly ObjectRef[] => [
  { ...role, rules: [{ apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] }] } as ObjectRef,
  {
    ...binding,
    roleRef: { apiGroup: RBAC, kind: role.kind, name: role.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }],
  } as ObjectRef,
];
const token = {
  ...TOKEN,
  type: 'kubernetes.io/service-account-token',
  metadata: { ...TOKEN.metadata, annotations: { 'kubernetes.io/service-account.name': NAME } },
} as ObjectRef;

/** A Deployment whose pods run as the account, as Linkerd's controller of a Link does. */
const controller = {
  ...ref('apps/v1', 'Deployment', 'controller-west'),
  spec: {
    selector: { matchLabels: { component: 'controller' } },
    template: {
      metadata: { labels: { component: 'controller' } },
      spec: { serviceAccountName: NAME, containers: [{ name: 'controller', image: 'registry.example.com/a:1' }] },
    },
  },
} as ObjectRef;

/** HTTPRoutes, without a schema. */
const HTTP_ROUTES = {
  ...objectRef('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'httproutes.gateway.networking.k8s.io'),
  metadata: {
    name: 'httproutes.gateway.networking.k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
  },
  spec: {
    group: 'gateway.networking.k8s.io',
    names: { kind: 'HTTPRoute', listKind: 'HTTPRouteList', plural: 'httproutes', singular: 'httproute' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
} as ObjectRef;

onEachBacking('what needs an installation', (backing) => {
  let east: LinkerdCluster;

  beforeAll(async () => {
    east = await startLinkerdCluster({ backing, name: 'east' });
    await installLinkerd(east);
    await east.client.apply(namespace('shop'));
    const { code, stderr } = await run('install', '--image=registry.example.com/linkspan:0.1.0', '--apply');
    expect(code, stderr).toBe(0);
  }, 120_000);
  beforeEach(() => east.cluster.clearAudit());
  afterAll(() => east.stop());

  const run = (command: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(command, `--kubeconfig=${east.cluster.kubeconfigFile}`, ...args);
  const given = () => `--kubeconfig ${east.cluster.kubeconfigFile} --context east`;
  const errorsWith = async (
    objects: readonly ObjectRef[],
    command = 'uninstall',
    fieldManager = 'test',
  ): Promise<readonly string[]> => {
    for (const each of objects) await east.client.apply(each, { fieldManager });
    const flags = command === 'uninstall' ? [] : ['--gateway=false'];
    const { stderr } = await run(command, ...flags);
    for (const each of objects) await east.client.delete(each);
    expect(await commandWrites(east.cluster)).toEqual([]);
    return stderr
      .split('\n')
      .filter((line) => line.startsWith('error: '))
      .map((line) => line.replaceAll(given(), '…'));
  };

  const reads = (remedy: string): string =>
    `error: ServiceAccount linkerd-multicluster/west-reads of east: another cluster reads this one with it (unlink it from that cluster, or revoke it: ${remedy})`;
  const inNamespace = (...more: readonly string[]): string =>
    `\`kubectl … --namespace linkerd-multicluster delete ${['serviceaccount/west-reads', ...more].join(' ')}\``;

  test.each<[string, readonly ObjectRef[], string]>([
    ['by its label', [extension(ACCOUNT)], inNamespace()],
    ['by a token', [ACCOUNT, token], inNamespace('secret/west-reads-token')],
    [
      'by the Secret that its tokens are bound to',
      [
        ACCOUNT,
        { ...extension(PEER), metadata: { ...extension(PEER).metadata, annotations: OF_ACCOUNT } } as ObjectRef,
      ],
      inNamespace('secret/linkspan-peer-west'),
    ],
    [
      'by a ClusterRole that others have made',
      [ACCOUNT, ...granted(ROLE, BINDING)],
      `${inNamespace()} and \`kubectl … delete clusterrolebinding/west-reads\``,
    ],
    [
      'by all that linkspan allow makes',
      [extension(ACCOUNT), token, ...granted(extension(ROLE), extension(BINDING))],
      `${inNamespace('secret/west-reads-token')} and \`kubectl … delete clusterrolebinding/west-reads clusterrole/west-reads\``,
    ],
    [
      'by a Role in a namespace',
      [
        ACCOUNT,
        ...granted(
          extension(objectRef(`${RBAC}/v1`, 'Role', NAME, 'shop')),
          objectRef(`${RBAC}/v1`, 'RoleBinding', NAME, 'shop'),
        ),
      ],
      `${inNamespace()} and \`kubectl … --namespace shop delete rolebinding/west-reads role/west-reads\``,
    ],
  ])('is an account of another cluster, known %s', { timeout: 60_000 }, async (_, objects, remedy) => {
    expect(await errorsWith(objects)).toEqual([reads(remedy)]);
    expect(await errorsWith(objects, 'upgrade')).toEqual([reads(remedy)]);
  });

  test('is no account that pods of the namespace run as', { timeout: 60_000 }, async () => {
    const [account, ...others] = [extension(ACCOUNT), controller, ...granted(ROLE, BINDING)];
    expect(await errorsWith([account, ...others])).toEqual([]);
  });

  test(
    'is no account whose roles have no rules, as an aggregated one that selects nothing',
    { timeout: 60_000 },
    async () => {
      const [role, binding] = granted(ROLE, BINDING);
      const clusterRoleSelectors = [{ matchLabels: { 'example.com/aggregate': 'nothing' } }];
      const empty = { ...role, aggregationRule: { clusterRoleSelectors }, rules: null } as unknown as ObjectRef;
      expect(await errorsWith([ACCOUNT, empty, binding!])).toEqual([]);
      expect(await errorsWith([ACCOUNT, empty, binding!], 'upgrade')).toEqual([]);
    },
  );

  test.runIf(backing === 'real')(
    'is gone after the command of the remedy, and nothing else is',
    { timeout: 60_000 },
    async () => {
      const objects = [extension(ACCOUNT), token, ...granted(extension(ROLE), extension(BINDING))];
      for (const each of objects) await east.client.apply(each);
      const { stderr } = await run('uninstall', '--apply');
      const commands = [...stderr.matchAll(/`kubectl ([^`]*)`/g)].map(([, words = '']) => words.split(' '));
      expect(commands).toHaveLength(2);
      for (const words of commands) await promisify(execFile)(requireBinary('kubectl'), words);
      for (const each of objects) expect(await east.client.get(each), each.kind).toBeUndefined();
      for (const each of [namespace(NAMESPACE), ref('v1', 'Service', 'linkerd-gateway')])
        expect((await east.client.get(each))?.metadata, each.kind).not.toHaveProperty('deletionTimestamp');
      expect((await run('uninstall')).code).toBe(0);
    },
  );

  describe("are Links that are not Linkerd's controllers' again", () => {
    const suspended = link('west', {}, { annotations: { 'linkspan.dev/suspended': 'true' } });
    const heldBy = (holderIdentity: string, name = 'service-mirror-write-west'): ObjectRef =>
      ({
        ...ref('coordination.k8s.io/v1', 'Lease', name),
        spec: {
          holderIdentity,
          leaseDurationSeconds: 30,
          renewTime: new Date().toISOString().replace('Z', '000Z'),
        },
      }) as ObjectRef;
    const operator = () => heldBy('linkspan-0', 'linkspan-operator');
    const mirror = (cluster: string) =>
      service(`web-${cluster}`, {
        namespace: 'shop',
        labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': cluster },
      });
    const joined = (members: string, local?: string): ObjectRef =>
      service('web-federated', {
        namespace: 'shop',
        labels: { 'mirror.linkerd.io/mirrored-service': 'true' },
        annotations: {
          'multicluster.linkerd.io/remote-discovery': members,
          ...(local !== undefined && { 'multicluster.linkerd.io/local-discovery': local }),
        },
      });
    const localMirror = (replicas: number): ObjectRef => {
      const { spec } = controller as unknown as { readonly spec: object };
      return {
        ...ref('apps/v1', 'Deployment', 'linkerd-local-service-mirror'),
        spec: { ...spec, replicas },
      } as ObjectRef;
    };
    const deleting = '`kubectl … --namespace shop delete service/web-federated`';
    const unfollowed = (remedy: string): string =>
      `error: Service shop/web-federated of east: is a federated Service that nobody would follow (${remedy})`;
    const isThere = (reason: string, remedy: string): string =>
      `error: Link linkerd-multicluster/west of east: ${reason} (${remedy})`;
    const unlink = 'linkspan unlink --name west --apply …';
    const back = 'linkspan migrate west --back --apply …';

    test(
      'not one that is, with its mirrors and the federated Services of its cluster',
      { timeout: 60_000 },
      async () => {
        const handedBack = [suspended, heldBy('linkerd-controller-0'), operator(), mirror('west')];
        expect(await errorsWith([...handedBack, joined('web@west')])).toEqual([]);
        expect(await errorsWith([...handedBack, joined('web@west', 'web'), localMirror(1)])).toEqual([]);
        // Of an operator that has released its Lease.
        expect(await errorsWith([suspended, heldBy('linkerd-controller-0'), mirror('west')])).toEqual([]);
      },
    );

    test(
      'but mirrors and federated Services of others, and members that nobody adds',
      { timeout: 60_000 },
      async () => {
        const handedBack = [suspended, heldBy('linkerd-controller-0'), operator()];
        expect(await errorsWith([...handedBack, mirror('north')])).toEqual([
          'error: mirrors of north in east: 1 are left without a Link (wait until the operator has removed them, or see its log)',
        ]);
        const labels = { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'north' };
        const probe = service('probe-north', { namespace: NAMESPACE, labels });
        // As Linkerd's chart makes it, and as the operator does, which removes it after all mirrors.
        expect(await errorsWith([...handedBack, probe])).toEqual([]);
        expect(await errorsWith([...handedBack, probe], 'uninstall', 'linkspan')).toEqual([
          'error: mirrors of north in east: 1 are left without a Link (wait until the operator has removed them, or see its log)',
        ]);
        const started = 'scale Deployment linkerd-local-service-mirror up, which follows it; or ';
        expect(await errorsWith([...handedBack, joined('web@west', 'web'), localMirror(0)])).toEqual([
          unfollowed(`${started}delete it: ${deleting}`),
        ]);
        for (const each of [[joined('web@west', 'web')], [joined('web@west,web@north'), localMirror(1)]])
          expect(await errorsWith([...handedBack, ...each])).toEqual([unfollowed(`delete it: ${deleting}`)]);
        const throughGateways = labelled(service('web-federated', { namespace: 'shop' }), {
          'mirror.linkerd.io/mirrored-service': 'true',
          'linkspan.dev/federation': 'gateway',
        });
        expect(await errorsWith([...handedBack, throughGateways, localMirror(1)])).toEqual([
          unfollowed(`delete it: ${deleting}`),
        ]);
      },
    );

    test.each<[string, () => readonly ObjectRef[], string, string]>([
      [
        'is suspended, and nobody has taken over',
        () => [suspended, operator()],
        'is suspended, and nobody writes for it',
        `to keep its mirrors, have Linkerd's controller write for it: ${back}; or ${unlink}`,
      ],
      [
        'is suspended, and the operator has not let go of',
        () => [suspended, operator(), heldBy('linkspan-0')],
        'is suspended, and linkspan-0 still holds its Lease',
        `to keep its mirrors, have Linkerd's controller write for it: ${back}; or ${unlink}`,
      ],
      [
        'the operator takes over when the other lets go',
        () => [link('west'), operator(), heldBy('linkerd-controller-0')],
        'is there',
        `leave it to linkerd-controller-0, which writes for it: ${back}; or ${unlink}`,
      ],
      ['the operator serves', () => [link('west'), operator(), heldBy('linkspan-0')], 'is there', unlink],
      [
        'has another name than its cluster',
        () => [link('west', { targetClusterName: 'north' })],
        'is there',
        '`kubectl … -n linkerd-multicluster delete links.multicluster.linkerd.io west`, then `linkspan unlink --name north --apply …`',
      ],
    ])('such as one that %s', { timeout: 60_000 }, async (_, objects, reason, remedy) => {
      expect(await errorsWith(objects())).toEqual([isThere(reason, remedy)]);
    });

    test('such as one whose copy of the credentials is where Linkerd was installed', { timeout: 60_000 }, async () => {
      const record = ref('v1', 'ConfigMap', 'linkspan-install');
      const { data } = (await east.client.get<KubeObject & { readonly data: Record<string, string> }>(record))!;
      const settings = data['settings']?.replace('linkerdNamespace: linkerd', 'linkerdNamespace: l5d');
      await east.client.patch(record, { data: { settings } });
      expect(await errorsWith([link('west')])).toEqual([
        isThere('is there', 'linkspan unlink --name west --linkerd-namespace l5d --apply …'),
      ]);
      await east.client.patch(record, { data });
    });
  });

  describe('are objects that nobody would follow', () => {
    beforeAll(async () => {
      await installMcs(east.cluster);
      await installCrd(east.cluster, HTTP_ROUTES);
    }, 60_000);

    const ofImport = { 'linkspan.dev/service-import': 'web' };
    const anImport = {
      ...labelled(serviceImportRef('web'), ofImport),
      spec: { type: 'ClusterSetIP', ports: [{ port: 80 }] },
    } as ObjectRef;
    const derived = labelled(service('web-clusterset', { namespace: 'shop' }), ofImport);
    const route = labelled(objectRef('gateway.networking.k8s.io/v1', 'HTTPRoute', 'web-80', 'shop'), {
      'linkspan.dev/service-failover': 'web',
    });
    const federated = {
      ...labelled(service('web-federated', { namespace: 'shop' }), { 'mirror.linkerd.io/mirrored-service': 'true' }),
    };
    const annotated = {
      ...federated,
      metadata: { ...federated.metadata, annotations: { 'multicluster.linkerd.io/remote-discovery': 'web@west' } },
    } as ObjectRef;
    const left = 'ServiceImport shop/web of east: is there, and nobody would follow web.shop.svc.clusterset.local';
    const removal = '`kubectl … --namespace shop delete serviceimport/web service/web-clusterset`';

    test.each<[string, readonly ObjectRef[], string]>([
      [
        'a ServiceImport of another cluster',
        [anImport, derived],
        `${left} (wait until the operator has removed it; where none runs: ${removal})`,
      ],
      [
        'a ServiceImport of its own',
        [serviceExport('web'), anImport, derived],
        `${left} (end its export with \`kubectl … --namespace shop delete serviceexport/web\`; where no operator runs, then ${removal})`,
      ],
      [
        'a federated Service',
        [annotated],
        'Service shop/web-federated of east: is a federated Service that nobody would follow (delete it: `kubectl … --namespace shop delete service/web-federated`)',
      ],
      [
        'a federated Service with a member of its own cluster',
        [labelled(service('web', { namespace: 'shop' }), { 'mirror.linkerd.io/federated': 'member' }), annotated],
        'Service shop/web-federated of east: is a federated Service that nobody would follow (take its member out with `kubectl … --namespace shop label service web mirror.linkerd.io/federated-`, or delete it: `kubectl … --namespace shop delete service/web-federated`)',
      ],
      [
        'a route of a ServiceFailover',
        [route],
        'HTTPRoute shop/web-80 of east: ServiceFailover web divides requests by it, and nobody would follow it (the ServiceFailover is gone; delete it: `kubectl … --namespace shop delete httproutes.gateway.networking.k8s.io/web-80`)',
      ],
    ])('%s', async (_, objects, message) => {
      expect(await errorsWith(objects)).toEqual([`error: ${message}`]);
      expect((await run('uninstall')).code).toBe(0);
    });
  });
});
