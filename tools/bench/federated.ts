/**
 * A gateway dies behind hundreds of federated Services and ServiceFailovers: time from the verdict, as the operator logs
 * it, to the last slice out and the last route turned, beside the same writes made raw; then what a restart writes, and
 * what an idle minute costs. Every version of every route is looked at.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_PERIOD_MS } from '../../operator/runtime/events.ts';
import { eventually } from '../../test/cluster/workload/index.ts';
import { addFailovers, addMembers, GATEWAY_FEDERATION, installFailover } from '../../test/support/failovers.ts';
import { watchMemberSlices, watchRoutes, watchStatuses } from '../../test/support/failover-state.ts';
import type { StateWatch } from '../../test/support/state-watch.ts';
import { isTraffic, rawSeconds, written } from './federated-raw.ts';
import { verdictOf } from './gateway-death.ts';
import type { Row } from './report.ts';
import { byKind, isWrite, operatorRequests } from './requests.ts';
import { Stage, type StageOptions } from './stage.ts';

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
  const watches: Watches = {
    slices: await watchMemberSlices(east, CLUSTER),
    routes: await watchRoutes(east, CLUSTER, (found) => wrong.push(found)),
    statuses: await watchStatuses(east, CLUSTER),
  };
  const { slices, routes, statuses } = watches;
  try {
    progress(`${count} Services are members, in both clusters`);
    await addMembers(east, west, names);
    await stage.startOperator();
    await slices.until('in', count);
    await stage.watch.until('every mirror is ready', () => stage.watch.count(CLUSTER, 'ready') >= count);
    progress(`${count} ServiceFailovers are added`);
    await addFailovers(east, CLUSTER, names);
    await Promise.all([routes.until('mirror', count), statuses.until('mirror', count)]);

    const death = await measureDeath(stage, watches, count, progress);
    progress('these are put right');
    await stage.startOperator();
    await Promise.all([slices.until('in', count), routes.until('mirror', count), statuses.until('mirror', count)]);
    const idle = await measureRest(stage, minutes, progress);
    await stage.stopOperator();
    progress('measuring: restart');
    const restarted = await measureRestart(stage, count);
    await stage.stopOperator();
    progress('measuring: restart with the target down');
    const alone = await measureRestartAlone(stage, watches, count);
    return [
      ...death,
      {
        measure: `versions of routes without a standby, or all zero, of ${routes.versions}`,
        value: wrong.length,
        unit: '',
        goal: 0,
      },
      ...idle,
      ...restarted,
      ...alone,
    ];
  } finally {
    await Promise.all([slices.stop(), routes.stop(), statuses.stop()]);
  }
};

interface Watches {
  readonly slices: StateWatch;
  readonly routes: StateWatch;
  readonly statuses: StateWatch;
}

/** Seconds from a verdict to the last slice, to the last route, to the last of all but the statuses, and to the last of all. */
type Turned = Readonly<Record<'slice' | 'route' | 'traffic' | 'all', number>>;

/** The gateway dies or comes back. */
const turn = async (
  stage: Stage,
  { slices, routes, statuses }: Watches,
  count: number,
  alive: boolean,
): Promise<Turned> => {
  const verdict = verdictOf(stage, alive);
  const [of, state] = alive ? (['mirror', 'ready'] as const) : (['local', 'notReady'] as const);
  const all = Promise.all([
    slices.until(alive ? 'in' : 'out', count),
    routes.until(of, count),
    stage.watch.until(`every mirror is ${state}`, () => stage.watch.count(CLUSTER, state) >= count),
    statuses.until(of, count),
  ]);
  await (alive ? stage.gateway.revive() : stage.gateway.die());
  const began = Date.parse((await verdict).time);
  const [slice = NaN, route = NaN, endpoints = NaN, status = NaN] = (await all).map((atMs) => (atMs - began) / 1000);
  const traffic = Math.max(slice, route, endpoints);
  return { slice, route, traffic, all: Math.max(traffic, status) };
};

/** The gateway dies and comes back; what the death made the operator write is then written raw. */
const measureDeath = async (
  stage: Stage,
  watches: Watches,
  count: number,
  progress: (what: string) => void,
): Promise<readonly Row[]> => {
  const { eastCluster } = stage;
  progress('measuring: gateway death');
  await eastCluster.clearAudit();
  const death = await turn(stage, watches, count, false);
  const turned = await written(stage, CLUSTER);
  const writes = byKind((await operatorRequests(eastCluster)).filter(isWrite));
  const revival = await turn(stage, watches, count, true);
  await stage.stopOperator();
  progress('the same writes, raw');
  const rawTraffic = await rawSeconds(stage, turned.filter(isTraffic));
  const rawStatuses = await rawSeconds(
    stage,
    turned.filter((write) => !isTraffic(write)),
  );
  return [
    { measure: `gateway dead → ${count} slices out, after the verdict`, value: death.slice, unit: 's' },
    { measure: `gateway dead → ${count} routes turned, after the verdict`, value: death.route, unit: 's' },
    { measure: `  and the Endpoints of ${count} mirrors`, value: death.traffic, unit: 's', goal: 1 + rawTraffic },
    { measure: '  the same three kinds of writes, raw', value: rawTraffic, unit: 's' },
    { measure: '  ratio', value: death.traffic / rawTraffic, unit: '×' },
    { measure: '  and the statuses of the ServiceFailovers', value: death.all, unit: 's' },
    { measure: '  all four kinds, raw', value: rawTraffic + rawStatuses, unit: 's' },
    { measure: '  gateway alive → all of these as before', value: revival.traffic, unit: 's' },
    ...writes.map(([kind, value]) => ({ measure: `  writes after the death: ${kind}`, value, unit: '' })),
  ];
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

const allReconciled = ({ operator }: Stage, count: number): Promise<unknown> => {
  const reconciled = (controller: string): Promise<number> =>
    operator.metric('controller_runtime_reconcile_total', { controller });
  return eventually(
    'all have been reconciled',
    async () => (await reconciled('failover')) >= count && (await reconciled('federation')) >= count,
    120_000,
  );
};

const measureRestart = async (stage: Stage, count: number): Promise<readonly Row[]> => {
  await stage.eastCluster.clearAudit();
  const began = Date.now();
  await stage.startOperator();
  await allReconciled(stage, count);
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

/** A restart while the target's API server is down and its gateway alive. */
const measureRestartAlone = async (
  stage: Stage,
  { slices, routes }: Watches,
  count: number,
): Promise<readonly Row[]> => {
  const { eastCluster, westCluster } = stage;
  await westCluster.kill();
  await eastCluster.clearAudit();
  stage.launchOperator();
  await allReconciled(stage, count);
  await sleep(5_000);
  const lost = 2 * count - slices.count('in') - routes.count('mirror');
  const writes = await writesOf(eastCluster, ['leases', 'events', 'links']);
  await westCluster.start();
  return [
    { measure: 'restarted with the target down: members and routes that were lost', value: lost, unit: '', goal: 0 },
    { measure: '  writes but Leases, Events and Links', value: writes, unit: '', goal: 0 },
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
