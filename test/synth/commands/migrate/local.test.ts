/** `linkspan migrate` beside Linkerd's local mirror: local memberships of federated Services, there and back (rule I7). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type KubeObject, type ObjectRef } from '../../../cluster/workload/index.ts';
import { link, LINKS_NAMESPACE, namespace, service } from '../../../support/builders.ts';
import { discoveryCredentials } from '../../../support/full-mesh.ts';
import { deploymentRef, LinkerdDeployment, seedMirrors, serveDeployments } from '../../../support/linkerd-install.ts';
import { readerOf } from '../../../support/reader.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';

/** For a busy machine: several runs of the program, each a second. */
const SLOW_MS = 180_000;

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
const SPEC = { federatedServiceSelector: { matchLabels: MEMBER } };
const FEDERATED = { labels: { 'mirror.linkerd.io/mirrored-service': 'true' }, selector: null };
const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const LOCAL = 'multicluster.linkerd.io/local-discovery';
const LEASE = 'local-service-mirror-write';
const READERS = [
  { apiGroups: [''], resources: ['services', 'endpoints', 'namespaces', 'secrets', 'pods'] },
  { apiGroups: ['apps'], resources: ['deployments'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
  { apiGroups: ['multicluster.linkerd.io'], resources: ['links'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'] },
];

onEachBacking("linkspan migrate beside Linkerd's local mirror", (backing) => {
  let clusters: TwoClusters;
  let controller: LinkerdDeployment;
  let local: LinkerdDeployment;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, east: { controllers: ['serviceaccount-token-controller'] } });
    const { east, west, eastCluster, westCluster } = clusters;
    if (backing === 'simulated') await serveDeployments(eastCluster);
    directory = await mkdtemp(join(tmpdir(), 'linkspan-migrate-local-'));
    await clusters.link(SPEC);
    await east.apply(namespace('linkerd'));
    await east.apply(discoveryCredentials('west'));
    for (const api of [east, west]) await api.create(service('web', { labels: MEMBER }));
    // As Linkerd's controllers have written them; Service `old` was a member until its label went.
    await east.create(service('old'));
    await east.create(
      service('web-federated', { ...FEDERATED, annotations: { [REMOTE]: 'web@west', [LOCAL]: 'web' } }),
    );
    await east.create(service('old-federated', { ...FEDERATED, annotations: { [LOCAL]: 'old' } }));
    await seedMirrors(east, west, { plain: 0, headless: 0, pods: 0 });
    controller = await LinkerdDeployment.start(eastCluster, westCluster);
    local = await LinkerdDeployment.startLocal(eastCluster);
    clusters.operator();
    await eventually('it stands by', async () => (await clusters.condition('Ready'))?.reason === 'HeldByAnother');
  }, 120_000);
  afterAll(async () => {
    await Promise.all([controller.stop(), local.stop()]);
    await clusters.stop();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => clusters.eastCluster.clearAudit());

  const run = (...args: readonly string[]): Promise<Outcome> =>
    linkspan(directory, 'migrate', ...args, `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`);
  const holder = async (): Promise<string | undefined> =>
    (
      await clusters.get<KubeObject & { readonly spec: { readonly holderIdentity?: string } }>(
        'Lease',
        LEASE,
        LINKS_NAMESPACE,
      )
    )?.spec.holderIdentity;
  const replicas = async (): Promise<readonly unknown[]> => {
    const found = await clusters.east.get<KubeObject & { readonly spec: { readonly replicas: number } }>(
      LinkerdDeployment.localRef,
    );
    return [found?.spec.replicas, found?.metadata.annotations?.['linkspan.dev/replicas-before']];
  };
  const scaleLocal = (to: number): Promise<unknown> =>
    clusters.east.patch(LinkerdDeployment.localRef, { spec: { replicas: to } });
  const federated = async (name = 'web') => (await clusters.get('Service', `${name}-federated`))?.metadata;

  test(
    'shows it after the Links, with what the operator would write, and writes nothing',
    async () => {
      const { code, stdout, stderr } = await run();
      expect(stderr.split('\n')).toEqual([
        'note: no operator is installed in east: planned with its default settings',
        'Link west: no change',
        'Local mirror: 1 to delete',
        '',
      ]);
      expect(stdout.split('\n')).toEqual([
        'LINK   CONTROLLER            WRITER                 MIRRORS   CHANGES   STEPS',
        'west   controller-west (1)   linkerd-controller-0   0         0         3',
        '',
        'LOCAL MIRROR                       WRITER                         FEDERATED   CHANGES   STEPS',
        'linkerd-local-service-mirror (1)   linkerd-local-service-mirror   2           1         3',
        '',
        'Link west:',
        '  1. scale Deployment controller-west from 1 to 0, and note its replicas on it',
        '  2. wait until the operator holds Lease service-mirror-write-west and Link west is Ready',
        '  3. verify that every mirror has kept uid and ClusterIP',
        '',
        'Local mirror, what the operator would do:',
        'ACTION   KIND      NAMESPACE/NAME       REASON',
        'delete   Service   shop/old-federated   it has no part in shop/old any more',
        '',
        'Local mirror:',
        '  1. scale Deployment linkerd-local-service-mirror from 1 to 0, and note its replicas on it',
        '  2. wait until the operator holds Lease local-service-mirror-write',
        '  3. verify that every federated Service has kept uid and ClusterIP',
        '',
      ]);
      expect(code).toBe(0);
      const { stdout: json } = await run('--output=json');
      const { localMirror } = JSON.parse(json) as {
        localMirror: { changes: { changes: readonly { action: string; name: string }[] } };
      };
      expect(localMirror).toMatchObject({
        replicas: 1,
        writer: 'another',
        federatedServices: 2,
        isLeft: false,
        after: [],
      });
      expect(localMirror.changes.changes).toMatchObject([{ action: 'delete', name: 'old-federated' }]);
    },
    SLOW_MS,
  );

  test(
    'is refused while the operator would change federated Services, before anything is scaled',
    async () => {
      const { code, stderr } = await run('--apply');
      expect(stderr).toContain(
        'error: Deployment linkerd-multicluster/linkerd-local-service-mirror of east: the operator would write: 1 to delete (they are listed above, and all of them with -o json',
      );
      expect(code).toBe(1);
      expect(await replicas()).toEqual([1, undefined]);
      const found = await clusters.east.get<KubeObject & { readonly spec: object }>(LinkerdDeployment.ref);
      expect(found?.spec).toMatchObject({ replicas: 1 });
    },
    SLOW_MS,
  );

  test(
    'names the right that a user lacks',
    async () => {
      const file = join(directory, 'reader.yaml');
      await writeFile(file, await readerOf(clusters.eastCluster, clusters.east, 'migrate-reader', READERS));
      const args = ['migrate', '--apply', '--accept-changes', `--kubeconfig=${file}`];
      const { code, stderr } = await linkspan(directory, ...args);
      expect(stderr).toMatch(/error: east: .*deployments.* \(use a context/);
      expect(code).toBe(1);
      expect(await replicas()).toEqual([1, undefined]);
    },
    SLOW_MS,
  );

  test(
    'starts it again where its pod does not let go, or where a tool scales it up, and says so',
    async () => {
      const stopped = { metadata: { annotations: { 'linkspan.dev/replicas-before': '1' } }, spec: { replicas: 0 } };
      await clusters.east.patch(LinkerdDeployment.ref, stopped);
      await clusters.ready();
      local.isStuck = true;
      const { code, stderr } = await run('--apply', '--accept-changes', '--timeout=2s');
      expect(stderr).toContain(
        'error: Deployment linkerd-multicluster/linkerd-local-service-mirror of east: waited 2 s for the operator to write in place of it: linkerd-local-service-mirror-0 holds its Lease (mend that and run the command again, which goes on; `kubectl --kubeconfig ',
      );
      expect(stderr).toContain(
        'Deployment linkerd-local-service-mirror: has its replicas again, and writes local memberships\n',
      );
      expect(code).toBe(1);
      expect(await replicas()).toEqual([1, undefined]);

      const ended = new AbortController();
      const tool = (async (): Promise<void> => {
        while (!ended.signal.aborted) {
          if ((await replicas())[0] === 0) await scaleLocal(1);
          await sleep(20);
        }
      })();
      const again = await run('--apply', '--accept-changes', '--timeout=3s');
      ended.abort();
      await tool;
      expect(again.stderr).toContain(
        'in place of it: it was scaled up again, by Argo CD, Flux or another tool that manages it (mend that',
      );
      expect(again.code).toBe(1);
    },
    SLOW_MS,
  );

  test(
    'goes on when it is run again: the operator holds the Lease, and the federated Service is the same',
    async () => {
      local.isStuck = false;
      const before = await federated();
      const { code, stdout, stderr } = await run('--apply', '--accept-changes');
      expect(stderr).toContain(
        'Deployment linkerd-local-service-mirror: 1 federated Services have kept uid and ClusterIP',
      );
      expect(stdout).toBe('deployment/linkerd-local-service-mirror configured in east\n');
      expect(code).toBe(0);
      expect(await holder()).toBe('linkspan-0');
      expect(await replicas()).toEqual([0, '1']);
      await eventually('what had no member is gone', async () => (await federated('old')) === undefined);
      const { uid, annotations } = (await federated())!;
      expect({ uid, annotations }).toMatchObject({
        uid: before!.uid,
        annotations: { [REMOTE]: 'web@west', [LOCAL]: 'web' },
      });
      expect((await run('--apply')).stderr).toContain('nothing is left to do');
    },
    SLOW_MS,
  );

  test(
    'is not handed a Link back while it would delete federated Services that lead through gateways',
    async () => {
      const leads = async () => (await federated())?.labels?.['linkspan.dev/federation'];
      await clusters.east.patch(link('west'), { spec: { federation: 'gateway' } });
      await eventually('it leads through gateways', async () => (await leads()) === 'gateway');
      const { code, stderr } = await run('--back', '--apply');
      expect(stderr).toContain(
        `error: Deployment linkerd-multicluster/linkerd-local-service-mirror of east: would delete 1 federated Services, which lead through gateways (before a Link is handed back, on a flat network, run \`kubectl `,
      );
      expect(stderr).toContain(
        `patch links.multicluster.linkerd.io west --type=merge '--patch={"spec":{"federation":"flat"}}'\`; run the command again when none of them leads through gateways, which the operator sees to)\n`,
      );
      expect(code).toBe(1);
      expect(await replicas()).toEqual([0, '1']);
      await clusters.east.patch(link('west'), { spec: { federation: 'flat' } });
      await eventually('it leads to pods', async () => (await leads()) === undefined);
    },
    SLOW_MS,
  );

  test(
    'stands by on the way back, until the operator has gone',
    async () => {
      const { stdout: planned } = await run('--back');
      expect(planned).toContain('Local mirror:\n  1. scale Deployment linkerd-local-service-mirror to 1, as it was\n');
      const { code, stdout, stderr } = await run('--back', '--apply');
      expect(stderr).toContain(
        'Deployment linkerd-local-service-mirror: it stands by while the operator holds Lease local-service-mirror-write, and takes over when the operator is uninstalled\n',
      );
      expect(stdout.split('\n')).toEqual([
        'deployment/controller-west configured in east',
        'link/west configured in east',
        'deployment/linkerd-local-service-mirror configured in east',
        '',
      ]);
      expect(code).toBe(0);
      expect(await replicas()).toEqual([1, undefined]);
      expect(await holder()).toBe('linkspan-0');
      expect((await run('--back', '--apply')).stderr).toContain('nothing is left to do');
      const uninstalled = await linkspan(directory, 'uninstall', `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`);
      expect(uninstalled.stderr).not.toContain('error: ');
      expect(uninstalled.code).toBe(0);
      await clusters.stopOperators();
      await eventually('it has taken over', async () => (await holder()) === 'linkerd-local-service-mirror-0');
    },
    SLOW_MS,
  );

  test(
    'is not handed over without an operator, nor started again where it is not noted how many replicas it had',
    async () => {
      await clusters.east.delete(link('west'));
      const { code, stderr } = await run('--apply', '--accept-changes', '--timeout=3s');
      expect(stderr).toContain(
        'waited 3 s for the operator: no operator holds its Lease (install it: `linkspan install',
      );
      expect(code).toBe(1);
      expect(await replicas()).toEqual([1, undefined]);
      await scaleLocal(0);
      const back = await run('--back', '--apply');
      expect(back.stderr).toContain(
        'note: Deployment linkerd-local-service-mirror stays at 0 replicas: it is not noted on it how many it had\nnothing is left to do\n',
      );
      expect(back.code).toBe(0);
    },
    SLOW_MS,
  );

  test(
    'deletes federated Services that lead through gateways, and says so before',
    async () => {
      const labels = { ...FEDERATED.labels, 'linkspan.dev/federation': 'gateway' };
      await clusters.east.create(service('far-federated', { labels, selector: null }));
      expect((await run('--back')).stderr).toContain(
        'note: Deployment linkerd-local-service-mirror deletes 1 federated Services, which lead through gateways, when it takes over: set spec.federation of the Links to flat first\n',
      );
      await clusters.east.delete(service('far-federated'));
    },
    SLOW_MS,
  );

  test(
    'is left alone where the operator has no selector for local members',
    async () => {
      await scaleLocal(1);
      const labels = { app: 'linkspan' };
      const containers = [
        { name: 'controller', image: 'example/linkspan', args: ['operator', '--federated-selector='] },
      ];
      await clusters.east.create({
        ...deploymentRef('linkspan-operator'),
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      } as ObjectRef);
      const { code, stdout, stderr } = await run('--apply');
      expect(stderr).toBe(
        'note: the operator has no --federated-selector, and leaves local members of federated Services to Deployment linkerd-local-service-mirror\nnothing is left to do\n',
      );
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      expect((await run()).stdout).toMatch(/\nlinkerd-local-service-mirror \(1\) .* none\n$/);
      expect(await replicas()).toEqual([1, undefined]);
    },
    SLOW_MS,
  );
});
