/** `linkspan approve`, with the operator that mirrors what it approves: rule N2 of behaviour.md. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, installCrd } from '../../../cluster/workload/index.ts';
import { linkCrd } from '../../../../crds/index.ts';
import { EXPORTED, link, LINKS_NAMESPACE, service, slice } from '../../../support/builders.ts';
import type { LinkSpec } from '../../../../crds/index.ts';
import { Cluster } from '../../../../synth/commands/common/cluster.ts';
import type { LinkObject } from '../../../support/objects.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
const JOINED = { federation: 'gateway', federatedServiceSelector: { matchLabels: MEMBER } };

onEachBacking('linkspan approve', (backing) => {
  let clusters: TwoClusters;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link({ ...JOINED, importPolicy: { approval: 'required', approved: [] } });
    clusters.operator();
    await clusters.ready();
  }, 120_000);
  afterAll(async () => {
    await clusters.stopOperators();
    await clusters.stop();
  });

  const offer = async (name: string, labels: Readonly<Record<string, string>> = EXPORTED): Promise<void> => {
    await clusters.west.apply(service(name, { labels }));
    await clusters.west.apply(slice(name, { labels }));
  };
  const run = (...args: readonly string[]): Promise<Outcome> =>
    linkspanHere('approve', `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`, '--from=west', ...args);
  const linkNow = async () =>
    (await clusters.get<LinkObject & { readonly spec?: LinkSpec }>('Link', 'west', LINKS_NAMESPACE))!;
  const listed = async (): Promise<unknown> => (await linkNow()).spec?.importPolicy?.approved;
  const isThere = async (name: string): Promise<boolean> => (await clusters.get('Service', name)) !== undefined;
  const waiting = (count: number | undefined): Promise<unknown> =>
    eventually(`${count} wait`, async () => (await linkNow()).status?.mirrors?.waitingForApproval === count);

  test.each([
    ['nothing', [], 2, '<services>: none is named (name some, as shop/web, or add --existing)'],
    ['a bare name', ['web'], 2, '<services>: "web" is not the namespace and the name of a Service'],
    ['no names', ['shop/Web', 'shop/a b'], 2, '<services>: "shop/a b" is not'],
    [
      'another Link',
      ['shop/web', '--from=north'],
      1,
      'Link linkerd-multicluster/north of east: not found: there is west',
    ],
    [
      'too many patterns',
      Array.from({ length: 101 }, (_, at) => `a-${at}/*`),
      1,
      'spec.importPolicy.approved of Link linkerd-multicluster/west of east: 101 must have at most 100 entries with *',
    ],
  ])('of %s is refused', async (_, args, expected, message) => {
    const { code, stderr } = await run(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
    expect(await commandWrites(clusters.eastCluster)).toEqual([]);
  });

  test('N2 what is offered waits, and is named with the command that approves it', async () => {
    await offer('web');
    await offer('api', { ...EXPORTED, ...MEMBER });
    await waiting(2);
    expect(await Promise.all(['web-west', 'api-west', 'api-federated'].map(isThere))).toEqual([false, false, false]);
    expect(await clusters.mirrorCondition('web')).toMatchObject({
      reason: 'WaitingForApproval',
      message: 'it waits until it is approved: linkspan approve shop/web --from west',
    });
    expect(await clusters.condition('Ready')).toMatchObject({ status: 'True' });
  });

  test('N2 is mirrored once it is approved, and nothing else is; a second time changes nothing', async () => {
    const dry = await run('shop/web', '--dry-run');
    expect(dry.stdout).toBe('shop/web would be approved for Link west\n');
    expect(await listed()).toEqual([]);
    const { code, stdout, stderr } = await run('shop/web');
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'shop/web approved for Link west\n' });
    await eventually('it is mirrored', () => isThere('web-west'));
    await waiting(1);
    expect(await isThere('api-west')).toBe(false);
    const { resourceVersion } = (await linkNow()).metadata;
    expect((await run('shop/web')).stdout).toBe('shop/web was approved before\n');
    expect(await listed()).toEqual(['shop/web']);
    expect((await commandWrites(clusters.eastCluster)).length).toBe(1);
    expect(resourceVersion).toBeDefined();
  });

  test('N2 what is approved stays so while it comes and goes in the target', async () => {
    await clusters.west.delete(service('web'));
    await eventually('it is gone', async () => !(await isThere('web-west')));
    await offer('web');
    await eventually('it is mirrored again', () => isThere('web-west'));
  });

  test('N2 a pattern approves what comes later, and what it covers was approved before', async () => {
    expect((await run('shop/till-*')).code).toBe(0);
    await offer('till-1');
    await eventually('it is mirrored', () => isThere('till-1-west'));
    expect((await run('shop/till-1')).stdout).toBe('shop/till-1 was approved before\n');
  });

  test('N2 what is there is approved by --existing before approval is required, so that nothing goes', async () => {
    await clusters.east.patch(link('west'), { spec: { importPolicy: null } });
    await eventually('all is made', async () =>
      (await Promise.all(['web-west', 'api-west', 'api-federated', 'till-1-west'].map(isThere))).every(Boolean),
    );
    // Approval that is required without a list is an error of the Link.
    const dry = await run('--existing', '--dry-run');
    expect(dry.stdout).toContain('shop/web would be approved for Link west');
    expect(dry.stderr).toContain('note: Link west requires no approval');
    expect(dry.stderr).not.toContain('kubectl');
    const { code, stdout, stderr } = await run('--existing');
    expect(code, stderr).toBe(0);
    expect(stdout.split('\n').sort()).toEqual(
      ['', ...['shop/api', 'shop/till-1', 'shop/web'].map((each) => `${each} approved for Link west`)].sort(),
    );
    expect(stderr).toContain('note: Link west requires no approval');
    const [require = ''] = /kubectl .*/.exec(stderr) ?? [];
    expect(require).toContain(`--type=merge -p '{"spec":{"importPolicy":{"approval":"required"}}}'`);
    await clusters.east.patch(link('west'), { spec: { importPolicy: { approval: 'required' } } });
    await offer('new');
    await waiting(1);
    expect(
      await Promise.all(['web-west', 'api-west', 'api-federated', 'till-1-west', 'new-west'].map(isThere)),
    ).toEqual([true, true, true, true, false]);
  });

  test('N2 a list that is taken away is an error of the Link, and all stays as it is', async () => {
    await clusters.east.patch(link('west'), { spec: { importPolicy: { approved: null } } });
    await eventually('it is said', async () => (await clusters.condition('Accepted'))?.status === 'False');
    expect((await clusters.condition('Accepted'))?.message).toContain(
      'run `linkspan approve --existing --from west`, or write [] if nothing is approved yet',
    );
    expect(await isThere('web-west')).toBe(true);
    expect((await run('--existing')).code).toBe(0);
    await clusters.ready();
    await waiting(1);
    expect(await isThere('web-west')).toBe(true);
  });

  test('N2 a list that other software keeps is left alone, unless that is asked for', async () => {
    const { spec } = await linkNow();
    await clusters.east.apply({ ...link('west'), spec } as never, { fieldManager: 'argocd-controller' });
    const { code, stderr } = await run('shop/new');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'argocd-controller keeps spec.importPolicy.approved, and may take back what is added to it',
    );
    expect(await isThere('new-west')).toBe(false);
    expect((await run('shop/new', '--force-conflicts')).code).toBe(0);
    await eventually('it is mirrored', () => isThere('new-west'));
  });

  test('N2 a list in a file that was applied is left alone: the next apply would have its own', async () => {
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{"importPolicy":{"approved":[]}}}',
    };
    await clusters.east.patch(link('west'), { metadata: { annotations } });
    const { code, stderr } = await run('shop/later');
    expect(code).toBe(1);
    expect(stderr).toContain('a file that kubectl has applied');
  });

  test('N2 a pattern that is named stands for what is there', async () => {
    await clusters.east.patch(link('west'), { metadata: { annotations: null }, spec: { importPolicy: null } });
    await eventually('all is made', () => isThere('new-west'));
    const { stdout } = await run('shop/*', '--existing', '--force-conflicts');
    expect(stdout.split('\n')[0]).toBe('shop/* approved for Link west');
    expect(await listed()).toEqual(['shop/*']);
  });

  test('N2 what is there of the former cluster is not approved where the Link comes to be to another', async () => {
    await clusters.stopOperators();
    await clusters.east.patch(link('west'), { spec: { importPolicy: null } });
    const meanwhile = vi.spyOn(Cluster.prototype, 'patch').mockImplementationOnce(async function (
      this: Cluster,
      ...args
    ) {
      await clusters.east.patch(link('west'), { spec: { targetClusterName: 'north' } });
      return this.patch(...args);
    });
    const { stdout } = await run('--existing', '--force-conflicts');
    meanwhile.mockRestore();
    expect(stdout).toBe('nothing of Link west is there to approve\nLink west has an empty list\n');
    expect(await listed()).toEqual([]);
  });
});

onEachBacking("linkspan approve, with Linkerd's own CRD", (backing) => {
  let clusters: TwoClusters;
  beforeEach(async () => {
    clusters = await TwoClusters.start({ backing });
  }, 120_000);
  afterEach(async () => {
    await installCrd(clusters.eastCluster, linkCrd);
    await clusters.stop();
  });

  test('says that it drops what is written (N2)', async () => {
    const crd = structuredClone(linkCrd) as unknown as {
      spec: {
        versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } } }[];
      };
    };
    for (const { schema } of crd.spec.versions) {
      Reflect.deleteProperty(schema.openAPIV3Schema.properties.spec.properties, 'importPolicy');
    }
    await installCrd(clusters.eastCluster, crd as unknown as typeof linkCrd);
    await clusters.link({});
    const empty = await linkspanHere(
      ...['approve', `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`, '--from=west', '--existing', '--dry-run'],
    );
    expect(empty.stdout).toBe('nothing of Link west is there to approve\nLink west would get an empty list\n');
    const { code, stderr } = await linkspanHere(
      'approve',
      `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`,
      '--from=west',
      'shop/web',
    );
    expect(stderr).toContain('its CRD has no spec.importPolicy, and has dropped what was written');
    expect(code).toBe(1);
  });
});
