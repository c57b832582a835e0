/** Flat mode: proxies connect from pod to pod over a network that both clusters share, and no gateway is needed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Label, Value } from '../../crds/wire.ts';
import { service } from '../support/builders.ts';
import type { Protocol } from './messages.ts';
import { joinNetworks } from './network.ts';
import type { MeshPod } from './pod.ts';
import { inShop, PORT, served, type TwoMeshes, twoMeshes, untilAnswered } from './two-meshes.ts';

let meshes: TwoMeshes;
let client: MeshPod;
let here: MeshPod;
let there: MeshPod;

beforeAll(async () => {
  meshes = await twoMeshes();
  const { east, west } = meshes;
  const one = { selector: { app: 'level' }, ...served() };
  const member = { labels: { [Label.federated]: Value.federatedMember } };
  await east.apply([service('plain', { ...one, ...member })]);
  await west.apply([
    service('plain', { ...one, ...member }),
    service('level', { ...one, labels: { [Label.exported]: Value.remoteDiscovery } }),
  ]);
  [client, here, there] = await Promise.all([
    east.pod({ name: 'walker' }),
    east.pod({ name: 'here', labels: { app: 'level' } }),
    west.pod({ name: 'there', labels: { app: 'level' } }),
  ]);
  await joinNetworks(true);
  await meshes.link({ federation: 'flat' });
  await Promise.all(meshes.gateways.map((gateway) => gateway.killProxy()));
});

afterAll(async () => {
  await joinNetworks(false);
  await meshes.east.client.delete(service('plain'));
  for (const name of ['plain', 'level']) await meshes.west.client.delete(service(name));
  await Promise.all([client, here, there].map((pod) => pod.delete()));
  await Promise.all(meshes.gateways.map((gateway) => gateway.revive()));
  await meshes.link();
});

test.each<Protocol>(['http1', 'grpc', 'tcp'])('a flat mirror answers by %s without any gateway', async (protocol) => {
  const batch = { protocol, host: inShop('level-west'), port: PORT[protocol] };
  await untilAnswered(client, batch, 'there');
  expect(await client.requests({ ...batch, count: 100 })).toEqual({ there: 100 });
});

test('I4: a flat federated Service answers from both clusters without any gateway', async () => {
  const batch = { protocol: 'http1', host: inShop('plain-federated'), port: PORT.http1 } as const;
  await untilAnswered(client, batch, 'there');
  await untilAnswered(client, batch, 'here');
  const {
    here: local = 0,
    there: remote = 0,
    ...others
  } = await client.requests({ ...batch, count: 400, concurrency: 8 });
  expect(others).toEqual({});
  expect(local + remote).toBe(400);
});
