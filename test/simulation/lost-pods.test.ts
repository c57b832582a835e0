/** When the judge complains of endpoint mirrors that are deleted although their pod is there (rule D5). */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import { LostPods } from './lost-pods.ts';
import { EXPORT_LABEL, HAND } from './target-users.ts';

const mirror: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { namespace: 'shop', name: `${HAND}-0-west` },
};
const service: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { namespace: 'shop', name: HAND, labels: { [EXPORT_LABEL]: 'true' } },
};
const slice: KubeObject = {
  ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  metadata: { namespace: 'shop', name: 'by-hand', labels: { 'kubernetes.io/service-name': HAND } },
  endpoints: [{ hostname: `${HAND}-0` }],
};

const clusterOf = (...slices: readonly KubeObject[]): HistoryCluster =>
  ({ get: () => service, list: () => slices }) as unknown as HistoryCluster;

/** The judge of a pod that is listed at 1, and whose mirror is made at 3 and deleted at 5. */
function judged(
  at: { readonly 2?: (pods: LostPods) => void; readonly 4?: (pods: LostPods) => void },
  targets: readonly HistoryCluster[] = [clusterOf(slice)],
) {
  let nowMs = 1;
  const complaints: string[] = [];
  const pods = new LostPods(
    () => nowMs,
    (what) => complaints.push(what),
    () => targets,
    () => false,
  );
  pods.targetChanged('west', clusterOf(slice), slice);
  nowMs = 2;
  at[2]?.(pods);
  nowMs = 3;
  pods.written(mirror);
  nowMs = 4;
  at[4]?.(pods);
  nowMs = 5;
  pods.deleted(mirror);
  return complaints;
}

describe('an endpoint mirror (D5)', () => {
  it.each([
    ['nothing else happened', {}],
    ['the other target lost its slices', { 2: (pods: LostPods) => pods.targetReplaced('bar', clusterOf()) }],
    ['before it was made, others were lost', { 2: (pods: LostPods) => pods.targetReplaced('west', clusterOf(slice)) }],
  ])('must stay if its pod is there and %s', (_, at) => {
    expect(judged(at)).toHaveLength(1);
  });

  it('may go if the slice was lost without an event before it was made, by what was known then', () => {
    expect(judged({ 2: (pods) => pods.targetReplaced('west', clusterOf()) })).toEqual([]);
  });

  it('may go if the slice was lost without an event, and was put back before it went', () => {
    const lose = (pods: LostPods): void => pods.targetReplaced('west', clusterOf());
    const putBack = (pods: LostPods): void => pods.targetChanged('west', clusterOf(slice), slice);
    expect(judged({ 2: lose, 4: putBack })).toEqual([]);
  });

  it('may go while what its Link leads to is no target', () => {
    expect(judged({}, [])).toEqual([]);
  });
});
