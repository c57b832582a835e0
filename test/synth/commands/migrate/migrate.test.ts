/** `linkspan migrate` on a cluster as Linkerd's extension leaves it, and back. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../../../cluster/workload/index.ts';
import { credentials, EXPORTED, link, LINKS_NAMESPACE, secretRef, service } from '../../../support/builders.ts';
import { identities, inventory, type Inventory } from '../../../support/inventory.ts';
import { LinkerdDeployment, seedMirrors, serveDeployments } from '../../../support/linkerd-install.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';

/** For a busy machine: several runs of the program, each a second. */
const SLOW_MS = 180_000;

/** 300 mirrors: of 270 Services, of 10 headless ones, and of their 20 pods. */
const COUNTS = { plain: 270, headless: 10, pods: 2 };

onEachBacking('linkspan migrate', (backing) => {
  let clusters: TwoClusters;
  let linkerd: LinkerdDeployment;
  let directory: string;
  let seeded: Inventory;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    if (backing === 'simulated') await serveDeployments(clusters.eastCluster);
    directory = await mkdtemp(join(tmpdir(), 'linkspan-migrate-'));
    await clusters.link(SPEC);
    await seedMirrors(clusters.east, clusters.west, COUNTS);
    linkerd = await LinkerdDeployment.start(clusters.eastCluster, clusters.westCluster);
    seeded = await inventory(clusters);
  }, 120_000);
  afterAll(async () => {
    await linkerd.stop();
    await clusters.stop();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => clusters.eastCluster.clearAudit());

  const SPEC = { enableHeadlessServices: true };
  const run = (...args: readonly string[]): Promise<Outcome> =>
    linkspan(directory, ...args, `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`);
  const holder = async (): Promise<string | undefined> =>
    (
      await clusters.get<KubeObject & { readonly spec: { readonly holderIdentity?: string } }>(
        'Lease',
        'service-mirror-write-west',
        LINKS_NAMESPACE,
      )
    )?.spec.holderIdentity;
  const replicas = async (): Promise<unknown> => {
    const found = await clusters.east.get<KubeObject & { readonly spec: { readonly replicas: number } }>(
      LinkerdDeployment.ref,
    );
    return [found?.spec.replicas, found?.metadata.annotations?.['linkspan.dev/replicas-before']];
  };
  /** Writes of anybody since the audit was cleared, by what they wrote. */
  const written = async (): Promise<readonly string[]> => {
    const entries = await clusters.eastCluster.audit();
    const writes = entries.filter(
      ({ verb, code, uri }) => !['get', 'list', 'watch'].includes(verb) && code < 300 && !uri.includes('dryRun='),
    );
    return [
      ...new Set(
        writes.map(({ verb, resource, subresource }) => [verb, resource, subresource].filter(Boolean).join(' ')),
      ),
    ].sort();
  };

  test(
    'plans nothing for 300 mirrors as Linkerd writes them, from the cluster and from dumps',
    async () => {
      expect(Object.keys(seeded).filter((name) => name.startsWith('Service'))).toHaveLength(300);
      const file = join(directory, 'west.json');
      await writeFile(file, JSON.stringify(link('west', SPEC)));
      expect(await run('plan', '-f', file)).toEqual({
        code: 0,
        stdout: '',
        stderr: 'note: no operator is installed in east: planned with its default settings\nno change\n',
      });
      const dump = async (name: string, client: TwoClusters['east'], kinds: readonly (readonly [string, string])[]) => {
        const lists = await Promise.all(kinds.map(([apiVersion, kind]) => client.list({ apiVersion, kind })));
        await writeFile(join(directory, name), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: lists.flat() }));
        return join(directory, name);
      };
      const core = [
        ['v1', 'Service'],
        ['v1', 'Endpoints'],
        ['discovery.k8s.io/v1', 'EndpointSlice'],
      ] as const;
      const source = await dump('source.json', clusters.east, [...core, ['v1', 'Namespace']]);
      const target = await dump('target.json', clusters.west, core);
      const dumped = await linkspan(
        directory,
        'plan',
        '-f',
        file,
        `--source-dump=${source}`,
        `--target-dump=${target}`,
      );
      expect(dumped).toMatchObject({ code: 0, stdout: '' });
      // Linkerd's controller renews its own.
      expect((await written()).filter((each) => each !== 'update leases')).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    'is refused while no operator stands by',
    async () => {
      const { code, stderr } = await run('migrate', '--apply', '--timeout=2s');
      expect(stderr).toContain(
        'Lease linkerd-multicluster/linkspan-operator of east: waited 2 s for the operator to stand by for Link west: no operator holds its Lease (install it: `linkspan install --apply',
      );
      expect(code).toBe(1);
      expect((await written()).filter((each) => !each.includes('leases'))).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    'shows the steps, and writes nothing',
    async () => {
      clusters.operator();
      await eventually(
        'the operator stands by',
        async () => (await clusters.condition('Ready'))?.reason === 'HeldByAnother',
      );
      await clusters.eastCluster.clearAudit();
      const { code, stdout, stderr } = await run('migrate');
      expect(stderr).toContain('Link west: no change');
      expect(stdout.split('\n')).toEqual([
        'LINK   CONTROLLER            WRITER                 MIRRORS   CHANGES   STEPS',
        'west   controller-west (1)   linkerd-controller-0   300       0         3',
        '',
        'Link west:',
        '  1. scale Deployment controller-west from 1 to 0, and note its replicas on it',
        '  2. wait until the operator holds Lease service-mirror-write-west and Link west is Ready',
        '  3. verify that every mirror has kept uid and ClusterIP',
        '',
      ]);
      expect(code).toBe(0);
      // The operator that stands by reports, and Linkerd's controller renews its Lease.
      const reports = ['leases', 'links status', 'events'];
      expect((await written()).filter((each) => !reports.some((report) => each.includes(report)))).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    'starts a controller again that does not let go, says so, and hands over when it is run again',
    async () => {
      linkerd.isStuck = true;
      const { code, stderr } = await run('migrate', 'west', '--apply', '--timeout=2s');
      expect(stderr).toContain(
        'Link linkerd-multicluster/west of east: waited 2 s for the operator to write for it: linkerd-controller-0 holds its Lease (mend that and run the command again',
      );
      expect(stderr).toContain(
        "Link west: Deployment controller-west of Linkerd's controller has its replicas again\n",
      );
      expect(code).toBe(1);
      expect(await replicas()).toEqual([1, undefined]);
      linkerd.isStuck = false;
      const again = await run('migrate', 'west', '--apply');
      expect(again.code, again.stderr).toBe(0);
      expect(await holder()).toBe('linkspan-0');
      expect(await replicas()).toEqual([0, '1']);
    },
    SLOW_MS,
  );

  test(
    'has written no mirror: Leases, the status of the Link and the scale of the Deployment alone',
    async () => {
      await clusters.ready();
      expect(await inventory(clusters)).toEqual(seeded);
      const { code, stderr } = await run('migrate', '--apply');
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('nothing is left to do') as string,
      });
    },
    SLOW_MS,
  );

  test(
    'hands no Link back whose token ends: Linkerd renews none',
    async () => {
      const kubernetes = { namespace: LINKS_NAMESPACE, serviceaccount: { name: 'remote-east', uid: 'u' } };
      const claims = { iat: 1_800_000_000, exp: 1_800_172_800, 'kubernetes.io': kubernetes };
      const token = `a.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c`;
      const before = (await clusters.east.get<KubeObject & { readonly data: object }>(
        secretRef('cluster-credentials-west'),
      ))!;
      await clusters.east.apply(credentials('west', clusters.westCluster.kubeconfigFor(token)));
      const { code, stderr } = await run('migrate', 'west', '--back', '--apply');
      await clusters.east.patch(secretRef('cluster-credentials-west'), { data: before.data });
      expect(stderr).toContain(
        "error: Secret linkerd-multicluster/cluster-credentials-west of east: its token ends at 2027-01-17T08:00:00.000Z, and Linkerd's controller cannot renew it (give its account one that does not end, `linkspan allow --ignore-cluster --apply --long-lived-token --service-account-name remote-east`, and put the Secret in its place that `linkspan link-gen --cluster-name west --long-lived-token --service-account-name remote-east` prints: both with --context and that of west)\n",
      );
      expect(code).toBe(1);
      expect(await holder()).toBe('linkspan-0');
      expect(await replicas()).toEqual([0, '1']);
    },
    SLOW_MS,
  );

  test(
    'hands the Link back without a write to a mirror',
    async () => {
      const { code, stdout, stderr } = await run('migrate', 'west', '--back', '--apply');
      expect(stderr).toContain('Link west: 300 mirrors have kept uid and ClusterIP');
      expect(stdout.split('\n')).toEqual([
        'deployment/controller-west configured in east',
        'link/west configured in east',
        '',
      ]);
      expect(code).toBe(0);
      expect(await holder()).toBe('linkerd-controller-0');
      expect(await replicas()).toEqual([1, undefined]);
      expect(await inventory(clusters)).toEqual(seeded);
      await eventually('the Link is reported as suspended (H9)', async () => {
        const accepted = await clusters.condition('Accepted');
        return accepted?.reason === 'Suspended' && accepted.status === 'False';
      });
      expect((await written()).filter((each) => /services|endpoints/.test(each))).toEqual([]);
      expect((await run('migrate', '--back', '--apply')).stderr).toContain('nothing is left to do');
    },
    SLOW_MS,
  );

  test(
    'is refused while the operator would change mirrors, until that is accepted',
    async () => {
      await clusters.west.create(service('new', { labels: EXPORTED }));
      const { code, stdout: refused, stderr } = await run('migrate', '--apply');
      expect(stderr).toContain('the operator would write: 2 to create (they are listed above');
      expect(code).toBe(1);
      for (const text of [refused, (await run('migrate')).stdout]) {
        expect(text).toMatch(
          /^Link west, what the operator would do:\nACTION .*\ncreate +Service +shop\/new-west +shop\/new is exported by west\n/m,
        );
      }
      const { stdout } = await run('migrate', '-o', 'json');
      const { links } = JSON.parse(stdout) as {
        links: readonly { changes: { changes: readonly { action: string; name: string }[] } }[];
      };
      expect(links[0]!.changes.changes.map(({ action, name }) => `${action} ${name}`)).toEqual([
        'create new-west',
        'create new-west',
      ]);
      expect((await run('migrate', '--apply', '--accept-changes')).code).toBe(0);
      expect(await holder()).toBe('linkspan-0');
      const isNew = async (): Promise<boolean> => 'Service shop/new-west' in identities(await inventory(clusters));
      await eventually('the operator has made the mirror', isNew);
      expect(identities(await inventory(clusters))).toMatchObject(identities(seeded));
    },
    SLOW_MS,
  );

  test.each([
    [['nope'], 'Link linkerd-multicluster/nope of east: not found'],
    [['--namespace=nope'], 'Namespace nope of east: has no Link'],
    [['--context=nope'], 'has no context "nope"'],
    [['--timeout=0'], 'It must be a duration'],
    [['a', 'b'], 'too many arguments'],
  ])('with %j: %s', async (args, message) => {
    const { code, stderr } = await run('migrate', ...args);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });
});
