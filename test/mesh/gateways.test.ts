/** What the end of a gateway costs, in requests of a client that sends them without a pause. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Label, Value } from '../../crds/wire.ts';
import { eventually } from '../cluster/workload/index.ts';
import { service } from '../support/builders.ts';
import type { MeshPod } from './pod.ts';
import type { Outcomes } from './messages.ts';
import { inShop, PORT, served, type TwoMeshes, twoMeshes, untilAnswered } from './two-meshes.ts';

/** Requests at a time: what can be in flight. */
const CONCURRENCY = 4;
const COUNT = 1_000;

let meshes: TwoMeshes;
let client: MeshPod;
let shop: MeshPod;

beforeAll(async () => {
  meshes = await twoMeshes();
  await meshes.west.apply([service('shop', { labels: { [Label.exported]: Value.true }, ...served() })]);
  [client, shop] = await Promise.all([meshes.east.pod({ name: 'buyer' }), meshes.west.pod({ name: 'shop' })]);
  await meshes.link();
  await untilAnswered(client, { protocol: 'http1', host: inShop('shop-west'), port: PORT.http1 }, 'shop');
});

afterAll(async () => {
  await meshes.west.client.delete(service('shop'));
  await Promise.all([client.delete(), shop.delete()]);
});

const lost = (outcomes: Outcomes): number => COUNT - (outcomes['shop'] ?? 0);

test.each([0, 1])('C1: the end of gateway %s of two costs at most the requests in flight', async (which) => {
  const gateway = meshes.gateways[which]!;
  const batch = { protocol: 'http1', host: inShop('shop-west'), port: PORT.http1 } as const;
  const asked = client.requests({ ...batch, count: COUNT, concurrency: CONCURRENCY, pauseMs: 2 });
  const before = (await shop.served())['http1'] ?? 0;
  await eventually('requests are answered', async () => ((await shop.served())['http1'] ?? 0) > before + 100);
  await gateway.killProxy();
  const outcomes = await asked;
  await gateway.revive();
  expect(lost(outcomes)).toBeLessThanOrEqual(CONCURRENCY);
});
