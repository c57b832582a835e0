import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { machineNetwork } from '../../../operator/kube/network.ts';

const dns = process.getBuiltinModule('node:dns');

let server: Server;
let port: number;
beforeEach(async () => {
  server = createServer((_, response) => response.end('ok'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('the network of the machine (F4)', () => {
  it('asks no thread of the process for a name, which other names would wait for', async () => {
    const lookup = vi.spyOn(dns, 'lookup');
    const { signal } = new AbortController();
    expect(await machineNetwork.probe({ host: 'localhost', port, path: '/', headers: {} }, signal)).toBe(200);
    const access = { server: `http://localhost:${port}`, tls: {}, authorization: async () => ({}) };
    const connections = machineNetwork.connect(access, { timeoutMs: 5_000, connections: 1 });
    const response = await connections.request('ordinary', { method: 'GET', path: '/', headers: {}, signal });
    expect(response.statusCode).toBe(200);
    for await (const chunk of response.body) expect(chunk.toString()).toBe('ok');
    await connections.close();
    expect((await machineNetwork.resolve('localhost', signal)).addresses).toEqual(
      expect.arrayContaining(['127.0.0.1']),
    );
    expect(lookup).not.toHaveBeenCalled();
  });

  it('ends a probe with its signal', async () => {
    server.removeAllListeners('request');
    const stop = new AbortController();
    const probe = machineNetwork.probe({ host: '127.0.0.1', port, path: '/', headers: {} }, stop.signal);
    server.once('connection', () => stop.abort(new Error('enough')));
    await expect(probe).rejects.toThrow('enough');
  });
});
