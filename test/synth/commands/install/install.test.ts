/** `linkspan install`: what it refuses, what it writes, and what it does over Linkerd's own extension. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import type { KubeObject, ObjectRef } from '../../../cluster/workload/index.ts';
import { objectRef } from '../../../support/builders.ts';
import { linkerdChart } from '../../../support/linkerd-chart.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { linkspanHere } from '../../in-process.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

const NAMESPACE = 'linkerd-multicluster';
const IMAGE = '--image=registry.example.com/linkspan:0.1.0';

const ref = (apiVersion: string, kind: string, name: string): ObjectRef => objectRef(apiVersion, kind, name, NAMESPACE);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'linkspan-install-'));
});
afterAll(() => rm(directory, { recursive: true }));

const valuesFile = async (text: string): Promise<string> => {
  const file = join(directory, 'values.yaml');
  await writeFile(file, text);
  return file;
};

describe('linkspan install without a cluster', () => {
  test('prints manifests that kubectl takes', async () => {
    const { code, stdout, stderr } = await linkspan(directory, 'install', '--output=json');
    expect(code, stderr).toBe(0);
    const { kind, items } = JSON.parse(stdout) as { readonly kind: string; readonly items: readonly KubeObject[] };
    expect([kind, items[0]?.kind]).toEqual(['List', 'Namespace']);
    expect(stderr.split('\n')).toEqual([
      'note: the trust domain is that of the values files, or cluster.local: with --context it is read from the cluster',
      'note: the image is registry.example.com/linkspan:0.1.0, which stands for yours; name it with --image',
      '',
    ]);
  });

  test('refuses a wrong command line, and prints nothing', async () => {
    await valuesFile('gateway: { replica: 2 }\n');
    const outcomes = await Promise.all(
      [
        ['--apply'],
        ['--ha=maybe'],
        ['--output=table'],
        ['--values=nowhere.yaml'],
        ['--values=values.yaml', '--image=not an image'],
      ].map((flags) => linkspan(directory, 'install', ...flags)),
    );
    expect(outcomes.map(({ code, stdout }) => [code, stdout])).toEqual(outcomes.map(() => [2, '']));
    const messages = outcomes.map(({ stderr }) => stderr.split('\n').filter((line) => line.startsWith('error: ')));
    expect(messages).toEqual([
      [
        'error: --image: is required with --apply (that of a release is ghcr.io/linkspan-dev/linkspan:0.1.0; from a checkout, build one as README.md says, push it to a registry that the cluster reaches, and name it)',
      ],
      ["error: option '--ha [true|false]' argument 'maybe' is invalid. It must be true or false."],
      ["error: option '-o, --output <format>' argument 'table' is invalid. Allowed choices are yaml, json, diff."],
      ['error: --values nowhere.yaml: cannot be read: ENOENT (name a values file)'],
      [
        "error: --values: gateway.replica: is not a value of Linkerd's multicluster chart (did you mean gateway.replicas?)",
        expect.stringMatching(/^error: --image: "not an image" must be /) as string,
      ],
    ]);
  });
});

onEachBacking('linkspan install', (backing) => {
  let east: LinkerdCluster;
  let west: LinkerdCluster;

  beforeAll(async () => {
    const start = (name: string) => startLinkerdCluster({ backing, name });
    [east, west] = await Promise.all([start('east'), start('west')]);
  }, 120_000);
  afterAll(() => Promise.all([east.stop(), west.stop()]));

  const run = ({ cluster }: LinkerdCluster, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere('install', `--kubeconfig=${cluster.kubeconfigFile}`, ...args);
  const writes = ({ cluster }: LinkerdCluster) => commandWrites(cluster);

  test('names all that a cluster without Linkerd lacks, and writes nothing', async () => {
    const { code, stdout, stderr } = await run(east, IMAGE, '--apply');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n').filter((line) => line.startsWith('error:'))).toEqual([
      'error: Namespace linkerd of east: not found (install Linkerd there first, or name its namespace with --linkerd-namespace)',
      ...[
        ['servers', 'v1beta3'],
        ['authorizationpolicies', 'v1alpha1'],
        ['meshtlsauthentications', 'v1alpha1'],
        ['networkauthentications', 'v1alpha1'],
      ].map(
        ([plural, version]) =>
          `error: CustomResourceDefinition ${plural}.policy.linkerd.io of east: not found in version ${version} (install Linkerd's control plane there first, or upgrade it)`,
      ),
    ]);
    expect(await writes(east)).toEqual([]);
  });

  describe('where Linkerd runs', () => {
    beforeAll(() => installLinkerd(east), 60_000);

    test('prints for a cluster that it is given, with the trust domain of its Linkerd', async () => {
      const { code, stdout } = await run(east, IMAGE);
      expect(code).toBe(0);
      expect(stdout).toContain('linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.east.example');
      expect(await writes(east)).toEqual([]);
    });

    test('refuses values with another trust domain', async () => {
      const file = await valuesFile('identityTrustDomain: other.example\n');
      const { code, stderr } = await run(east, IMAGE, '--apply', `--values=${file}`);
      expect(code).toBe(1);
      expect(stderr).toContain(
        'error: --values: identityTrustDomain: "other.example" is not the trust domain of Linkerd in east, east.example (remove it)',
      );
    });

    test('writes everything in an order that works, and nothing the second time', { timeout: 30_000 }, async () => {
      const first = await run(east, IMAGE, '--ha', '--apply');
      expect(first.code, first.stderr).toBe(0);
      const lines = first.stdout.trimEnd().split('\n');
      expect(lines).toHaveLength(24);
      expect(lines.filter((line) => !line.endsWith(' created in east'))).toEqual([]);
      expect(first.stderr.split('\n')).toEqual([
        'warning: NetworkAuthentication linkerd-multicluster/source-cluster of east: the gateway is open to all networks (name those of the source clusters with --source-networks)',
        `Linkspan 0.1.0 is written to east, and its operator does not run yet: 0 of 2 pods are up; when it does, \`linkspan link --kubeconfig ${east.cluster.kubeconfigFile} --context east\` with --to-context gives it a target`,
        '',
      ]);

      const again = await run(east, IMAGE, '--ha', '--apply', '--output=json');
      const { results } = JSON.parse(again.stdout) as { results: { outcome: string }[] };
      expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['unchanged']));
    });

    test('finishes what was stopped half-way', { timeout: 30_000 }, async () => {
      for (const name of ['linkspan-operator', 'linkerd-gateway'])
        await east.client.delete(ref('apps/v1', 'Deployment', name));
      const { code, stdout, stderr } = await run(east, IMAGE, '--ha', '--apply');
      expect(code, stderr).toBe(0);
      expect(stdout.split('\n').filter((line) => line.includes(' created '))).toEqual([
        'deployment/linkerd-gateway created in east',
        'deployment/linkspan-operator created in east',
      ]);
    });

    test('records what was chosen', async () => {
      const record = await east.client.get<KubeObject & { readonly data: Readonly<Record<string, string>> }>(
        ref('v1', 'ConfigMap', 'linkspan-install'),
      );
      expect(record?.data['version']).toBe('0.1.0');
      expect(parseYaml(record?.data['settings'] ?? '')).toEqual({
        image: 'registry.example.com/linkspan:0.1.0',
        ha: true,
        linkerdNamespace: 'linkerd',
      });
    });

    test.each<[readonly string[], string]>([
      [
        [],
        'namespace linkerd-multicluster of east: Linkspan is installed there with other settings (`linkspan upgrade ',
      ],
      [
        ['--namespace=other'],
        'ConfigMap linkerd-multicluster/linkspan-install of east: Linkspan is installed in that namespace (use --namespace linkerd-multicluster',
      ],
      [['--ha', '--linkerd-namespace=nope'], 'Namespace nope of east: not found'],
    ])('refuses %j over it', async (flags, message) => {
      const { code, stderr } = await run(east, IMAGE, '--apply', ...flags);
      expect(code, stderr).toBe(1);
      expect(stderr).toContain(`error: ${message}`);
    });
  });

  test(
    "takes the objects of Linkerd's extension over in place, without calling them its own",
    { timeout: 60_000 },
    async () => {
      await installLinkerd(west);
      const [own, crd, ...rest] = linkerdChart;
      await west.client.apply(own!);
      await west.client.apply(crd!);
      const { apiVersion, kind } = rest.at(-1)!;
      await expect
        .poll(
          () =>
            west.client.list({ apiVersion, kind }).then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true);
      for (const each of rest) await west.client.apply(each);
      await west.client.apply(controller);
      const before = await Promise.all(linkerdChart.map((each) => west.client.get(each)));

      const { code, stdout, stderr } = await run(west, IMAGE, '--apply');
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(
        `warning: Deployment linkerd-multicluster/controller-north of west: Linkerd's controller mirrors north, until \`linkspan migrate --kubeconfig ${west.cluster.kubeconfigFile} --context west\` hands its Link over\n`,
      );
      expect(stderr).toMatch(/`linkspan migrate [^`]*` hands the Links of Linkerd's controllers over\n$/);
      expect(stdout).toContain('deployment/linkerd-gateway configured in west\n');
      expect(stdout).toContain('deployment/linkspan-operator created in west\n');
      const after = await Promise.all(linkerdChart.map((each) => west.client.get(each)));
      expect(after.map((each) => each?.metadata.uid)).toEqual(before.map((each) => each?.metadata.uid));
      expect(after.filter((each) => each?.metadata.labels?.['app.kubernetes.io/managed-by'] !== undefined)).toEqual([]);
    },
  );

  test('leaves an operator alone that other manifests keep', async () => {
    const operator = ref('apps/v1', 'Deployment', 'linkspan-operator');
    await west.client.patch(operator, { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } });
    const { code, stderr } = await run(west, IMAGE, '--apply');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'error: Deployment linkerd-multicluster/linkspan-operator of west: was not made by linkspan install',
    );
  });
});

/** As Linkerd's chart runs it for a Link. */
const controller = {
  ...ref('apps/v1', 'Deployment', 'controller-north'),
  metadata: {
    name: 'controller-north',
    namespace: NAMESPACE,
    labels: { component: 'controller', 'mirror.linkerd.io/cluster-name': 'north' },
  },
  spec: {
    replicas: 1,
    selector: { matchLabels: { component: 'controller' } },
    template: {
      metadata: { labels: { component: 'controller' } },
      spec: { containers: [{ name: 'controller', image: 'registry.example.com/controller:1' }] },
    },
  },
};
