/** Whether the operator runs: what `linkspan install --wait` waits for, and what it says of pods that do not start. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import type { ObjectRef } from '../../../cluster/workload/index.ts';
import { link, objectRef } from '../../../support/builders.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';

const NAMESPACE = 'linkerd-multicluster';
const IMAGE = 'registry.example.com/linkspan:0.1.0';
const OPERATOR = objectRef('apps/v1', 'Deployment', 'linkspan-operator', NAMESPACE);
const POD = {
  ...objectRef('v1', 'Pod', 'linkspan-operator-0', NAMESPACE),
  metadata: {
    name: 'linkspan-operator-0',
    namespace: NAMESPACE,
    labels: { 'app.kubernetes.io/name': 'linkspan', 'app.kubernetes.io/component': 'operator' },
  },
  spec: { serviceAccountName: 'linkspan-operator', containers: [{ name: 'controller', image: IMAGE }] },
} as ObjectRef;
const STATUS = { subresource: 'status' };

onEachBacking('linkspan install --wait', (backing) => {
  let east: LinkerdCluster;

  beforeAll(async () => {
    east = await startLinkerdCluster({ backing, name: 'east' });
    await installLinkerd(east);
    await install();
  }, 120_000);
  afterEach(() => east.client.delete(POD, { gracePeriodSeconds: 0 }));
  afterAll(() => east.stop());

  const install = (...flags: readonly string[]): Promise<Outcome> =>
    linkspanHere('install', `--kubeconfig=${east.cluster.kubeconfigFile}`, `--image=${IMAGE}`, '--apply', ...flags);
  const status = async (updatedReplicas: number, availableReplicas: number): Promise<void> => {
    const { metadata } = (await east.client.get(OPERATOR))!;
    const { generation: observedGeneration } = metadata as { readonly generation?: number };
    const replicas = { replicas: 2, updatedReplicas, availableReplicas, readyReplicas: availableReplicas };
    await east.client.patch(OPERATOR, { status: { observedGeneration, ...replicas } }, STATUS);
  };
  const wait = ['--wait', '--timeout=1s'];

  test('names what keeps a pod from starting, and does not say that it is installed', { timeout: 60_000 }, async () => {
    await status(1, 0);
    await east.client.create(POD);
    const waiting = { name: 'controller', image: IMAGE, imageID: '', ready: false, restartCount: 0 };
    await east.client.patch(
      POD,
      { status: { containerStatuses: [{ ...waiting, state: { waiting: { reason: 'ImagePullBackOff' } } }] } },
      STATUS,
    );
    const { code, stderr } = await install(...wait);
    expect(code).toBe(1);
    expect(stderr).toContain(`waiting for the operator in east: 0 of 2 pods are up: ImagePullBackOff of ${IMAGE}\n`);
    expect(stderr).toMatch(
      /error: Deployment linkerd-multicluster\/linkspan-operator of east: 0 of 2 pods are up: ImagePullBackOff of \S+, after 1 s \(kubectl --kubeconfig \S+ --context east --namespace linkerd-multicluster describe pods --selector app\.kubernetes\.io\/name=linkspan\)\n/,
    );
    expect(stderr).not.toContain('is installed');
  });

  test('waits for pods of the Deployment as it is now', { timeout: 60_000 }, async () => {
    await status(1, 2);
    const { code, stderr } = await install(...wait);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('1 of 2 pods are up') as string,
    });
  });

  test('ends when all run, with the command that comes next', { timeout: 60_000 }, async () => {
    await status(2, 2);
    const first = await install(...wait);
    expect(first.code, first.stderr).toBe(0);
    expect(first.stderr).toMatch(/Linkspan 0\.1\.0 is installed in east; `linkspan link [^`]*` with --to-context /);

    await east.client.apply(link('west'));
    const linked = await install(...wait);
    expect(linked.stderr).toMatch(/ is installed in east; `linkspan check [^`]*` says whether its Links work\n$/);
  });

  test('does not wait for an operator that somebody has scaled to 0 (L227)', { timeout: 60_000 }, async () => {
    const scale = (replicas: number) =>
      east.client.patch(OPERATOR, { spec: { replicas } }, { fieldManager: 'kubectl-scale' });
    await scale(0);
    await status(0, 0);
    const { code, stderr } = await install(...wait);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /linkspan-operator of east: it is scaled to 0 \(kubectl .* scale deployment\/linkspan-operator --replicas=2\)\n/,
    );
    expect(stderr).not.toContain('is installed');
    await scale(2);
  });

  test('is not the default where nobody sits at a terminal', { timeout: 60_000 }, async () => {
    await status(0, 0);
    const { code, stderr } = await install('--timeout=1s');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('its operator does not run yet: 0 of 2 pods are up');
  });
});
