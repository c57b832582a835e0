import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startAdmin, type AdminOptions, type AdminServer } from '../../../operator/runtime/admin.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';

let admin: AdminServer | undefined;
afterEach(() => admin?.close());

const start = async (over: Partial<AdminOptions> = {}) => {
  const { registry } = createMetrics({ process: false });
  const ready = () => ({ ok: true, checks: [{ name: 'synced', ok: true }] });
  admin = await startAdmin({ host: '127.0.0.1', port: 0, registry, ready, ...over });
  return `http://127.0.0.1:${admin.address.port}`;
};

const get = async (url: string, method = 'GET') => {
  const response = await fetch(url, { method });
  return { code: response.status, body: await response.text(), headers: response.headers };
};

describe('the admin port', () => {
  it('reports that the process lives, also while it is not ready (H5)', async () => {
    const base = await start({ ready: () => ({ ok: false, checks: [] }) });
    expect(await get(`${base}/healthz`)).toMatchObject({ code: 200, body: 'ok\n' });
  });

  it('says briefly that it is ready, and lists the checks when asked', async () => {
    const base = await start();
    expect(await get(`${base}/readyz`)).toMatchObject({ code: 200, body: 'ok\n' });
    expect(await get(`${base}/readyz?verbose`)).toMatchObject({ code: 200, body: '[+]synced ok\nok\n' });
  });

  it('says why it is not ready without being asked', async () => {
    const checks = [
      { name: 'synced', ok: true },
      { name: 'lease', ok: false, message: 'not known yet' },
    ];
    const base = await start({ ready: () => ({ ok: false, checks }) });
    expect(await get(`${base}/readyz`)).toMatchObject({
      code: 503,
      body: '[+]synced ok\n[-]lease failed: not known yet\nnot ready\n',
    });
  });

  it('serves metrics with the content type that Prometheus asks for', async () => {
    const { code, body, headers } = await get(`${await start()}/metrics`);
    expect(code).toBe(200);
    expect(body).toContain('# TYPE gateway_alive gauge');
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4');
  });

  it('answers 404 elsewhere, naming what there is, and 405 to writes', async () => {
    const base = await start();
    expect(await get(`${base}/`)).toMatchObject({ code: 404, body: 'not found: try /healthz, /readyz, /metrics\n' });
    const refused = await get(`${base}/metrics`, 'POST');
    expect(refused.code).toBe(405);
    expect(refused.headers.get('allow')).toBe('GET, HEAD');
    expect(await get(`${base}/healthz`, 'HEAD')).toMatchObject({ code: 200, body: '' });
  });

  it('answers 500 when a check throws, and goes on', async () => {
    let broken = true;
    const base = await start({
      ready: () => {
        if (broken) throw new Error('check is broken');
        return { ok: true, checks: [] };
      },
    });
    expect(await get(`${base}/readyz`)).toMatchObject({ code: 500 });
    broken = false;
    expect(await get(`${base}/readyz`)).toMatchObject({ code: 200 });
  });

  it('closes at once though a client keeps its connection open', async () => {
    await start();
    const { port } = admin!.address;
    const socket = connect(port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: keep-alive\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await admin!.close();
    await closed;
  });

  it('fails to start on a port that is taken', async () => {
    await start();
    const { port } = admin!.address;
    const { registry } = createMetrics({ process: false });
    const ready = () => ({ ok: true, checks: [] });
    const again = startAdmin({ host: '127.0.0.1', port, registry, ready });
    await expect(again).rejects.toThrow('EADDRINUSE');
  });
});
