import { ApiObject, App, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { expect, test } from 'vitest';

import { Exported } from '../../../constructs/services/exported.ts';
import { Federated } from '../../../constructs/services/federated.ts';
import { Gateway } from '../../../constructs/gateway/gateway.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';

const FEDERATED = 'mirror.linkerd.io/federated';

const chart = () => new Chart(new App(), 'shop');

const service = (scope: Construct, name: string, labels: Record<string, string> = {}) =>
  new ApiObject(scope, name, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels },
    spec: { ports: [{ port: 80 }] },
  });

const labelsOf = (of: Chart): Readonly<Record<string, object | undefined>> =>
  Object.fromEntries(
    (of.toJson() as ApiJson[])
      .filter(({ kind }) => kind === 'Service')
      .map(({ metadata }) => [metadata.name, metadata.labels]),
  );

test('every Service of a tree is a member, also those that are added to it later, and none outside', () => {
  const shop = chart();
  const team = new Construct(shop, 'team');
  service(team, 'early');
  Federated.of(team);
  Federated.of(team);
  service(new Construct(team, 'deep'), 'late');
  service(shop, 'outside');

  expect(labelsOf(shop)).toEqual({
    early: { [FEDERATED]: 'member' },
    late: { [FEDERATED]: 'member' },
    outside: undefined,
  });
});

test('a Service may be exported and federated', () => {
  const shop = chart();
  const web = service(shop, 'web');
  Exported.of(web);
  Federated.of(web);

  expect(labelsOf(shop)).toEqual({ web: { 'mirror.linkerd.io/exported': 'true', [FEDERATED]: 'member' } });
});

test("a Service's own label holds, and neither mirrors nor the gateway are members", () => {
  const shop = chart();
  service(shop, 'own', { [FEDERATED]: 'no' });
  service(shop, 'web-west', { 'mirror.linkerd.io/mirrored-service': 'true' });
  new Gateway(shop, 'gateway');
  Federated.of(shop);

  const labels = labelsOf(shop);
  expect(labels['own']).toEqual({ [FEDERATED]: 'no' });
  expect(labels['web-west']).not.toHaveProperty([FEDERATED]);
  expect(labels['linkerd-gateway']).not.toHaveProperty([FEDERATED]);
});
