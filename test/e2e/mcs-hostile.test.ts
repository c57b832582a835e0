/**
 * A target that exports what nobody would: it may have any CRD, any names and as much as it likes. Nothing that it sends
 * reaches further than its own part of ServiceImports, and those of other clusters are imported as ever: rules E1, E8, E10
 * and K2 of behaviour.md.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterPropertyCrd, serviceExportCrd } from '../../crds/index.ts';
import { Annotation } from '../../crds/wire.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { KubeObject as StoredObject } from '../cluster/simulated/storage/object.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually, installCrd, type ObjectRef } from '../cluster/workload/index.ts';
import { LINKS_NAMESPACE, namespace, service, type ServiceOptions } from '../support/builders.ts';
import { FullMesh } from '../support/full-mesh.ts';
import { clusterId, installMcs, McsView, podSlices, serviceExport } from '../support/mcs.ts';

const WEST_GATEWAY = '203.0.113.30';
const WEST = `west ${WEST_GATEWAY}`;
const MAX_EXPORTS = 20;
const MAX_PODS = 5;

interface Definition extends ObjectRef {
  readonly spec: { readonly versions: readonly object[] };
}

/** The definition with a schema that admits anything. */
const permissive = (crd: Definition): Definition => ({
  ...crd,
  spec: {
    ...crd.spec,
    versions: crd.spec.versions.map((version) => ({
      ...version,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
});

/** Many of something. */
const many = <T>(count: number, of: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => of(i));
const entries = (count: number, value: string) => Object.fromEntries(many(count, (index) => [`key-${index}`, value]));

/** Specs and statuses of ServiceExports that no schema of ours admits, or that claim what is not theirs. */
const HOSTILE: Readonly<Record<string, object>> = {
  text: { spec: 'none' },
  list: { spec: [1] },
  number: { spec: { exportedLabels: 5 } },
  values: { spec: { exportedLabels: { team: 7, other: null } } },
  keys: { spec: { exportedLabels: { 'bad key!': 'x', '': 'y', team: 'Bad Value!' } } },
  claims: {
    spec: {
      exportedLabels: {
        'linkspan.dev/service-import': 'good',
        'mirror.linkerd.io/mirrored-service': 'true',
        'mirror.linkerd.io/federated': 'member',
        'kubernetes.io/service-name': 'good',
        'multicluster.kubernetes.io/service-name': 'good',
      },
      exportedAnnotations: {
        'multicluster.linkerd.io/remote-discovery': 'good@north',
        'linkspan.dev/suspended': 'true',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
      },
    },
  },
  labels: { spec: { exportedLabels: entries(5_000, 'x') } },
  annotations: { spec: { exportedAnnotations: { ...entries(500, 'x'), big: 'x'.repeat(200_000) } } },
  status: { status: { conditions: 'all' } },
};

onEachBacking('a target with hostile exports', (backing) => {
  let mesh: FullMesh;
  let east: McsView;
  beforeAll(async () => {
    mesh = await FullMesh.start(backing, 'east', 'north', 'west');
    for (const { cluster } of mesh.peers) await installMcs(cluster);
    for (const crd of [serviceExportCrd, clusterPropertyCrd])
      await installCrd(mesh.peer('north').cluster, permissive(crd));
    east = new McsView(mesh.peer('east').api);
    await mesh.link('east', 'north', { federation: 'gateway' });
    await mesh.link('east', 'west', { federation: 'gateway', gatewayAddress: WEST_GATEWAY });
    const flags = { maxMirrors: String(MAX_EXPORTS), maxEndpointMirrors: String(MAX_PODS) };
    mesh.operate(['east'], { flags });
    await mesh.ready('east');
  });
  afterAll(async () => {
    // Whoever has the cluster next needs kinds as they should be.
    await installMcs(mesh.peer('north').cluster);
    await mesh.stop();
  });

  const exported = async (from: string, name: string, options: ServiceOptions = {}, body = {}): Promise<void> => {
    const { api } = mesh.peer(from);
    await api.apply(service(name, options));
    for (const each of podSlices(name, [{ ip: '10.244.0.1' }], { namespace: options.namespace ?? 'shop' }))
      await api.apply(each);
    await api.apply({ ...serviceExport(name, options.namespace), ...body });
  };
  const unexported = async (name: string): Promise<void> => {
    await mesh.peer('north').api.delete(serviceExport(name));
  };
  /** Whatever came before, others are imported as ever. */
  const othersWork = async (name: string): Promise<void> => {
    await exported('west', name);
    await east.untilAddresses(name, WEST);
    await east.untilClusters(name, 'west');
    await mesh.peer('west').api.delete(serviceExport(name));
    await east.untilGone(name);
  };

  test('E1 K2 exports of any shape are imported without what is not valid in them, and claim nothing', async () => {
    for (const [name, body] of Object.entries(HOSTILE)) await exported('north', name, {}, body);
    await mesh.peer('north').api.apply(serviceExport('dotted.name'));
    await mesh.peer('north').api.apply(serviceExport('x'.repeat(253)));
    await exported('west', 'good');
    await east.untilAddresses('good', WEST);
    for (const name of Object.keys(HOSTILE)) await east.untilClusters(name, 'north');
    for (const name of Object.keys(HOSTILE)) {
      const { metadata } = (await east.serviceImport(name))!;
      const { 'linkspan.dev/service-import': mark, ...labels } = metadata.labels ?? {};
      const {
        [Annotation.derivedService]: derived,
        [Annotation.exports]: order = '',
        [Annotation.operator]: operator,
        ...annotations
      } = metadata.annotations ?? {};
      expect(order).toMatch(/^north\/[0-9a-f]{12}$/);
      expect([derived, operator]).toEqual([`${name}-clusterset`, LINKS_NAMESPACE]);
      expect(mark).toBe(name);
      expect([Object.keys(labels).length, Object.keys(annotations).length].every((count) => count <= 64)).toBe(true);
      expect(
        [...Object.keys(labels), ...Object.keys(annotations)].filter((key) => /linkerd|linkspan|kubectl/.test(key)),
      ).toEqual([]);
      expect(JSON.stringify(metadata).length).toBeLessThan(20_000);
    }
    await east.untilClusters('good', 'west');
    for (const name of [...Object.keys(HOSTILE), 'dotted.name', 'x'.repeat(253)]) await unexported(name);
    await othersWork('after-shapes');
  });

  test('E8 nothing is imported into the namespaces of Kubernetes, of the control plane or of the operator', async () => {
    const forbidden = ['kube-system', 'linkerd', LINKS_NAMESPACE];
    for (const within of forbidden) {
      await mesh.peer('north').api.apply(namespace(within));
      await exported('north', 'intruder', { namespace: within });
    }
    await othersWork('after-intruders');
    for (const within of forbidden) {
      expect(await east.serviceImport('intruder', within)).toBeUndefined();
      expect(await east.derived('intruder', within)).toBeUndefined();
    }
  });

  test('E1 K2 its Services do not keep those of others from being imported under the same name', async () => {
    const ports = many(200, (index) => ({ name: `p-${index}`, port: index + 1 }));
    await exported('north', 'shared', { ports });
    await exported('west', 'shared');
    await east.untilAddresses('shared', WEST);
    await east.untilClusters('shared', 'west');
    await unexported('shared');
    await mesh.peer('west').api.delete(serviceExport('shared'));
    await east.untilGone('shared');
  });

  test('K2 it cannot pass for another cluster', async () => {
    for (const from of ['north', 'west']) await exported(from, 'identified');
    await east.untilClusters('identified', 'north,west');
    const { api } = mesh.peer('north');
    for (const value of ['west', 'local', 'Bad.Id']) {
      await api.apply(clusterId('boreas'));
      await east.untilClusters('identified', 'boreas,west');
      await api.apply(clusterId(value));
      await east.untilClusters('identified', 'north,west');
    }
    for (const value of ['x'.repeat(100_000), 7, ['a']]) {
      await api.delete(clusterId(''));
      await api.apply(clusterId(value as string));
      await othersWork('identity');
      await east.untilClusters('identified', 'north,west');
    }
    await api.delete(clusterId(''));
  });

  test('E10 what it exports beyond the limits of its Link is not imported, and the Link reports it', async () => {
    await exported('west', 'within');
    const names = many(MAX_EXPORTS * 2, (index) => `many-${index}`);
    for (const name of names) await exported('north', name);
    await eventually('the Link reports it', async () => {
      return (await mesh.condition('east', 'north', 'TargetWithinLimits'))?.status === 'False';
    });
    await othersWork('within-limits');
    const ofNorth = async (): Promise<number> =>
      (await Promise.all(names.map((name) => east.serviceImport(name)))).filter((each) => each !== undefined).length;
    await eventually('as many as the limit allows are imported', async () => (await ofNorth()) > 0);
    expect(await ofNorth()).toBeLessThanOrEqual(MAX_EXPORTS);
    await east.untilAddresses('within', WEST);
    for (const name of names) await unexported(name);
    await eventually('the Link is within its limits', async () => {
      return (await mesh.condition('east', 'north', 'TargetWithinLimits'))?.status === 'True';
    });
  });

  test('E10 D1 of a headless Service with many pods no more are imported than the limit allows', async () => {
    const { api } = mesh.peer('north');
    await api.apply(service('crowd', { headless: true }));
    const pods = many(200, (index) => ({ ip: `10.244.1.${index + 1}`, hostname: `pod-${index}` }));
    for (const each of podSlices('crowd', pods)) await api.apply(each);
    await api.apply(serviceExport('crowd'));
    await eventually('some are imported', async () => (await east.addresses('crowd')).length > 0);
    await othersWork('beside-the-crowd');
    expect((await east.addresses('crowd')).length).toBeLessThanOrEqual(MAX_PODS);
    const derived = await mesh.peer('east').api.list({ apiVersion: 'v1', kind: 'Service', namespace: 'shop' });
    expect(
      derived.filter(({ metadata }) => metadata.labels?.['linkspan.dev/service-import'] === 'crowd').length,
    ).toBeLessThanOrEqual(MAX_PODS);
    await unexported('crowd');
    await east.untilGone('crowd');
  });

  describe.runIf(backing === 'simulated')('that no API server would store', () => {
    /** Puts objects into the target as they are, and has it listed anew. */
    const smuggle = (apiVersion: string, kind: string, objects: readonly StoredObject[]): void => {
      const north = mesh.peer('north').cluster as SimulatedCluster;
      const [model] = north.store.list(apiVersion, kind);
      const { revision, collections } = north.store.snapshot();
      const changed = [...collections].map(([id, stored]) => {
        const isOfKind = [...stored.values()].some((each) => each === model);
        return [
          id,
          isOfKind ? new Map([...stored, ...objects.map((each) => [keyOf(each), each] as const)]) : stored,
        ] as const;
      });
      north.faults.restoreFrom({ revision: revision + 1, collections: new Map(changed) });
    };
    const keyOf = ({ metadata }: StoredObject) => `${metadata.namespace}/${metadata.name}`;
    const stored = (apiVersion: string, kind: string, index: number, metadata: object, body: object): StoredObject => ({
      apiVersion,
      kind,
      metadata: {
        name: `evil-${index}`,
        namespace: 'shop',
        uid: `evil-${kind}-${index}`,
        resourceVersion: '1',
        ...metadata,
      },
      ...body,
    });

    test('E1 E8 metadata, Services and slices of any shape', async () => {
      await exported('north', 'model');
      await east.untilClusters('model', 'north');
      const before = (await east.serviceImport('model'))!.metadata.uid;
      const metadata = [
        { creationTimestamp: 'yesterday' },
        { creationTimestamp: 5 },
        { creationTimestamp: '-271821-04-20T00:00:00Z' },
        { name: '../escape' },
        { name: 'Evil_Name' },
        { namespace: '../kube-system' },
        { labels: [1], annotations: 'x' },
        { uid: 7, resourceVersion: null },
      ];
      smuggle(
        'multicluster.x-k8s.io/v1beta1',
        'ServiceExport',
        metadata.map((each, index) => stored('multicluster.x-k8s.io/v1beta1', 'ServiceExport', index, each, {})),
      );
      smuggle(
        'v1',
        'Service',
        metadata.map((_, index) =>
          stored(
            'v1',
            'Service',
            index,
            {},
            {
              spec: [{ ports: 'http' }, { ports: [{ port: 99_999 }] }, 'none', [1], { ports: [{ name: 7, port: 1 }] }][
                index % 5
              ] as object,
            },
          ),
        ),
      );
      smuggle(
        'discovery.k8s.io/v1',
        'EndpointSlice',
        metadata.map((_, index) =>
          stored(
            'discovery.k8s.io/v1',
            'EndpointSlice',
            index,
            { labels: { 'kubernetes.io/service-name': 'model' } },
            {
              addressType: 'IPv4',
              endpoints: [5, [{ addresses: 'x' }], [{ addresses: ['127.0.0.1', '::1', '../x'], hostname: 'Bad_Host' }]][
                index % 3
              ],
            },
          ),
        ),
      );
      await othersWork('after-smuggling');
      await mesh.ready('east');
      expect((await east.serviceImport('model'))?.metadata.uid).toBe(before);
    });
  });
});
