/** What others have set of what `linkspan install` and `linkspan upgrade` write: it stays, or the command is refused. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import type { KubeObject, ObjectRef } from '../../../cluster/workload/index.ts';
import { namespace, objectRef } from '../../../support/builders.ts';
import { linkerdChart } from '../../../support/linkerd-chart.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

const NAMESPACE = 'linkerd-multicluster';
const IMAGE = '--image=registry.example.com/linkspan:0.1.0';
const OPEN = ['0.0.0.0/0', '::/0'];

const ref = (apiVersion: string, kind: string, name: string): ObjectRef => objectRef(apiVersion, kind, name, NAMESPACE);
const SERVICE = ref('v1', 'Service', 'linkerd-gateway');
const GATEWAY = ref('apps/v1', 'Deployment', 'linkerd-gateway');
const OPERATOR = ref('apps/v1', 'Deployment', 'linkspan-operator');
const RECORD = ref('v1', 'ConfigMap', 'linkspan-install');
const NETWORKS = ref('policy.linkerd.io/v1alpha1', 'NetworkAuthentication', 'source-cluster');
const BUDGET = ref('policy/v1', 'PodDisruptionBudget', 'linkerd-gateway');

interface Any extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

onEachBacking('what others have set', (backing) => {
  let east: LinkerdCluster;

  beforeAll(async () => {
    east = await startLinkerdCluster({ backing, name: 'east' });
    await installLinkerd(east);
    await east.client.apply(namespace(NAMESPACE));
  }, 120_000);
  afterAll(() => east.stop());

  const run = (command: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(command, `--kubeconfig=${east.cluster.kubeconfigFile}`, ...args);
  const spec = async (of: ObjectRef) => (await east.client.get<Any>(of))?.spec;
  const networks = async () => {
    const found = await east.client.get<Any>(NETWORKS);
    const cidrs = (found?.spec['networks'] as readonly { readonly cidr: string }[]).map(({ cidr }) => cidr);
    return [cidrs, found?.metadata.annotations?.['linkspan.dev/source-networks']];
  };
  const applied = async (command: string, ...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await run(command, ...args, '--apply');
    expect(code, stderr).toBe(0);
    return stderr;
  };
  const clear = async (): Promise<void> => {
    const kinds = [SERVICE, GATEWAY, OPERATOR, RECORD, NETWORKS, BUDGET];
    await Promise.all(kinds.map((each) => east.client.delete(each)));
  };
  afterEach(clear);

  /** As Linkerd's chart has made it, and its user has changed it. */
  const chart = (kind: string, change: object): ObjectRef => {
    const found = linkerdChart.find((each) => each.kind === kind && each.metadata.name !== 'linkerd-admin')!;
    return { ...found, spec: { ...(found.spec as object), ...change } } as ObjectRef;
  };
  const gatewayService = (change: object) => chart('Service', change);

  test(
    'stays over the gateway of a chart: type, ports, replicas, placement and networks',
    { timeout: 60_000 },
    async () => {
      const ports = [
        { name: 'mc-gateway', port: 14_143, protocol: 'TCP', targetPort: 4143 },
        { name: 'mc-probe', port: 4191, protocol: 'TCP', targetPort: 4191 },
      ];
      const helm = { fieldManager: 'helm' };
      await east.client.apply(gatewayService({ type: 'ClusterIP', ports }), helm);
      const { template } = linkerdChart.find(({ kind }) => kind === 'Deployment')!.spec as {
        readonly template: { readonly spec: object };
      };
      const placed = { ...template, spec: { ...template.spec, nodeSelector: { pool: 'edge' } } };
      await east.client.apply(chart('Deployment', { replicas: 12, template: placed }), helm);
      await east.client.apply(chart('NetworkAuthentication', { networks: [{ cidr: '10.20.0.0/16' }] }), helm);

      const stderr = await applied('install', IMAGE);
      expect(await spec(SERVICE)).toMatchObject({ type: 'ClusterIP', ports: [{ port: 14_143 }, { port: 4191 }] });
      expect(await spec(GATEWAY)).toMatchObject({
        replicas: 12,
        template: { spec: { nodeSelector: { pool: 'edge' }, containers: [{ image: 'registry.k8s.io/pause:3.10' }] } },
      });
      expect(await networks()).toEqual([['10.20.0.0/16'], undefined]);
      expect(stderr).not.toContain('open to all networks');
      expect(stderr.split('\n').filter((line) => line.includes(' stays '))).toEqual([
        'note: Deployment linkerd-multicluster/linkerd-gateway of east: spec.replicas stays 12, not 3: helm has set it (--force-conflicts changes it)',
        'note: Service linkerd-multicluster/linkerd-gateway of east: spec.type stays ClusterIP, not LoadBalancer: helm has set it (--force-conflicts changes it)',
        'note: Service linkerd-multicluster/linkerd-gateway of east: spec.ports.mc-gateway.port stays 14143, not 4143: helm has set it (--force-conflicts changes it)',
        'note: NetworkAuthentication linkerd-multicluster/source-cluster of east: spec.networks stays [{"cidr":"10.20.0.0/16"}], not [{"cidr":"0.0.0.0/0"},{"cidr":"::/0"}]: helm has set it (--source-networks changes it)',
      ]);
    },
  );

  test('is changed by a flag that gives it, which is recorded', { timeout: 60_000 }, async () => {
    await east.client.apply(chart('NetworkAuthentication', { networks: [{ cidr: '10.20.0.0/16' }] }));
    const stderr = await applied('install', IMAGE, '--source-networks=10.0.0.0/8,192.0.2.0/24');
    expect(stderr).not.toContain('open to all networks');
    expect(await networks()).toEqual([['10.0.0.0/8', '192.0.2.0/24'], undefined]);
    const record = await east.client.get<Any>(RECORD);
    expect(parseYaml(record?.data?.['settings'] ?? '')).toMatchObject({
      sourceNetworks: ['10.0.0.0/8', '192.0.2.0/24'],
    });
    await applied('upgrade', '--source-networks=0.0.0.0/0,::/0');
    expect(await networks()).toEqual([OPEN, undefined]);
  });

  test(
    'refuses the command where it is no setting, and is changed by --force-conflicts',
    { timeout: 60_000 },
    async () => {
      await east.client.apply(gatewayService({ selector: { app: 'other' } }), { fieldManager: 'helm' });
      await east.cluster.clearAudit();
      const refused = await run('install', IMAGE, '--apply');
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain(
        'error: Service linkerd-multicluster/linkerd-gateway of east: spec.selector.app would change from other to linkerd-gateway, and helm has set it (change it where it is set, or add --force-conflicts)\n',
      );
      const shown = await run('install', IMAGE, '--output=diff');
      expect(shown.stdout).toContain('    spec.selector.app: other → linkerd-gateway  (set by helm)\n');
      expect(shown.code).toBe(1);
      expect(await commandWrites(east.cluster)).toEqual([]);

      await applied('install', IMAGE, '--force-conflicts');
      expect(await spec(SERVICE)).toMatchObject({ selector: { app: 'linkerd-gateway' } });
    },
  );

  test.runIf(backing === 'real')('is refused before anything is written where the API server would', async () => {
    await east.client.apply(gatewayService({ ports: [{ name: 'mc-gateway', port: 14_143, protocol: 'TCP' }] }));
    await east.cluster.clearAudit();
    const refused = await run('install', IMAGE, '--force-conflicts', '--apply');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('Duplicate value');
    expect(await commandWrites(east.cluster)).toEqual([]);
  });

  test.each<[string, readonly string[], boolean, RegExp]>([
    ['a diff where one is asked for', ['--output=diff'], false, /^east:\n[^]*\+ Deployment \S+\/linkspan-operator\n/],
    ['a diff on a terminal', [], true, /^east:\n[^]*\+ Deployment \S+\/linkspan-operator\n/],
    ['manifests on a terminal where they are asked for', ['--output=yaml'], true, /^apiVersion: v1\nkind: Namespace\n/],
    ['manifests in a pipe', [], false, /^apiVersion: v1\nkind: Namespace\n/],
  ])('is shown as %s', async (_, flags, isTerminal, expected) => {
    const { isTTY } = process.stdout;
    process.stdout.isTTY = isTerminal;
    try {
      const { code, stdout } = await run('install', IMAGE, ...flags);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(expected) as string });
    } finally {
      process.stdout.isTTY = isTTY;
    }
  });

  test('adds the CRD to the diff in a line for each of its schemas', { timeout: 60_000 }, async () => {
    const crd = linkerdChart.find(({ kind }) => kind === 'CustomResourceDefinition')!;
    await east.client.apply(crd, { fieldManager: 'helm' });
    const { stdout } = await run('install', IMAGE, '--output=diff');
    expect(stdout).toContain('    spec.versions.v1alpha3.schema: that of the cluster → that of Linkspan\n');
    expect(stdout).not.toContain('openAPIV3Schema');
  });

  test('stays beside an upgrade: replicas, networks, a budget, one port', { timeout: 60_000 }, async () => {
    await applied('install', IMAGE);
    await east.client.patch(GATEWAY, { spec: { replicas: 12 } }, { fieldManager: 'autoscaler' });
    await east.client.patch(NETWORKS, { spec: { networks: [{ cidr: '10.20.0.0/16' }] } });
    await east.client.patch(BUDGET, { spec: { maxUnavailable: null, minAvailable: 2 } });
    const stderr = await applied('upgrade', '--ha');
    expect(await spec(GATEWAY)).toMatchObject({ replicas: 12 });
    expect(stderr).toContain('spec.replicas stays 12, not 3: autoscaler has set it');
    expect(await networks()).toEqual([['10.20.0.0/16'], undefined]);
    expect(await spec(BUDGET)).toEqual({
      minAvailable: 2,
      selector: { matchLabels: { app: 'linkerd-gateway' } },
    });
  });

  test('an image that only the record names does not run', { timeout: 60_000 }, async () => {
    await applied('install', IMAGE);
    const record = await east.client.get<Any>(RECORD);
    const settings = record!.data!['settings']!;
    await east.client.patch(RECORD, { data: { settings: settings.replace('linkspan:0.1.0', 'evil:1') } });
    await east.cluster.clearAudit();
    for (const flags of [[], ['--force-conflicts']]) {
      const refused = await run('upgrade', '--ha', '--apply', ...flags);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain(
        'error: Deployment linkerd-multicluster/linkspan-operator of east: spec.template.spec.containers.controller.image would be registry.example.com/evil:1, as the record of the installation has it, and is registry.example.com/linkspan:0.1.0 (name the image with --image)\n',
      );
    }
    expect(await commandWrites(east.cluster)).toEqual([]);

    const stderr = await applied('upgrade', '--image=registry.example.com/linkspan:0.2.0');
    expect(stderr).toContain(
      'spec.template.spec.containers.controller.image: registry.example.com/linkspan:0.1.0 → registry.example.com/linkspan:0.2.0\n',
    );
  });
});
