import { describe, expect, it, test } from 'vitest';
import type { ImportPolicy } from '../../../crds/link/import-policy.ts';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { AppliedPolicy } from '../../../operator/mirror/applied-policy.ts';
import { headlessService, targetService, targetSlice } from './observed.ts';

const obstacleOf = (policy: ImportPolicy, service: Service) => new AppliedPolicy(policy).obstacleOf(service);
const port = (...numbers: readonly number[]) => ({ ports: numbers.map((each) => ({ port: each })) });
const range = (first: number, last = first) => ({ ports: [{ first, last }] });

describe('a Service that is offered', () => {
  const external = targetService({ type: 'LoadBalancer', clusterIP: '10.0.0.1' });
  const bare: Service = { metadata: { name: 'web', namespace: 'shop' } };

  test.each<[string, ImportPolicy, Service, string | undefined]>([
    ['is admitted where the policy says nothing', {}, targetService(), undefined],
    ['is admitted by its namespace', { namespaces: ['shop'] }, targetService(), undefined],
    ['is not admitted by its namespace', { namespaces: ['other'] }, targetService(), 'namespace shop'],
    ['is not admitted by its name', { names: ['db'] }, targetService(), 'name web'],
    ['is admitted with ports in a range', range(80, 90), targetService(port(80, 90)), undefined],
    ['is not admitted with one port outside', range(80, 90), targetService(port(80, 22)), 'port 22'],
    ['has a ClusterIP unless it says otherwise', { types: ['ClusterIP'] }, targetService(), undefined],
    ['is not admitted without being headless', { types: ['Headless'] }, targetService(), 'type ClusterIP'],
    ['is admitted by its type', { types: ['LoadBalancer'] }, external, undefined],
    ['is not admitted by its type', { types: ['ClusterIP'] }, external, 'type LoadBalancer'],
    ['is headless, whatever its type', { types: ['Headless'] }, headlessService({ type: 'ClusterIP' }), undefined],
    ['is not admitted as headless', { types: ['ClusterIP'] }, headlessService(), 'type Headless'],
    ['has a type, and no ports, without a spec', { types: ['ClusterIP'], ...range(80) }, bare, undefined],
  ])('%s (N1)', (_, policy, service, what) => {
    expect(obstacleOf(policy, service)).toEqual(what === undefined ? undefined : { reason: 'NotAdmitted', what });
  });

  it('is found the same each time', () => {
    const policy = new AppliedPolicy({ names: ['db'] });
    const service = targetService();
    expect(policy.obstacleOf(service)).toEqual(policy.obstacleOf(service));
    expect(policy.obstacleOf(targetService({}, { name: 'db' }))).toBeUndefined();
  });
});

describe('slices under a policy of ports (N1)', () => {
  const policy = new AppliedPolicy(range(80, 90));
  const endpoints = [{ addresses: ['10.244.0.1'], hostname: 'web-0' }];
  const slice = (ports: EndpointSlice['ports']): EndpointSlice => ({
    ...targetSlice([]),
    endpoints,
    ports: ports ?? null,
  });
  const [open, closed] = [
    { name: 'http', port: 85 },
    { name: 'ssh', port: 22 },
  ];

  it('are as they are behind a ClusterIP, by which their pods are reached on its ports alone', () => {
    const slices = [slice([closed])];
    expect(policy.slicesOf(targetService(port(80)), slices)).toBe(slices);
    expect(policy.slicesOf({ metadata: { name: 'web' } }, slices)).toBe(slices);
  });

  it('of a headless Service have the ports that are admitted, each of them', () => {
    const slices = [slice([closed, open]), slice([closed])];
    expect(policy.slicesOf(headlessService(), slices)).toEqual([
      { ...slice([open]), endpoints },
      { ...slice([]), endpoints: [] },
    ]);
  });

  test.each<[string, EndpointSlice['ports']]>([
    ['without ports, which stand for all of them', null],
    ['with a port without a number, which is any', [{ name: 'any', port: null }]],
    ['with an empty list', []],
  ])('have nobody %s', (_, ports) => {
    expect(policy.sliceOf(slice(ports))).toEqual({ ...slice([]), endpoints: [] });
  });

  it('stay the same objects where all of their ports are admitted, or the policy says nothing of ports', () => {
    const all = slice([open, { name: 'admin', port: 90 }]);
    expect(policy.sliceOf(all)).toBe(all);
    const any = slice(null);
    expect(new AppliedPolicy({ types: ['Headless'] }).sliceOf(any)).toBe(any);
  });

  it('are made once: what is derived from them is not derived again with each look (E10)', () => {
    const some = slice([open, closed]);
    expect(policy.sliceOf(some)).toBe(policy.sliceOf(some));
  });
});
