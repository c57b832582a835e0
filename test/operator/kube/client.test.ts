import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { RevokedError } from '../../../operator/kube/abort.ts';
import { bearer, type TlsMaterial } from '../../../operator/kube/access/access.ts';
import { type ClientOptions, KubeClient, type WatchEvent } from '../../../operator/kube/client.ts';
import { ApiError, ConnectionError, LimitError, SilenceError } from '../../../operator/kube/errors.ts';
import {
  ENDPOINT_SLICES,
  EVENTS,
  type KubeObject,
  LEASES,
  NAMESPACES,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../cluster/certificate.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** The certificate of a CA that signs nothing here. */
const OTHER_CA = `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUDLWVewbA21ueo0KdMSoheOoVKN4wCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTIyMDEzNjI0WhgPMjEyNjEwMjkwMTM2
MjRaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
RiL4FZuuCAIz0CsIYLG2Tlib3pDhUG98IzqagnxAsVqdfHF+52iTt4TpElpU/smS
lwxORIWpw+Cs2QJY+nFaY6NTMFEwHQYDVR0OBBYEFLV78juLx1KiL7Uz3ItDqkjU
gbBJMB8GA1UdIwQYMBaAFLV78juLx1KiL7Uz3ItDqkjUgbBJMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgEj+HTC4InC2L75X0fhlEnEVwUV+yDwkf
Hjxle/iu7cwCIQCxWG0K6bPEoujNIIFW9KTcBXR6it1knZ+rTYy/S/1zVQ==
-----END CERTIFICATE-----
`;

const IDENTITY = { userAgent: 'test', fieldManager: 'linkspan' };

let server: Server;
let seen: Seen[];
let respond: (request: Seen, response: ServerResponse) => void;
const clients: KubeClient[] = [];

beforeEach(async () => {
  seen = [];
  respond = (_, response) => response.end('{}');
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const one = { method: request.method, url: request.url, headers: request.headers, body };
      seen.push(one);
      respond(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function connect(options: Partial<ClientOptions> = {}, path = ''): KubeClient {
  const { port } = server.address() as AddressInfo;
  const client = new KubeClient(
    {
      server: `http://127.0.0.1:${port}${path}`,
      tls: {},
      authorization: () => Promise.resolve(bearer('secret-token')),
    },
    { userAgent: 'me', fieldManager: 'me', ...options },
  );
  clients.push(client);
  return client;
}

const answer = (response: ServerResponse, code: number, body: object | string, headers: Record<string, string> = {}) =>
  response.writeHead(code, headers).end(typeof body === 'string' ? body : JSON.stringify(body));

/** A request, of no matter what. */
const get = (client: KubeClient, signal?: AbortSignal) => client.read(SERVICES, 'shop', 'web', signal);

const never = new AbortController().signal;
const service = { metadata: { namespace: 'shop', name: 'web', resourceVersion: '1' } };

describe('a request', () => {
  it('is authenticated, and says who asks', async () => {
    await get(connect({ userAgent: 'me' }));
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret-token', 'user-agent': 'me' });
  });

  it('asks for its token again after a refusal, and every half minute (H8)', async () => {
    const { port } = server.address() as AddressInfo;
    const tokens = ['first', 'second', 'third'].values();
    const authorization = async () => bearer(tokens.next().value ?? 'none');
    const client = new KubeClient({ server: `http://127.0.0.1:${port}`, tls: {}, authorization }, IDENTITY);
    clients.push(client);
    respond = ({ headers }, response) => answer(response, headers.authorization === 'Bearer first' ? 401 : 200, {});
    await expect(get(client)).rejects.toMatchObject({
      code: 401,
      message: expect.stringContaining(` at http://127.0.0.1:${port}: `) as string,
    });
    await get(client);
    await get(client);
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 31_000);
    await get(client);
    clock.mockRestore();
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(
      ['first', 'second', 'second', 'third'].map((token) => `Bearer ${token}`),
    );
  });

  test.each([
    [
      'of the core group',
      (c: KubeClient) => c.read(SERVICES, 'shop', 'web'),
      'GET /api/v1/namespaces/shop/services/web',
    ],
    [
      'of another group',
      (c: KubeClient) => c.list(ENDPOINT_SLICES, { labelSelector: 'a in (b,c)', limit: 5, continue: undefined }),
      'GET /apis/discovery.k8s.io/v1/endpointslices?labelSelector=a%20in%20(b%2Cc)&limit=5',
    ],
    [
      'of what has no namespace',
      (c: KubeClient) => c.read(NAMESPACES, undefined, 'shop'),
      'GET /api/v1/namespaces/shop',
    ],
    [
      'with a hostile name stays in its path',
      (c: KubeClient) => c.read(SERVICES, 'shop', '../../secrets/x?y'),
      'GET /api/v1/namespaces/shop/services/..%2F..%2Fsecrets%2Fx%3Fy',
    ],
    [
      'to apply',
      (c: KubeClient) => c.apply(SERVICES, service),
      'PATCH /api/v1/namespaces/shop/services/web?fieldManager=me&force=true',
    ],
    [
      'to a subresource',
      (c: KubeClient) => c.patch(SERVICES, { namespace: 'shop', name: 'web', subresource: 'status' }, {}),
      'PATCH /api/v1/namespaces/shop/services/web/status?fieldManager=me',
    ],
  ])('%s', async (_, request, expected) => {
    await request(connect());
    expect(`${seen[0]?.method ?? ''} ${seen[0]?.url ?? ''}`).toBe(expected);
  });

  it('keeps the path of a server behind a proxy', async () => {
    await connect({}, '/k8s/clusters/c-1/').read(SERVICES, 'shop', 'web');
    expect(seen[0]?.url).toBe('/k8s/clusters/c-1/api/v1/namespaces/shop/services/web');
  });

  it('to apply says the kind, and keeps the object as it is', async () => {
    await connect().apply(SERVICES, service);
    expect(seen[0]?.headers['content-type']).toBe('application/apply-patch+yaml');
    expect(seen[0]?.body).toEqual({ apiVersion: 'v1', kind: 'Service', ...service });
  });

  it('for text waits as long as it is allowed to, and no longer', async () => {
    respond = (_, response) => void setTimeout(() => response.end('up 1'), 300);
    const client = connect({ timeoutMs: 20 });
    expect(await client.text('/metrics', 'get the metrics', 60_000)).toBe('up 1');
    await expect(client.text('/metrics', 'get the metrics', 20)).rejects.toThrow();
  });

  it('to delete insists on its preconditions', async () => {
    await connect().delete(SERVICES, { namespace: 'shop', name: 'web' }, { uid: 'u1' });
    expect(seen[0]).toMatchObject({ method: 'DELETE', body: { preconditions: { uid: 'u1' } } });
  });

  test.each([
    [{ op: 'test' }, 'application/merge-patch+json'],
    [[{ op: 'test' }], 'application/json-patch+json'],
  ])('to patch with %j is of type %s', async (patch, type) => {
    await connect().patch(SERVICES, { namespace: 'shop', name: 'web' }, patch);
    expect(seen[0]?.headers['content-type']).toBe(type);
  });

  test.each<[string, RegExp, (client: KubeClient) => Promise<unknown>]>([
    ['to read a Lease', /leases/, (c) => c.read(LEASES, 'shop', 'link')],
    ['to write a Lease', /leases/, (c) => c.replace(LEASES, service)],
    [
      'to write a status',
      /status/,
      (c) => c.patch(SERVICES, { namespace: 'shop', name: 'a', subresource: 'status' }, {}),
    ],
    ['to create an Event', /events/, (c) => c.create(EVENTS, service)],
    ['to count an Event', /events/, (c) => c.patch(EVENTS, { namespace: 'shop', name: 'web' }, {})],
  ])('%s does not wait for the writes of others (H7, L48)', async (_, which, request) => {
    const client = connect({ connections: 1 });
    const held: ServerResponse[] = [];
    respond = ({ url = '' }, response) => {
      if (which.test(url)) response.end('{}');
      else held.push(response);
    };
    const writes = [1, 2].map(() => client.apply(SERVICES, service));
    await vi.waitFor(() => expect(held).toHaveLength(1));
    await request(client);
    held.shift()?.end('{}');
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held.shift()?.end('{}');
    await Promise.all(writes);
  });
});

describe('a request that waits for its turn (H7)', () => {
  it('has its deadline from when it is sent', async () => {
    const client = connect({ connections: 1, timeoutMs: 300 });
    respond = (_, response) => void setTimeout(() => response.end('{}'), 100);
    // The last waits for half a second.
    await Promise.all(Array.from({ length: 6 }, () => get(client)));
  });

  it.each<[string, (client: KubeClient) => Promise<unknown>]>([
    ['apply', (c) => c.apply(SERVICES, { metadata: { name: 'a', namespace: 'shop' } })],
    ['create', (c) => c.create(SERVICES, { metadata: { name: 'a', namespace: 'shop' } })],
    ['replace', (c) => c.replace(SERVICES, { metadata: { name: 'a', namespace: 'shop' } })],
    ['patch', (c) => c.patch(SERVICES, { name: 'a', namespace: 'shop' }, {})],
    ['delete', (c) => c.delete(SERVICES, { name: 'a', namespace: 'shop' }, {})],
  ])('is not sent if its fence has closed by then: %s (H2, L54)', async (_, write) => {
    const client = connect({ connections: 1 });
    let isOpen = true;
    const fenced = client.fenced(() => {
      if (!isOpen) throw new ConnectionError('the fence is closed');
    });
    await write(fenced);
    const held: ServerResponse[] = [];
    respond = (_request, response) => void held.push(response);
    const first = get(client);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const second = write(fenced);
    isOpen = false;
    held[0]?.end('{}');
    await first;
    await expect(second).rejects.toThrow('the fence is closed');
    expect(seen).toHaveLength(2);
  });

  it('is waited for to its end once it has passed its fence, and not sent if it was given up before (H1, L69)', async () => {
    const fenced = connect().fenced(() => undefined);
    const held: ServerResponse[] = [];
    respond = (_, response) => void held.push(response);
    const stop = new AbortController();
    let isOver = false;
    const deletion = fenced.delete(SERVICES, { name: 'a', namespace: 'shop' }, {}, stop.signal).finally(() => {
      isOver = true;
    });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    stop.abort(new Error('enough'));
    const other = fenced.delete(SERVICES, { name: 'b', namespace: 'shop' }, {}, stop.signal);
    await expect(other).rejects.toThrow('enough');
    expect(isOver).toBe(false);
    held[0]?.end('{}');
    await deletion;
    expect(seen).toHaveLength(1);
  });

  it('is given up, although it is sent, once it must have no effect any more (H1, L76)', async () => {
    const fenced = connect().fenced(() => undefined);
    const held: ServerResponse[] = [];
    respond = (_, response) => void held.push(response);
    const stop = new AbortController();
    const deletion = fenced.delete(SERVICES, { name: 'a', namespace: 'shop' }, {}, stop.signal);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    stop.abort(new RevokedError('lost'));
    await expect(deletion).rejects.toThrow('lost');
  });

  it('gives up its turn when nobody waits for it any more', async () => {
    const client = connect({ connections: 1 });
    const held: ServerResponse[] = [];
    respond = (_, response) => void held.push(response);
    const first = get(client);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const stop = new AbortController();
    const second = get(client, stop.signal);
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    held[0]?.end('{}');
    await first;
    expect(seen).toHaveLength(1);
  });
});

describe('credentials', () => {
  const NEVER = new Promise<never>(() => undefined);
  const withCredentials = (authorization: () => Promise<Record<string, string>>, timeoutMs = 50): KubeClient => {
    const { port } = server.address() as AddressInfo;
    const access = { server: `http://127.0.0.1:${port}`, tls: {}, authorization };
    const client = new KubeClient(access, { ...IDENTITY, timeoutMs });
    clients.push(client);
    return client;
  };

  it('of a program that hangs are waited for no longer than the deadline of a request', async () => {
    const client = withCredentials(() => NEVER);
    await expect(get(client)).rejects.toThrow(/^get Service shop\/web: the credentials .* were not provided in time$/);
    const watch = client.watch(SERVICES, {
      resourceVersion: '1',
      timeoutSeconds: 60,
      idleTimeoutMs: 60_000,
      signal: never,
    });
    await expect(watch.next()).rejects.toThrow(ConnectionError);
  });

  it('are asked for once, however many requests wait for them, and anew after a minute', async () => {
    let asked = 0;
    const client = withCredentials(() => {
      asked += 1;
      return asked === 1 ? NEVER : Promise.resolve({});
    }, 500);
    await Promise.allSettled([1, 2, 3].map(() => get(client)));
    await expect(get(client)).rejects.toThrow(ConnectionError);
    expect(asked).toBe(1);
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 61_000);
    await get(client);
    clock.mockRestore();
    expect(asked).toBe(2);
  });
});

describe('an answer beyond a limit (E10)', () => {
  const MIB = 1024 * 1024;
  const endless = (response: ServerResponse, beginning: string): void => {
    response.writeHead(200).write(beginning);
    const more = Buffer.alloc(MIB, 'x');
    const push = (): void => {
      while (!response.destroyed && response.write(more));
    };
    response.on('drain', push);
    push();
  };
  const watching = (client: KubeClient) =>
    client.watch(SERVICES, { resourceVersion: '5', timeoutSeconds: 300, idleTimeoutMs: 60_000, signal: never }).next();

  test.each<[string, string, (client: KubeClient) => Promise<unknown>, string]>([
    ['a line of a watch', '{"x":"', watching, 'watch services: a line is longer than 4 MiB'],
    ['an object', '{"x":"', get, 'get Service shop/web: the answer is longer than 4 MiB'],
    [
      'an item of a list',
      '{"items":[{"x":"',
      (c) => c.list(SERVICES, {}),
      'list services: an item is longer than 4 MiB',
    ],
    [
      'the rest of a list',
      '{"x":"',
      (c) => c.list(SERVICES, {}),
      'list services: the metadata is longer than 0.25 MiB',
    ],
  ])('is not read when it is %s that does not end (L50)', async (_, beginning, request, message) => {
    let closed = false;
    respond = (__, response) => {
      response.on('close', () => (closed = true));
      endless(response, beginning);
    };
    await expect(request(connect())).rejects.toThrow(new LimitError(message));
    await vi.waitFor(() => expect(closed).toBe(true));
  });

  it('is not read when it is a page (L50)', async () => {
    const item = JSON.stringify({ x: 'x'.repeat(MIB) });
    respond = (_, response) =>
      response.end(`{"items":[${Array.from({ length: 65 }, () => item).join(',')}],"metadata":{}}`);
    const taken: unknown[] = [];
    const listing = connect().listEach(SERVICES, {}, (each) => taken.push(each));
    await expect(listing).rejects.toThrow(new LimitError('list services: a page is longer than 64 MiB'));
    expect(taken.length).toBeGreaterThan(60);
  });

  it('is read as far as its beginning when it is an error', async () => {
    respond = (_, response) => response.writeHead(500).end('x'.repeat(MIB));
    await expect(get(connect())).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining('xxx') as string,
    });
  });

  test.each([
    ['numbers', '1,'],
    ['arrays', '[],'],
    ['objects', '{},'],
  ])('is not parsed when it is an object of more %s than a target may send (L50)', async (_, unit) => {
    const text = `{"object":{"metadata":{}},"x":[${unit.repeat(MIB).slice(0, -1)}]}`;
    respond = ({ url = '' }, response) => response.end(url.includes('limit=') ? `{"items":[${text}]}` : `${text}\n`);
    const client = connect({ maxValues: 100_000 });
    const error = { name: 'LimitError', message: expect.stringContaining('more than 100000 values') as string };
    for (const ask of [() => get(client), () => watching(client), () => client.list(SERVICES, { limit: 1 })]) {
      await expect(ask()).rejects.toMatchObject(error);
    }
    // Characters in strings are no values.
    respond = (__, response) => response.end(JSON.stringify({ x: String.raw`[,{\"`.repeat(100_000) }));
    await get(client);
  });
});

describe('the items of a list', () => {
  const ITEMS = [{ a: [[1], {}], b: '}]"\\' }, { c: { items: [{}] } }, {}, [1], { d: 'ä'.repeat(40) }];
  const whole = (text: string, size: number) => async (_: unknown, response: ServerResponse) => {
    response.writeHead(200);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) {
      await new Promise<void>((resolve) => response.write(bytes.subarray(at, at + size), () => resolve()));
    }
    response.end();
  };

  test.each([
    ['no space', JSON.stringify({ metadata: { resourceVersion: '9' }, items: ITEMS })],
    ['space', JSON.stringify({ items: ITEMS, metadata: { resourceVersion: '9' } }, undefined, 2)],
  ])('are found whichever way their bytes are cut, with %s between them', async (_, text) => {
    for (const size of [1, 7, 10_000]) {
      const respondInPieces = whole(text, size);
      respond = (request, response) => void respondInPieces(request, response);
      expect(await connect().list(SERVICES, {})).toEqual({ metadata: { resourceVersion: '9' }, items: ITEMS });
    }
  });

  test.each(['{"metadata":{"resourceVersion":"9"},"items":null}', '{"metadata":{"resourceVersion":"9"}}'])(
    'are none in %s',
    async (text) => {
      respond = (_, response) => response.end(text);
      expect(await connect().list(SERVICES, {})).toEqual({ metadata: { resourceVersion: '9' }, items: [] });
    },
  );

  it('are no more than were asked for, however many the server sends (E10, L221)', async () => {
    respond = (_, response) => response.end(JSON.stringify({ metadata: {}, items: ITEMS }));
    expect((await connect().list(SERVICES, { limit: 1 })).items).toEqual(ITEMS.slice(0, 1));
    expect((await connect().list(SERVICES, { limit: 500 })).items).toEqual(ITEMS);
  });

  it('that are no JSON are a ConnectionError', async () => {
    respond = (_, response) => response.end('{"items":[{"a":}]}');
    await expect(connect().list(SERVICES, {})).rejects.toThrow('the answer is not JSON');
  });
});

describe('a CA that is rotated (H8)', () => {
  it('is taken up by new connections, and a watch on an old one goes on (L53)', async () => {
    let tls: TlsMaterial = { ca: CERTIFICATE };
    const secure = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, ({ url }, response) => {
      if (url?.includes('watch') === true) response.writeHead(200).write('{"type":"BOOKMARK","object":{}}\n');
      else response.end('{}');
    });
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const { port } = secure.address() as AddressInfo;
    const authorization = async () => ({});
    const access = { server: `https://127.0.0.1:${port}`, tls, authorization, currentTls: async () => tls };
    const client = new KubeClient(access, IDENTITY);
    const stop = new AbortController();
    const now = performance.now();
    let passed = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + passed);
    try {
      const { signal } = stop;
      const options = { resourceVersion: '1', timeoutSeconds: 60, idleTimeoutMs: 60_000, signal };
      const watch = client.watch<KubeObject>(SERVICES, options);
      await watch.next();
      await get(client);
      tls = { ca: OTHER_CA };
      await get(client);
      passed = 31_000;
      await expect(get(client)).rejects.toThrow('certificate');
      tls = { ca: CERTIFICATE };
      passed = 62_000;
      await get(client);
      // It is still open: nothing comes, and nothing fails.
      const next = watch.next().then(
        () => 'ended',
        () => 'failed',
      );
      expect(await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 50, 'open'))])).toBe('open');
    } finally {
      stop.abort();
      clock.mockRestore();
      await client.close();
      secure.closeAllConnections();
      await new Promise((resolve) => secure.close(resolve));
    }
  });
});

test('a client reports once that it was made, and once that it was closed (L155)', async () => {
  const { host } = new URL(connect().server);
  const hooks = { onOpen: vi.fn(), onClose: vi.fn(() => Promise.resolve()) };
  const client = connect(hooks);
  await get(client.fenced(() => undefined));
  expect(hooks.onOpen.mock.calls).toEqual([[host]]);
  expect(hooks.onClose).not.toHaveBeenCalled();
  await client.close();
  await client.close();
  expect(hooks.onClose.mock.calls).toEqual([[host]]);
});

describe('a server with TLS (E3)', () => {
  const trying = async (tls: TlsMaterial) => {
    const secure = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (_, response) => response.end('{}'));
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const { port } = secure.address() as AddressInfo;
    const client = new KubeClient(
      { server: `https://127.0.0.1:${port}`, tls, authorization: async () => ({}) },
      IDENTITY,
    );
    try {
      return await get(client);
    } finally {
      await client.close();
      await new Promise((resolve) => secure.close(resolve));
    }
  };

  it('is trusted by its CA', async () => {
    expect(await trying({ ca: CERTIFICATE })).toEqual({});
  });

  it('is not trusted without it', async () => {
    await expect(trying({})).rejects.toThrow('self-signed certificate');
  });

  it('must have the name that the kubeconfig gives it', async () => {
    await expect(trying({ ca: CERTIFICATE, servername: 'west.example' })).rejects.toThrow('west.example');
  });
});

describe('an answer that is a refusal', () => {
  it('becomes an ApiError with its reason, what was tried and no secret', async () => {
    respond = (_, response) => answer(response, 409, { reason: 'Conflict', message: 'changed' });
    const error = await connect()
      .read(SERVICES, 'shop', 'web')
      .catch((e: unknown) => e as ApiError);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 409, reason: 'Conflict', message: 'get Service shop/web: changed (409)' });
    expect(JSON.stringify(error)).not.toContain('secret-token');
  });

  test.each([
    ['in seconds', '7', 7_000],
    ['longer than any wait of ours', '100000000000', 300_000],
    ['as a date, which is not understood', 'Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    ['of nothing', '0', undefined],
  ])('asks to wait %s (H4)', async (_, header, expected) => {
    respond = (__, response) => answer(response, 429, 'slow down', { 'retry-after': header });
    const error = await get(connect()).catch((e: unknown) => e as ApiError);
    expect(error).toMatchObject({ code: 429, retryAfterMs: expected });
  });

  it('may be no JSON, as of a proxy', async () => {
    respond = (_, response) => answer(response, 502, '<html>Bad Gateway</html>');
    await expect(get(connect())).rejects.toThrow('<html>Bad Gateway</html> (502)');
  });
});

describe('no answer', () => {
  it('within the deadline is a ConnectionError that says where', async () => {
    respond = () => undefined;
    const client = connect({ timeoutMs: 50 });
    await expect(get(client)).rejects.toThrow(ConnectionError);
    await expect(get(client)).rejects.toThrow(client.server);
    await expect(get(client, never)).rejects.toThrow(ConnectionError);
  });

  it('for a connection that breaks is a ConnectionError', async () => {
    respond = (_, response) => response.destroy();
    await expect(get(connect())).rejects.toThrow(ConnectionError);
  });

  it('of JSON is a ConnectionError', async () => {
    respond = (_, response) => response.end('hello');
    await expect(get(connect())).rejects.toThrow('the answer is not JSON');
  });

  it('for a caller who no longer waits is the reason of the caller', async () => {
    respond = () => undefined;
    const stop = new AbortController();
    const pending = get(connect(), stop.signal);
    const enough = new Error('enough');
    stop.abort(enough);
    await expect(pending).rejects.toBe(enough);
  });
});

describe('a watch', () => {
  const options = { resourceVersion: '5', timeoutSeconds: 300, idleTimeoutMs: 5_000, signal: never };
  const line = (name: string): string => `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`;

  const collect = async (events: AsyncIterable<WatchEvent<KubeObject>>): Promise<readonly string[]> => {
    const names: string[] = [];
    for await (const { object } of events) names.push(object.metadata.name);
    return names;
  };

  it('is asked for from a version, with bookmarks', async () => {
    await collect(connect().watch(SERVICES, { ...options, namespace: 'shop', labelSelector: 'a' })).catch(() => []);
    const { pathname, searchParams } = new URL(seen[0]?.url ?? '', 'http://x');
    expect(pathname).toBe('/api/v1/namespaces/shop/services');
    expect(Object.fromEntries(searchParams)).toEqual({
      labelSelector: 'a',
      resourceVersion: '5',
      timeoutSeconds: '300',
      watch: 'true',
      allowWatchBookmarks: 'true',
    });
  });

  it('yields events whichever way their bytes are cut', async () => {
    const bytes = Buffer.from(['ä'.repeat(50), 'b', 'c'].map(line).join(''));
    respond = (_, response) => {
      response.writeHead(200);
      const send = (at: number): void => {
        if (at >= bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 7), () => send(at + 7));
      };
      send(0);
    };
    expect(await collect(connect().watch(SERVICES, options))).toEqual(['ä'.repeat(50), 'b', 'c']);
  });

  it('that is refused says so before it counts as open', async () => {
    respond = (_, response) => answer(response, 410, { reason: 'Expired', message: 'too old' });
    let open = false;
    const watch = connect().watch(SERVICES, { ...options, onOpen: () => (open = true) });
    await expect(collect(watch)).rejects.toMatchObject({ code: 410 });
    expect(open).toBe(false);
  });

  it('that falls silent without closing ends with a ConnectionError', async () => {
    respond = (_, response) => void response.writeHead(200).write(line('a'));
    const names: string[] = [];
    const watch = connect().watch<KubeObject>(SERVICES, { ...options, idleTimeoutMs: 100 });
    await expect(
      (async () => {
        for await (const { object } of watch) names.push(object.metadata.name);
      })(),
    ).rejects.toThrow(new SilenceError('watch services: nothing heard for 0.1 s'));
    expect(names).toEqual(['a']);
  });

  it('that is kept open by bytes that are no event has fallen silent', async () => {
    respond = (_, response) => {
      response.writeHead(200).write(line('a'));
      const drip = setInterval(() => response.write('\n'), 20);
      response.on('close', () => clearInterval(drip));
    };
    const watch = connect().watch(SERVICES, { ...options, idleTimeoutMs: 1_000 });
    await expect(collect(watch)).rejects.toThrow('watch services: nothing heard for 1 s');
  });

  it('that is open and on which nothing was ever heard has fallen silent', async () => {
    respond = (_, response) => response.writeHead(200).flushHeaders();
    const watch = connect().watch(SERVICES, { ...options, idleTimeoutMs: 100 });
    await expect(collect(watch)).rejects.toBeInstanceOf(SilenceError);
  });

  it('that never opens ends after the deadline of a request', async () => {
    respond = () => undefined;
    const watch = connect({ timeoutMs: 50 }).watch(SERVICES, { ...options, idleTimeoutMs: 600_000 });
    await expect(collect(watch)).rejects.toThrow('no answer in 0.05 s');
  });

  it('does not wait for requests, nor they for it', async () => {
    const client = connect({ connections: 1 });
    respond = (request, response) => {
      if (request.url?.includes('watch=true') === true) response.writeHead(200).write(line('a'));
      else response.end('{}');
    };
    const watches = [1, 2, 3].map(() => client.watch(SERVICES, options));
    await Promise.all(watches.map((watch) => watch.next()));
    await get(client);
    await Promise.all(watches.map((watch) => watch.return(undefined)));
  });
});
