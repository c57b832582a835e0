/**
 * Who may come through a gateway: the answers of Linkerd's real proxies, for each sort of client, export and protocol.
 * They are the tables of docs/mesh-tests.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Annotation, Label, Value } from '../../crds/wire.ts';
import { eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { ACCESS_ROUTES } from '../../operator/access/objects.ts';
import { LINKS_NAMESPACE, objectRef, service } from '../support/builders.ts';
import { OperatorProcess } from '../support/operator-process.ts';
import { explainedAnswers, gatewayUses } from './commands.ts';
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
  { title: 'exported to all', mirror: 'pub-west', target: 'pub', ports: PORT },
  { title: 'exported to client a', mirror: 'own-west', target: 'own', ports: PORT },
  { title: 'exported, no annotation', mirror: 'bare-west', target: 'bare', ports: PORT },
  { title: 'pod of a headless Service', mirror: 'one.set-west', target: 'one.set', ports: POD_PORT },
  { title: 'not exported', mirror: 'forged', target: 'hidden', ports: PORT },
];

const PODS = { selector: { app: 'target' } };

/** A Service that is exported, to whom it names. */
const exported = (
  name: string,
  named?: string,
  options: Partial<ReturnType<typeof served>> & { readonly headless?: boolean } = served(),
) =>
  service(name, {
    ...PODS,
    ...options,
    labels: { [Label.exported]: Value.true },
    annotations: { ...options.annotations, ...(named !== undefined && { [Annotation.clients]: named }) },
  });

let meshes: TwoMeshes;
let operator: OperatorProcess | undefined;
let clients: readonly { readonly title: string; readonly pod: MeshPod; readonly meshed: boolean }[];
let one: MeshPod;

beforeAll(async () => {
  meshes = await twoMeshes();
  const { east, west } = meshes;
  await west.apply([
    exported('pub', '*'),
    exported('own', 'shop/a'),
    exported('bare'),
    service('hidden', { ...PODS, ...served() }),
    exported('set', 'shop/a, shop/stranger@other.example', { ...served(POD_PORT), headless: true }),
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
  await operator?.stop();
  await meshes.east.client.delete(service('forged'));
  for (const name of ['pub', 'own', 'bare', 'hidden', 'set']) await meshes.west.client.delete(service(name));
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

test("M1: with the chart's policy, whoever is meshed reaches every Service of the target", async () => {
  expect(await measured()).toEqual(documented('open'));
  expect(await explained()).toEqual(answered('open'));
});

/** Clients as exports name them, in the order of the tables. */
const NAMED = ['shop/a', 'shop/b', 'shop/stranger@other.example'] as const;
/** How the tables call what our commands call otherwise. */
const IN_WORDS: Readonly<Record<string, string>> = { admitted: 'answered', 'grpc 7': '403', 'grpc 5': '404' };

/** The rows that a command says for meshed clients. */
const said = async (says: (asked: Asked, protocol: Protocol, client: string) => Promise<string | undefined>) => {
  const rows: string[] = [];
  for (const asked of ASKED) {
    for (const protocol of PROTOCOLS) {
      const cells = await Promise.all(NAMED.map((client) => says(asked, protocol, client)));
      const words = cells.map((cell = 'nothing') => IN_WORDS[cell] ?? cell);
      rows.push([asked.title, PROTOCOL_NAMES[protocol], ...words].join(' | '));
    }
  }
  return rows;
};

/** The same rows of the table in docs. */
const answered = (access: string): readonly string[] =>
  documented(access)
    .slice(1)
    .map((row) => row.split(' | ').slice(0, 2 + NAMED.length))
    .map((cells) => cells.map((cell) => IN_WORDS[cell] ?? cell).join(' | '));

/** What `linkspan explain --as` says by the policy that there is. */
const explained = async (): Promise<readonly string[]> => {
  const answers = new Map<string, ReadonlyMap<number, string>>();
  for (const { target } of ASKED) {
    const name = target.replace('one.', '');
    for (const client of NAMED) answers.set(`${target} ${client}`, await explainedAnswers(meshes, name, client));
  }
  return said(({ target, ports }, protocol, client) =>
    Promise.resolve(answers.get(`${target} ${client}`)?.get(ports[protocol])),
  );
};

test('M7: of all that proxies count while the gateway is open, check says how they answer when it is closed', async () => {
  const uses = await gatewayUses(meshes);
  const forecast = (access: 'exported' | 'clients') =>
    said(({ target, ports }, protocol, client) => {
      const asked = { client, host: inShop(target), port: ports[protocol], opaque: protocol === 'tcp' };
      const found = uses.find((use) => Object.entries(asked).every(([name, is]) => use[name as 'port'] === is));
      return Promise.resolve(found?.[access]);
    });
  expect(await forecast('exported')).toEqual(answered('exported'));
  expect(await forecast('clients')).toEqual(answered('clients'));
});

/** Runs the operator of the target with these settings, until it says that the policy of the gateway is so. */
const govern = async (state: 'closed' | 'not-opened', ...flags: readonly string[]): Promise<void> => {
  await operator?.stop();
  operator = new OperatorProcess({
    flags: [`--kubeconfig=${meshes.west.cluster.kubeconfigFile}`, ...flags],
    env: { POD_IPS: '10.2.0.1' },
  });
  await untilGateway(operator, state);
};

const untilGateway = async (running: OperatorProcess, state: string): Promise<void> => {
  try {
    await eventually(
      `the gateway is ${state}`,
      async () => (await running.metric('linkspan_gateway_access_state', { state })) === 1,
    );
  } catch (error) {
    throw new Error(`the operator says:\n${running.log().slice(-20).join('\n')}`, { cause: error });
  }
};

/** Waits until both gateways answer a client so: they hear of a policy a moment after it was written. */
const untilAll = async (client: string, host: string, expected: string): Promise<void> => {
  const batch = { protocol: 'http1', host: inShop(host), port: PORT.http1, count: 20 } as const;
  await eventually(
    `all requests of ${client} to ${host} end in ${expected}`,
    async () => (await podOf(client).requests(batch))[expected] === 20,
  );
};

const podOf = (title: string): MeshPod => clients.find((each) => each.title === title)!.pod;

/** The names of all HTTPRoutes in the namespace of the gateway. */
const routes = async (): Promise<readonly string[]> => {
  const { group, version, plural } = ACCESS_ROUTES;
  const path = `/apis/${group}/${version}/namespaces/${LINKS_NAMESPACE}/${plural}`;
  const { body } = await meshes.west.client.request<{ readonly items: readonly KubeObject[] }>('GET', path);
  return body.items.map(({ metadata }) => metadata.name);
};

/** Requests of client a to an export until something has happened, at most 8,000: how they ended, and how many they were. */
const during = async (protocol: Protocol, happens: Promise<void>) => {
  let isOver = false;
  const end = (): void => void (isOver = true);
  happens.then(end, end);
  const outcomes = new Set<string>();
  let sent = 0;
  const batch = { protocol, host: inShop('pub-west'), port: PORT[protocol], count: 40, concurrency: 2, pauseMs: 5 };
  for (; sent < 8_000 && !isOver; sent += batch.count) {
    for (const outcome of Object.keys(await podOf('a').requests(batch))) outcomes.add(outcome);
  }
  return { outcomes: [...outcomes], sent };
};

test('M4: no request to an export is refused while the gateway closes to what is not exported', async () => {
  const change = govern('closed', '--gateway-access=exported', '--gateway-tcp=none').then(() =>
    untilAll('b', 'forged', '404'),
  );
  const protocols = ['http1', 'http2', 'grpc'] as const;
  const [, ...ends] = await Promise.all([change, ...protocols.map((protocol) => during(protocol, change))]);
  for (const { outcomes, sent } of ends) {
    expect(outcomes).toEqual(['one']);
    expect(sent).toBeGreaterThan(100);
  }
});

test('M2: with exported, whoever is meshed reaches an export that names no clients', async () => {
  expect(await measured()).toEqual(documented('exported'));
  expect(await explained()).toEqual(answered('exported'));
});

test('M2, M3: with clients, those whom an export names reach it, and nobody else does', async () => {
  await govern('closed', '--gateway-access=clients', '--gateway-tcp=none');
  await untilAll('a', 'bare-west', '404');
  expect(await measured()).toEqual(documented('clients'));
  expect(await explained()).toEqual(answered('clients'));
});

test('M3: a client that an export names no more is refused, and one that it names is answered', async () => {
  await untilAll('a', 'own-west', 'one');
  await meshes.west.apply([exported('own', 'shop/b')]);
  await untilAll('a', 'own-west', '403');
  await untilAll('b', 'own-west', 'one');
  await meshes.west.apply([exported('own', 'shop/a')]);
  await untilAll('b', 'own-west', '403');
  await untilAll('a', 'own-west', 'one');
});

test('M5: with gatewayTcp clients, a client of one opaque export opens connections to every Service', async () => {
  await meshes.west.apply([exported('pub', 'shop/a')]);
  await govern('closed', '--gateway-access=clients', '--gateway-tcp=clients');
  await untilAll('of another trust domain', 'own-west', 'one');
  expect(await measured()).toEqual(documented('clients, gatewayTcp clients'));
  expect(await explained()).toEqual(answered('clients, gatewayTcp clients'));
});

test('M2: a gateway that is closed stays so until the policy for everyone is there, and nothing is left then', async () => {
  await govern('not-opened', '--gateway-access=open');
  await untilAll('b', 'forged', '404');
  await meshes.openGateways();
  await untilGateway(operator!, 'open');
  await untilAll('b', 'forged', 'one');
  expect(await routes()).toEqual([]);
});
