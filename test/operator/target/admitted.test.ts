import { describe, expect, it } from 'vitest';
import type { ImportPolicy } from '../../../crds/link/import-policy.ts';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { AppliedPolicy } from '../../../operator/mirror/applied-policy.ts';
import { admittedOf, admittedPods } from '../../../operator/target/admitted.ts';
import { type Aspect, NO_PODS, NOTHING_EXPORTED } from '../../../operator/target/aspect.ts';

const serviceOf = (key: string, port: number, clusterIP = '10.0.0.1'): Service => {
  const [namespace = '', name = ''] = key.split('/');
  return { metadata: { namespace, name }, spec: { clusterIP, ports: [{ port }] } };
};
const SERVICES: ReadonlyMap<string, Service> = new Map([
  ['shop/web', serviceOf('shop/web', 80)],
  ['shop/ssh', serviceOf('shop/ssh', 22)],
  ['shop/db', serviceOf('shop/db', 80, 'None')],
]);
const ports = [{ port: 80 }, { port: 22 }, { port: null }];
const endpoints = [{ addresses: ['10.244.0.1'], hostname: 'db-0' }];
const slice: EndpointSlice = { metadata: { name: 'db-1' }, addressType: 'IPv4', ports, endpoints };
/** One without a port that is admitted. */
const closed: EndpointSlice = {
  ...{ metadata: { name: 'db-2' }, addressType: 'IPv4', ports: [{ port: 22 }] },
  endpoints: [{ addresses: ['10.244.0.2'], hostname: 'db-1' }, ...endpoints],
};

const ASPECT: Aspect<Service> = {
  ...NOTHING_EXPORTED,
  size: SERVICES.size,
  keys: () => new Set(SERVICES.keys()),
  get: (key) => SERVICES.get(key),
  slicesOf: (key) => (key === 'shop/db' ? [slice, closed] : [slice]),
  // The target has answered about none of them.
  confirms: () => false,
};

const admitted = (importPolicy?: ImportPolicy) => {
  const policy = importPolicy && new AppliedPolicy(importPolicy);
  const exports = { ...ASPECT, since: () => '2026-01-01T00:00:00Z' };
  const mirrored = { ...NOTHING_EXPORTED, get: () => undefined };
  return admittedOf({ mirrored, members: ASPECT, exports, pods: NO_PODS }, () => policy);
};

describe('what a target exports, under a policy (N1)', () => {
  const { members, exports } = admitted({ ports: [{ first: 80, last: 80 }] });

  it('is what the policy admits', () => {
    expect([[...members.keys()], members.size]).toEqual([['shop/web', 'shop/db'], 2]);
    expect([members.get('shop/web'), members.get('shop/ssh')]).toEqual([SERVICES.get('shop/web'), undefined]);
    expect([members.slicesOf('shop/web'), members.slicesOf('shop/ssh')]).toEqual([[slice], []]);
    expect(exports.since('shop/web')).toBe('2026-01-01T00:00:00Z');
  });

  it('says what is not admitted of the others', () => {
    expect([...members.refused()]).toEqual([{ key: 'shop/ssh', obstacle: { reason: 'NotAdmitted', what: 'port 22' } }]);
  });

  it('needs no word of the target for what is outside to go (N4)', () => {
    expect([members.confirms('shop/ssh'), members.confirms('shop/web')]).toEqual([true, false]);
  });

  it('has of the slices of a headless Service the ports that are admitted, the same each time', () => {
    const [of] = members.slicesOf('shop/db') ?? [];
    expect(of).toEqual({ ...slice, ports: [{ port: 80 }] });
    expect(members.slicesOf('shop/db')?.[0]).toBe(of);
  });

  it('has no pod that is listed with ports alone that are not admitted, whatever the target answers of it (N4)', () => {
    expect(members.slicesOf('shop/db')?.[1]).toEqual({ ...closed, ports: [], endpoints: [] });
    const pods = admittedPods(members, { ...NO_PODS, lacks: (_, hostname) => hostname === 'db-9' });
    const lacks = (key: string, hostname: string): boolean => pods.lacks(key, hostname);
    expect([lacks('shop/db', 'db-0'), lacks('shop/db', 'db-1'), lacks('shop/db', 'db-2')]).toEqual([
      false,
      true,
      false,
    ]);
    expect([lacks('shop/db', 'db-9'), lacks('shop/web', 'db-0')]).toEqual([true, false]);
  });
});

it('has no pod of a slice without ports (N4)', () => {
  const bare = { ...slice, ports: [] };
  const policy = new AppliedPolicy({ ports: [{ first: 80, last: 80 }] });
  expect(policy.sliceOf(bare)).toEqual({ ...bare, endpoints: [] });
  expect(new AppliedPolicy({ names: ['db'] }).sliceOf(bare)).toBe(bare);
});

it('is all of it without a policy', () => {
  const { members } = admitted();
  expect([[...members.keys()], members.size]).toEqual([[...SERVICES.keys()], 3]);
  expect([members.slicesOf('shop/db'), [...members.refused()]]).toEqual([[slice, closed], []]);
  expect(members.excludes('shop/db', 'db-1')).toBe(false);
  expect(members.confirms('shop/ssh')).toBe(false);
});
