import { ApiObject, App, Chart } from 'cdk8s';
import { Service } from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { expect, test } from 'vitest';

import { type ApiJson, render } from '../../../constructs/rendered/render.ts';
import { ClusterProperty } from '../../../constructs/services/cluster-property.ts';
import { Exported } from '../../../constructs/services/exported.ts';
import { McsCrds } from '../../../constructs/services/mcs-crds.ts';
import { ServiceExport, type ServiceExportProps } from '../../../constructs/services/service-export.ts';
import { mcsCrds } from '../../../crds/mcs/definitions.ts';
import { errorsOf } from '../errors-of.ts';

const exportOf = (props: Partial<ServiceExportProps> = {}) =>
  render((chart) => {
    new ServiceExport(chart, 'export', { service: 'web', ...props });
  });

test('K1: a ServiceExport has the name and namespace of the Service, and no spec unless metadata is exported', () => {
  expect(exportOf({ namespace: 'shop' })).toEqual([
    {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      metadata: { name: 'web', namespace: 'shop' },
    },
  ]);
  const [, ofService] = render((chart) => {
    const metadata = { name: 'api', namespace: 'shop', labels: { team: 'shop' } };
    const service = new Service(chart, 'service', { metadata, ports: [{ port: 80 }] });
    new ServiceExport(chart, 'export', { service, exportedLabels: { a: 'b' }, exportedAnnotations: { c: 'd' } });
  });
  expect(ofService).toMatchObject({
    metadata: { name: 'api', namespace: 'shop' },
    spec: { exportedLabels: { a: 'b' }, exportedAnnotations: { c: 'd' } },
  });
});

test('a ServiceExport with invalid props is refused with every reason at once', () => {
  expect(errorsOf(() => exportOf({ service: 'Web', namespace: 'a.b', exportedLabels: { a: 'b c' } }))).toEqual([
    'service: "Web" must be a valid Service name',
    'namespace: "a.b" must be a valid DNS label',
    'exportedLabels.a: "b c" must be a valid label value',
  ]);
});

const chart = () => new Chart(new App(), 'shop', { namespace: 'shop' });

const service = (scope: Construct, name: string) =>
  new ApiObject(scope, name, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }] },
  });

test('K1: a tree is exported by the MCS API, each Service once, also those that are added later, and has no label', () => {
  const shop = chart();
  const team = new Construct(shop, 'team');
  service(team, 'early');
  Exported.of(shop);
  Exported.of(team, { api: 'mcs', exportedLabels: { team: 'shop' } });
  service(team, 'late');
  service(shop, 'by-label');

  for (const objects of [shop.toJson(), shop.toJson()] as ApiJson[][]) {
    const exports = objects.filter(({ kind }) => kind === 'ServiceExport');
    expect(exports.map(({ metadata, spec }) => [metadata.name, metadata.namespace, spec])).toEqual([
      ['early', 'shop', { exportedLabels: { team: 'shop' } }],
      ['late', 'shop', { exportedLabels: { team: 'shop' } }],
    ]);
    const labelled = objects.filter(({ metadata }) => metadata.labels !== undefined);
    expect(labelled.map(({ metadata }) => metadata.name)).toEqual(['by-label']);
  }
});

test('options of the other API are refused', () => {
  expect(() => {
    const shop = chart();
    service(shop, 'web');
    Exported.of(shop, { api: 'mcs', mode: 'gateway' });
    shop.toJson();
  }).toThrow('mode: "gateway" may only be set if api is linkerd');
  expect(() => {
    const shop = chart();
    service(shop, 'web');
    Exported.of(shop, { exportedLabels: { a: 'b' } });
    shop.toJson();
  }).toThrow('exportedLabels: {"a":"b"} may only be set if api is mcs');
});

test('K2: a ClusterProperty says what a cluster is called; its id is one label of a DNS name', () => {
  const property = (name: string, value: string) =>
    render((chart) => {
      new ClusterProperty(chart, 'property', { name, value });
    });
  expect(property('cluster.clusterset.k8s.io', 'east')).toEqual([
    {
      apiVersion: 'about.k8s.io/v1beta1',
      kind: 'ClusterProperty',
      metadata: { name: 'cluster.clusterset.k8s.io' },
      spec: { value: 'east' },
    },
  ]);
  expect(property('example.com', 'a b')).toHaveLength(1);
  expect(errorsOf(() => property('cluster.clusterset.k8s.io', 'a.b'))).toEqual([
    'value: "a.b" must be a valid DNS label',
  ]);
  expect(errorsOf(() => property('a b', ''))).toEqual([
    'name: "a b" must be a valid DNS subdomain',
    'value: "" must have from 1 to 128000 characters',
  ]);
});

test('McsCrds renders the CRDs that linkspan crds --mcs prints', () => {
  const objects = render((chart) => {
    new McsCrds(chart, 'crds');
  });
  expect(objects).toEqual(mcsCrds);
});
