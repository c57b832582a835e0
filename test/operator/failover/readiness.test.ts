import { describe, expect, it, test } from 'vitest';

import type { EndpointSlice } from '../../../operator/kube/objects.ts';
import {
  countSlice,
  knowledgeOf,
  NOTHING_KNOWN,
  reachable,
  readyMembers,
  sumCounts,
  type TargetKnowledge,
} from '../../../operator/failover/readiness.ts';

const slice = (family: string, ...conditions: readonly object[]): EndpointSlice => ({
  metadata: { name: 'web' },
  addressType: family,
  endpoints: conditions.map((each) => ({ addresses: ['10.0.0.1'], conditions: each })),
});

describe('endpoints are counted (J3)', () => {
  it('without those that terminate, and with those that do not say whether they are ready', () => {
    const counts = countSlice(
      slice('IPv4', {}, { ready: true }, { ready: false }, { ready: false, terminating: true }),
    );
    expect(counts).toEqual({ family: 'IPv4', ready: 2, total: 3 });
    expect(countSlice({ metadata: { name: 'web' }, addressType: 'IPv4', endpoints: null })).toMatchObject({ total: 0 });
  });

  it('once, for pods of two address families', () => {
    const both = [slice('IPv4', { ready: true }, { ready: false }), slice('IPv6', { ready: true }, { ready: false })];
    expect(sumCounts(both.map(countSlice))).toEqual({ ready: 1, total: 2 });
    expect(sumCounts([])).toEqual({ ready: 0, total: 0 });
  });

  it('in all slices of a family', () => {
    const slices = [slice('IPv4', { ready: true }, { ready: false }), slice('IPv4', { ready: true })];
    expect(sumCounts(slices.map(countSlice))).toEqual({ ready: 2, total: 3 });
    const bare = { metadata: { name: 'web' }, addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] };
    expect(countSlice(bare)).toEqual({ family: 'IPv4', ready: 1, total: 1 });
  });

  it.each([
    [
      { ready: 2, total: 2 },
      { ready: 1, total: 9 },
    ],
    [
      { ready: 1, total: 3 },
      { ready: 1, total: 2 },
    ],
  ])('of the family that has more of them that are ready, or more of them: %j rather than %j', (more, less) => {
    const [first, second] = [
      { family: 'IPv4', ...more },
      { family: 'IPv6', ...less },
    ];
    expect(sumCounts([first, second])).toEqual(more);
    expect(sumCounts([second, first])).toEqual(more);
  });
});

describe('endpoints in a target can be reached (J3)', () => {
  const known: TargetKnowledge = { exported: 'gateway', slices: [slice('IPv4', {}, {})], isGatewayAlive: true };
  const BOTH = { ready: 2, total: 2 };

  test.each<[string, Partial<TargetKnowledge>, ReturnType<typeof reachable>]>([
    ['through a gateway that is alive', {}, BOTH],
    ['not through one that is dead', { isGatewayAlive: false }, { ready: 0, total: 2 }],
    ['which is known before the target is read', { ...NOTHING_KNOWN, isGatewayAlive: false }, { ready: 0, total: 0 }],
    ['or perhaps, before the first verdict', { isGatewayAlive: undefined }, undefined],
    ['or perhaps, before the slices are known', { slices: undefined }, undefined],
    ['without a gateway on a flat network', { exported: 'remote-discovery', isGatewayAlive: false }, BOTH],
    ['not if it is not exported', { exported: 'not' }, { ready: 0, total: 0 }],
  ])('%s', (_, knowledge, counts) => {
    expect(reachable({ ...known, ...knowledge }, 'gateway')).toEqual(counts);
  });
});

test('of a federated Service on a flat network the members count, and one that is known to be ready is enough (J3)', () => {
  expect(readyMembers([true, undefined, false])).toEqual({ ready: 1, total: 3 });
  expect(readyMembers([false, undefined])).toBeUndefined();
  expect(readyMembers([false, false])).toEqual({ ready: 0, total: 2 });
});

test.each<readonly [string, Parameters<typeof knowledgeOf>, ReturnType<typeof knowledgeOf>]>([
  [
    'nothing while the target has not been read',
    [{ target: undefined, slices: undefined, decidable: false, isCertainlyGone: true }, undefined],
    { exported: undefined, slices: undefined, isGatewayAlive: false },
  ],
  [
    'nothing while only lists and watches show that it is gone (L170)',
    [{ target: undefined, slices: undefined, decidable: true, isCertainlyGone: false }, undefined],
    { exported: undefined, slices: undefined, isGatewayAlive: false },
  ],
  [
    'that it is not exported, once that is certain',
    [
      { target: undefined, slices: undefined, decidable: true, isCertainlyGone: true },
      { addresses: [], port: 4143, alive: undefined },
    ],
    { exported: 'not', slices: undefined, isGatewayAlive: undefined },
  ],
  [
    'how it is exported, and whether the gateway is alive',
    [
      {
        ...{ target: { service: { metadata: { name: 'web' } }, mode: 'gateway' }, slices: [], decidable: true },
        isCertainlyGone: false,
      },
      { addresses: ['203.0.113.1'], port: 4143, alive: true },
    ],
    { exported: 'gateway', slices: [], isGatewayAlive: true },
  ],
])('failover knows of a target Service %s (J3)', (_, given, knowledge) => {
  expect(knowledgeOf(...given)).toEqual(knowledge);
});
