import { describe, expect, it, test } from 'vitest';
import type { EndpointSlice, KubeObject } from '../../../operator/kube/objects.ts';
import {
  federationOf,
  indexValueOf,
  memberOf,
  mirroredName,
  ownerOf,
  PROBE_KEY,
  sameOwner,
  sourceOf,
} from '../../../operator/source/owner.ts';

const MIRROR = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const PROBE = { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const LINKS = 'linkerd-multicluster';

const object = (name: string, labels: Record<string, string>, within = 'shop'): KubeObject & { spec: object } => ({
  metadata: { name, namespace: within, labels },
  spec: {},
});
const bare = (name: string, labels: Record<string, string>, within = 'shop'): KubeObject => ({
  metadata: { name, namespace: within, labels },
});
const sliceOf = (name: string, of: string, labels: Record<string, string>, within = 'shop'): EndpointSlice => ({
  metadata: { name, namespace: within, labels: { ...labels, 'kubernetes.io/service-name': of } },
  addressType: 'IPv4',
});
const west = (key: string) => ({ cluster: 'west', key });

describe('whose an object is (A6)', () => {
  test.each<[string, KubeObject, ReturnType<typeof ownerOf>]>([
    ['a mirror is of the Service it is named after', object('web-west', MIRROR), west('shop/web')],
    ['its Endpoints too', bare('web-west', MIRROR), west('shop/web')],
    ['its slices by the Service they belong to', sliceOf('web-west-ipv4', 'web-west', MIRROR), west('shop/web')],
    [
      'an endpoint mirror is of its headless Service',
      object('web-0-west', { ...MIRROR, 'mirror.linkerd.io/headless-mirror-svc-name': 'web-west' }),
      west('shop/web'),
    ],
    ['a cluster of which another is the ending keeps its name', object('a-b-west', MIRROR), west('shop/a-b')],
    ['a mirror of no possible name is a stray', object('web', MIRROR), west('shop/~web')],
    ['nor is there a Service without a name', object('-west', MIRROR), west('shop/~-west')],
    ['the probe Service is the probe’s', object('probe-west', PROBE, LINKS), { cluster: 'west', key: PROBE_KEY }],
    [
      'its Endpoints, which have no more than the name of the cluster',
      bare('probe-west', { 'mirror.linkerd.io/cluster-name': 'west' }, LINKS),
      { cluster: 'west', key: PROBE_KEY },
    ],
    ['a probe Service elsewhere is not ours', object('probe-west', PROBE), undefined],
    [
      'nor a Service with no more than the name of the cluster',
      object('probe-west', { 'mirror.linkerd.io/cluster-name': 'west' }, LINKS),
      undefined,
    ],
    ['nor a user’s own Service', object('web-west', {}), undefined],
    [
      'nor a federated Service, of no one cluster',
      object('web-federated', { 'mirror.linkerd.io/mirrored-service': 'true' }),
      undefined,
    ],
    [
      'nor what says it is mirrored from nowhere',
      object('web-west', { ...MIRROR, 'mirror.linkerd.io/cluster-name': '' }),
      undefined,
    ],
    [
      'nor what says it is not mirrored',
      object('web-west', { ...MIRROR, 'mirror.linkerd.io/mirrored-service': 'false' }),
      undefined,
    ],
  ])('%s', (_, given, expected) => {
    expect(ownerOf(given, LINKS)).toEqual(expected);
  });
});

describe('owners', () => {
  it('are the same if both cluster and key are', () => {
    expect(sameOwner(west('shop/web'), west('shop/web'))).toBe(true);
    expect(sameOwner(west('shop/web'), west('shop/db'))).toBe(false);
    expect(sameOwner(west('shop/web'), { cluster: 'north', key: 'shop/web' })).toBe(false);
    expect(sameOwner(west('shop/web'), undefined)).toBe(false);
    expect(sameOwner(undefined, undefined)).toBe(true);
  });

  it('are indexed apart if they are not the same', () => {
    const values = [west('shop/web'), west('shop/db'), { cluster: 'north', key: 'shop/web' }, west(PROBE_KEY)];
    expect(new Set(values.map(indexValueOf)).size).toBe(values.length);
  });
});

test.each<[string, string, string | undefined]>([
  ['web-west', 'west', 'web'],
  ['web-us-west', 'west', 'web-us'],
  ['web-us-west', 'us-west', 'web'],
  ['web-west', 'north', undefined],
  ['-west', 'west', undefined],
  ['west', 'west', undefined],
])('the mirror name %s stands in cluster %s for %s', (mirror, cluster, expected) => {
  expect(mirroredName(mirror, cluster)).toBe(expected);
});

it('knows a slice of a federated Service that has lost the label of its Service by its name (C3, I8)', () => {
  const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'linkspan.dev/federation': 'gateway' };
  const slice = sliceOf('web-federated.west-ipv4', 'web-federated', labels);
  expect(federationOf(slice)).toBe('shop/web');
  expect(federationOf({ ...slice, metadata: { ...slice.metadata, labels } })).toBe('shop/web');
  const empty = { ...slice.metadata.labels, 'kubernetes.io/service-name': '' };
  expect(federationOf({ ...slice, metadata: { ...slice.metadata, labels: empty } })).toBe('shop/web');
});

test.each([
  ['web-federated.west-ipv4', 'west'],
  ['web-federated.us-west-ipv6', 'us-west'],
  ['web-federated.west-ipv4-2', 'west'],
  ['web-federated.local-ipv4', 'local'],
  ['web-federated.local.web-abc12', undefined],
  ['somebody', 'label'],
  ['web-federated.somebody', 'label'],
])('the slice %s of a federated Service is of member %s, whatever its label says (C1, L91)', (name, expected) => {
  const slice = sliceOf(name, 'web-federated', { 'linkspan.dev/federation-member': 'label' });
  expect(memberOf(slice)).toBe(expected);
});

test.each([
  ['web-clusterset.from-west-ipv4', 'west'],
  ['web-clusterset.from-west-ipv4-12', 'west'],
  ['web-clusterset.from-x-ipv4-2-ipv6', 'x-ipv4-2'],
  ['web-clusterset.from-x-ipv4.web-abc12', 'x-ipv4'],
  ['web-clusterset.local.web-abc12', undefined],
  ['web-clusterset.somebody', 'label'],
  ['web-clusterset.from-somebody', 'label'],
  ['clusterset-web-0-08d1016a-ipv4', 'label'],
])('the slice %s of a ServiceImport is of cluster %s, whatever its label says (C1, L91)', (name, expected) => {
  const slice = sliceOf(name, 'web-clusterset', { 'linkspan.dev/imported-from': 'label' });
  expect(sourceOf(slice)).toBe(expected);
});
