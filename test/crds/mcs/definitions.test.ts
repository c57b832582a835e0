import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';

import { mcsCrds, serviceExportCrd, serviceImportCrd } from '../../../crds/mcs/definitions.ts';
import { borrowCluster, type TestCluster } from '../../cluster/index.ts';
import { onReal } from '../../cluster/on-each-backing.ts';
import { api, type Api, installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { namespace } from '../../support/builders.ts';
import { schemasIn } from '../schemas-in.ts';

describe('the CustomResourceDefinitions of the MCS API and the About API (K1, K2)', () => {
  it('have the names of the standard', () => {
    expect(mcsCrds.map(({ metadata, spec }) => [metadata.name, spec.scope])).toEqual([
      ['serviceexports.multicluster.x-k8s.io', 'Namespaced'],
      ['serviceimports.multicluster.x-k8s.io', 'Namespaced'],
      ['clusterproperties.about.k8s.io', 'Cluster'],
    ]);
    expect(serviceExportCrd.spec.names.shortNames[0]).toBe('svcex');
    expect(serviceImportCrd.spec.names.shortNames[0]).toBe('svcim');
  });

  it('serve v1alpha1, which CoreDNS reads, and store v1beta1', () => {
    for (const { spec } of mcsCrds) {
      expect(spec.versions.map(({ name, served, storage }) => [name, served, storage])).toEqual([
        ['v1alpha1', true, false],
        ['v1beta1', true, true],
      ]);
      for (const { subresources } of spec.versions) expect(subresources).toEqual({ status: {} });
    }
  });

  it('describe every field, and default none: GitOps tools find live what is in Git', () => {
    for (const { spec } of mcsCrds) {
      for (const { schema } of spec.versions) {
        const all = schemasIn(schema.openAPIV3Schema);
        const fields = all.filter(([path]) => path !== '.metadata' && !path.endsWith('[]'));
        expect(fields.filter(([, { description }]) => description === undefined)).toEqual([]);
        expect(all.filter(([, each]) => 'default' in each)).toEqual([]);
      }
    }
  });
});

type Json = Readonly<Record<string, unknown>>;

const object = (apiVersion: string, kind: string, name: string, fields: Json): ObjectRef & Json => ({
  apiVersion,
  kind,
  metadata: { name, ...(kind !== 'ClusterProperty' && { namespace: 'shop' }) },
  ...fields,
});

const mcs = (kind: string, fields: Json, version = 'v1beta1') =>
  object(`multicluster.x-k8s.io/${version}`, kind, 'web', fields);

const property = (value: unknown) =>
  object('about.k8s.io/v1beta1', 'ClusterProperty', 'cluster.clusterset.k8s.io', { spec: { value } });

const CONDITION = {
  type: 'Conflict',
  status: 'True',
  reason: 'PortConflict,TypeConflict',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
};

/** Every field that there is. */
const FULL = {
  ServiceExport: {
    spec: { exportedLabels: { team: 'shop' }, exportedAnnotations: { 'example.com/team': 'shop' } },
    status: { conditions: [CONDITION] },
  },
  ServiceImport: {
    spec: {
      ports: [{ name: 'http', protocol: 'TCP', appProtocol: 'kubernetes.io/h2c', port: 80 }],
      ips: ['10.0.0.1', 'fd00::1'],
      type: 'ClusterSetIP',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
      ipFamilies: ['IPv4', 'IPv6'],
      internalTrafficPolicy: 'Local',
      trafficDistribution: 'PreferClose',
    },
    status: { endpointSliceObjects: 'Present', clusters: [{ cluster: 'east' }], conditions: [CONDITION] },
  },
} as const;

const REFUSED: Readonly<Record<string, ObjectRef>> = {
  'an export of a label that is no text': mcs('ServiceExport', { spec: { exportedLabels: { team: 7 } } }),
  'an import without ports': mcs('ServiceImport', { spec: { type: 'Headless' } }),
  'an import without a type': mcs('ServiceImport', { spec: { ports: [] } }),
  'an import of another type': mcs('ServiceImport', { spec: { ports: [], type: 'ClusterIP' } }),
  'an import with three IP addresses': mcs('ServiceImport', {
    spec: { ports: [], type: 'ClusterSetIP', ips: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] },
  }),
  'an import with a port that has no number': mcs('ServiceImport', {
    spec: { ports: [{ name: 'http' }], type: 'ClusterSetIP' },
  }),
  'a property without a value': property(''),
};

onReal('the API server', () => {
  let cluster: TestCluster;
  let client: Api;
  beforeAll(async () => {
    cluster = await borrowCluster('real', 'east');
    client = api(cluster);
    for (const crd of mcsCrds) await installCrd(cluster, crd);
    await client.apply(namespace('shop'));
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  test.each(Object.entries(FULL))('keeps every field of a %s, in each version', async (kind, { spec, status }) => {
    await client.apply(mcs(kind, { spec }));
    await client.apply(mcs(kind, { status }), { subresource: 'status' });
    for (const version of ['v1alpha1', 'v1beta1']) {
      expect(await client.get(mcs(kind, {}, version))).toMatchObject({ spec, status });
    }
  });

  it('accepts an export without a spec, and the id of a cluster', async () => {
    await client.apply({ ...mcs('ServiceExport', {}), metadata: { name: 'bare', namespace: 'shop' } });
    await client.apply(property('east'));
  });

  test.each(Object.entries(REFUSED))('refuses %s', async (_, refused) => {
    await expect(client.apply(refused)).rejects.toThrow(/invalid|expected string/i);
  });
});
