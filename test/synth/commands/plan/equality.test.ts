/** What `linkspan plan` says equals what the operator then does, in random set-ups. */
import { isDeepStrictEqual } from 'node:util';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { type Api, eventually, type KubeObject, type ObjectRef } from '../../../cluster/workload/index.ts';
import { installFailover } from '../../../support/failovers.ts';
import { installMcs } from '../../../support/mcs.ts';
import { LINKS_NAMESPACE } from '../../../support/builders.ts';
import { concurrently } from '../../../support/concurrently.ts';
import type { LinkObject } from '../../../support/objects.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import type { TestOperator } from '../../../support/operator.ts';
import type { PlanReport } from '../../../../synth/commands/plan/report.ts';
import { withMore } from './more-set-ups.ts';
import { linkspan } from '../../linkspan.ts';
import { type Edit, type SetUp, setUp, type Step } from './set-ups.ts';

const SEED = 11;
/** Batches of set-ups on each backing, each with clusters of its own. */
const BATCHES = { simulated: 5, real: 1 } as const;
/** Set-ups of a batch. */
const SIZE = { simulated: 20, real: 10 } as const;
/** One operator comes to rest with the Links of twenty set-ups, also on a busy machine. */
const DEADLINE_MS = 180_000;
/** Time until a name that another has is tried again, with room for a busy machine. */
const CONFLICT_RETRY_MS = 1_500;

/** As `kubectl apply` without `--server-side`, of which nothing of the spec before stays. */
const LAST_APPLIED = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };

/** Kinds of what the operator writes. */
const KINDS = [
  ['v1', 'Namespace'],
  ['v1', 'Service'],
  ['v1', 'Endpoints'],
  ['discovery.k8s.io/v1', 'EndpointSlice'],
  ['multicluster.x-k8s.io/v1beta1', 'ServiceImport'],
  ['gateway.networking.k8s.io/v1', 'HTTPRoute'],
] as const;

/** The objects of the source cluster, by kind and name. */
const objectsOf = async (east: Api): Promise<ReadonlyMap<string, KubeObject>> => {
  const lists = await Promise.all(
    KINDS.map(async ([apiVersion, kind]) =>
      (await east.list({ apiVersion, kind })).map((object) => {
        const { namespace, name } = object.metadata;
        return [`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`, object] as const;
      }),
    ),
  );
  return new Map(lists.flat());
};

/** What differs between two states, as a plan calls it. */
const changesBetween = (
  before: ReadonlyMap<string, KubeObject>,
  after: ReadonlyMap<string, KubeObject>,
): readonly string[] => {
  const names = new Set([...before.keys(), ...after.keys()]);
  const isReplaced = (name: string): boolean =>
    before.has(name) && after.has(name) && before.get(name)?.metadata.uid !== after.get(name)?.metadata.uid;
  return [...names]
    .flatMap((name) => {
      // An API server deletes Endpoints with their Service; the simulated one does not.
      if (before.has(name) && after.has(name) && isReplaced(name.replace(/^Endpoints/, 'Service'))) {
        return [`replace ${name}`];
      }
      const [a, b] = [before.get(name)?.metadata, after.get(name)?.metadata];
      if (a === undefined) return [`create ${name}`];
      if (b === undefined) return [`delete ${name}`];
      if (a.uid !== b.uid) return [`replace ${name}`];
      return isSame(before.get(name), after.get(name)) ? [] : [`change ${name}`];
    })
    .sort();
};

/** What is written to a status is no change. */
const isSame = (a: KubeObject | undefined, b: KubeObject | undefined): boolean =>
  a?.metadata.resourceVersion === b?.metadata.resourceVersion || isDeepStrictEqual(withoutStatus(a), withoutStatus(b));

const withoutStatus = (object: KubeObject | undefined): object => {
  const { status: _, metadata, ...rest } = object as KubeObject & { readonly status?: unknown };
  const { labels, annotations } = metadata;
  return { ...rest, labels, annotations };
};

const FAILOVERS = 'linkspan.dev/v1alpha1';

interface FailoverState extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

const isSettled = async (operator: TestOperator): Promise<boolean> => {
  for (let times = 0; times < 3; times += 1) if (!(await operator.settled())) return false;
  return true;
};

onEachBacking('a plan of random set-ups', (backing) => {
  describe.each(Array.from({ length: BATCHES[backing] }, (_, batch) => batch))('batch %i', (batch) => {
    let clusters: TwoClusters;
    let directory: string;
    const setUps: readonly SetUp[] = Array.from({ length: SIZE[backing] }, (_, at) =>
      withMore(setUp(batch * SIZE[backing] + at, SEED), SEED),
    );

    beforeAll(async () => {
      clusters = await TwoClusters.start({ backing });
      await Promise.all([clusters.eastCluster, clusters.westCluster].map(installMcs));
      await installFailover(clusters.eastCluster);
      directory = await mkdtemp(join(tmpdir(), 'linkspan-plan-'));
      // Any Link has these credentials.
      await clusters.link();
      await clusters.east.delete(linkRef('west'));
    });
    afterAll(async () => {
      await clusters.stop();
      await rm(directory, { recursive: true });
    });

    const linkRef = (name: string): ObjectRef => ({
      ...{ apiVersion: 'multicluster.linkerd.io/v1alpha3', kind: 'Link' },
      metadata: { name, namespace: LINKS_NAMESPACE },
    });

    const make = async (client: Api, edits: readonly Edit[]): Promise<void> => {
      for (const { do: what, object } of edits) {
        if (what !== 'put') await client.delete(object);
        if (what !== 'remove') await client.apply(object);
      }
    };

    /** Writes the whole spec: an apply leaves an empty selector as nothing that the API allows. */
    const writeLink = async (link: ObjectRef): Promise<unknown> => {
      const live = await clusters.east.get(link);
      const metadata = { ...live?.metadata, ...link.metadata, annotations: LAST_APPLIED };
      return live === undefined
        ? clusters.east.create({ ...link, metadata })
        : clusters.east.replace({ ...link, metadata });
    };

    const makeAll = (steps: readonly Step[]): Promise<unknown> =>
      concurrently(steps, 8, async ({ target, source, links, unlinked }) => {
        await make(clusters.west, target);
        await make(clusters.east, source);
        for (const link of links) await writeLink(link);
        for (const name of unlinked) await clusters.east.delete(linkRef(name));
      });

    /** Runs an operator until it is at rest. */
    const runOperator = async (): Promise<void> => {
      const dead = '127.0.0.1:1';
      const alive = `127.0.0.1:${clusters.gateway.address.port}`;
      const probes = setUps.flatMap(({ id, cluster, probe }) =>
        [cluster, `r-${id}`].map((name) => `probe-${name}.${LINKS_NAMESPACE}.svc=${probe === 'dead' ? dead : alive}`),
      );
      const operator = clusters.operator({
        // At rest between two looks at names that others have.
        tuning: { conflictRetryMs: CONFLICT_RETRY_MS },
        flags: { enableHeadlessServices: false, probeConnectTo: probes },
      });
      await eventually('the operator is at rest', () => isSettled(operator), DEADLINE_MS);
      await eventually(
        'all Links are known',
        async () => {
          const links = await linksOf();
          return links.every(({ status }) =>
            status?.conditions?.some(
              ({ type, status: is }) => (type === 'Synced' || type === 'Accepted') && is !== 'Unknown',
            ),
          );
        },
        DEADLINE_MS,
      );
      // What waited for a name that was given up has it now.
      await sleep(2 * CONFLICT_RETRY_MS);
      await eventually('the operator is at rest', () => isSettled(operator), DEADLINE_MS);
      await clusters.stopOperators();
    };

    const linksOf = () =>
      clusters.east.list<LinkObject>({
        ...{ apiVersion: 'multicluster.linkerd.io/v1alpha3', kind: 'Link' },
        namespace: LINKS_NAMESPACE,
      });

    test(
      'is what the operator then does: objects, conflicts and deletions that are held',
      async () => {
        await makeAll(setUps.map(({ before }) => before));
        await runOperator();
        await makeAll(setUps.map(({ then }) => then));

        const file = join(directory, 'links.json');
        const items = setUps.flatMap(({ links }) => links);
        await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
        const kubeconfig = `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`;
        const { code, stdout, stderr } = await linkspan(directory, 'plan', '-f', file, kubeconfig, '-o', 'json');
        expect(code, stderr).toBe(2);
        const report = JSON.parse(stdout) as PlanReport;

        const before = await objectsOf(clusters.east);
        // Of two in one second the first by name is the older one; so it is in the next.
        const byName = [...items].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
        for (const link of byName) await writeLink(link);
        await runOperator();
        const planned = report.changes.map(({ action, kind, namespace, name }) =>
          [action, ' ', kind, ' ', namespace === undefined ? '' : `${namespace}/`, name].join(''),
        );
        expect([...planned].sort()).toEqual(changesBetween(before, await objectsOf(clusters.east)));

        const links = await linksOf();
        const refusals = links.flatMap(({ metadata, status }) =>
          [...(status?.mirrorServices ?? []), ...(status?.federatedServices ?? [])].flatMap(
            ({ remoteRef: { namespace, name }, conditions: [condition] }) =>
              condition?.status === 'True' ? [] : [`${metadata.name} ${namespace}/${name} ${condition?.reason ?? ''}`],
          ),
        );
        const unadmitted = report.notAdmitted.flatMap(({ some }) => some);
        const mirrors = [...report.refused.filter(({ object }) => object === undefined), ...unadmitted];
        const refused = mirrors.map(({ link, service, reason }) => `${link} ${service ?? ''} ${reason}`);
        expect([...refused].sort()).toEqual([...refusals].sort());
        const counted = links.flatMap(({ metadata: { name }, status }) => {
          const { notAdmitted = 0, waitingForApproval = 0 } = status?.mirrors ?? {};
          return notAdmitted + waitingForApproval > 0 ? [{ link: name, notAdmitted, waitingForApproval }] : [];
        });
        const plannedCounts = report.notAdmitted.map(({ link, count, waitingForApproval = 0 }) => {
          return { link, notAdmitted: count, waitingForApproval };
        });
        expect(plannedCounts.sort((a, b) => (a.link < b.link ? -1 : 1))).toEqual(
          counted.sort((a, b) => (a.link < b.link ? -1 : 1)),
        );
        const held = links.flatMap(({ metadata, status }) => {
          const condition = status?.conditions?.find(({ type }) => type === 'PruneHeld');
          return condition?.status === 'True' ? [metadata.name] : [];
        });
        expect(report.held.map(({ link }) => link).sort()).toEqual(held.sort());
        const failovers = await clusters.east.list<FailoverState>({ apiVersion: FAILOVERS, kind: 'ServiceFailover' });
        const hindered = failovers.flatMap(({ metadata: { namespace, name }, status }) =>
          (status?.conditions ?? [])
            .filter(({ type, status: is }) => type !== 'Ready' && type !== 'BackendReady' && is === 'False')
            .map(({ reason }) => `${namespace}/${name} ${reason}`),
        );
        const ofFailovers = report.refused.filter(({ object }) => object?.kind === 'ServiceFailover');
        expect(ofFailovers.map(({ object, reason }) => `${object?.name} ${reason}`).sort()).toEqual(hindered.sort());
        const of = (kind: string): number => report.changes.filter((each) => each.kind === kind).length;
        const [imports, routes] = [of('ServiceImport'), of('HTTPRoute')];
        expect(imports + routes).toBeGreaterThan(0);
        console.log(
          `${setUps.length} set-ups: ${planned.length} changes, of ${imports} ServiceImports and ${routes} routes, ${refused.length} refused, ${held.length} held`,
        );
      },
      4 * DEADLINE_MS,
    );
  });
});
