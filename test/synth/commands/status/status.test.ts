/** `linkspan status`, and `--watch` while things change. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../../../cluster/workload/index.ts';
import { EXPORTED, link, LINKS_NAMESPACE, objectRef, service, slice } from '../../../support/builders.ts';
import { installMcs, serviceExport, serviceImportRef, uninstallMcs } from '../../../support/mcs.ts';
import { readerOf } from '../../../support/reader.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';

const CLI = new URL('../../../../synth/cli.ts', import.meta.url).pathname;

onEachBacking('linkspan status', (backing) => {
  let clusters: TwoClusters;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, east: { controllers: ['serviceaccount-token-controller'] } });
    await uninstallMcs(clusters.east);
    directory = await mkdtemp(join(tmpdir(), 'linkspan-status-'));
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const kubeconfig = (): string => `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`;
  const run = (...args: readonly string[]): Promise<Outcome> => linkspan(directory, 'status', kubeconfig(), ...args);

  test.each([
    [['--output=text'], 2, 'Allowed choices are table, wide, json, yaml.'],
    [['west', 'north'], 2, 'too many arguments'],
    [['--context=north'], 2, 'has no context "north" (it has east)'],
    [['west'], 1, 'Link linkerd-multicluster/west of east: not found: there is none (name a Link'],
    [[], 0, 'there is no Link in namespace linkerd-multicluster of east'],
  ])('%j exits %i', async (flags, expected, message) => {
    const { code, stderr } = await run(...flags);
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
  });

  test('exits 1 until the Link is Ready', { timeout: 60_000 }, async () => {
    await clusters.link();
    const before = await run();
    expect(before.stdout).toContain('no operator has reported on the Link');
    expect(before.code).toBe(1);
    await clusters.west.apply(
      service('outside', {
        labels: { 'mirror.linkerd.io/exported': 'true' },
        ports: [{ name: 'a', port: 1, protocol: 'UDP' }],
      }),
    );
    clusters.operator();
    await clusters.ready();
    await eventually(
      'it reports on the Service',
      async () => (await clusters.mirrorCondition('outside')) !== undefined,
    );
    const after = await run('west');
    expect(after.stdout).toMatch(/\nwest +west +True +SomeNotMirrored +alive +0\/1\n/);
    expect(after.stdout).toMatch(/\nwest +shop\/outside +InvalidService +all its ports are UDP or SCTP/);
    expect(after.code).toBe(1);
  });

  test('exits 0 when all that is exported is mirrored', { timeout: 30_000 }, async () => {
    await clusters.west.delete(service('outside'));
    await eventually('it is gone', async () => (await clusters.mirrorCondition('outside')) === undefined);
    const { code, stdout, stderr } = await run();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^LINK[^\n]*\nwest +west +True +\w+ +alive +0\/0\n$/);
  });

  test('knows nothing for certain where the user may not read Leases', { timeout: 30_000 }, async () => {
    const { eastCluster, east } = clusters;
    const rules = [{ apiGroups: ['multicluster.linkerd.io'], resources: ['links'] }];
    const file = join(directory, 'reader.yaml');
    await writeFile(file, await readerOf(eastCluster, east, 'status-reader', rules));
    const { code, stdout, stderr } = await linkspan(directory, 'status', `--kubeconfig=${file}`);
    expect(stdout).toMatch(/\nwest +west +Unknown +NotKnown +unknown +0\/0\n/);
    // Nothing is said of the MCS API, which this cluster does not serve.
    expect(stderr).toMatch(
      /^note: whether an operator serves the Links is not known: east: .*leases.* \(use a context[^\n]*\n(note: where ServiceFailovers send requests is not known: [^\n]*\n)?$/,
    );
    expect(code).toBe(1);
  });

  test('is printed again on every change, also after the API server was away', { timeout: 60_000 }, async () => {
    const watching = spawn(process.execPath, [CLI, 'status', kubeconfig(), '--watch'], { stdio: 'pipe' });
    let stdout = '';
    let stderr = '';
    watching.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    watching.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => watching.on('exit', resolve));
    await eventually('it is printed', async () => / 0\/0\n/.test(stdout));
    await clusters.west.apply(service('web', { labels: EXPORTED }));
    await clusters.west.apply(slice('web'));
    await eventually('the new mirror is counted', async () => / 1\/1\n/.test(stdout));

    await clusters.eastCluster.kill();
    await eventually('it says so', async () => stderr.includes('east cannot be watched, trying again'));
    await clusters.eastCluster.start();
    await clusters.east.apply(link('north', { targetClusterName: 'north' }));
    await eventually('the new Link is there', async () => /\nnorth +north /.test(stdout));

    watching.kill('SIGINT');
    expect(await ended, stderr).toBe(1);
  });

  test('exits 1 when the operator has gone', { timeout: 60_000 }, async () => {
    await clusters.stopOperators();
    const { code, stdout } = await run('west');
    expect(stdout).toMatch(/\nwest +Ready=Unknown +NotServed +no operator holds its Lease/);
    expect(code).toBe(1);
  });

  test('lists what is imported by the MCS API, and names exports that are not valid', { timeout: 60_000 }, async () => {
    const { east, eastCluster } = clusters;
    expect(JSON.parse((await run('--output=json')).stdout)).not.toHaveProperty('serviceImports');
    await installMcs(eastCluster);
    expect(JSON.parse((await run('--output=json')).stdout)).toMatchObject({ serviceImports: [], serviceExports: [] });

    await east.create({ ...serviceImportRef('web'), spec: { type: 'Headless', ports: [] } } as ObjectRef);
    const imported = { status: { clusters: [{ cluster: 'west' }, { cluster: 'east' }] } };
    await east.patch(serviceImportRef('web'), imported, { subresource: 'status' });
    await east.create(serviceExport('lost'));
    const lastTransitionTime = '2026-11-22T00:00:00Z';
    const valid = { type: 'Valid', status: 'False', reason: 'NoService', message: 'there is no Service lost' };
    const conditions = [{ ...valid, lastTransitionTime }];
    await east.patch(serviceExport('lost'), { status: { conditions } }, { subresource: 'status' });
    const { stdout, stderr } = await run();
    expect(stdout).toMatch(
      /\n\nSERVICE EXPORT +CONDITION +REASON +MESSAGE\nshop\/lost +Valid=False +NoService +there is no/,
    );
    expect(stdout).toMatch(/\n\nSERVICE IMPORT +TYPE +CLUSTERS\nshop\/web +Headless +east,west\n$/);
    // The operator has gone.
    expect(stderr).toMatch(
      /^note: whether ServiceImports, [^\n]* are as they report is not known: no operator[^\n]*\n$/,
    );

    const limited = await linkspan(directory, 'status', `--kubeconfig=${join(directory, 'reader.yaml')}`);
    expect(
      limited.stderr.match(/^note: what is exported and imported by the MCS API is not all known: east: /gm),
    ).toHaveLength(1);
    expect(limited.stdout).not.toContain('SERVICE IMPORT');
  });

  test('believes an operator that elects no leader (L271)', { timeout: 60_000 }, async () => {
    await clusters.east.delete(objectRef('coordination.k8s.io/v1', 'Lease', 'linkspan-operator', LINKS_NAMESPACE));
    clusters.operator({ flags: { leaderElect: false } });
    await eventually('the Link is served', async () => / True +/.test((await run('west')).stdout));
    const { stdout, stderr } = await run();
    expect(stdout).toContain('SERVICE IMPORT');
    expect(stderr).toBe('');
  });
});
