/**
 * Services over both clusters, through gateways: federated Services, routes of a ServiceFailover and imports, while
 * gateways are there and after they have died.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Label, Value } from '../../crds/wire.ts';
import { ServiceExport, ServiceFailover } from '../../constructs/index.ts';
import { render } from '../../constructs/rendered/render.ts';
import { eventually } from '../cluster/workload/index.ts';
import { service } from '../support/builders.ts';
import type { Batch, Outcomes, Protocol } from './messages.ts';
import type { MeshPod } from './pod.ts';
import { inShop, PORT, served, type TwoMeshes, twoMeshes, untilAnswered } from './two-meshes.ts';

/** Requests at a time: what can be in flight. */
const CONCURRENCY = 4;
const MEMBER = { labels: { [Label.federated]: Value.federatedMember } };
const EXPORT = { labels: { [Label.exported]: Value.true } };

let meshes: TwoMeshes;
let client: MeshPod;
let here: MeshPod;
let there: MeshPod;

beforeAll(async () => {
  meshes = await twoMeshes();
  const { east, west } = meshes;
  // One pod in each cluster is behind all Services.
  const one = { selector: { app: 'one' }, ...served() };
  await east.apply([service('fed', { ...one, ...MEMBER }), service('api', one)]);
  await west.apply([
    service('fed', { ...one, ...MEMBER }),
    service('api', { ...one, ...EXPORT }),
    service('cart', one),
    ...render((chart) => {
      new ServiceExport(chart, 'Export', { service: 'cart', namespace: 'shop' });
    }),
  ]);
  await east.apply(
    render((chart) => {
      const backends = [{ service: 'api', targetCluster: 'west' }, { service: 'api' }];
      new ServiceFailover(chart, 'Failover', { service: 'api', namespace: 'shop', backends, holdDown: '0s' });
    }),
  );
  [client, here, there] = await Promise.all([
    east.pod({ name: 'both' }),
    east.pod({ name: 'here', labels: { app: 'one' } }),
    west.pod({ name: 'there', labels: { app: 'one' } }),
  ]);
  await meshes.link();
});

afterEach(() => Promise.all(meshes.gateways.map((gateway) => gateway.revive())));

afterAll(async () => {
  for (const name of ['fed', 'api']) await meshes.east.client.delete(service(name));
  for (const name of ['fed', 'api', 'cart']) await meshes.west.client.delete(service(name));
  await Promise.all([client, here, there].map((pod) => pod.delete()));
});

const http = (host: string) => ({ protocol: 'http1', host, port: PORT.http1 }) as const;

/** Asks without a pause, and has both gateways die meanwhile. */
const whileGatewaysDie = async (batch: Omit<Batch, 'count'>): Promise<Outcomes> => {
  const before = (await there.served())['http1'] ?? 0;
  const asked = client.requests({ ...batch, count: 2_000, concurrency: CONCURRENCY, pauseMs: 2 });
  await eventually('there answers', async () => ((await there.served())['http1'] ?? 0) > before + 100);
  await Promise.all(meshes.gateways.map((gateway) => gateway.killProxy()));
  return asked;
};

const lost = ({ here = 0, there = 0 }: Outcomes): number => 2_000 - here - there;

test.each<Protocol>(['http1', 'grpc', 'tcp'])(
  'I5: a federated Service answers by %s from both clusters',
  async (protocol) => {
    const batch = { protocol, host: inShop('fed-federated'), port: PORT[protocol] };
    await untilAnswered(client, batch, 'there');
    await untilAnswered(client, batch, 'here');
    const {
      here = 0,
      there = 0,
      ...others
    } = await client.requests({ ...batch, count: 400, concurrency: CONCURRENCY });
    expect(others).toEqual({});
    expect(here + there).toBe(400);
  },
);

test('I5: gateways that die cost a federated Service at most the requests in flight', async () => {
  const batch = http(inShop('fed-federated'));
  await untilAnswered(client, batch, 'there');
  const outcomes = await whileGatewaysDie(batch);
  expect(lost(outcomes)).toBeLessThanOrEqual(CONCURRENCY);
  expect(await client.requests({ ...batch, count: 100 })).toEqual({ here: 100 });
});

test('J3: gateways that die cost a ServiceFailover two requests of a client at most, and requests come back', async () => {
  const batch = http(inShop('api'));
  await untilAnswered(client, batch, 'there');
  const outcomes = await whileGatewaysDie(batch);
  // One is in flight, and one is sent to the mirror before the route turns.
  expect(lost(outcomes)).toBeLessThanOrEqual(2 * CONCURRENCY);
  expect(await client.requests({ ...batch, count: 100 })).toEqual({ here: 100 });
  await Promise.all(meshes.gateways.map((gateway) => gateway.revive()));
  await untilAnswered(client, batch, 'there');
  expect(await client.requests({ ...batch, count: 100 })).toEqual({ there: 100 });
});

test.each<Protocol>(['http1', 'grpc'])(
  'K3: an import answers by %s at its name of the clusterset',
  async (protocol) => {
    const batch = { protocol, host: 'cart.shop.svc.clusterset.local', port: PORT[protocol] };
    await untilAnswered(client, batch, 'there');
    expect(await client.requests({ ...batch, count: 100 })).toEqual({ there: 100 });
  },
);
