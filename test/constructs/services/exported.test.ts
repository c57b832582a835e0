import { ApiObject, App, Chart } from 'cdk8s';
import { Deployment, Service } from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { expect, test } from 'vitest';

import { Exported } from '../../../constructs/services/exported.ts';
import { Gateway } from '../../../constructs/gateway/gateway.ts';
import { MirrorService } from '../../../constructs/rendered/mirror/mirror-service.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { readClients } from '../../../crds/clients.ts';
import { errorsOf } from '../errors-of.ts';

const EXPORTED = 'mirror.linkerd.io/exported';

const chart = () => new Chart(new App(), 'shop');

const service = (scope: Construct, name: string, labels: Record<string, string> = {}) =>
  new ApiObject(scope, name, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels },
    spec: { ports: [{ port: 80 }] },
  });

/** By name of the Service, the value of its label. */
const exportsOf = (of: Chart): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    (of.toJson() as ApiJson[])
      .filter(({ kind }) => kind === 'Service')
      .map(({ metadata }) => [metadata.name, metadata.labels?.[EXPORTED]]),
  );

test('a Service of cdk8s-plus is exported, and what it selects is not touched', () => {
  const shop = chart();
  const web = new Deployment(shop, 'web', { containers: [{ image: 'nginx', portNumber: 80 }] });
  Exported.of(new Service(shop, 'service', { metadata: { name: 'web' }, selector: web, ports: [{ port: 80 }] }));

  expect(exportsOf(shop)).toEqual({ web: 'true' });
  const deployment = (shop.toJson() as ApiJson[]).find(({ kind }) => kind === 'Deployment')!;
  expect(JSON.stringify(deployment)).not.toContain(EXPORTED);
});

test('objects of the user that have one name are theirs to judge, as without an export', () => {
  const shop = chart();
  for (const id of ['one', 'other'])
    new ApiObject(shop, id, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'same' } });
  service(shop, 'web');
  Exported.of(shop);
  expect(shop.node.findAll().flatMap(({ node }) => node.validate())).toEqual([]);
  expect(exportsOf(shop)).toEqual({ web: 'true' });
});

test('every Service of a tree is exported, also those that are added to it later', () => {
  const shop = chart();
  const team = new Construct(shop, 'team');
  service(team, 'early');
  Exported.of(team);
  service(new Construct(team, 'deep'), 'late');
  service(shop, 'outside');

  expect(exportsOf(shop)).toEqual({ early: 'true', late: 'true', outside: undefined });
});

test('the nearer of two exports holds, in whichever order they are said', () => {
  const shop = chart();
  const team = new Construct(shop, 'team');
  const flat = service(team, 'flat');
  service(team, 'plain');
  Exported.of(flat, { mode: 'remote-discovery' });
  Exported.of(team);

  expect(exportsOf(shop)).toEqual({ flat: 'remote-discovery', plain: 'true' });
});

test('said twice of one construct, the last holds', () => {
  const shop = chart();
  service(shop, 'web');
  Exported.of(shop);
  Exported.of(shop, { mode: 'remote-discovery' });

  expect(exportsOf(shop)).toEqual({ web: 'remote-discovery' });
  expect(exportsOf(shop)).toEqual({ web: 'remote-discovery' });
});

test('what a Service says by itself holds', () => {
  const shop = chart();
  service(shop, 'kept', { [EXPORTED]: 'false' });
  Exported.of(shop);

  expect(exportsOf(shop)).toEqual({ kept: 'false' });
});

test('A4: mirrors and the gateway are never exported', () => {
  const shop = chart();
  new MirrorService(shop, 'mirror', {
    service: 'web',
    namespace: 'shop',
    targetCluster: 'west',
    ports: [{ port: 80 }],
  });
  new Gateway(shop, 'gateway');
  service(shop, 'web');
  Exported.of(shop);

  expect(exportsOf(shop)).toEqual({ web: 'true', 'web-west': undefined, 'linkerd-gateway': undefined });
});

test('M3: clients are refused that are more than the operator reads of the annotation', () => {
  const clients = (count: number, length: number) =>
    Array.from({ length: count }, (_, at) => ({ namespace: 'shop', serviceAccount: `${at + 10}`.padEnd(length, 'a') }));
  const exportedTo = (count: number, length: number) => {
    const web = service(chart(), 'web');
    Exported.of(web, { clients: clients(count, length) });
    return web;
  };
  const [object] = Chart.of(exportedTo(64, 122)).toJson() as ApiJson[];
  expect(readClients(object!.metadata.annotations!['linkspan.dev/clients']!).ok).toBe(true);

  const tooLong = 'clients: must have at most 8192 characters as an annotation';
  expect(errorsOf(() => exportedTo(64, 123))).toEqual([tooLong]);
  expect(errorsOf(() => exportedTo(65, 123))).toEqual(['clients: must have at most 64 items']);
});
