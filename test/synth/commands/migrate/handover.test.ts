/** A hand-over that does not come to its end: nothing is begun without an operator, and what was begun is undone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { UserAgent } from '../../../../crds/wire.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../../../cluster/simulated/start.ts';
import { eventually, type KubeObject, type ObjectRef } from '../../../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE } from '../../../support/builders.ts';
import { deploymentRef, LinkerdDeployment, seedMirrors, serveDeployments } from '../../../support/linkerd-install.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';

/** For a busy machine. */
const SLOW_MS = 90_000;
const CLI = new URL('../../../../synth/cli.ts', import.meta.url).pathname;
const SUSPENDED = 'linkspan.dev/suspended';
const NOTED = 'linkspan.dev/replicas-before';
const OPERATOR_LEASE = 'linkspan-operator';
/** As Linkerd's chart renders them: headless mode is in no field of the Link. */
const ARGS = [
  'service-mirror',
  '-log-level=info',
  '-namespace=linkerd-multicluster',
  '-enable-pprof=false',
  '-enable-headless-services',
  '-probe-service=probe-west',
  'west',
];

/** The program in a process of its own. */
interface Running {
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  /** Waits until it has printed a text. */
  readonly says: (text: string) => Promise<unknown>;
  readonly stderr: () => string;
}

onEachBacking('a hand-over of linkspan migrate', (backing) => {
  let clusters: TwoClusters;
  let linkerd: LinkerdDeployment;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    if (backing === 'simulated') await serveDeployments(clusters.eastCluster);
    await clusters.link();
    await seedMirrors(clusters.east, clusters.west, { plain: 3, headless: 1, pods: 1 });
    linkerd = await LinkerdDeployment.start(clusters.eastCluster, clusters.westCluster, ARGS);
  }, 120_000);
  afterAll(async () => {
    await linkerd.stop();
    await clusters.stop();
  });
  afterEach(async () => {
    linkerd.isStuck = false;
    await clusters.stopOperators();
  });

  const flags = (): readonly string[] => [`--kubeconfig=${clusters.eastCluster.kubeconfigFile}`];
  const migrate = (...args: readonly string[]) => linkspanHere('migrate', 'west', '--apply', ...args, ...flags());
  const replicas = async (): Promise<readonly unknown[]> => {
    const found = await clusters.east.get<KubeObject & { readonly spec: { readonly replicas: number } }>(
      LinkerdDeployment.ref,
    );
    return [found?.spec.replicas, found?.metadata.annotations?.[NOTED]];
  };
  const holderOf = async (lease: string): Promise<string | undefined> =>
    (
      await clusters.get<KubeObject & { readonly spec: { readonly holderIdentity?: string } }>(
        'Lease',
        lease,
        LINKS_NAMESPACE,
      )
    )?.spec.holderIdentity;
  const holder = (): Promise<string | undefined> => holderOf('service-mirror-write-west');
  const isSuspended = async (): Promise<boolean> =>
    (await clusters.east.get(link('west')))?.metadata.annotations?.[SUSPENDED] === 'true';
  const standsBy = async (): Promise<void> => {
    clusters.operator();
    await eventually('an operator stands by', async () => (await holderOf(OPERATOR_LEASE)) === 'linkspan-0');
    await eventually('and says so', async () => (await clusters.condition('Ready'))?.reason === 'HeldByAnother');
  };
  /** Runs the program in a process of its own, which can be told to end. */
  const running = (...args: readonly string[]): Running => {
    const child = spawn(process.execPath, [CLI, 'migrate', 'west', '--apply', ...args, ...flags()]);
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const says = (text: string): Promise<unknown> =>
      eventually(`it says: ${text}`, () => Promise.resolve(stderr.includes(text)), 30_000);
    return { child, ended, says, stderr: () => stderr };
  };

  test(
    'changes nothing by the settings of Linkerd, before an operator is installed',
    async () => {
      const { code, stdout, stderr } = await linkspanHere('migrate', ...flags());
      expect(stderr).toContain(
        "note: no operator is installed in east: planned with the settings of Linkerd's controllers, which are --enable-headless-services of the operator\nLink west: no change\n",
      );
      expect(stdout).toMatch(/^west +controller-west \(1\) +linkerd-controller-0 +5 +0 +3$/m);
      expect(code).toBe(0);
    },
    SLOW_MS,
  );

  test(
    'names how an operator with other settings would differ, and the commands that make both the same',
    async () => {
      const operator = deploymentRef('linkspan-operator');
      const labels = { app: 'linkspan' };
      const containers = [{ name: 'controller', image: 'example/linkspan', args: ['operator'] }];
      const template = { metadata: { labels }, spec: { containers } };
      await clusters.east.create({ ...operator, spec: { selector: { matchLabels: labels }, template } } as ObjectRef);
      const { stdout, stderr } = await linkspanHere('migrate', ...flags());
      await clusters.east.delete(operator);
      const to = `--kubeconfig ${clusters.eastCluster.kubeconfigFile} --context east`;
      expect(stderr).toContain(
        `note: Link west: Linkerd's controller mirrors headless Services pod by pod, and the operator does not: set it for the Link, \`kubectl ${to} patch link/west --namespace=linkerd-multicluster --type=merge '--patch={"spec":{"enableHeadlessServices":true}}'\`, or for the operator, --enable-headless-services: controllerDefaults.enableHeadlessServices: true in the values file of \`linkspan upgrade --namespace=linkerd-multicluster --values=values.yaml --apply ${to}\`\n`,
      );
      expect(stdout).toMatch(/^replace +Service +shop\/db-0-west +what differs cannot be changed in place/m);
    },
    SLOW_MS,
  );

  test(
    'is not begun by what an operator has reported that is gone since',
    async () => {
      await standsBy();
      await clusters.stopOperators();
      expect((await clusters.condition('Ready'))?.reason).toBe('HeldByAnother');
      const { code, stderr } = await migrate('--timeout=2s');
      expect(stderr).toContain('stand by for Link west: no operator holds its Lease (install it');
      expect(code).toBe(1);
      expect(await replicas()).toEqual([1, undefined]);
    },
    SLOW_MS,
  );

  test(
    'is not begun by a Lease that nobody renews, however new it looks',
    async () => {
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
      const metadata = { name: OPERATOR_LEASE, namespace: LINKS_NAMESPACE };
      const renewTime = new Date().toISOString().replace('Z', '000Z');
      const spec = { holderIdentity: 'killed', leaseDurationSeconds: 3600, renewTime };
      await clusters.east.patch({ ...lease, metadata }, { spec });
      const { code, stderr } = await migrate('--timeout=2s');
      expect(stderr).toContain('killed holds its Lease, and was not seen to renew it since');
      expect(code).toBe(1);
      expect(await replicas()).toEqual([1, undefined]);
      await clusters.east.patch({ ...lease, metadata }, { spec: { holderIdentity: '' } });
    },
    SLOW_MS,
  );

  test(
    'waits for the operator, and for its report on the Link as it is now',
    async () => {
      const { ended, says, stderr } = running();
      await says('waiting for the operator to stand by for Link west: no operator holds its Lease');
      await standsBy();
      expect(await ended, stderr()).toBe(0);
      expect(await holder()).toBe('linkspan-0');
      expect((await linkspanHere('migrate', 'west', '--back', '--apply', ...flags())).code).toBe(0);
      expect(await replicas()).toEqual([1, undefined]);
    },
    SLOW_MS,
  );

  test(
    'is kept by no obstacle that was found before the Link was suspended (H9, L190)',
    async () => {
      const suspend = (value: string | null): Promise<unknown> =>
        clusters.east.patch(link('west'), { metadata: { annotations: { [SUSPENDED]: value } } });
      const valid = async (): Promise<unknown> => (await clusters.condition('CredentialsValid'))?.status;
      await suspend(null);
      await standsBy();
      await clusters.east.apply(credentials('west', clusters.westCluster.kubeconfigFor('nobody')));
      await eventually('the target refuses the token', async () => (await valid()) === 'False');
      await suspend('true');
      await eventually('nobody looks at it any more', async () => (await valid()) === 'Unknown');
      await clusters.east.apply(credentials('west', clusters.westCluster.kubeconfig));
      const { code, stderr } = await migrate('--timeout=30s');
      expect(code, stderr).toBe(0);
      expect((await migrate('--back')).code).toBe(0);
      expect(await replicas()).toEqual([1, undefined]);
    },
    SLOW_MS,
  );

  // A server that answers the command, and not the operator, is simulated.
  test.runIf(backing === 'simulated')(
    'stops no controller while the operator cannot read the target of a Link that was suspended (L195)',
    async () => {
      expect(await isSuspended()).toBe(true);
      const { faults } = clusters.westCluster as SimulatedCluster;
      const restore = faults.refuse({
        failure: { kind: 'status', code: 503 },
        match: ({ userAgent }) => userAgent === UserAgent.target,
      });
      await standsByAgain();
      const { ended, says, stderr } = running('--timeout=8s');
      await says('waiting for the operator to stand by for Link west: Link west: the operator cannot serve it');
      expect(await replicas()).toEqual([1, undefined]);
      expect(await holder()).toBe('linkerd-controller-0');
      expect(await ended).toBe(1);
      restore();
      expect(stderr()).toContain("Link west: left to Linkerd's controller again\n");
      expect(await isSuspended()).toBe(true);
      expect(await replicas()).toEqual([1, undefined]);
      expect(await holder()).toBe('linkerd-controller-0');
    },
    SLOW_MS,
  );

  test(
    "is undone when the operator is gone in the middle: Linkerd's controller writes again, and the Link is suspended as it was",
    async () => {
      await standsByAgain();
      linkerd.isStuck = true;
      const { ended, says, stderr } = running('--timeout=8s');
      await says('the operator to write for Link west: linkerd-controller-0 holds its Lease');
      expect(await replicas()).toEqual([0, '1']);
      expect(await isSuspended()).toBe(false);
      await clusters.stopOperators();
      expect(await ended).toBe(1);
      expect(stderr()).toContain(
        "Link west: Deployment controller-west of Linkerd's controller has its replicas again\n",
      );
      expect(await replicas()).toEqual([1, undefined]);
      expect(await isSuspended()).toBe(true);
      expect(await holder()).toBe('linkerd-controller-0');
    },
    SLOW_MS,
  );

  test(
    'is undone at SIGTERM',
    async () => {
      await standsByAgain();
      linkerd.isStuck = true;
      const { child, ended, says, stderr } = running();
      await says('the operator to write for Link west: linkerd-controller-0 holds its Lease');
      child.kill('SIGTERM');
      expect(await ended).toBe(143);
      expect(stderr()).toContain(
        'error: SIGTERM: stopped before waiting for the operator to write for Link west (run the command again: it goes on from here)',
      );
      expect(await replicas()).toEqual([1, undefined]);
      expect(await isSuspended()).toBe(true);
    },
    SLOW_MS,
  );

  test(
    'that was killed is finished by the next run',
    async () => {
      await standsByAgain();
      linkerd.isStuck = true;
      const { child, ended, says } = running();
      await says('the operator to write for Link west: linkerd-controller-0 holds its Lease');
      child.kill('SIGKILL');
      await ended;
      expect(await replicas()).toEqual([0, '1']);
      linkerd.isStuck = false;
      const { code, stderr } = await migrate();
      expect(code, stderr).toBe(0);
      expect(await holder()).toBe('linkspan-0');
      expect(await replicas()).toEqual([0, '1']);
    },
    SLOW_MS,
  );

  /** After a way back the Link is suspended, and the operator says that instead. */
  const standsByAgain = async (): Promise<void> => {
    clusters.operator();
    await eventually('an operator stands by', async () => (await holderOf(OPERATOR_LEASE)) === 'linkspan-0');
  };
});
