import { expect, test } from 'vitest';
import { dumpReader, type Manifest } from '../../../../synth/commands/common/manifest-files.ts';
import { readState } from '../../../../synth/commands/migrate/state.ts';
import { link, LINKS_NAMESPACE, service } from '../../../support/builders.ts';

const deployment = (name: string, labels: Readonly<Record<string, string>>, args: readonly string[] = []): Manifest =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: LINKS_NAMESPACE, labels },
    spec: { template: { spec: { containers: [{ name: 'main', args }] } } },
  }) as Manifest;

const controllerOf = (of: string): Manifest =>
  deployment(`controller-of-${of}`, { component: 'controller', 'mirror.linkerd.io/cluster-name': of });

const mirrorOf = (cluster: string): Manifest =>
  service(`web-${cluster}`, {
    labels: { 'mirror.linkerd.io/cluster-name': cluster, 'mirror.linkerd.io/mirrored-service': 'true' },
  });

const stateOf = async (name: string, cluster: string) => {
  const named = link(cluster);
  const manifests = [
    { ...named, metadata: { ...named.metadata, name } } as Manifest,
    ...['west', 'north'].flatMap((each) => [controllerOf(each), mirrorOf(each)]),
    deployment('shop', {}),
  ];
  const state = await readState(dumpReader('dump', manifests), LINKS_NAMESPACE, name);
  return {
    controllers: state!.controllers.map(({ metadata }) => metadata.name),
    mirrors: [...state!.mirrors.keys()],
  };
};

test('the controllers of a Link, and the mirrors of its cluster, are found by their labels', async () => {
  expect(await stateOf('west', 'west')).toEqual({ controllers: ['controller-of-west'], mirrors: ['shop/web-west'] });
});

test('a Deployment with the name of a controller is one only if it is of Linkerd (L219)', async () => {
  const controllers = async (labels: Readonly<Record<string, string>>, args?: readonly string[]) => {
    const manifests = [link('west') as Manifest, deployment('controller-west', labels, args)];
    return (await readState(dumpReader('dump', manifests), LINKS_NAMESPACE, 'west'))?.controllers.length;
  };
  expect(await controllers({ app: 'of-somebody-else' })).toBe(0);
  expect(await controllers({ 'linkerd.io/extension': 'multicluster' })).toBe(1);
  expect(await controllers({ 'mirror.linkerd.io/cluster-name': 'west' })).toBe(1);
  expect(await controllers({}, ['service-mirror', '-log-level=info', 'west'])).toBe(1);
});

test('nothing is selected by a name that no label can have', async () => {
  expect(await stateOf('w'.repeat(64), 'no such cluster')).toEqual({ controllers: [], mirrors: [] });
});

test('an operator that has given up its Lease writes for no Link, whatever it has reported', async () => {
  const lease = (name: string, holderIdentity: string): Manifest => {
    const spec = { holderIdentity, leaseDurationSeconds: 30, renewTime: new Date().toISOString() };
    const metadata = { name, namespace: LINKS_NAMESPACE };
    return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec } as Manifest;
  };
  const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '' }] };
  const writer = async (...leases: readonly Manifest[]) => {
    const manifests = [{ ...link('west'), status } as Manifest, lease('service-mirror-write-west', 'a'), ...leases];
    return (await readState(dumpReader('dump', manifests), LINKS_NAMESPACE, 'west'))?.writer;
  };
  expect(await writer(lease('linkspan-operator', ''))).toBe('another');
  expect(await writer(lease('linkspan-operator', 'b'))).toBe('another');
  expect(await writer(lease('linkspan-operator', 'a'))).toBe('operator');
  // One that elects no leader has no Lease.
  expect(await writer()).toBe('operator');
});
