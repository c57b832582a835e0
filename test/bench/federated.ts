/**
 * A gateway dies behind hundreds of federated Services and ServiceFailovers: time from the verdict, as the operator logs
 * it, to the last slice out and the last route turned, beside the same writes made raw; then what a restart writes, and
 * what an idle minute costs. Every version of every route is looked at.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { UserAgent } from '../../crds/wire.ts';
import { ROUTES } from '../../operator/failover/routes.ts';
import { SERVICE_FAILOVERS } from '../../operator/failover/watched.ts';
import { sourceAccess } from '../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { ENDPOINT_SLICES, ENDPOINTS, type KubeObject, type Resource } from '../../operator/kube/objects.ts';
import { EVENT_PERIOD_MS } from '../../operator/runtime/events.ts';
import { eventually } from '../cluster/workload/index.ts';
import { concurrently } from '../support/concurrently.ts';
import { addFailovers, addMembers, GATEWAY_FEDERATION, installFailover } from '../support/failovers.ts';
import { watchMemberSlices, watchRoutes } from '../support/failover-state.ts';
import type { StateWatch } from '../support/state-watch.ts';
import { verdictOf } from './gateway-death.ts';
import type { Row } from './report.ts';
import { isWrite, operatorRequests } from './requests.ts';
import { CONCURRENCY, Stage, type StageOptions } from './stage.ts';

const CLUSTER = 'west';

/** A stage whose one Link reaches its members through the gateway. */
export const setFederated = (options: Pick<StageOptions, 'nodeFlags' | 'asPod'>): Promise<Stage> =>
  Stage.set({ ...options, links: { [CLUSTER]: GATEWAY_FEDERATION }, runsPods: false });

/** @param minutes for which the operator is idle */
export const measureFederated = async (
  stage: Stage,
  count: number,
  minutes: number,
  progress: (what: string) => void,
): Promise<readonly Row[]> => {
  const { east, west, eastCluster } = stage;
  const names = Array.from({ length: count }, (_, index) => `web-${index}`);
  const wrong: string[] = [];
  await installFailover(eastCluster);
  const slices = await watchMemberSlices(east, CLUSTER);
  const routes = await watchRoutes(east, CLUSTER, (found) => wrong.push(found));
  try {
    progress(`${count} Services are members, in both clusters`);
    await addMembers(east, west, names);
    await stage.startOperator();
    await slices.until('in', count);
    await stage.watch.until('every mirror is ready', () => stage.watch.count(CLUSTER, 'ready') >= count);
    progress(`${count} ServiceFailovers are added`);
    await addFailovers(east, CLUSTER, names);
    await routes.until('mirror', count);
    await allReported(stage, true);

    progress('measuring: gateway death');
    const death = await turn(stage, { slices, routes }, count, false);
    await allReported(stage, false);
    const turned = await written(stage);
    const revival = await turn(stage, { slices, routes }, count, true);
    await allReported(stage, true);
    const idle = await measureRest(stage, minutes, progress);
    await stage.stopOperator();
    progress('measuring: restart');
    const restarted = await measureRestart(stage, count);
    await stage.stopOperator();
    const { versions } = routes;
    progress('the same writes, raw');
    const raw = await rawSeconds(stage, turned);
    const { slice, route } = death;
    const last = Math.max(slice, route);
    return [
      {
        measure: `gateway dead → slices of ${count} federated Services out, after the verdict`,
        value: slice,
        unit: 's',
      },
      { measure: `gateway dead → ${count} routes turned, after the verdict`, value: route, unit: 's' },
      { measure: '  last of both', value: last, unit: 's', goal: 1 + raw },
      { measure: '  the same writes, raw: slices, Endpoints, routes, statuses', value: raw, unit: 's' },
      { measure: '  ratio', value: last / raw, unit: '×' },
      {
        measure: '  gateway alive → all in, and all routes back',
        value: Math.max(revival.slice, revival.route),
        unit: 's',
      },
      {
        measure: `  versions of routes without a standby, or all zero, of ${versions}`,
        value: wrong.length,
        unit: '',
        goal: 0,
      },
      ...idle,
      ...restarted,
    ];
  } finally {
    await Promise.all([slices.stop(), routes.stop()]);
  }
};

interface Watches {
  readonly slices: StateWatch;
  readonly routes: StateWatch;
}

/** The gateway dies or comes back: seconds from the verdict to the last slice, and to the last route. */
const turn = async (
  stage: Stage,
  { slices, routes }: Watches,
  count: number,
  alive: boolean,
): Promise<{ readonly slice: number; readonly route: number }> => {
  const verdict = verdictOf(stage, alive);
  const both = Promise.all([
    slices.until(alive ? 'in' : 'out', count),
    routes.until(alive ? 'mirror' : 'local', count),
  ]);
  await (alive ? stage.gateway.revive() : stage.gateway.die());
  const began = Date.parse((await verdict).time);
  const [slice, route] = (await both).map((atMs) => (atMs - began) / 1000);
  return { slice: slice ?? Number.NaN, route: route ?? Number.NaN };
};

/** Waits until all that follows a verdict is written: every mirror and every status. */
const allReported = async ({ east, watch }: Stage, alive: boolean): Promise<void> => {
  await eventually(
    'every status is written',
    async () => {
      const found = await east.list<KubeObject & { readonly status?: { readonly active?: string } }>(FAILOVERS);
      return found.every(({ status }) => status?.active?.endsWith(`-${CLUSTER}`) === alive);
    },
    120_000,
  );
  await watch.until('every mirror is written', () => watch.count(CLUSTER, alive ? 'notReady' : 'ready') === 0);
};

const FAILOVERS = { apiVersion: 'linkspan.dev/v1alpha1', kind: 'ServiceFailover', namespace: 'shop' };

interface Write {
  readonly of: Resource;
  readonly object: KubeObject;
}

/** What the operator has written after a verdict, to be written again. */
const written = async ({ east }: Stage): Promise<readonly Write[]> => {
  const collections: readonly (readonly [Resource, string | undefined])[] = [
    [ENDPOINT_SLICES, `linkspan.dev/federation-member=${CLUSTER}`],
    [ENDPOINTS, `mirror.linkerd.io/cluster-name=${CLUSTER}`],
    [ROUTES.HTTPRoute, undefined],
    [SERVICE_FAILOVERS, undefined],
  ];
  const all = await Promise.all(
    collections.map(async ([of, labelSelector]) => {
      const { group, version, kind } = of;
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const found = await east.list<KubeObject>({
        apiVersion,
        kind,
        namespace: 'shop',
        ...(labelSelector !== undefined && { labelSelector }),
      });
      return found.map((object): Write => ({ of, object }));
    }),
  );
  return all.flat();
};

/** Seconds that these writes take by the operator's client, with as many at once, while no operator runs. */
const rawSeconds = async ({ eastCluster }: Stage, writes: readonly Write[]): Promise<number> => {
  const access = await sourceAccess({ kubeconfig: eastCluster.kubeconfigFile });
  const client = new KubeClient(access, {
    userAgent: 'bench',
    fieldManager: UserAgent.source,
    connections: 2 * CONCURRENCY,
  });
  const prepared = writes.map(({ of, object }) => {
    const { name, namespace, labels, annotations } = object.metadata;
    const { status, ...rest } = object as KubeObject & { readonly status?: unknown };
    if (of === SERVICE_FAILOVERS) {
      return () => client.patch(of, { name, namespace, subresource: 'status' }, { status });
    }
    const applied = { ...rest, metadata: { name, namespace, labels, annotations } } as KubeObject;
    return () => client.apply(of, applied);
  });
  const began = performance.now();
  await concurrently(prepared, CONCURRENCY, (write) => write());
  const seconds = (performance.now() - began) / 1000;
  await client.close();
  return seconds;
};

/** Writes of an operator that has nothing to do, and its CPU time. */
const measureRest = async (
  { operator, eastCluster }: Stage,
  minutes: number,
  progress: (what: string) => void,
): Promise<readonly Row[]> => {
  // Until the Events are written: a repeated Event is counted within its minute.
  await sleep(EVENT_PERIOD_MS + 5_000);
  progress(`measuring: idle for ${minutes} min`);
  const cpu = (): Promise<number> => operator.metric('process_cpu_seconds_total');
  await eastCluster.clearAudit();
  const before = await cpu();
  await sleep(minutes * 60_000);
  const seconds = (await cpu()) - before;
  return [
    {
      measure: `idle for ${minutes} min: writes but Leases`,
      value: await writesOf(eastCluster, ['leases']),
      unit: '',
      goal: 0,
    },
    { measure: '  CPU of the operator', value: seconds, unit: 's' },
    {
      measure: '  resident memory of the operator',
      value: (await operator.metric('process_resident_memory_bytes')) / 1024 ** 2,
      unit: 'MB',
    },
  ];
};

const measureRestart = async (stage: Stage, count: number): Promise<readonly Row[]> => {
  await stage.eastCluster.clearAudit();
  const began = Date.now();
  await stage.startOperator();
  const reconciled = (controller: string): Promise<number> =>
    stage.operator.metric('controller_runtime_reconcile_total', { controller });
  await eventually(
    'all have been reconciled',
    async () => (await reconciled('failover')) >= count && (await reconciled('federation')) >= count,
    120_000,
  );
  const seconds = (Date.now() - began) / 1000;
  await sleep(5_000);
  return [
    { measure: 'operator restarted → all reconciled', value: seconds, unit: 's' },
    {
      measure: '  writes but Leases and Events',
      value: await writesOf(stage.eastCluster, ['leases', 'events']),
      unit: '',
      goal: 0,
    },
  ];
};

/** Counts the operator's writes, but those of some resources. */
const writesOf = async (eastCluster: Stage['eastCluster'], besides: readonly string[]): Promise<number> => {
  const writes = (await operatorRequests(eastCluster))
    .filter(isWrite)
    .filter(({ resource }) => !besides.includes(resource));
  for (const { verb, resource, namespace = '', name = '' } of writes.slice(0, 20)) {
    console.error(`write: ${verb} ${resource} ${namespace}/${name}`);
  }
  return writes.length;
};
