import { describe, expect, it, test } from 'vitest';
import { claimsOf, hostsOf, shapeOf } from '../../../operator/mirror/shape.ts';
import {
  endpointMirrorOf,
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedService,
  targetService,
  targetSlice,
} from './observed.ts';

const pods = [targetSlice([{ hostname: 'web-0' }, { hostname: 'web-1', ready: false }])];
const owned = (...names: readonly (readonly [string, string])[]) => ({
  owned: { ...NOTHING_OWNED, services: names.map(([name, ip]) => ownedService(name, ip)) },
});

describe('a mirror that would be taken away (A2, L65)', () => {
  const isConfirmed = false;
  const mirrored = owned(['web-west', '10.96.0.1']);
  const unconfirmed = { kind: 'undecided', isUnconfirmed: true };

  test.each<[string, ObservedOptions]>([
    ['since its Service is no longer exported', { service: null }],
    ['since its Service is not mirrored any more', { service: targetService({ ports: [] }) }],
  ])('stays until the target has confirmed it: %s', (_, options) => {
    expect(shapeOf(observed({ ...options, ...mirrored, isConfirmed }))).toEqual(unconfirmed);
    expect(shapeOf(observed({ ...options, ...mirrored })).kind).not.toBe('undecided');
    // Nothing is taken away.
    expect(shapeOf(observed({ ...options, isConfirmed })).kind).not.toBe('undecided');
  });

  test.each<[string, ObservedOptions]>([
    ['flat', { mode: 'remote-discovery', service: headlessService() }],
    ['of a ClusterIP', { service: targetService() }],
  ])('stays pod by pod until the target has confirmed that the Service is %s (D5)', (_, options) => {
    const services = [ownedService('web-west', 'None'), endpointMirrorOf('web-0', 8080)];
    const byPod = { owned: { ...NOTHING_OWNED, services }, link: { headless: true } };
    expect(shapeOf(observed({ ...options, ...byPod, isConfirmed }))).toEqual(unconfirmed);
    expect(shapeOf(observed({ ...options, ...byPod })).kind).not.toBe('undecided');
    // It is not mirrored pod by pod.
    expect(shapeOf(observed({ ...options, ...byPod, ...mirrored, isConfirmed })).kind).not.toBe('undecided');
    expect(shapeOf(observed({ ...options, ...byPod, isConfirmed, link: { headless: false } })).kind).not.toBe(
      'undecided',
    );
  });

  const left = { metadata: { name: 'web-west', namespace: 'shop' } };
  test.each<[string, object]>([
    ['v1 Endpoints', { endpoints: [left] }],
    ['slices', { slices: [{ ...left, addressType: 'IPv4' }] }],
  ])('stays likewise where somebody has deleted its Service, and only %s are left', (_, there) => {
    const owned = { ...NOTHING_OWNED, ...there };
    expect(shapeOf(observed({ service: null, owned, isConfirmed }))).toEqual(unconfirmed);
  });

  it('is asked for neither while it stays pod by pod, nor where none of its pods has a hostname (D5)', () => {
    const services = [ownedService('web-west', 'None'), endpointMirrorOf('web-0', 8080)];
    const byPod = { service: headlessService(), owned: { ...NOTHING_OWNED, services }, isConfirmed };
    expect(shapeOf(observed({ ...byPod, slices: pods })).kind).toBe('headless');
    // The target is asked about each pod that goes.
    expect(shapeOf(observed({ ...byPod, slices: [targetSlice([{}])] })).kind).toBe('clusterIP');
  });

  it('is not asked for while it stays', () => {
    const kindOf = (options: ObservedOptions) => shapeOf(observed({ ...options, ...mirrored, isConfirmed })).kind;
    expect(kindOf({})).toBe('clusterIP');
    expect(kindOf({ isAdmitted: false })).toBe('refused');
    expect(shapeOf(observed({ decidable: false, isConfirmed, ...mirrored }))).toEqual({ kind: 'undecided' });
  });
});

describe('a Service is mirrored', () => {
  test.each<[string, ObservedOptions, string]>([
    ['as ClusterIP through the gateway (A1)', {}, 'clusterIP'],
    ['flat, when it is exported so (A1)', { mode: 'remote-discovery' }, 'flat'],
    ['flat, also without a gateway', { mode: 'remote-discovery', gateway: null }, 'flat'],
    ['flat, also when it is headless', { mode: 'remote-discovery', service: headlessService() }, 'flat'],
    ['not at all, when it is not exported (A2)', { service: null }, 'absent'],
    ['pod by pod, when an endpoint has a hostname (D1)', { service: headlessService(), slices: pods }, 'headless'],
    [
      'pod by pod, when the only endpoint with a hostname is not ready (D1)',
      { service: headlessService(), slices: [targetSlice([{ hostname: 'web-0', ready: false }])] },
      'headless',
    ],
    [
      'as ClusterIP, when no endpoint of a headless one has a hostname (D2)',
      { service: headlessService() },
      'clusterIP',
    ],
    [
      'as ClusterIP, when headless Services are not enabled',
      { service: headlessService(), slices: pods, link: { headless: false } },
      'clusterIP',
    ],
    ['as ClusterIP, when nothing is known of its endpoints', { slices: undefined }, 'clusterIP'],
    [
      'headless still, when scaled to zero (D2)',
      { service: headlessService(), slices: [targetSlice([])], ...owned(['web-west', 'None']) },
      'headless',
    ],
    [
      'headless still, when its endpoints are not known',
      { service: headlessService(), slices: undefined, ...owned(['web-west', 'None']) },
      'headless',
    ],
    [
      'as ClusterIP still, when scaled to zero',
      { service: headlessService(), slices: [], ...owned(['web-west', '10.96.0.1']) },
      'clusterIP',
    ],
    [
      'pod by pod, when hostnames appear behind a ClusterIP mirror (D3)',
      { service: headlessService(), slices: pods, ...owned(['web-west', '10.96.0.1']) },
      'headless',
    ],
    [
      'in a namespace that is to be created (A3)',
      { namespaceState: 'missing', link: { createNamespaces: true } },
      'clusterIP',
    ],
    [
      'with the TCP ports of several (A5)',
      {
        service: targetService({
          ports: [
            { name: 'a', port: 1 },
            { name: 'b', port: 2, protocol: 'UDP' },
          ],
        }),
      },
      'clusterIP',
    ],
  ])('%s', (_, options, kind) => {
    expect(shapeOf(observed(options)).kind).toBe(kind);
  });
});

describe('a Service is not mirrored', () => {
  const mirrored = { labels: { 'mirror.linkerd.io/mirrored-service': 'true' } };
  test.each<[string, ObservedOptions, string, 'remove' | 'keep', string]>([
    [
      'of type ExternalName (A4)',
      { service: targetService({ type: 'ExternalName' }) },
      'InvalidService',
      'remove',
      'ExternalName',
    ],
    [
      'without a spec (A4)',
      { service: { metadata: targetService().metadata } },
      'InvalidService',
      'remove',
      'no ports',
    ],
    ['without ports (A4)', { service: targetService({ ports: [] }) }, 'InvalidService', 'remove', 'no ports'],
    [
      'that is itself a mirror (A4)',
      { service: targetService({}, mirrored) },
      'InvalidService',
      'remove',
      'itself a mirror',
    ],
    [
      'that is derived from a ServiceImport (A4)',
      { service: targetService({}, { labels: { 'linkspan.dev/service-import': 'web' } }) },
      'InvalidService',
      'remove',
      'derived from a ServiceImport',
    ],
    [
      'that is a flat-mode mirror (L33)',
      { service: targetService({}, { labels: { 'multicluster.linkerd.io/remote-discovery': 'x' } }) },
      'InvalidService',
      'remove',
      'itself a mirror',
    ],
    [
      'that is federated (L33)',
      { service: targetService({}, { annotations: { 'multicluster.linkerd.io/remote-discovery': 'a@b' } }) },
      'InvalidService',
      'remove',
      'federated',
    ],
    [
      'that is federated with a local member',
      { service: targetService({}, { annotations: { 'multicluster.linkerd.io/local-discovery': 'a' } }) },
      'InvalidService',
      'remove',
      'federated',
    ],
    [
      'whose mirror would have too long a name (A4)',
      { name: 'x'.repeat(59) },
      'InvalidName',
      'remove',
      `${'x'.repeat(59)}-west`,
    ],
    ['whose mirror would have no valid name (A4)', { name: '-web' }, 'InvalidName', 'remove', '-web-west'],
    [
      'without its namespace (A3)',
      { namespaceState: 'missing' },
      'MissingNamespace',
      'keep',
      'namespace shop does not exist',
    ],
    [
      'in a namespace not to be written to (A3)',
      { namespaceState: 'forbidden' },
      'NamespaceNotAllowed',
      'keep',
      'shop',
    ],
    [
      'in a namespace that cannot be read (A3)',
      { namespaceState: 'unreadable' },
      'MissingNamespace',
      'keep',
      'shop cannot be read',
    ],
    [
      'in such a namespace, even if something of ours is left there',
      { namespaceState: 'forbidden', service: null, ...owned(['web-west', '10.96.0.1']) },
      'NamespaceNotAllowed',
      'keep',
      'shop',
    ],
    ['through a gateway that there is none of', { gateway: null }, 'WaitingForGateway', 'keep', 'gatewayAddress'],
    [
      'all of whose ports are UDP or SCTP (A5)',
      {
        service: targetService({
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 9, protocol: 'SCTP' },
          ],
        }),
      },
      'InvalidService',
      'remove',
      'UDP or SCTP',
    ],
    [
      'that is headless and has no endpoints yet (D2)',
      { service: headlessService(), slices: [] },
      'WaitingForEndpoints',
      'remove',
      'first endpoint',
    ],
  ])('%s', (_, options, reason, existing, message) => {
    expect(shapeOf(observed(options))).toMatchObject({
      kind: 'refused',
      existing,
      refusal: { reason, message: expect.stringContaining(message) as string },
    });
  });

  it('nor mentioned, when it is not exported and in a forbidden namespace with nothing of ours', () => {
    expect(shapeOf(observed({ namespaceState: 'forbidden', service: null }))).toEqual({ kind: 'absent' });
  });
});

it('names the ports that do not cross a gateway (A5)', () => {
  const ports = [
    { name: 'http', port: 80 },
    { name: 'dns', port: 53, protocol: 'UDP' },
    { port: 9, protocol: 'SCTP' },
  ];
  expect(shapeOf(observed({ service: targetService({ ports }) }))).toMatchObject({
    note: 'ports left out because they do not cross a gateway: dns/UDP, 9/SCTP',
  });
});

it('leaves endpoint mirrors alone that a crash left without that of their Service, until the pods are known (D5)', () => {
  const state = { ...observed({ service: headlessService() }), slices: undefined };
  expect(shapeOf({ ...state, owned: { ...NOTHING_OWNED, services: [endpointMirrorOf('web-0', 8080)] } })).toEqual({
    kind: 'undecided',
  });
  expect(shapeOf(state)).toMatchObject({ kind: 'refused', refusal: { reason: 'WaitingForEndpoints' } });
});

describe('the names that a shape needs', () => {
  it('are the mirror and one of each pod, ready or not', () => {
    const state = observed({ service: headlessService(), slices: pods });
    const shape = shapeOf(state);
    expect([...hostsOf(shape).keys()]).toEqual(['web-0', 'web-1']);
    const { own, pods: ofPods } = claimsOf(state, shape);
    const claims = [own!, ...ofPods.values()];
    expect(claims.map(({ hostname, names }) => [hostname, names[0]])).toEqual([
      [undefined, 'web-west'],
      ['web-0', 'web-0-west'],
      ['web-1', 'web-1-west'],
    ]);
    expect(claims.map(({ owner }) => owner)).toEqual(Array(3).fill({ cluster: 'west', key: 'shop/web' }));
    // The older of two Services gets a name that both want (A7).
    expect(claims.map(({ since }) => since)).toEqual(Array(3).fill('2026-01-01T00:00:00Z'));
  });

  it('are those of the Link that asks, also of a Service that another has asked for', () => {
    const service = headlessService();
    for (const cluster of ['west', 'east', 'west']) {
      const state = observed({ service, slices: pods, link: { cluster } });
      const names = [...claimsOf(state, shapeOf(state)).pods.values()].map((each) => each.names[0]);
      expect(names).toEqual([`web-0-${cluster}`, `web-1-${cluster}`]);
    }
  });

  it('are none of what is not mirrored', () => {
    for (const options of [{ service: null }, { namespaceState: 'missing' as const }]) {
      const state = observed(options);
      const { own, pods: ofPods } = claimsOf(state, shapeOf(state));
      expect([own, ofPods.size]).toEqual([undefined, 0]);
    }
  });
});
