import { createSocket, type Socket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { candidatesFor, Names, searchRules } from '../../../operator/kube/names.ts';
import { eventually } from '../../cluster/workload/eventually.ts';

/** What the DNS server answers about a name: its IPv4 addresses, an error code of DNS, or nothing at all. */
type Answer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';
/** What it answers about each family. */
type Answers = { readonly A: Answer; readonly AAAA: Answer };

const CODES = { NXDOMAIN: 3, SERVFAIL: 2 } as const;

let socket: Socket;
let folder: string;
let answers: Record<string, Answer | Answers>;
/** The names that were asked for, each once for each family. */
let asked: string[];

/** The name and the type of the one question in a query. */
function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0) {
    const length = query[at]!;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(query: Buffer): Buffer | undefined {
  const { name, type, end } = questionOf(query);
  asked.push(`${name} ${type === 1 ? 'A' : 'AAAA'}`);
  const both = answers[name] ?? 'NXDOMAIN';
  const answer = typeof both === 'object' && 'A' in both ? both[type === 1 ? 'A' : 'AAAA'] : both;
  if (answer === 'silence') return undefined;
  const addresses = typeof answer === 'string' || type !== 1 ? [] : answer;
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? CODES[answer] : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((ip) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...ip.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}

beforeEach(async () => {
  answers = {};
  asked = [];
  socket = createSocket('udp4', (query, from) => {
    const answer = answerTo(query);
    if (answer !== undefined) socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'names-'));
});
afterEach(async () => {
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  await rm(folder, { recursive: true });
});

async function names({ hosts = '', config = '' } = {}): Promise<Names> {
  const [hostsFile, configFile] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
  await Promise.all([writeFile(hostsFile, hosts), writeFile(configFile, config)]);
  return new Names({ hostsFile, configFile, servers: [`127.0.0.1:${socket.address().port}`] });
}
const until = () => AbortSignal.timeout(30_000);

describe('names', () => {
  it('are asked of DNS, with all addresses', async () => {
    answers = { 'gw.example.com': ['203.0.113.1', '203.0.113.2'] };
    expect((await (await names()).resolve('GW.example.com', until())).addresses).toEqual([
      '203.0.113.1',
      '203.0.113.2',
    ]);
  });

  it('are looked for in the hosts file first, and then DNS is not asked', async () => {
    const found = await names({ hosts: '# mine\n203.0.113.9 other gw.Example.com # it\n::5 gw.example.com\n' });
    expect((await found.resolve('gw.example.com', until())).addresses).toEqual(['203.0.113.9', '::5']);
    expect((await found.resolve('localhost', until())).addresses).toEqual(['127.0.0.1', '::1']);
    expect((await found.resolve('2001:db8::1', until())).addresses).toEqual(['2001:db8::1']);
    expect(asked).toEqual([]);
  });

  it('are completed by the search list of a pod', async () => {
    answers = { 'gw.example.com': ['203.0.113.1'], 'web.shop.svc.cluster.local': ['10.96.0.1'] };
    const pod = await names({ config: 'search shop.svc.cluster.local svc.cluster.local\noptions ndots:5\n' });
    expect((await pod.resolve('gw.example.com', until())).addresses).toEqual(['203.0.113.1']);
    expect([...new Set(asked.map((each) => each.split(' ')[0]))]).toEqual([
      'gw.example.com.shop.svc.cluster.local',
      'gw.example.com.svc.cluster.local',
      'gw.example.com',
    ]);
    expect((await pod.resolve('web', until())).addresses).toEqual(['10.96.0.1']);
  });

  it('that do not exist are told from those that cannot be asked for', async () => {
    answers = { 'broken.example': 'SERVFAIL', 'empty.example': [] };
    const found = await names();
    await expect(found.resolve('none.example', until())).rejects.toThrow('the name is not found in DNS');
    await expect(found.resolve('empty.example', until())).rejects.toThrow('the name is not found in DNS');
    await expect(found.resolve('broken.example', until())).rejects.toThrow('DNS answers ESERVFAIL');
  });

  it('L127 say which family is not known if DNS answers about the other alone (C2)', async () => {
    answers = {
      'half.example': { A: ['203.0.113.1'], AAAA: 'SERVFAIL' },
      'four.example': { A: ['203.0.113.1'], AAAA: [] },
    };
    const found = await names();
    expect(await found.resolve('half.example', until())).toEqual({
      addresses: ['203.0.113.1'],
      unanswered: { family: 'IPv6', reason: 'DNS answers ESERVFAIL' },
    });
    expect(await found.resolve('four.example', until())).toEqual({ addresses: ['203.0.113.1'] });
  });

  it('L49 that are not answered delay no other, however many they are', async () => {
    const dead = Array.from({ length: 50 }, (_, n) => `gw-${n}.example`);
    answers = { ...Object.fromEntries(dead.map((name) => [name, 'silence'])), 'well.example': ['203.0.113.1'] };
    const found = await names();
    const stop = new AbortController();
    const waiting = dead.map((name) => found.resolve(name, stop.signal).catch((error: unknown) => error));
    await eventually('all are asked for', async () => dead.every((name) => asked.includes(`${name} A`)));
    let others = 0;
    void Promise.race(waiting).then(() => (others += 1));
    expect((await found.resolve('well.example', until())).addresses).toEqual(['203.0.113.1']);
    expect(others).toBe(0);
    const reason = new Error('no longer wanted');
    stop.abort(reason);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([reason]));
  });

  it('are asked for once by all who ask at the same time, also when the first gives up', async () => {
    answers = { 'gw.example': 'silence' };
    const found = await names();
    const first = new AbortController();
    const gaveUp = found.resolve('gw.example', first.signal).catch(() => 'gave up');
    const second = found.resolve('gw.example', until());
    await eventually('it is asked for', async () => asked.length === 2);
    first.abort();
    expect(await gaveUp).toBe('gave up');
    answers = { 'gw.example': ['203.0.113.1'] };
    expect((await second).addresses).toEqual(['203.0.113.1']);
    expect(asked.filter((each) => each === 'gw.example A')).toHaveLength(2);
  });

  it('are asked for anew when all have given up', async () => {
    answers = { 'gw.example': 'silence' };
    const found = await names();
    const stop = new AbortController();
    const gaveUp = found.resolve('gw.example', stop.signal).catch(() => 'gave up');
    await eventually('it is asked for', async () => asked.length === 2);
    stop.abort();
    expect(await gaveUp).toBe('gave up');
    answers = { 'gw.example': ['203.0.113.1'] };
    expect((await found.resolve('gw.example', until())).addresses).toEqual(['203.0.113.1']);
    await expect(found.resolve('gw.example', stop.signal)).rejects.toThrow();
  });
});

describe('the search list', () => {
  test.each([
    ['', { search: [], ndots: 1 }],
    ['nameserver 10.0.0.10\nsearch a.b c.d.\noptions ndots:5 edns0\n', { search: ['a.b', 'c.d'], ndots: 5 }],
    ['domain x.y\n# search z\nsearch .\n', { search: [], ndots: 1 }],
  ])('is read from %j', (text, expected) => expect(searchRules(text)).toEqual(expected));

  test.each([
    ['web', 2, ['web.a', 'web.b', 'web']],
    ['web.shop', 2, ['web.shop.a', 'web.shop.b', 'web.shop']],
    ['web.shop.svc', 2, ['web.shop.svc', 'web.shop.svc.a', 'web.shop.svc.b']],
    ['web.', 2, ['web']],
  ])('completes %s with %i dots', (host, ndots, expected) => {
    expect(candidatesFor(host, { search: ['a', 'b'], ndots })).toEqual(expected);
  });
});
