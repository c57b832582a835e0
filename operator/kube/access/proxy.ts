/**
 * Which proxy a server is reached through: that of the kubeconfig, else that of the environment, by the rules of Go's
 * `net/http`, which kubectl follows. No error quotes a URL, which may hold a password.
 */
import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** Variables of the environment. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Schemes of proxies, and their default ports. */
const PORTS: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'socks5:': '1080',
  'socks5h:': '1080',
};

/**
 * The proxy of a kubeconfig.
 * @throws Error that completes "proxy-url …"
 */
export function proxyOf(proxyUrl: string): URL {
  const url = URL.parse(proxyUrl);
  if (url === null || url.hostname === '') throw new Error('must be a valid URL (write http://HOST:PORT)');
  if (!(url.protocol in PORTS) || url.protocol === 'socks5h:') {
    throw new Error('must be an http, https or socks5 URL (write http://HOST:PORT)');
  }
  return url;
}

/**
 * The proxy that the environment has for a server; undefined if it is reached directly.
 * @throws Error that completes "cluster `name` …", if a variable does not hold a proxy
 */
export function environmentProxy(server: URL, environment: Environment): URL | undefined {
  const variables = server.protocol === 'https:' ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  const variable = variables.find((name) => environment[name]);
  if (variable === undefined || isDirect(server, environment['NO_PROXY'] || environment['no_proxy'] || '')) {
    return undefined;
  }
  const text = environment[variable] ?? '';
  const given = URL.parse(text);
  const url = given === null || given.host === '' ? URL.parse(`http://${text}`) : given;
  if (url === null || !(url.protocol in PORTS)) {
    throw new Error(
      `is reached through ${variable} of the environment, which must be an http, https or socks5 URL (write http://HOST:PORT)`,
    );
  }
  return url;
}

/** The port of a URL, which may be the default of its scheme. */
export const portOf = ({ port, protocol }: URL): string => port || (PORTS[protocol] ?? '');

/** The host of a URL, an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Reports whether no proxy is used for a server: `localhost`, loopback addresses, and what `NO_PROXY` lists. */
function isDirect(server: URL, noProxy: string): boolean {
  const host = hostOf(server).toLowerCase();
  const port = portOf(server);
  if (host === 'localhost' || (isIP(host) !== 0 && LOOPBACK.check(host, familyOf(host)))) return true;
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry === '*' || (entry !== '' && isListed(host, port, entry)));
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Matches an address (`10.0.0.1`), a network (`10.0.0.0/8`) or a name (`a.b`, `.b`, `*.b`), the last two with a port or
 * without.
 */
function isListed(host: string, port: string, entry: string): boolean {
  const network = /^([^/]+)\/(\d+)$/.exec(entry);
  if (network !== null) {
    const [, address = '', bits = ''] = network;
    if (isIP(address) === 0 || Number(bits) > (isIP(address) === 6 ? 128 : 32)) return false;
    const listed = new BlockList();
    listed.addSubnet(address, Number(bits), familyOf(address));
    return isIP(host) !== 0 && listed.check(host, familyOf(host));
  }
  const split = /^(\[[^\]]*\]|[^:]*):([^:]*)$/.exec(entry);
  const name = (split?.[1] ?? entry).replace(/^\[(.*)\]$/, '$1');
  if (name === '' || (split?.[2] && split[2] !== port)) return false;
  if (isIP(name) !== 0) {
    const listed = new BlockList();
    listed.addAddress(name, familyOf(name));
    return isIP(host) !== 0 && listed.check(host, familyOf(host));
  }
  if (isIP(host) !== 0) return false;
  const domain = domainToASCII(name.replace(/^\*?\./, '')) || name;
  return host.endsWith(`.${domain}`) || (!/^\*?\./.test(name) && host === domain);
}
