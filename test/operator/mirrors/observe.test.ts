import { describe, expect, test } from 'vitest';
import { readLink } from '../../../crds/index.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { probeAddress, probeEndpoints, probeManifests } from '../../../operator/mirrors/observe.ts';
import type { SourceStores } from '../../../operator/source/stores.ts';
import { link } from '../../support/builders.ts';
import { NOTHING } from '../../../operator/mirror/manifests.ts';
import type { GatewayView, OwnedObjects } from '../../../operator/mirror/observed.ts';
import { ownedEndpoints, ownedSlice } from '../mirror/observed.ts';

const probe = (
  name: string,
  clusterIP?: string,
  ports: readonly { readonly port: number }[] = [],
): OwnedObjects['services'][number] => ({
  metadata: { name, namespace: 'linkerd-multicluster' },
  spec: { ports, ...(clusterIP !== undefined && { clusterIP }) },
});

test.each<readonly [string, OwnedObjects['services'], string | undefined]>([
  ['its ClusterIP', [probe('probe-west', '10.96.0.7')], '10.96.0.7'],
  ['none before it is made', [], undefined],
  ['none before it has a ClusterIP', [probe('probe-west')], undefined],
  ['none where it is headless', [probe('probe-west', 'None')], undefined],
  ['not that of another Link', [probe('probe-former', '10.96.0.8')], undefined],
])('the probe Service of a Link has the address that it is probed at: %s', (_, services, address) => {
  const source = {
    probesOf: (cluster: string, link: string): OwnedObjects => ({
      services: cluster === 'far-west' && link === 'west' ? services : [],
      endpoints: [],
      slices: [],
    }),
  };
  expect(probeAddress({ name: 'west', cluster: 'far-west' }, source)).toBe(address);
});

test('the addresses that a probe Service leads to are those of its endpoints and slices, ready or not (L126)', () => {
  const source = {
    probesOf: (): OwnedObjects => ({
      services: [probe('probe-west', '10.96.0.7')],
      endpoints: [
        ownedEndpoints('probe-west', [{ notReadyAddresses: [{ ip: '203.0.113.1' }] }]),
        ownedEndpoints('probe-former', [{ addresses: [{ ip: '203.0.113.9' }] }]),
      ],
      slices: [ownedSlice('probe-west-ipv4', 'probe-west', { addresses: ['203.0.113.1', '203.0.113.2'], ready: true })],
    }),
  };
  expect(probeEndpoints({ name: 'west', cluster: 'far-west' }, source).addresses).toEqual([
    '203.0.113.1',
    '203.0.113.2',
  ]);
});

test('the port of a probe Service is that of the Link that asks (L157)', () => {
  const services = [
    probe('probe-west', '10.96.0.7', [{ port: 4191 }]),
    probe('probe-former', '10.96.0.8', [{ port: 1 }]),
  ];
  const source = { probesOf: (): OwnedObjects => ({ services, endpoints: [], slices: [] }) };
  expect(probeEndpoints({ name: 'west', cluster: 'far-west' }, source)).toEqual({ addresses: [], port: 4191 });
  expect(probeEndpoints({ name: 'other', cluster: 'far-west' }, source).port).toBeUndefined();
});

describe('the probe Service of a Link', () => {
  const config = { namespace: 'linkerd-multicluster', endpoints: 'slices' } as OperatorConfig;
  const source = {
    probesOf: (): OwnedObjects => ({ services: [probe('probe-west', '10.96.0.7')], endpoints: [], slices: [] }),
    isTaken: () => false,
  } as unknown as SourceStores;
  const probeSpec = { path: '/live', port: '5191', period: '3s' };
  const inUse = { port: 4143, identity: 'gw.id', addresses: ['203.0.113.1'], alive: true };
  const manifests = (spec: object, gateway: GatewayView | undefined) => {
    const read = readLink(link('west', { gatewayAddress: 'next.example', probeSpec, ...spec }));
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    return probeManifests(read.value, gateway, { config, source });
  };

  test('leads to the gateway in use, by its probe port and identity, which those of the Link may not be (L156)', () => {
    const probed = { path: '/ready', port: 4191, periodMs: 3000, timeoutMs: 3000, failureThreshold: 3 };
    const found = manifests({ gatewayIdentity: 'other.example' }, { ...inUse, probe: probed });
    expect(found?.services.map(({ object }) => object)).toMatchObject([{ spec: { ports: [{ port: 4191 }] } }]);
    expect(found?.endpoints.map(({ object }) => object)).toMatchObject([
      {
        metadata: { annotations: { 'mirror.linkerd.io/remote-gateway-identity': 'gw.id' } },
        endpoints: [{ addresses: ['203.0.113.1'] }],
        ports: [{ port: 4191 }],
      },
    ]);
  });

  test('is nothing without a gateway, or while that in use is not probed', () => {
    expect(manifests({ gatewayAddress: '' }, undefined)).toEqual(NOTHING);
    expect(manifests({}, inUse)).toEqual(NOTHING);
  });

  test('stays as it is before the addresses of the gateway are known', () => {
    expect(manifests({}, { ...inUse, addresses: [] })).toBeUndefined();
    expect(manifests({}, undefined)).toBeUndefined();
  });
});
