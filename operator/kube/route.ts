/**
 * The way to a server: directly, or through a proxy as Go's `net/http` takes it. An https server is reached through a
 * tunnel (CONNECT, or SOCKS5), so that its certificate is still checked; a request to an http server is handed to an
 * http proxy. No error quotes the URL of a proxy but its host and port: it may hold a password.
 */
import { isIP, isIPv6, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { Headers } from './access/access.ts';
import { hostOf, portOf } from './access/proxy.ts';
import { describe } from './errors.ts';
import { request } from './http.ts';
import type { WireRequest } from './wire.ts';

export interface Route {
  /** Origin that connections are made to. */
  readonly origin: string;
  readonly connect: buildConnector.BuildOptions | buildConnector.connector;
  /** A request as it is sent there. */
  readonly rewritten: (request: WireRequest) => WireRequest;
}

/** The way to a server. @param options of connections, which hold for those to the proxy, too */
export function routeTo(server: URL, proxy: URL | undefined, options: buildConnector.BuildOptions): Route {
  const { origin } = server;
  const asIs = (wire: WireRequest): WireRequest => wire;
  if (proxy === undefined) return { origin, connect: options, rewritten: asIs };
  const connect = buildConnector({ ...options, allowH2: false });
  const dial = (): Promise<Socket> =>
    connected(connect, { hostname: hostOf(proxy), host: proxy.host, protocol: proxy.protocol, port: portOf(proxy) });
  const isSocks = proxy.protocol.startsWith('socks5');
  if (server.protocol === 'http:' && !isSocks) {
    return {
      origin,
      connect: (_, callback) => answer(named(proxy, dial()), callback),
      rewritten: ({ path, headers, ...wire }) => ({
        ...wire,
        path: `${origin}${path}`,
        headers: { host: server.host, ...headers, ...proxyAuthorization(proxy) },
      }),
    };
  }
  const tunnel = isSocks ? throughSocks : throughConnect;
  const open = async (target: buildConnector.Options): Promise<Socket> => {
    const socket = await named(
      proxy,
      dial().then((raw) => within(options.timeout ?? 0, raw, tunnel(raw, proxy, server))),
    );
    return target.protocol === 'https:' ? connected(connect, { ...target, httpSocket: socket }) : socket;
  };
  return { origin, connect: (target, callback) => answer(open(target), callback), rewritten: asIs };
}

const connected = (connect: buildConnector.connector, target: buildConnector.Options): Promise<Socket> =>
  new Promise((resolve, reject) => {
    connect(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
  });

const answer = (opening: Promise<Socket>, callback: buildConnector.Callback): void => {
  opening.then(
    (socket) => callback(null, socket),
    (error: unknown) => callback(error as Error, null),
  );
};

/**
 * Names the proxy in an error; one that is new to undici fails the requests that wait, instead of being tried again.
 */
const named = (proxy: URL, opening: Promise<Socket>): Promise<Socket> =>
  opening.catch((error: unknown) => {
    throw new Error(`the proxy ${proxy.hostname}:${portOf(proxy)} cannot be used: ${describe(error)}`);
  });

/** @throws Error if nothing has come of it in time */
async function within(timeoutMs: number, socket: Socket, opening: Promise<Socket>): Promise<Socket> {
  const late = setTimeout(() => socket.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    return await opening;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

const credentialsOf = ({ username, password }: URL): readonly [string, string] => [
  decodeURIComponent(username),
  decodeURIComponent(password),
];

const proxyAuthorization = (proxy: URL): Headers =>
  proxy.username === '' && proxy.password === ''
    ? {}
    : { 'proxy-authorization': `Basic ${Buffer.from(credentialsOf(proxy).join(':')).toString('base64')}` };

const throughConnect = (socket: Socket, proxy: URL, server: URL): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const path = `${server.hostname}:${portOf(server)}`;
    const headers = { host: path, ...proxyAuthorization(proxy) } as Record<string, string>;
    const outgoing = request({ method: 'CONNECT', path, headers, createConnection: () => socket });
    outgoing.on('connect', ({ statusCode = 0, statusMessage = '' }, _, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      if (statusCode === 200) resolve(socket);
      else reject(new Error(`it answered ${statusCode} ${statusMessage}`));
    });
    outgoing.on('response', ({ statusCode = 0 }) => reject(new Error(`it answered ${statusCode}`)));
    outgoing.on('error', reject);
    outgoing.end();
  });

/** What the answer of a SOCKS5 proxy means (RFC 1928, section 6). */
const REFUSALS = [
  'granted',
  'general failure',
  'not allowed by its rules',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'TTL expired',
  'command not supported',
  'address type not supported',
];

/** The handshake of SOCKS5 (RFC 1928, with the password of RFC 1929); names are resolved by the proxy, as Go has it. */
async function throughSocks(socket: Socket, proxy: URL, server: URL): Promise<Socket> {
  const [user, password] = credentialsOf(proxy).map((text) => Buffer.from(text));
  const hasPassword = proxy.username !== '' || proxy.password !== '';
  socket.write(Buffer.from(hasPassword ? [5, 2, 0, 2] : [5, 1, 0]));
  const [, method = 0xff] = await bytes(socket, 2);
  if (method === 2 && hasPassword && user !== undefined && password !== undefined) {
    socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([password.length]), password]));
    const [, refused] = await bytes(socket, 2);
    if (refused !== 0) throw new Error('it refused the user and password');
  } else if (method !== 0) {
    throw new Error('it wants a user and password, or another way to log in');
  }
  const port = Number(portOf(server));
  socket.write(Buffer.concat([Buffer.from([5, 1, 0]), address(hostOf(server)), Buffer.from([port >> 8, port & 255])]));
  const [, reply = 1, , type] = await bytes(socket, 4);
  if (reply !== 0) throw new Error(`it answered: ${REFUSALS[reply] ?? `error ${reply}`}`);
  const length = type === 1 ? 4 : type === 4 ? 16 : ((await bytes(socket, 1))[0] ?? 0);
  await bytes(socket, length + 2);
  return socket;
}

/** An address or a name as SOCKS5 spells it. */
const address = (host: string): Buffer => {
  if (isIPv6(host)) return Buffer.from([4, ...groups(host).flatMap((group) => [group >> 8, group & 255])]);
  if (isIP(host) !== 0) return Buffer.from([1, ...host.split('.').map(Number)]);
  return Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host)]);
};

/** The eight groups of an IPv6 address, as a URL has it: without a part in dots. */
const groups = (host: string): readonly number[] => {
  const [head = [], tail = []] = host.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => parseInt(group, 16));
};

/** The next bytes that arrive, just as many. */
const bytes = (socket: Socket, count: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const fail = (error?: Error): void => settle(() => reject(error ?? new Error('it closed the connection')));
    const read = (): void => {
      const chunk = socket.read(count) as Buffer | null;
      if (chunk !== null) settle(() => resolve(chunk));
    };
    const settle = (then: () => void): void => {
      socket.off('readable', read).off('error', fail).off('close', fail).off('end', fail);
      then();
    };
    socket.on('readable', read).on('error', fail).on('close', fail).on('end', fail);
    read();
  });
