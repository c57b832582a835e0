import { describe, expect, it, test } from 'vitest';

import { servicesOf, splitWeights, type TrafficSplit } from '../../../operator/failover/splits.ts';

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
});
