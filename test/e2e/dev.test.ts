/** `npm run dev`, as a developer types it: the operator from its sources, on a cluster of their kubeconfig. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { descendantsOf, processes } from '../cluster/left-behind/process-tree.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { Processes, type RunningProcess } from '../cluster/real/processes.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { GATEWAY, LINKS_NAMESPACE } from '../support/builders.ts';
import { exportService } from '../support/exports.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const START_MS = 60_000;

interface Lease extends KubeObject {
  readonly spec: { readonly holderIdentity?: string | null };
}

onReal('npm run dev', () => {
  let clusters: TwoClusters;
  let started: Processes;

  beforeAll(async () => {
    started = new Processes('dev');
    clusters = await TwoClusters.start({ backing: 'real' });
    await clusters.link();
    await exportService(clusters, 'web');
  });
  afterAll(async () => {
    await started.close();
    await clusters.stop();
  });

  const dev = (name: string, ...flags: readonly string[]): RunningProcess => {
    const args = ['--prefix', ROOT, 'run', 'dev', '--', ...flags, '--admin-address=127.0.0.1:0'];
    const env = { KUBECONFIG: clusters.eastCluster.kubeconfigFile };
    return started.run({ name, path: 'npm', args, env });
  };
  const holder = async (name: string): Promise<string> =>
    (await clusters.get<Lease>('Lease', name, LINKS_NAMESPACE))?.spec.holderIdentity ?? '';

  test('mirrors by the context that it is given, and SIGINT ends it with its Leases released', async () => {
    const { host, port } = clusters.gateway.address;
    const npm = dev('east', '--context=east', `--probe-connect-to=probe-west.${LINKS_NAMESPACE}.svc=${host}:${port}`);
    await eventually(
      'the mirror is ready',
      async () => (await clusters.addresses('web-west'))?.[0] === GATEWAY,
      START_MS,
    );
    await clusters.ready();
    const family = new Set(descendantsOf(npm.pid, await processes()).map(({ pid }) => pid));
    expect(family.size).toBeGreaterThan(0);
    expect(await holder('linkspan-operator')).not.toBe('');

    npm.signal('SIGINT');
    await npm.exited;
    await eventually('nothing of it runs', async () => !(await processes()).some(({ pid }) => family.has(pid)));
    expect(await Promise.all(['linkspan-operator', 'service-mirror-write-west'].map(holder))).toEqual(['', '']);
    expect(await clusters.get('Service', 'web-west')).toBeDefined();
  });

  test('names the contexts that there are where the one that it is given is not', async () => {
    expect(await dev('nowhere', '--context=nowhere').exited).not.toBe(0);
    expect(await readFile(join(started.dir, 'nowhere.log'), 'utf8')).toMatch(/nowhere.*east/s);
  });
});
