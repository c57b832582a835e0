/** `linkspan plan` on a cluster that has the Link already: what an apply makes of it, and what would be held. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { EXPORTED, link, service } from '../../../support/builders.ts';
import { readerOf } from '../../../support/reader.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';

const SLOW_MS = 180_000;
/** More than the guard of mass deletions lets pass. */
const SERVICES = 24;

onEachBacking('linkspan plan of a Link that is there', (backing) => {
  let clusters: TwoClusters;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, east: { controllers: ['serviceaccount-token-controller'] } });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-plan-applied-'));
    await clusters.link();
    for (let at = 0; at < SERVICES; at += 1) await clusters.west.apply(service(`web-${at}`, { labels: EXPORTED }));
    clusters.operator();
    await clusters.ready();
    await clusters.stopOperators();
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const plan = async (spec: object, kubeconfig = clusters.eastCluster.kubeconfigFile) => {
    const file = join(directory, 'west.json');
    await writeFile(file, JSON.stringify(link('west', spec)));
    return linkspanHere('plan', `--file=${file}`, `--kubeconfig=${kubeconfig}`);
  };

  test(
    'deletions that would be held are no state without changes: it exits 2',
    async () => {
      const { code, stdout, stderr } = await plan({ selector: { matchLabels: { no: 'body' } } });
      expect(stderr).toMatch(new RegExp(`\\n${SERVICES} deletions of Link west would be held\n$`));
      expect(stdout).toContain(`PruneHeld: ${SERVICES} deletions would be held until they are confirmed: shop/web-0`);
      expect(code).toBe(2);
      expect(await plan({})).toMatchObject({ code: 0, stdout: '' });
    },
    SLOW_MS,
  );

  test(
    'what another field manager has written to the Link stays, is planned, and is named',
    async () => {
      const excludedLabels = ['app'];
      await clusters.east.patch(link('west'), { spec: { excludedLabels } }, { fieldManager: 'somebody' });
      const { code, stdout, stderr } = await plan({});
      expect(stderr).toContain(
        'note: Link linkerd-multicluster/west: an apply leaves spec.excludedLabels otherwise than the file has it, since another has written it: planned as it would be\n',
      );
      expect(stdout).toBe('');
      expect(code).toBe(0);
    },
    SLOW_MS,
  );

  test.each(['server-side', 'client-side'])(
    'what linkspan approve has written stays beside a file that names none, applied %s (N2)',
    async (how) => {
      const importPolicy = { approval: 'required' };
      const unapproved = await plan({ importPolicy });
      expect(unapproved.stderr).toContain('spec.importPolicy.approved: is required');
      expect(unapproved.code).toBe(1);
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}' };
      if (how === 'client-side') await clusters.east.patch(link('west'), { metadata: { annotations } });
      const flags = [`--kubeconfig=${clusters.eastCluster.kubeconfigFile}`, '--from=west'];
      expect((await linkspanHere('approve', '--existing', ...flags)).code).toBe(0);
      const { code, stdout, stderr } = await plan({ importPolicy });
      expect(stdout, stderr).toBe('');
      expect(code).toBe(0);
      await clusters.east.patch(link('west'), { metadata: { annotations: null }, spec: { importPolicy: null } });
    },
    SLOW_MS,
  );

  test(
    'who may not apply the Link gets the plan of the file as it is, and is told so',
    async () => {
      const rules = [
        { apiGroups: [''], resources: ['services', 'endpoints', 'namespaces', 'secrets', 'pods'] },
        { apiGroups: ['apps'], resources: ['deployments'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
        { apiGroups: ['multicluster.linkerd.io'], resources: ['links'] },
      ];
      const file = join(directory, 'reader.yaml');
      await writeFile(file, await readerOf(clusters.eastCluster, clusters.east, 'plan-reader', rules));
      const { code, stderr } = await plan({}, file);
      expect(stderr).toContain('planned as it is in the file: what an apply would leave of it cannot be asked: east: ');
      expect(code, stderr).toBe(0);
    },
    SLOW_MS,
  );
});
