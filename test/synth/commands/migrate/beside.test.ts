/** `linkspan migrate` beside what is not of the Link: it stands in no Link's way. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failoverCrd } from '../../../../crds/index.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { installCrd, type ObjectRef } from '../../../cluster/workload/index.ts';
import { service } from '../../../support/builders.ts';
import { LinkerdDeployment, seedMirrors, serveDeployments } from '../../../support/linkerd-install.ts';
import { installMcs, serviceExport } from '../../../support/mcs.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan } from '../../linkspan.ts';

onEachBacking('linkspan migrate', (backing) => {
  let clusters: TwoClusters;
  let linkerd: LinkerdDeployment;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    if (backing === 'simulated') await serveDeployments(clusters.eastCluster);
    directory = await mkdtemp(join(tmpdir(), 'linkspan-migrate-'));
    await clusters.link({ enableHeadlessServices: true });
    await seedMirrors(clusters.east, clusters.west, { plain: 3, headless: 0, pods: 0 });
    linkerd = await LinkerdDeployment.start(clusters.eastCluster, clusters.westCluster);
  }, 120_000);
  afterAll(async () => {
    await linkerd.stop();
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const run = (...args: readonly string[]) =>
    linkspan(directory, 'migrate', 'west', ...args, `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`);
  // No operator stands by: it ends there, if nothing stands in its way before.
  const apply = () => run('--apply', '--accept-changes', '--timeout=1s');

  test('does not take a ServiceFailover that something stands in the way of for the Link (L213)', async () => {
    const before = await apply();
    await installCrd(clusters.eastCluster, failoverCrd);
    await clusters.east.apply(service('api'));
    await clusters.east.apply({
      apiVersion: 'linkspan.dev/v1alpha1',
      kind: 'ServiceFailover',
      metadata: { name: 'api', namespace: 'shop' },
      spec: { service: 'api', backends: [{ service: 'api' }, { service: 'not-there' }] },
    } as ObjectRef);
    const after = await apply();
    expect(after.stderr).not.toContain('would not be served');
    expect(after).toMatchObject({ code: before.code });
    expect((await run()).stdout).toContain('ServiceFailover');
  });

  test('takes a ServiceExport whose name no label can have for one without endpoints (L214)', async () => {
    await installMcs(clusters.eastCluster);
    await clusters.east.apply(serviceExport('n'.repeat(64)));
    const { stderr } = await run();
    expect(stderr).not.toContain('a selector of this program');
  });
});
