import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, test, vi } from 'vitest';
import { servicesOf, Splits, splitWeights, type TrafficSplit } from '../../../operator/failover/splits.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import { fenceable } from '../../support/fenced.ts';
import { recordingLog } from '../link/recorded.ts';

const split = (weights: readonly unknown[], primary?: string): TrafficSplit => ({
  metadata: {
    name: 'web',
    namespace: 'shop',
    ...(primary !== undefined && { annotations: { 'failover.linkerd.io/primary-service': primary } }),
  },
  spec: { backends: weights.map((weight, at) => ({ service: `b${at}`, weight })) },
});

describe('a TrafficSplit that linkerd-failover served (J5)', () => {
  test.each<[string, TrafficSplit, readonly (boolean | undefined)[], readonly number[] | undefined]>([
    ['goes to the primary while it is ready', split([0, 1, 1], 'b1'), [true, true, true], [0, 1, 0]],
    ['whose default is the first', split([0, 1]), [true, true], [1, 0]],
    ['else to each that is ready', split([1, 0, 0]), [false, true, true], [0, 1, 1]],
    ['and stays as it is while none is: weights are never all 0', split([1, 0]), [false, false], undefined],
    ['and takes what is not known for what its weight says', split([0, '1']), [undefined, undefined], [0, 1]],
    ['also where the primary is no backend', split([1, 1], 'x'), [true, false], [1, 0]],
  ])('%s', (_, of, ready, weights) => {
    expect(splitWeights(of, (service) => ready[Number(service.slice(1))])).toEqual(weights);
  });

  it('is left alone if it has another form', () => {
    for (const spec of [undefined, null, { backends: 1 }, { backends: [null] }, { backends: [{ service: 1 }] }]) {
      const hostile = { ...split([]), spec } as unknown as TrafficSplit;
      expect(splitWeights(hostile, () => true)).toBeUndefined();
      expect(servicesOf(hostile)).toEqual([]);
    }
  });

  it('is written less and less often while somebody keeps undoing that, which is reported', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const stop = new AbortController();
    const events: string[] = [];
    let writes = 0;
    let undone = split([0, 1]);
    const splits = new Splits({
      client: fenceable({ patch: () => Promise.resolve(((writes += 1), split([1, 0]))) }),
      // By the time of the next reconcile, the other one has written.
      store: {
        get: () => undone,
        wrote: () => (undone = split([0, 1])),
      } as unknown as ConstructorParameters<typeof Splits>[0]['store'],
      isReady: () => true,
      isKnown: () => true,
      events: { record: (_, __, reason) => void events.push(reason) },
      mayWrite: () => true,
      turn: (_, execute) => execute(),
      concurrency: 1,
      metrics: createMetrics({ process: false }),
      log: recordingLog([]),
    });
    const running = splits.run(stop.signal);
    for (let at = 1; at <= 10; at += 1) {
      splits.add('shop/web');
      // vi.waitUntil would let the time pass that is to stand still.
      while (events.length < at) await setImmediate();
    }
    stop.abort();
    await running;
    vi.useRealTimers();
    expect(writes).toBe(4);
    expect(events.slice(3, 5)).toEqual(['FailedOver', 'TrafficSplitContested']);
  });
});
