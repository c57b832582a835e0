import { describe, expect, it } from 'vitest';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { PROBE_KEY } from '../../../operator/source/owner.ts';
import { SourceStores, type SourceStoresOptions } from '../../../operator/source/stores.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const LINKS = 'linkerd-multicluster';
const MIRROR = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const FEDERATED = { 'mirror.linkerd.io/mirrored-service': 'true', 'linkspan.dev/federation': 'gateway' };
const PROBE = { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const IMPORTED = { 'linkspan.dev/service-import': 'web' };

const service = (name: string, labels: Record<string, string>, namespace = 'shop'): Service => ({
  metadata: { name, namespace, labels, uid: name, resourceVersion: '1' },
  spec: { ports: [{ port: 80 }] },
});
const sliceOf = ({ metadata }: Service, name: string, labels: Record<string, string> = {}): EndpointSlice => ({
  metadata: {
    ...{ name, namespace: metadata.namespace ?? '', uid: name, resourceVersion: '1' },
    labels: { ...labels, [SERVICE_NAME]: metadata.name },
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.1.2.3'] }],
});

/** Stores that are filled, by the labels that a watch selects by. */
function filled(options: Partial<SourceStoresOptions> = {}) {
  const stores = new SourceStores({ namespace: LINKS, ...options });
  const put = (of: Service): void => stores.services.sink(partitionOf(stores.services.partitions, of)).applied(of);
  /** As Kubernetes makes it: with the labels of the Service. */
  const select = (of: Service, change: 'applied' | 'removed' = 'applied'): void => {
    const slice = sliceOf(of, `${of.metadata.name}-x2y3z`, { ...of.metadata.labels, [MANAGED_BY]: 'any' });
    for (const { label, store } of stores.foreign.all) {
      const partition = partitionOf(store.partitions, of);
      if (label in (slice.metadata.labels ?? {}) && store.partitions.includes(partition))
        store.sink(partition)[change](slice);
    }
  };
  return { stores, put, select, written: (slice: EndpointSlice) => stores.slices.sink().applied(slice) };
}

const partitionOf = (partitions: readonly (string | undefined)[], { metadata }: Service): string | undefined =>
  partitions.includes(undefined) ? undefined : metadata.namespace;

const namesOf = (foreign: ReturnType<SourceStores['ownedBy']>['foreign']): readonly string[] =>
  (foreign ?? []).flatMap(({ slices }) => slices.map(({ metadata }) => metadata.name));

const west = (key: string) => ({ cluster: 'west', key });

it('a slice that somebody gives another federated Service is reported to both (C3)', () => {
  const { stores, written } = filled();
  const federated: string[] = [];
  stores.subscribeFederations((key) => federated.push(key));
  for (const name of ['web-federated', 'other-federated'])
    written(sliceOf(service(name, {}), 'web-federated.east-ipv4', FEDERATED));
  expect(federated).toEqual(['shop/web', 'shop/web', 'shop/other']);
});

describe('slices that others give our Services (C3)', () => {
  it('are those that Kubernetes has made of a selector that is gone, and those that are made by hand', () => {
    const { stores, put, select, written } = filled();
    const mirror = service('web-west', MIRROR);
    put(mirror);
    expect(stores.ownedBy(west('shop/web')).foreign).toBeUndefined();
    select(mirror);
    written(sliceOf(mirror, 'by-hand'));
    written(sliceOf(service('other', {}), 'of-another'));
    written(sliceOf(mirror, 'web-west-ipv4', MIRROR));
    expect(namesOf(stores.ownedBy(west('shop/web')).foreign).toSorted()).toEqual(['by-hand', 'web-west-x2y3z']);
    select(mirror, 'removed');
    expect(namesOf(stores.ownedBy(west('shop/web')).foreign)).toEqual(['by-hand']);
  });

  it('stay while the Service has a selector: Kubernetes would make them anew', () => {
    const { stores, put, select } = filled();
    const mirror = service('web-west', MIRROR);
    put({ ...mirror, spec: { ...mirror.spec, selector: { app: 'web' } } });
    select(mirror);
    expect(stores.ownedBy(west('shop/web')).foreign).toBeUndefined();
    put(mirror);
    expect(namesOf(stores.ownedBy(west('shop/web')).foreign)).toEqual(['web-west-x2y3z']);
  });

  it.each<[string, Service, (stores: SourceStores) => ReturnType<SourceStores['ownedBy']>['foreign']]>([
    ['a probe Service', service('probe-west', PROBE, LINKS), (stores) => stores.ownedBy(west(PROBE_KEY)).foreign],
    ['a federated Service', service('web-federated', FEDERATED), (stores) => stores.federation('shop/web').foreign],
    ['a derived Service', service('web-clusterset', IMPORTED), (stores) => stores.import('shop/web').foreign],
  ])('are found of %s, also by an operator that is limited to namespaces', (_, of, foreignIn) => {
    for (const mirrorNamespaces of [undefined, ['shop']]) {
      const { stores, put, select } = filled({ mirrorNamespaces });
      put(of);
      select(of);
      expect(namesOf(foreignIn(stores))).toEqual([`${of.metadata.name}-x2y3z`]);
    }
  });

  it('are those of nobody but us, and not kept in memory with what they list', () => {
    const { stores, put, select } = filled();
    const foreign = service('web-federated', {});
    put(foreign);
    select(service('web-federated', FEDERATED));
    expect(stores.federation('shop/web').foreign).toBeUndefined();
    const [{ store }] = stores.foreign.selected as [(typeof stores.foreign.selected)[number]];
    expect([...store.values()].map(({ endpoints, metadata }) => [endpoints, metadata.labels])).toEqual([
      [[], { [SERVICE_NAME]: 'web-federated' }],
    ]);
  });

  it('are reported to whoever writes the Service, by whichever watch they come', () => {
    const { stores, put, select, written } = filled();
    const told: string[] = [];
    stores.subscribe('west', (key, by) => told.push(`west ${key} ${by}`));
    stores.subscribeFederations((key) => told.push(`federation ${key}`));
    stores.subscribeImports((key) => told.push(`import ${key}`));
    const all = [
      ...[service('web-west', MIRROR), service('probe-west', PROBE, LINKS)],
      ...[service('web-federated', FEDERATED), service('web-clusterset', IMPORTED)],
    ];
    for (const each of all) put(each);
    told.splice(0);
    const expected = [
      `west shop/web endpoints`,
      `west ${PROBE_KEY} endpoints`,
      'federation shop/web',
      'import shop/web',
    ];
    for (const each of all) select(each);
    expect(told.splice(0)).toEqual(expected);
    for (const each of all) written(sliceOf(each, `${each.metadata.name}-by-hand`));
    expect(told).toEqual(expected);
  });

  it('are not those that are ours again, whichever watch says so first', () => {
    const { stores, put, select, written } = filled();
    const mirror = service('web-west', MIRROR);
    put(mirror);
    select(mirror);
    written(sliceOf(mirror, 'web-west-x2y3z', MIRROR));
    expect(stores.ownedBy(west('shop/web')).foreign).toBeUndefined();
  });

  it('are also those of a probe Service that Kubernetes seems to have made, with the labels that ours have', () => {
    const { stores, put } = filled();
    const probe = service('probe-west', PROBE, LINKS);
    put(probe);
    const labels = { 'mirror.linkerd.io/cluster-name': 'west', [MANAGED_BY]: 'endpointslice-controller.k8s.io' };
    for (const { label, store } of stores.foreign.all)
      if (label in labels && store.partitions.includes(LINKS))
        store.sink(LINKS).applied(sliceOf(probe, 'probe-west-ipv4', labels));
    expect(namesOf(stores.ownedBy(west(PROBE_KEY)).foreign)).toEqual(['probe-west-ipv4']);
  });

  it('are found once, whatever watches select them', () => {
    const { stores, put, select } = filled();
    const mirror = service('web-west', MIRROR, LINKS);
    put(mirror);
    select(mirror);
    expect(namesOf(stores.ownedBy({ cluster: 'west', key: `${LINKS}/web` }).foreign)).toEqual(['web-west-x2y3z']);
  });
});
