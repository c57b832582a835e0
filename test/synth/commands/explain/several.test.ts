/** `linkspan explain` of a name by which there are several things: one that works hides none that does not. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually } from '../../../cluster/workload/index.ts';
import { EXPORTED, objectRef, service } from '../../../support/builders.ts';
import { installMcs, McsView, podSlices, serviceExport } from '../../../support/mcs.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';

onEachBacking('linkspan explain, of a mirror and of a ServiceImport', (backing) => {
  let clusters: TwoClusters;
  let directory: string;
  let operator: ReturnType<TwoClusters['operator']>;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-explain-'));
    for (const each of [clusters.eastCluster, clusters.westCluster]) await installMcs(each);
    await clusters.east.apply(service('web-west'));
    await clusters.west.apply(service('web', { labels: EXPORTED }));
    for (const each of podSlices('web', [{ ip: '10.244.0.1' }], { labels: EXPORTED })) await clusters.west.apply(each);
    await clusters.west.apply(serviceExport('web'));
    await clusters.link();
    operator = clusters.operator();
    const view = new McsView(clusters.east);
    await eventually('it is imported', async () => (await view.serviceImport('web'))?.spec.ips?.length === 1);
    await eventually('it is reported', async () => (await clusters.mirrorCondition('web'))?.reason === 'NameConflict');
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const explain = (name: string): Promise<Outcome> =>
    linkspan(directory, 'explain', name, `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`);

  test(
    'exits 1 if the mirror is in the way of somebody, though the ServiceImport works',
    { timeout: 30_000 },
    async () => {
      const { code, stdout } = await explain('shop/web');
      expect(stdout).toMatch(/\nclients reach nothing: it stops at name\n/);
      expect(stdout).toMatch(/\nServiceImport shop\/web of east\n(√ .*\n)+clients reach /);
      expect(code).toBe(1);
    },
  );

  test(
    'exits 0 by a name in clusterset.local, which has nothing to do with the mirror',
    { timeout: 30_000 },
    async () => {
      const { code, stdout } = await explain('http://web.shop.svc.clusterset.local:80/');
      expect(stdout).toMatch(/^ServiceImport shop\/web of east\n/);
      expect(code).toBe(0);
      const lost = await explain('lost.shop.svc.clusterset.local');
      expect(lost.stdout).toContain('ServiceImport shop/lost is not in east: no cluster exports it validly');
      expect(lost.code).toBe(1);
    },
  );

  test(
    'says when no operator keeps what it explains, or one in another namespace is to (L281)',
    { timeout: 30_000 },
    async () => {
      const name = 'web.shop.svc.clusterset.local';
      const before = await explain(name);
      expect(before.stdout).not.toContain('operator');
      await operator.stop();
      const stopped =
        '‼ operator  in namespace linkerd-multicluster, no operator holds its Lease: what it reports may be old\n';
      const byName = await explain(name);
      expect(byName.stdout).toContain(`ServiceImport shop/web of east\n${stopped}`);
      expect(byName.stdout).toMatch(
        /see whether the operator runs: `kubectl .* -n linkerd-multicluster get deployments,pods`/,
      );
      expect(byName.code).toBe(0);
      const all = await explain('shop/web');
      expect(all.stdout).toContain(`ServiceImport shop/web of east\n${stopped}`);
      const serviceImport = objectRef('multicluster.x-k8s.io/v1beta1', 'ServiceImport', 'web', 'shop');
      for (const [named, namespace] of [
        ['mesh', 'mesh'],
        ['../secrets', 'linkerd-multicluster'],
      ] as const) {
        await clusters.east.patch(serviceImport, { metadata: { annotations: { 'linkspan.dev/operator': named } } });
        expect((await explain(name)).stdout).toContain(` -n ${namespace} get deployments,pods`);
      }
    },
  );
});
