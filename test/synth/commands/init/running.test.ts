/**
 * `linkspan init` on clusters that Linkspan runs in: the file that it writes, rendered, changes nothing of what the operator
 * does, and nothing of the Links and the operator's settings.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import type { KubeObject, ObjectRef } from '../../../cluster/workload/index.ts';
import { EXPORTED, link, LINKS_NAMESPACE, namespace, service, slice } from '../../../support/builders.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { deploymentRef, serveDeployments } from '../../../support/linkerd-install.ts';
import { linkspanHere } from '../../in-process.ts';

const SLOW_MS = 120_000;
const IMAGE = 'registry.example.com/ours:1.2.3';
const CONTROLLERS = ['namespace-controller', 'serviceaccount-token-controller'];

interface Kubeconfig {
  readonly clusters: readonly object[];
  readonly contexts: readonly object[];
  readonly users: readonly object[];
}

interface Deployment extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
}

type Link = KubeObject & { readonly spec: object };

onEachBacking('linkspan init where Linkspan runs', (backing) => {
  let east: LinkerdCluster;
  let west: LinkerdCluster;
  let directory: string;
  let kubeconfig: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-init-running-'));
    const start = (name: string) => startLinkerdCluster({ backing, name, controllers: CONTROLLERS });
    [east, west] = await Promise.all([start('east'), start('west')]);
    for (const each of [east, west]) {
      if (backing === 'simulated') await serveDeployments(each.cluster);
      await installLinkerd(each);
      await each.client.apply(namespace('shop'));
    }
    await west.client.apply(service('web', { labels: EXPORTED }));
    await west.client.apply(slice('web'));
    const merged = [east, west].map(({ cluster }) => parseYaml(cluster.kubeconfig) as Kubeconfig);
    kubeconfig = join(directory, 'kubeconfig');
    const all = <K extends keyof Kubeconfig>(of: K) => merged.flatMap((each) => each[of]);
    await writeFile(
      kubeconfig,
      JSON.stringify({ ...merged[0], clusters: all('clusters'), contexts: all('contexts'), users: all('users') }),
    );
  }, SLOW_MS);
  afterAll(async () => {
    await Promise.all([east.stop(), west.stop()]);
    await rm(directory, { recursive: true });
  });

  const run = async (...args: readonly string[]) => {
    const outcome = await linkspanHere(...args, `--kubeconfig=${kubeconfig}`);
    expect(outcome.code, `${args.join(' ')}: ${outcome.stderr}`).toBe(0);
    return outcome;
  };
  const linkRef = (name: string): ObjectRef => ({
    apiVersion: 'multicluster.linkerd.io/v1alpha3',
    kind: 'Link',
    metadata: { name, namespace: LINKS_NAMESPACE },
  });

  interface SetUp {
    readonly values?: object;
    /** Flags of `linkspan install` in the west. */
    readonly west?: readonly string[];
    readonly link?: readonly string[];
    readonly both?: true;
    /** Written to the spec of the Link by somebody else. */
    readonly spec?: object;
    /** What the file must have. */
    readonly file: object;
  }

  const NODE_PORTS = {
    type: 'NodePort',
    nodePort: expect.any(Number) as number,
    probeNodePort: expect.any(Number) as number,
  };
  const PAIRS = { type: 'pairs', pairs: [{ source: 'east', target: 'west' }] };
  const SET_UPS: readonly (readonly [string, SetUp])[] = [
    [
      'headless mode on, an image of its own, and one direction',
      {
        values: { controllerDefaults: { enableHeadlessServices: true } },
        file: {
          members: [{ name: 'east' }, { name: 'west', operator: true }],
          topology: PAIRS,
          operator: { image: IMAGE, enableHeadlessServices: true },
        },
      },
    ],
    [
      'federation through gateways, without a flat network',
      { link: ['--federation=gateway'], file: { topology: PAIRS } },
    ],
    [
      'excluded labels and annotations',
      {
        link: ['--excluded-labels=team', '--excluded-annotations=example.com/*'],
        file: {
          links: [{ source: 'east', target: 'west', excludedLabels: ['team'], excludedAnnotations: ['example.com/*'] }],
        },
      },
    ],
    [
      'selectors of its own',
      {
        spec: { selector: { matchLabels: { 'mirror.linkerd.io/exported': 'true', team: 'shop' } } },
        file: { links: [{ source: 'east', target: 'west', selector: { matchLabels: { team: 'shop' } } }] },
      },
    ],
    [
      'a gateway for the clients that exports name, in a cluster without Links',
      {
        west: ['--gateway-access=clients', '--gateway-tcp=clients'],
        file: { members: [{ name: 'east' }, { name: 'west', gatewayAccess: 'clients', gatewayTcp: 'clients' }] },
      },
    ],
    [
      'a gateway on ports of the nodes',
      {
        values: { gateway: { serviceType: 'NodePort' } },
        file: {
          members: [
            { name: 'east' },
            { name: 'west', gateway: { service: NODE_PORTS }, gatewayAddresses: ['203.0.113.10'] },
          ],
        },
      },
    ],
    // The last: Linkerd's copy of the credentials stays, and keeps the Links that are made anew flat.
    ['both directions, on a flat network', { both: true, link: ['--flat'], file: { flat: true } }],
  ];

  test.each(SET_UPS)(
    '%s: the file changes nothing',
    async (_, { values = {}, west: access = [], link = [], both, spec, file: expected }) => {
      const folder = await mkdtemp(join(directory, 'set-up-'));
      const given = join(folder, 'values.json');
      await writeFile(given, JSON.stringify(values));
      for (const context of ['east', 'west']) {
        const flags = context === 'west' ? access : [];
        const installed = await linkspanHere(
          'install',
          `--context=${context}`,
          `--kubeconfig=${kubeconfig}`,
          `--image=${IMAGE}`,
          `--values=${given}`,
          ...flags,
          '--apply',
        );
        if (installed.code !== 0)
          await run('upgrade', `--context=${context}`, `--values=${given}`, ...flags, '--apply');
      }
      for (const { client } of [east, west]) for (const name of ['east', 'west']) await client.delete(linkRef(name));
      const servers = [
        `--api-server-address=${west.cluster.server}`,
        '--gateway-addresses=203.0.113.10',
        ...(both ? ['--both', `--source-api-server-address=${east.cluster.server}`] : []),
      ];
      for (const { client } of 'gateway' in values ? [] : [east, west]) {
        await client.patch(
          { apiVersion: 'v1', kind: 'Service', metadata: { name: 'linkerd-gateway', namespace: LINKS_NAMESPACE } },
          { status: { loadBalancer: { ingress: [{ ip: client === west.client ? '203.0.113.10' : '203.0.113.20' }] } } },
          { subresource: 'status' },
        );
      }
      await run(
        'link',
        '--context=east',
        '--to-context=west',
        ...(both ? servers.filter((each) => !each.startsWith('--gateway-addresses')) : servers),
        ...link,
        '--apply',
      );
      if (spec !== undefined) await east.client.patch(linkRef('west'), { spec });

      const file = join(folder, 'linkspan.yaml');
      const written = await run('init', `--file=${file}`);
      expect(parseYaml(await readFile(file, 'utf8')), written.stderr).toMatchObject(expected);
      expect(written.stderr).not.toContain('would change');
      expect(written.stderr).toContain(`plan --file clusters/east --kubeconfig ${kubeconfig} --context east\``);

      const output = join(folder, 'clusters');
      const rendered = await linkspanHere('synth', `--file=${file}`, `--output=${output}`);
      expect(rendered.code, rendered.stderr).toBe(0);
      if (access.length > 0) {
        const policies = await manifests(output, 'west', ({ kind }) => kind === 'AuthorizationPolicy');
        expect(policies.map(({ metadata }) => metadata.name)).not.toContain('linkerd-gateway');
        expect(await renderedContainer(output, 'west')).toEqual(await liveContainer(west.client));
      }
      for (const [{ client }, name, targets] of [
        [east, 'east', ['west']],
        [west, 'west', both ? ['east'] : []],
      ] as const) {
        if (targets.length === 0) continue;
        const live = await linkspanHere(
          'plan',
          `--file=${join(output, name)}`,
          `--context=${name}`,
          `--kubeconfig=${kubeconfig}`,
          '-o',
          'json',
        );
        // Nothing was mirrored yet: what is planned with the file is what is planned without it.
        const bare = join(folder, `${name}.json`);
        const { spec: asItIs } = (await client.get<Link>(linkRef(targets[0])))!;
        await writeFile(bare, JSON.stringify({ ...linkRef(targets[0]), spec: asItIs }));
        const before = await linkspanHere(
          'plan',
          `--file=${bare}`,
          `--context=${name}`,
          `--kubeconfig=${kubeconfig}`,
          '-o',
          'json',
        );
        expect(live.stdout, live.stderr).toBe(before.stdout);
        expect(before.code, before.stderr).toBe(2);
        for (const target of targets) {
          const now = await client.get<Link>(linkRef(target));
          const [text] = await manifests(output, name, (each) => each.kind === 'Link' && each.metadata.name === target);
          // An absent selector and an empty one both select nothing.
          expect((text as Link).spec).toEqual({ remoteDiscoverySelector: {}, ...now?.spec });
        }
        expect(await renderedContainer(output, name)).toEqual(await liveContainer(client));
      }
    },
    SLOW_MS,
  );

  test.each([
    ['a name of its own, and a Secret of another', { clusterCredentialsSecret: 'own' }],
    ['a name of its own, and no Secret that it names', { clusterCredentialsSecret: undefined }],
  ])(
    'Linkerd has credentials of the target of a Link with %s: the file is flat',
    async (_, fields) => {
      for (const { client } of [east, west]) for (const name of ['east', 'west']) await client.delete(linkRef(name));
      const own = { type: 'mirror.linkerd.io/remote-kubeconfig', data: { kubeconfig: '' } };
      const secret = (name: string, within: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: within },
        ...own,
      });
      await east.client.apply(secret('cluster-credentials-west', 'linkerd'));
      await east.client.apply(link('production', { targetClusterName: 'west', ...fields }));
      const file = join(await mkdtemp(join(directory, 'named-')), 'linkspan.yaml');
      const { stderr } = await run('init', `--file=${file}`);
      await east.client.delete(linkRef('production'));
      expect(parseYaml(await readFile(file, 'utf8')), stderr).toMatchObject({ flat: true });
    },
    SLOW_MS,
  );

  const containerOf = ({ spec }: Deployment): Container => {
    const [{ image, args } = { image: '', args: [] }] = spec.template.spec.containers;
    return { image, args };
  };

  const liveContainer = async (client: LinkerdCluster['client']): Promise<Container> =>
    containerOf((await client.get<Deployment>(deploymentRef('linkspan-operator')))!);

  const renderedContainer = async (output: string, cluster: string): Promise<Container> => {
    const [operator] = await manifests(
      output,
      cluster,
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'linkspan-operator',
    );
    return containerOf(operator as Deployment);
  };

  const manifests = async (
    output: string,
    cluster: string,
    isWanted: (each: ObjectRef) => boolean,
  ): Promise<readonly ObjectRef[]> => {
    const files = await readdir(join(output, cluster));
    const all = await Promise.all(
      files.map(async (name) => parseYaml(await readFile(join(output, cluster, name), 'utf8')) as ObjectRef),
    );
    return all.filter(isWanted);
  };
});
