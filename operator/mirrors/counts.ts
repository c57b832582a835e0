/** What happens to the mirrors of a target cluster, as counters: endpoint mirrors count like others. */
import { SERVICES } from '../kube/objects.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Action } from '../runtime/plan.ts';

type Counters = Pick<Metrics['target'], 'mirrorsCreated' | 'mirrorsDeleted'>;

/** Starts both at 0: a counter that begins with its first event hides it from `increase`. */
export const startCounts = (counters: Counters, cluster: string): void => count(counters, cluster, 0, 0);

/** @param done the actions of a pass that wrote or deleted something */
export function countPass(counters: Counters, cluster: string, done: readonly Action[]): void {
  const ops = done.filter(({ of }) => of === SERVICES).map(({ op }) => op);
  const of = (...counted: readonly Action['op'][]): number => ops.filter((op) => counted.includes(op)).length;
  count(counters, cluster, of('create', 'replace'), of('delete', 'replace'));
}

function count({ mirrorsCreated, mirrorsDeleted }: Counters, cluster: string, created: number, deleted: number): void {
  const labels = { target_cluster_name: cluster };
  mirrorsCreated.inc(labels, created);
  mirrorsDeleted.inc(labels, deleted);
}
