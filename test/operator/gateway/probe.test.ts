import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { probeGateway, type ProbeOptions } from '../../../operator/gateway/probe.ts';
import { machineNetwork } from '../../../operator/kube/network.ts';
import { eventually } from '../../cluster/workload/eventually.ts';

/** What the gateway answers; `hang` does not. */
type Answer = number | 'hang' | 'drop';

let server: Server;
let answers: Answer[];
let requests: { readonly path: string | undefined; readonly host: string | undefined }[];
let sockets: Set<Socket>;
const running: AbortController[] = [];

beforeEach(async () => {
  answers = [200];
  requests = [];
  sockets = new Set();
  server = createServer((request, response) => {
    requests.push({ path: request.url, host: request.headers.host });
    sockets.add(request.socket);
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
    if (answer === 'drop') request.socket.destroy();
    else if (answer !== 'hang') response.writeHead(answer).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  for (const stop of running.splice(0)) stop.abort();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function probing(settings: Partial<ProbeOptions['settings']> = {}, hosts: readonly string[] = ['probe-west.ns.svc']) {
  const { port } = server.address() as AddressInfo;
  const verdicts: { readonly alive: boolean; readonly message: string }[] = [];
  const probes: boolean[] = [];
  const stop = new AbortController();
  running.push(stop);
  const done = probeGateway(
    {
      settings: { path: '/ready', port: 4191, periodMs: 5, timeoutMs: 1_000, failureThreshold: 3, ...settings },
      targets: () =>
        hosts.map((host) => ({
          host,
          port: 4191,
          at: { host: host === 'probe-west.ns.svc' ? '127.0.0.1' : host, port },
        })),
      network: machineNetwork,
      onVerdict: (alive, message) => verdicts.push({ alive, message }),
      onUnprobed: () => undefined,
      onProbe: (ok) => probes.push(ok),
    },
    stop.signal,
  );
  const told = (count: number) =>
    eventually(`${count} verdicts`, async () => verdicts.length >= count).then(() =>
      verdicts.map(({ alive }) => alive),
    );
  return { verdicts, probes, told, stop, done };
}

describe('the probe of a gateway (F1)', () => {
  it('asks for the path on the probe port, each time on a new connection', async () => {
    const { probes, told } = probing();
    expect(await told(1)).toEqual([true]);
    await eventually('three probes', async () => probes.length >= 3);
    expect(requests[0]).toEqual({ path: '/ready', host: 'probe-west.ns.svc:4191' });
    expect(sockets.size).toBe(requests.length);
  });

  it('finds it not alive after so many failures in a row, and alive after one success', async () => {
    answers = [500, 500, 200, 500, 'drop', 503, 503, 200];
    const { told, probes, verdicts } = probing();
    expect(await told(3)).toEqual([true, false, true]);
    expect(probes.slice(0, 8)).toEqual([false, false, true, false, false, false, false, true]);
    expect(verdicts[1]?.message).toContain('/ready answered 503');
  });

  it('says nothing between verdicts, and none before it is known', async () => {
    answers = [500, 500, 200];
    const { verdicts, probes } = probing();
    await eventually('ten probes', async () => probes.length >= 10);
    expect(verdicts).toHaveLength(1);
  });

  it('counts an answer that does not come in time as a failure', async () => {
    answers = ['hang'];
    const { told, verdicts } = probing({ timeoutMs: 20, failureThreshold: 2 });
    expect(await told(1)).toEqual([false]);
    expect(verdicts[0]?.message).toContain('no answer in 0.02 s');
  });

  it('counts a redirect as a failure', async () => {
    answers = [302];
    expect(await probing({ failureThreshold: 1 }).told(1)).toEqual([false]);
  });

  it('is content with one of several hosts', async () => {
    const { told } = probing({ failureThreshold: 1, timeoutMs: 200 }, ['no-such-host.invalid', 'probe-west.ns.svc']);
    expect(await told(1)).toEqual([true]);
  });

  it('asks all of several hosts at once, under one timeout (L159)', async () => {
    answers = ['hang'];
    const { told, probes } = probing({ failureThreshold: 1, timeoutMs: 2_000 }, Array<string>(8).fill('127.0.0.1'));
    await eventually('all are asked', async () => requests.length === 8);
    expect(probes).toEqual([]);
    expect(await told(1)).toEqual([false]);
    expect(requests.length).toBeLessThanOrEqual(16);
  });

  it('waits for no other host once one has answered (L159)', async () => {
    answers = ['hang', 'hang', 200];
    const { told } = probing({ timeoutMs: 60_000 }, Array<string>(3).fill('127.0.0.1'));
    expect(await told(1)).toEqual([true]);
    await eventually(
      'the others are given up',
      async () => [...sockets].filter(({ destroyed }) => destroyed).length >= 2,
    );
  });

  it('finds a gateway without an address not alive, and says why', async () => {
    const { told, verdicts } = probing({ failureThreshold: 1 }, []);
    expect(await told(1)).toEqual([false]);
    expect(verdicts[0]?.message).toContain('no address of the gateway is known');
  });

  it('ends in the middle of a probe, and tells nothing more', async () => {
    answers = ['hang'];
    const { stop, done, verdicts, probes } = probing({ timeoutMs: 60_000 });
    await eventually('a request', async () => requests.length > 0);
    stop.abort();
    await done;
    expect([verdicts, probes]).toEqual([[], []]);
  });
});
