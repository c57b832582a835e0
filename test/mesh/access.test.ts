/**
 * Who may come through a gateway: the answers of Linkerd's real proxies, for each sort of client, export and protocol.
 * They are the tables of docs/mesh-tests.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Label, Value } from '../../crds/wire.ts';
import { eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { objectRef, service } from '../support/builders.ts';
import type { Batch, Protocol } from './messages.ts';
import type { MeshPod } from './pod.ts';
import { GATEWAYS, inShop, POD_PORT, PORT, served, type TwoMeshes, twoMeshes, untilAnswered } from './two-meshes.ts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs', 'mesh-tests.md');
const PROTOCOLS: readonly Protocol[] = ['http1', 'http2', 'grpc', 'tcp'];
const PROTOCOL_NAMES = { http1: 'HTTP/1', http2: 'HTTP/2', grpc: 'gRPC', tcp: 'opaque TCP' } as const;
const GATEWAY_PORT = 4143;

/** What is asked for: a name in the source, and the name that the gateway is asked for. */
interface Asked {
  readonly title: string;
  readonly mirror: string;
  readonly target: string;
  readonly ports: typeof PORT | typeof POD_PORT;
}

const ASKED: readonly Asked[] = [
  { title: 'exported', mirror: 'pub-west', target: 'pub', ports: PORT },
  { title: 'pod of an exported headless Service', mirror: 'one.set-west', target: 'one.set', ports: POD_PORT },
  { title: 'not exported', mirror: 'forged', target: 'hidden', ports: PORT },
];

let meshes: TwoMeshes;
let clients: readonly { readonly title: string; readonly pod: MeshPod; readonly meshed: boolean }[];
let one: MeshPod;

beforeAll(async () => {
  meshes = await twoMeshes();
  const { east, west } = meshes;
  const exported = { labels: { [Label.exported]: Value.true } };
  const pods = { selector: { app: 'target' } };
  await west.apply([
    service('pub', { ...exported, ...pods, ...served() }),
    service('hidden', { ...pods, ...served() }),
    service('set', { ...exported, ...pods, ...served(POD_PORT), headless: true }),
  ]);
  const [a, b, unmeshed, stranger, target] = await Promise.all([
    east.pod({ name: 'a' }),
    east.pod({ name: 'b' }),
    east.pod({ name: 'outsider', meshed: false }),
    east.pod({ name: 'stranger', stranger: true }),
    west.pod({ name: 'one', labels: { app: 'target' }, subdomain: 'set' }),
  ]);
  one = target;
  clients = [
    { title: 'a', pod: a, meshed: true },
    { title: 'b', pod: b, meshed: true },
    { title: 'of another trust domain', pod: stranger, meshed: true },
    { title: 'unmeshed', pod: unmeshed, meshed: false },
  ];
  await meshes.link();
  await forge();
  for (const { mirror, ports } of ASKED) {
    await untilAnswered(a, { protocol: 'http1', host: inShop(mirror), port: ports.http1 }, 'one');
  }
});

afterAll(async () => {
  await meshes.east.client.delete(service('forged'));
  for (const name of ['pub', 'hidden', 'set']) await meshes.west.client.delete(service(name));
  await Promise.all([...clients.map(({ pod }) => pod), one].map((pod) => pod.delete()));
});

/** What somebody who may write Services in the source can make: a mirror of what the target does not export. */
const forge = async (): Promise<void> => {
  const { client } = meshes.east;
  const read = (kind: string) =>
    client.get<KubeObject & { readonly subsets?: unknown }>(objectRef('v1', kind, 'pub-west', 'shop'));
  const mirror = await eventually('the mirror has endpoints', async () => {
    const found = await read('Endpoints');
    return found?.subsets === undefined ? undefined : found;
  });
  const of = (await read('Service'))!;
  const annotations = (each: KubeObject) =>
    Object.fromEntries(
      Object.entries(each.metadata.annotations ?? {}).map(([name, value]) => [
        name,
        value === inShop('pub') ? inShop('hidden') : value,
      ]),
    );
  const metadata = (each: KubeObject) => ({ name: 'forged', namespace: 'shop', annotations: annotations(each) });
  const forged: readonly object[] = [
    { ...service('forged', { ...served(), selector: null }), metadata: metadata(of) },
    { apiVersion: 'v1', kind: 'Endpoints', metadata: metadata(mirror), subsets: mirror.subsets },
  ];
  await meshes.east.apply(forged as readonly ObjectRef[]);
};

const batchOf = (meshed: boolean, { mirror, target, ports }: Asked, protocol: Protocol): Batch => {
  const port = ports[protocol];
  if (meshed) return { protocol, host: inShop(mirror), port, count: 3 };
  // No proxy finds the gateway for it: it dials the gateway, and asks for the name itself.
  return { protocol, host: GATEWAYS[0], port: GATEWAY_PORT, authority: `${inShop(target)}:${port}`, count: 3 };
};

/** Ends of a connection without an answer: which of them it is depends on who is faster. */
const BROKEN = ['ECONNRESET', 'EPIPE', 'closed'];

/** The answer that all requests of a batch had; several if they differ. */
const answer = async (pod: MeshPod, batch: Batch): Promise<string> => {
  const outcomes = Object.keys(await pod.requests(batch));
  const answers = outcomes.map((each) => (each === 'one' ? 'answered' : BROKEN.includes(each) ? 'closed' : each));
  return [...new Set(answers)].join(', ');
};

const measured = async (): Promise<readonly string[]> => {
  const rows: string[][] = [['asked for', 'by', ...clients.map(({ title }) => `client ${title}`)]];
  for (const asked of ASKED) {
    for (const protocol of PROTOCOLS) {
      const answers = clients.map(({ pod, meshed }) => answer(pod, batchOf(meshed, asked, protocol)));
      rows.push([asked.title, PROTOCOL_NAMES[protocol], ...(await Promise.all(answers))]);
    }
  }
  return rows.map((row) => row.join(' | '));
};

/** The rows of the table in docs under a title. */
const documented = (access: string): readonly string[] => {
  const [, section = ''] = readFileSync(DOCS, 'utf8').split(`<!-- gateway access: ${access} -->`);
  const lines = section
    .slice(0, section.indexOf('<!--'))
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return lines
    .filter((line) => !line.startsWith('| -'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
        .join(' | '),
    );
};

test("with the chart's policy, whoever is meshed reaches every Service of the target", async () => {
  expect(await measured()).toEqual(documented('open'));
});
