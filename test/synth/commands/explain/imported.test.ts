import { describe, expect, it } from 'vitest';
import type { EndpointSlice, KubeObject } from '../../../../operator/kube/objects.ts';
import type { ServiceImport } from '../../../../operator/mcs/objects.ts';
import type { ServiceExport } from '../../../../operator/target/read/mcs-objects.ts';
import type { Cluster } from '../../../../synth/commands/common/cluster.ts';
import { explainImport, importFactsOf } from '../../../../synth/commands/explain/imported.ts';

const condition = (type: string, status: 'True' | 'False', reason: string, message = '') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-11-22T00:00:00Z',
});

const imported = (clusters: readonly string[], more: Partial<ServiceImport> = {}): ServiceImport => ({
  metadata: { name: 'web', namespace: 'shop', labels: { 'linkspan.dev/service-import': 'web' } },
  spec: { type: 'ClusterSetIP', ips: ['10.96.0.7'], ports: [{ port: 80 }] },
  status: {
    clusters: clusters.map((cluster) => ({ cluster })),
    conditions: [condition('Ready', 'True', 'Ready')],
  },
  ...more,
});

const exported = (...conditions: readonly ReturnType<typeof condition>[]): ServiceExport => ({
  metadata: { name: 'web', namespace: 'shop' },
  status: { conditions },
});
const VALID = condition('Valid', 'True', 'Valid');

const slice = (cluster: string, ...addresses: readonly string[]): EndpointSlice => ({
  metadata: {
    name: `web-${cluster}`,
    namespace: 'shop',
    labels: {
      'multicluster.kubernetes.io/service-name': 'web',
      'multicluster.kubernetes.io/source-cluster': cluster,
    },
  },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['192.0.2.9'], conditions: { ready: false } },
    ...addresses.map((each) => ({ addresses: [each] })),
  ],
});

interface Has {
  readonly serviceImport?: ServiceImport;
  readonly serviceExport?: ServiceExport;
  readonly slices?: readonly EndpointSlice[];
}

const outline = async ({ serviceImport, serviceExport, slices = [] }: Has, name = 'web') => {
  const all: Readonly<Record<string, KubeObject | undefined>> = {
    ServiceImport: serviceImport,
    ServiceExport: serviceExport,
  };
  const source = {
    context: 'east',
    find: async ({ kind }: { readonly kind: string }, ref: { readonly name: string }) =>
      all[kind]?.metadata.name === ref.name ? all[kind] : undefined,
    list: async () => slices,
  } as unknown as Cluster;
  const facts = await importFactsOf(source, { namespace: 'shop', name });
  if (facts === undefined) return undefined;
  const { steps, reached } = explainImport(facts);
  const signs = { ok: '√', warning: '‼', stop: '×', unknown: '?' };
  return [...steps.map(({ step, state, message }) => `${signs[state]} ${step}: ${message}`), reached.join(', ')];
};

describe('K2: a ServiceImport', () => {
  it('is followed to the addresses of each cluster', async () => {
    const conflict = condition('Conflict', 'False', 'NoConflicts', 'compared: east, west');
    const has = {
      serviceImport: imported(['east', 'west']),
      serviceExport: exported(VALID, conflict),
      slices: [slice('east', '10.0.0.1', '10.0.0.2'), slice('west')],
    };
    const expected = [
      '√ export: ServiceExport shop/web of east is valid, and conflicts with no other; compared: east, west',
      '√ import: ServiceImport shop/web is in east, and has 10.96.0.7, by Service web-clusterset',
      '√ cluster: of cluster east, clients reach 10.0.0.1, 10.0.0.2',
      '‼ cluster: cluster west has no ready address: its gateway is down, or no pod is ready',
      '10.0.0.1, 10.0.0.2',
    ];
    expect(await outline(has)).toEqual(expected);
    expect(await outline(has, 'web-clusterset')).toEqual(expected);
  });

  it('stops where no cluster has a ready address', async () => {
    expect((await outline({ serviceImport: imported(['west']), slices: [slice('west')] }))?.slice(-2)).toEqual([
      '× endpoints: no cluster has a ready address',
      '',
    ]);
  });

  it.each<[string, Has, string]>([
    [
      'that somebody else has made',
      { serviceImport: imported(['west'], { metadata: { name: 'web', namespace: 'shop' } }) },
      "× import: ServiceImport shop/web of east is not the operator's",
    ],
    [
      'that is not ready',
      {
        serviceImport: imported(['west'], {
          status: { conditions: [condition('Ready', 'False', 'Pending', 'Service shop/web-clusterset exists')] },
        }),
      },
      '× import: ServiceImport shop/web is not ready, Pending: Service shop/web-clusterset exists',
    ],
    [
      'that there is not',
      { serviceExport: exported(condition('Valid', 'False', 'NoService')) },
      '× import: ServiceImport shop/web is not in east: no cluster exports it validly',
    ],
  ])('stops at one %s', async (_, has, expected) => {
    expect((await outline(has))?.slice(-2)).toEqual([expected, '']);
  });

  it('is unknown where there is neither an import nor an export', async () => {
    expect(await outline({})).toBeUndefined();
    expect(await outline({ serviceImport: imported(['west']) }, 'other')).toBeUndefined();
  });
});

describe('K1: a ServiceExport', () => {
  it.each([
    ['nobody has reported on ServiceExport shop/web of east', exported()],
    [
      'ServiceExport shop/web of east is not valid, NoService: there is no Service',
      exported(condition('Valid', 'False', 'NoService', 'there is no Service')),
    ],
    [
      'ServiceExport shop/web of east conflicts with others, PortConflict: using 80',
      exported(VALID, condition('Conflict', 'True', 'PortConflict', 'using 80')),
    ],
  ])('%s', async (message, serviceExport) => {
    expect((await outline({ serviceExport }))?.[0]).toBe(`‼ export: ${message}`);
  });
});
