/** `linkspan explain --as`: a client on its way through the gateway, by the policy that the operator of the target writes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GatewayPolicy, MirrorOperator } from '../../../../constructs/index.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import {
  authentication,
  authenticationName,
  keptNetworks,
  nothing,
  route,
  routeAuthorization,
  routeName,
  setId,
} from '../../../../operator/access/objects.ts';
import type { Desired } from '../../../../operator/runtime/plan.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, installCrd, type ObjectRef } from '../../../cluster/workload/index.ts';
import {
  EXPORTED,
  EXPORTED_FLAT,
  GATEWAY,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
} from '../../../support/builders.ts';
import { policyCrds } from '../../../support/policy-crds.ts';
import { readerOf } from '../../../support/reader.ts';
import { ANCHOR } from '../../../support/trust-anchors.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';
import { linkerdConfig } from '../check/installed.ts';

const identity = (account: string): string => `${account}.shop.serviceaccount.identity.linkerd.east.example`;
const HOST = 'web.shop.svc.cluster.local';

onEachBacking('linkspan explain --as', (backing) => {
  let clusters: TwoClusters;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, west: { controllers: ['serviceaccount-token-controller'] } });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-client-'));
    const { east, west, westCluster } = clusters;
    for (const crd of policyCrds()) await installCrd(westCluster, crd);
    for (const name of ['linkerd', LINKS_NAMESPACE]) for (const each of [east, west]) await each.apply(namespace(name));
    await east.apply(linkerdConfig(ANCHOR, { trustDomain: 'east.example' }));
    await west.apply(linkerdConfig(ANCHOR));
    const installed = render((chart) => {
      new GatewayPolicy(chart, 'Policy', { namespace: LINKS_NAMESPACE, gatewayAccess: 'clients' });
      new MirrorOperator(chart, 'Operator', {
        namespace: LINKS_NAMESPACE,
        image: 'linkspan:0.1.0',
        gatewayAccess: 'clients',
      });
    });
    for (const each of installed) await west.apply(each);
    await exportTo([identity('a')]);
    await west.apply(service('flat', { labels: EXPORTED_FLAT }));
    await west.apply(slice('flat', { labels: EXPORTED_FLAT }));
    await clusters.link();
    clusters.operator();
    await clusters.ready();
    await eventually('web-west is there', async () => (await clusters.addresses('web-west'))?.[0] === GATEWAY);
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  /** Exports web to these, with the policy that the operator of west writes, as Linkerd has accepted it. */
  const exportTo = async (identities: readonly string[]): Promise<void> => {
    const { west } = clusters;
    await west.apply(
      service('web', { labels: EXPORTED, annotations: { 'linkspan.dev/clients': 'shop/a@east.example' } }),
    );
    await west.apply(slice('web'));
    const set = setId(identities);
    const name = routeName(set, 0);
    const written: readonly Desired[] = [
      keptNetworks(LINKS_NAMESPACE, [{ cidr: '0.0.0.0/0' }]),
      authentication(LINKS_NAMESPACE, set, identities),
      routeAuthorization(LINKS_NAMESPACE, set, name),
      route(LINKS_NAMESPACE, set, name, [HOST]),
      nothing(LINKS_NAMESPACE),
    ];
    for (const { object } of written) {
      const ref = object as unknown as ObjectRef;
      await west.apply(ref);
      if (object.kind !== 'HTTPRoute') continue;
      const parentRef = { group: 'policy.linkerd.io', kind: 'Server', name: 'linkerd-gateway' };
      const conditions = [{ type: 'Accepted', status: 'True' }];
      await west.patch(ref, { status: { parents: [{ parentRef, conditions }] } }, { subresource: 'status' });
    }
    expect(authenticationName(set)).toBe(`linkspan-${set}`);
  };

  const fromSource = (...args: readonly string[]): Promise<Outcome> =>
    linkspan(directory, 'explain', `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`, ...args);
  const explain = (...args: readonly string[]): Promise<Outcome> =>
    fromSource(`--to-kubeconfig=${clusters.westCluster.kubeconfigFile}`, '--to-context=west', ...args);
  /** What is said of the client. */
  const ofClient = ({ stdout }: Outcome): string => stdout.slice(stdout.indexOf('Client '));

  test('a ServiceAccount of the source that the export names is admitted, beside the mirror that is explained', async () => {
    const found = await explain('shop/web', '--as=shop/a');
    const set = setId([identity('a')]);
    expect(ofClient(found), found.stdout + found.stderr).toBe(
      [
        `Client ${identity('a')} through the gateway of west to Service shop/web`,
        `√ client    shop/a@east.example is ${identity('a')}`,
        `√ route     HTTPRoute linkerd-multicluster/linkspan-${set}-0 has ${HOST}`,
        `√ requests  AuthorizationPolicy linkerd-multicluster/linkspan-${set}-0 admits the client to ${HOST}`,
        'the client is admitted to port 80',
        '',
      ].join('\n'),
    );
    expect(found.stdout).toContain(`clients reach ${GATEWAY}\n\nClient `);
    expect(found.code).toBe(0);
  });

  test('another is told whom it is exported to, and the command that names it', async () => {
    const found = await explain('shop/web-west', '--as=shop/b');
    expect(ofClient(found)).toContain(
      '× requests  403: shop/web is exported to shop/a@east.example; the client is shop/b@east.example\n',
    );
    expect(ofClient(found)).toContain(
      '-n shop annotate service web linkspan.dev/clients=shop/a@east.example,shop/b@east.example --overwrite`\nit gets 403 at port 80\n',
    );
    expect(found.code).toBe(1);
  });

  test('an identity in full, and a trust domain, are taken as they are', async () => {
    for (const client of [identity('a'), 'shop/a@east.example']) {
      expect((await explain('shop/web', `--as=${client}`)).code, client).toBe(0);
    }
    const other = await explain('shop/web', '--as=shop/a@west.example');
    expect(ofClient(other)).toContain('it gets 403 at port 80');
  });

  test('programs read it by the port', async () => {
    const json = JSON.parse((await explain('shop/web', '--as=shop/b', '--output=json')).stdout) as {
      readonly explanations: readonly object[];
    };
    expect(json.explanations.at(-1)).toMatchObject({
      namespace: 'shop',
      name: 'web',
      cluster: 'west',
      client: identity('b'),
      admitted: [],
      refused: [{ port: 80, answer: '403' }],
    });
  });

  test('of a Service that is not exported, it is said as well', async () => {
    await clusters.west.apply(service('hidden'));
    expect(ofClient(await explain('shop/hidden', '--as=shop/a'))).toContain(
      '× requests  404: no route of the gateway has hidden.shop.svc.cluster.local: shop/hidden is not exported\n',
    );
  });

  test('clients of a flat mirror pass no gateway', async () => {
    await eventually('flat-west is there', async () => (await clusters.get('Service', 'flat-west')) !== undefined);
    const found = await explain('shop/flat', '--as=shop/b');
    expect(ofClient(found)).toContain(
      '√ gateway  flat-west is in flat mode: its clients reach the pods without a gateway\n',
    );
  });

  test('from the source alone it is not known, which is not a success', async () => {
    const found = await fromSource('shop/web', '--as=shop/a');
    expect(ofClient(found)).toContain('? policy  who comes through a gateway is known in its cluster alone\n');
    expect(ofClient(found)).toContain('whether the client is admitted is not known: see policy\n');
    expect(found.code).toBe(1);
  });

  test('nor with a user of the target who may not read the policy', async () => {
    const file = join(directory, 'reader.yaml');
    const rules = [
      { apiGroups: [''], resources: ['services'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
    ];
    await writeFile(file, await readerOf(clusters.westCluster, clusters.west, 'client-reader', rules));
    const found = await fromSource('shop/web', '--as=shop/a', `--to-kubeconfig=${file}`, '--to-context=west');
    expect(ofClient(found)).toMatch(/\n\? access {2}httproutes cannot be read: west: .*forbidden/);
    expect(ofClient(found)).toContain('whether the client is admitted is not known: see access\n');
    expect(found.code).toBe(1);
  });

  test.each([
    [['--as=a'], 2, '--as: "a" must be a valid client (write shop/web, or shop/web@east.example)'],
    [['--as=*'], 2, '--as: "*" must be a valid client'],
    [['--as=shop/a,shop/b'], 2, '--as: "shop/a,shop/b" must be a valid client'],
    [
      ['--as=shop/a', '-L', 'nowhere'],
      2,
      '--as: the trust domain of east is not known: there is no Linkerd in namespace nowhere',
    ],
  ])('refuses %j', async (flags, expected, message) => {
    const { code, stderr } = await explain('shop/web', ...flags);
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
  });
});
