/** Makes the metrics of one registry; in a simulation, which looks at none, metrics that measure nothing. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Seconds. */
export const WORK_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The label of the target cluster that a metric is about. */
export const TARGET = 'target_cluster_name';

/** A metric that nobody looks at. */
const UNRECORDED = {
  inc: () => undefined,
  dec: () => undefined,
  set: () => undefined,
  observe: () => undefined,
  remove: () => undefined,
  get: () => Promise.resolve({ values: [] }),
};

/** What metrics of a registry are made by. */
export type Instruments = ReturnType<typeof instrumentsOf>;

/** @param recorded whether anything is measured */
export function instrumentsOf(registry: Registry, recorded: boolean) {
  const registers = [registry];
  const made = <M>(make: () => M): M => (recorded ? make() : (UNRECORDED as M));
  return {
    gauge: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      made(() => new Gauge<L>({ name, help, labelNames, registers })),
    counter: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      made(() => new Counter<L>({ name, help, labelNames, registers })),
    histogram: <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
      made(() => new Histogram<L>({ name, help, buckets, labelNames, registers })),
  };
}

/** Removes the series of a metric that have a value of a label. */
export async function forget(metric: Pick<Gauge, 'get' | 'remove'>, label: string, value: string): Promise<void> {
  const { values } = await metric.get();
  for (const { labels } of values) {
    if (labels[label] !== value) continue;
    // A histogram's values carry the bucket beside the labels that it is removed by.
    metric.remove(Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le')));
  }
}
