/**
 * Many exports in `clients`, on Linkerd's real proxies: `MESH_EXPORTS=1000 npm run test:mesh`. It prints how many objects the
 * policy takes, how long a client waits until it is let in and until it is refused, and what the policy costs a request.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Annotation, Label, Value } from '../../crds/wire.ts';
import { ACCESS_ROUTES, AUTHENTICATIONS, AUTHORIZATIONS } from '../../operator/access/objects.ts';
import type { Resource } from '../../operator/kube/objects.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { concurrently } from '../support/concurrently.ts';
import { LINKS_NAMESPACE, service } from '../support/builders.ts';
import { OperatorProcess } from '../support/operator-process.ts';
import type { Latency } from './messages.ts';
import type { MeshPod } from './pod.ts';
import { inShop, PORT, served, type TwoMeshes, twoMeshes, untilAnswered } from './two-meshes.ts';

const EXPORTS = Number(process.env['MESH_EXPORTS']);
/** Sets of clients that the exports are divided among. */
const SETS = 20;
const CHANGES = 20;
const REQUESTS = 2_000;
/** Times that the gateway is measured open, and closed: what changes on the machine meanwhile is in both. */
const ROUNDS = 7;
/** Longest wait for a change to come through: more is a failure, less is a number to look at. */
const CHANGE_MS = 30_000;

const exported = (name: string, clients: string) =>
  service(name, {
    selector: { app: 'target' },
    ...served(),
    labels: { [Label.exported]: Value.true },
    annotations: { ...served().annotations, [Annotation.clients]: clients },
  });

let meshes: TwoMeshes;
let operator: OperatorProcess | undefined;
let a: MeshPod;

beforeAll(async () => {
  meshes = await twoMeshes();
  const { east, west } = meshes;
  await west.apply([exported('own', 'shop/a')]);
  [a] = await Promise.all([east.pod({ name: 'a' }), west.pod({ name: 'one', labels: { app: 'target' } })]);
  await meshes.link();
  const numbers = Array.from({ length: EXPORTS - 1 }, (_, at) => at);
  await concurrently(numbers, 16, (at) => west.apply([exported(`web-${at}`, `shop/a, shop/c${at % SETS}`)]));
  await untilAnswered(a, { protocol: 'http1', host: inShop('own-west'), port: PORT.http1 }, 'one');
  const last = inShop(`web-${EXPORTS - 2}-west`);
  await untilAnswered(a, { protocol: 'http1', host: last, port: PORT.http1 }, 'one');
}, 300_000);

afterAll(() => operator?.stop());

/** How long Linkerd's controllers and proxies have to take up what was written, before requests are measured. */
const REST_MS = 15_000;

/** Latency of requests one after the other, once nothing is written any more and the proxies are warm. */
const measure = async (): Promise<Latency> => {
  await sleep(REST_MS);
  const batch = { protocol: 'http1', host: inShop('own-west'), port: PORT.http1 } as const;
  await a.requests({ ...batch, count: 500 });
  return a.latency({ ...batch, count: REQUESTS });
};

/** Runs the operator of the target with these settings until the gateway is so; returns how long that takes. */
const govern = async (state: 'open' | 'closed'): Promise<number> => {
  await operator?.stop();
  if (state === 'open') await meshes.openGateways();
  const began = performance.now();
  const running = (operator = new OperatorProcess({
    flags: [
      `--kubeconfig=${meshes.west.cluster.kubeconfigFile}`,
      `--gateway-access=${state === 'open' ? 'open' : 'clients'}`,
    ],
    env: { POD_IPS: '10.2.0.1' },
  }));
  const is = async () => (await running.metric('linkspan_gateway_access_state', { state })) === 1;
  await eventually(`the gateway is ${state}`, is, 120_000);
  return performance.now() - began;
};

const count = async ({ group, version, plural }: Resource): Promise<number> => {
  const path = `/apis/${group}/${version}/namespaces/${LINKS_NAMESPACE}/${plural}`;
  const { body } = await meshes.west.client.request<{ readonly items: readonly KubeObject[] }>('GET', path);
  return body.items.filter(({ metadata }) => metadata.labels?.[Label.gatewayAccess] !== undefined).length;
};

/** How long it takes, from the moment that an export is written, until all requests of client a end so. */
const untilAll = async (clients: string, expected: string): Promise<number> => {
  const batch = { protocol: 'http1', host: inShop('own-west'), port: PORT.http1, count: 8, concurrency: 2 } as const;
  const began = performance.now();
  await meshes.west.apply([exported('own', clients)]);
  while ((await a.requests(batch))[expected] !== batch.count) {
    if (performance.now() - began > CHANGE_MS) throw new Error(`not ${expected} after ${CHANGE_MS / 1_000} s`);
  }
  return performance.now() - began;
};

const summary = (all: readonly number[]): string => {
  const sorted = [...all].sort((one, other) => one - other).map(Math.round);
  return `median ${sorted[Math.floor(sorted.length / 2)]} ms, most ${sorted.at(-1)} ms of ${sorted.length}`;
};

const median = (all: readonly number[]): number => [...all].sort((one, other) => one - other)[all.length >> 1] ?? NaN;

/** Medians of the rounds, and by how much what is closed takes longer than what is open. */
const compared = (name: keyof Latency, open: readonly Latency[], closed: readonly Latency[]): string => {
  const [before, after] = [open, closed].map((all) => median(all.map((each) => each[name]))) as [number, number];
  const percent = (100 * after) / before - 100;
  return `${before.toFixed(3)} ms open, ${after.toFixed(3)} ms closed (${percent < 0 ? '' : '+'}${percent.toFixed(1)} %)`;
};

test(`M4: ${EXPORTS} exports, each to whom it names`, { timeout: 900_000 }, async () => {
  const [open, closed, closingMs, openingMs]: [Latency[], Latency[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round > 0) openingMs.push(await govern('open'));
    open.push(await measure());
    closingMs.push(await govern('closed'));
    closed.push(await measure());
  }
  expect(await operator?.metric('linkspan_gateway_access_exports', { admitted: 'true' })).toBe(EXPORTS);
  const objects = await Promise.all([ACCESS_ROUTES, AUTHORIZATIONS, AUTHENTICATIONS].map(count));
  const admitted: number[] = [];
  const refused: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    refused.push(await untilAll('shop/b', '403'));
    admitted.push(await untilAll('shop/a', 'one'));
  }
  const seconds = (all: readonly number[]): string => (median(all) / 1_000).toFixed(1);
  console.log(
    [
      `${EXPORTS} exports in ${SETS} sets of clients: ${objects[0]} routes, ${objects[1]} policies, ${objects[2]} authentications`,
      `closed ${seconds(closingMs)} s after the operator was started, open again after ${seconds(openingMs)} s`,
      `from export to admitted: ${summary(admitted)}`,
      `from revocation to refused: ${summary(refused)}`,
      `latency, p50 of ${REQUESTS} requests, median of ${ROUNDS} rounds: ${compared('p50Ms', open, closed)}`,
      `latency, p99: ${compared('p99Ms', open, closed)}`,
    ].join('\n'),
  );
});
