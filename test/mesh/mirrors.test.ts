/** Requests through mirrors in gateway mode, by Linkerd's own proxies. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Label, Value } from '../../crds/wire.ts';
import { service } from '../support/builders.ts';
import { AppPort, type Protocol } from './messages.ts';
import type { MeshPod } from './pod.ts';
import { inShop, POD_PORT, PORT, served, type TwoMeshes, twoMeshes, untilAnswered } from './two-meshes.ts';

const EXPORT = { labels: { [Label.exported]: Value.true } };

let meshes: TwoMeshes;
let client: MeshPod;
let unmeshed: MeshPod;
let web: MeshPod;
let pods: readonly MeshPod[];

beforeAll(async () => {
  meshes = await twoMeshes();
  const { east, west } = meshes;
  await west.apply([
    service('web', { ...EXPORT, ...served() }),
    service('nginx-svc', { ...EXPORT, ...served(POD_PORT), headless: true, selector: { app: 'nginx' } }),
  ]);
  const ofSet = (name: string) => west.pod({ name, labels: { app: 'nginx' }, subdomain: 'nginx-svc' });
  [client, unmeshed, web, ...pods] = await Promise.all([
    east.pod({ name: 'client' }),
    east.pod({ name: 'unmeshed', meshed: false }),
    west.pod({ name: 'web' }),
    ofSet('nginx-set-0'),
    ofSet('nginx-set-1'),
  ]);
  await meshes.link();
  await untilAnswered(client, { protocol: 'http1', host: inShop('web-west'), port: PORT.http1 }, 'web');
  for (const { name } of pods) {
    const host = inShop(`${name}.nginx-svc-west`);
    await untilAnswered(client, { protocol: 'http1', host, port: POD_PORT.http1 }, name);
  }
});

afterAll(async () => {
  for (const name of ['web', 'nginx-svc']) await meshes.west.client.delete(service(name));
  await Promise.all([client, unmeshed, web, ...pods].map((pod) => pod.delete()));
});

test.each<Protocol>(['http1', 'http2', 'grpc', 'tcp'])(
  'C1: 100 requests of a meshed client by %s all reach a pod of the target',
  async (protocol) => {
    const before = (await web.served())[protocol] ?? 0;
    const batch = { protocol, host: inShop('web-west'), port: PORT[protocol], count: 100, concurrency: 4 };
    expect(await client.requests(batch)).toEqual({ web: 100 });
    expect((await web.served())[protocol]).toBe(before + 100);
  },
);

test.each(['nginx-set-0', 'nginx-set-1'])(
  'D1: requests to %s by its name reach this pod and no other',
  async (name) => {
    for (const protocol of ['http1', 'grpc', 'tcp'] as const) {
      const batch = { protocol, host: inShop(`${name}.nginx-svc-west`), port: POD_PORT[protocol], count: 50 };
      expect(await client.requests(batch)).toEqual({ [name]: 50 });
    }
  },
);

test('there is no way to the target but its gateways', async () => {
  const asked = { protocol: 'http1', port: AppPort.http1, count: 1 } as const;
  const outcomes = await unmeshed.requests({ ...asked, host: web.network.address });
  expect(outcomes).not.toHaveProperty('web');
});
