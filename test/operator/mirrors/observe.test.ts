import { expect, test } from 'vitest';
import { probeAddress, probeEndpoints } from '../../../operator/mirrors/observe.ts';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import { ownedEndpoints, ownedSlice } from '../mirror/observed.ts';

const probe = (name: string, clusterIP?: string): OwnedObjects['services'][number] => ({
  metadata: { name, namespace: 'linkerd-multicluster' },
  spec: { ...(clusterIP !== undefined && { clusterIP }) },
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
  expect(probeEndpoints({ name: 'west', cluster: 'far-west' }, source)).toEqual(['203.0.113.1', '203.0.113.2']);
});
