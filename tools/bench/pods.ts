/**
 * One headless Service with thousands of pods, beside the Services of other Links: how long the operator answers nothing,
 * what one event of one pod costs, memory, and whether a Lease is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { service, slice } from '../../test/support/builders.ts';
import { Silence } from './silence.ts';
import { percentile, type Row } from './report.ts';
import { addExported, exportedTo, NAMESPACE } from './services.ts';
import { Stage, type StageOptions } from './stage.ts';

const LARGE = 'large';
const PODS_OF_SLICE = 100;
/** Events that are measured: a pod that becomes ready, or is not any more. */
const EVENTS = 20;
const EVENT_EVERY_MS = 500;
/** The operator is at rest when it reconciles and writes no more than this in so long: the status of a Link, at times. */
const REST = { reconcilesAndWrites: 5, everyMs: 5_000 };
const WRITTEN_MS = 900_000;
/** No decision holds the event loop for longer (rule E10). */
const SILENCE_GOAL_MS = 50;

/** A stage with `links` Links, and one more that mirrors headless Services pod by pod. */
export const setPods = (links: number, options: Pick<StageOptions, 'nodeFlags' | 'asPod'>): Promise<Stage> => {
  const specs = Array.from({ length: links }, (_, index): [string, object] => {
    const name = `small-${index}`;
    return [name, { selector: { matchLabels: exportedTo(name) } }];
  });
  const large = { selector: { matchLabels: exportedTo(LARGE) }, enableHeadlessServices: true };
  return Stage.set({
    ...options,
    links: { ...Object.fromEntries(specs), [LARGE]: large },
    runsPods: false,
    flags: ['--endpoints=slices', '--max-service-pods=100000', '--max-endpoint-mirrors=100000'],
  });
};

/** @param sizes numbers of pods, ascending; the Service grows from each to the next */
export const measurePods = async (
  stage: Stage,
  sizes: readonly number[],
  progress: (what: string) => void,
): Promise<readonly Row[]> => {
  const small = stage.links.filter((name) => name !== LARGE);
  await addExported(
    stage.west,
    small.map((link) => ({ name: `web-of-${link}`, link })),
  );
  await stage.startOperator();
  await stage.west.create(service('set', { namespace: NAMESPACE, labels: exportedTo(LARGE), headless: true }));
  const rows: Row[] = [];
  let pods = 0;
  for (const size of sizes) {
    progress(`measuring: ${size} pods`);
    rows.push(...(await grow(stage, pods, size)), ...(await measureEvents(stage, size)));
    pods = size;
  }
  const lost = stage.operator.log().filter((line) => /Lease.*is lost|lost Lease/.test(line)).length;
  return [...rows, { measure: 'Leases that were lost', value: lost, unit: '', goal: 0 }];
};

/** A slice of the Service: hostnames from `from` on; the first is ready or not. */
const podSlice = (from: number, count: number, isFirstReady = true) =>
  slice('set', {
    namespace: NAMESPACE,
    labels: exportedTo(LARGE),
    name: `set-${from}`,
    endpoints: Array.from({ length: count }, (_, index) => ({
      hostname: `set-${from + index}`,
      ip: `10.${10 + Math.floor((from + index) / 250)}.0.${((from + index) % 250) + 1}`,
      ready: index > 0 || isFirstReady,
    })),
  });

const grow = async (stage: Stage, before: number, pods: number): Promise<readonly Row[]> => {
  const silence = await Silence.watch(stage.operator);
  const began = performance.now();
  for (let at = before; at < pods; at += PODS_OF_SLICE) {
    await stage.west.create(podSlice(at, Math.min(PODS_OF_SLICE, pods - at)));
  }
  const mirrors = async (): Promise<number> =>
    (await stage.east.list({ apiVersion: 'v1', kind: 'Service', namespace: NAMESPACE })).length;
  const others = stage.links.length - 1;
  // The headless mirror is one more.
  while ((await mirrors()) < others + pods + 1) {
    if (performance.now() - began > WRITTEN_MS)
      throw new Error(`${pods} pods: ${await mirrors()} Services after 15 min`);
    await sleep(3_000);
  }
  await rest(stage);
  const seconds = (performance.now() - began) / 1000;
  return [
    { measure: `${before} → ${pods} pods of one headless Service: all written`, value: seconds, unit: 's' },
    { measure: '  longest time without an answer of /healthz', value: await silence.end(), unit: 'ms' },
  ];
};

const measureEvents = async (stage: Stage, pods: number): Promise<readonly Row[]> => {
  const silence = await Silence.watch(stage.operator);
  // Who asks /healthz, and what else goes on, costs CPU too.
  const idle = await takenBy(stage, () => Promise.resolve());
  const busy = await takenBy(stage, (at) => stage.west.apply(podSlice(0, Math.min(PODS_OF_SLICE, pods), at % 2 === 1)));
  return [
    {
      measure: `  one event of one of ${pods} pods: CPU of the operator`,
      value: Math.max(0, busy.cpuMs - idle.cpuMs),
      unit: 'ms',
    },
    { measure: '  longest lag of its event loop, at rest', value: idle.lagMs, unit: 'ms' },
    { measure: '  longest lag of its event loop, with events', value: busy.lagMs, unit: 'ms', goal: SILENCE_GOAL_MS },
    // Beside API servers on the same cores, which are served first at times.
    { measure: '  longest time without an answer of /healthz', value: await silence.end(), unit: 'ms' },
    {
      measure: '  memory',
      value: (await stage.operator.metric('process_resident_memory_bytes')) / 1024 ** 2,
      unit: 'MB',
    },
  ];
};

interface Taken {
  /** CPU time of the operator in one period, in milliseconds: the median, as one of them collects what growth has left. */
  readonly cpuMs: number;
  /** The longest time for which its event loop did nothing else, as the operator measures it, in milliseconds. */
  readonly lagMs: number;
}

/** @param act what happens at the beginning of each period */
const takenBy = async ({ operator }: Stage, act: (at: number) => Promise<unknown>): Promise<Taken> => {
  const cpu = async (): Promise<number> => (await operator.metric('process_cpu_seconds_total')) * 1000;
  const periods: number[] = [];
  let lag = 0;
  let before = await cpu();
  for (let at = 0; at < EVENTS; at += 1) {
    await act(at);
    await sleep(EVENT_EVERY_MS);
    // Each reading of the metrics begins anew with it.
    lag = Math.max(lag, await operator.metric('nodejs_eventloop_lag_max_seconds'));
    const now = await cpu();
    periods.push(now - before);
    before = now;
  }
  return { cpuMs: percentile(periods, 0.5), lagMs: lag * 1000 };
};

/**
 * Waits until the operator reconciles and writes nothing more; how much CPU it takes depends on what else the machine does.
 * One reconcile of thousands of pods writes for a minute before it counts.
 */
const rest = async ({ operator }: Stage): Promise<void> => {
  const done = async (): Promise<number> =>
    (await operator.metric('controller_runtime_reconcile_total')) +
    (await operator.metric('rest_client_requests_total', { method: 'PATCH' }));
  for (let before = -Infinity; ;) {
    const now = await done();
    if (now - before <= REST.reconcilesAndWrites) return;
    before = now;
    await sleep(REST.everyMs);
  }
};
