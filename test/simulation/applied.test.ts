import { expect, test } from 'vitest';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { unapplied } from './applied.ts';

const endpoints = (name: string, of: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: {
    namespace: 'shop',
    name,
    annotations: { 'mirror.linkerd.io/remote-gateway-identity': 'gateway.one' },
    labels: name === of ? {} : { 'mirror.linkerd.io/headless-mirror-svc-name': of },
  },
  subsets: [{ addresses: [{ ip: '203.0.113.1' }], ports: [{ port: 4143 }] }],
});

const link = (failed: readonly string[]): KubeObject => ({
  apiVersion: 'multicluster.linkerd.io/v1alpha3',
  kind: 'Link',
  metadata: { name: 'west' },
  spec: { gatewayPort: '4143', gatewayIdentity: 'gateway.two' },
  status: {
    mirrorServices: failed.map((name) => ({
      conditions: [{ status: 'False', localRef: { namespace: 'shop', name } }],
    })),
  },
});

const ALL = [endpoints('web-west', 'web-west'), endpoints('set-0-west', 'set-west'), endpoints('set-west', 'set-west')];

test('a Link that is synced has been applied to all but what its status reports as refused (G1)', () => {
  const complaints = (failed: readonly string[]): number => unapplied(link(failed), ALL).length;
  expect([complaints([]), complaints(['web-west']), complaints(['set-west'])]).toEqual([3, 2, 1]);
  expect(complaints(['web-west', 'set-west', 'other-west'])).toBe(0);
});
