/**
 * Addresses of host names. The system's resolver, getaddrinfo, serves a whole process with a few threads and cannot be
 * cancelled: names that are not answered would delay all others, and the end of the process (rule F4). Here DNS is
 * asked without threads, and as the system would ask it: /etc/hosts goes first, and the search list of /etc/resolv.conf
 * holds.
 */
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { IpFamily } from './objects.ts';

export interface NamesOptions {
  /** @default /etc/hosts */
  readonly hostsFile?: string;
  /** @default /etc/resolv.conf */
  readonly configFile?: string;
  /** DNS servers, `IP` or `IP:port`. @default those of /etc/resolv.conf */
  readonly servers?: readonly string[];
}

/** How names are completed, as resolv.conf(5) has it. */
export interface SearchRules {
  /** Domains, in order. */
  readonly search: readonly string[];
  /** A name with so many dots is tried as it is before the domains. */
  readonly ndots: number;
}

/** Milliseconds until a DNS server is asked again; the second try takes twice as long. */
const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/** Milliseconds that the answer for one address family is waited for when the other has come. */
const OTHER_FAMILY_MS = 1_000;

/** The server is there, and says that the name, or an address of the family, is not. */
const ABSENT: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);
const UNANSWERED: ReadonlySet<unknown> = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED']);

/** What DNS answers about a host. */
export interface ResolvedHost {
  /** IPv4 first; at least one. */
  readonly addresses: readonly string[];
  /**
   * The family of which nothing is known, since DNS did not answer or failed. @default - the addresses are all there
   * are
   */
  readonly unanswered?: { readonly family: IpFamily; readonly reason: string };
}

/** The answers for both families. */
interface Answers extends ResolvedHost {
  readonly failure: unknown;
}

/** One lookup, and how many wait for it. */
interface Lookup {
  readonly answer: Promise<ResolvedHost>;
  readonly cancel: AbortController;
  waiting: number;
}

export class Names {
  readonly #options: Required<Omit<NamesOptions, 'servers'>> & Pick<NamesOptions, 'servers'>;
  readonly #lookups = new Map<string, Lookup>();

  constructor({ hostsFile = '/etc/hosts', configFile = '/etc/resolv.conf', servers }: NamesOptions = {}) {
    this.#options = { hostsFile, configFile, ...(servers && { servers }) };
  }

  /**
   * Returns the addresses of a host. Lookups of one host that overlap are one lookup, which is cancelled when nobody
   * waits for it any more.
   * @throws Error if there is none or DNS does not answer, or the reason of `signal`
   */
  async resolve(host: string, signal: AbortSignal): Promise<ResolvedHost> {
    if (isIP(host) !== 0) return { addresses: [host] };
    signal.throwIfAborted();
    const name = host.toLowerCase();
    const lookup = this.#lookups.get(name) ?? this.#begin(name);
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    lookup.waiting += 1;
    try {
      return await Promise.race([lookup.answer, ended]);
    } finally {
      signal.removeEventListener('abort', stop);
      lookup.waiting -= 1;
      if (lookup.waiting === 0) {
        lookup.cancel.abort();
        if (this.#lookups.get(name) === lookup) this.#lookups.delete(name);
      }
    }
  }

  #begin(name: string): Lookup {
    const cancel = new AbortController();
    const lookup = { answer: this.#look(name, cancel.signal), cancel, waiting: 0 };
    // Whoever waits has the error; nobody may wait any more.
    lookup.answer.catch(() => undefined);
    this.#lookups.set(name, lookup);
    return lookup;
  }

  async #look(host: string, signal: AbortSignal): Promise<ResolvedHost> {
    const { hostsFile, configFile } = this.#options;
    const [hosts, config] = await Promise.all([hostsFile, configFile].map(textOf));
    const local = addressesIn(hosts ?? '', host);
    if (local.length > 0) return { addresses: local };
    let failure: unknown;
    for (const name of candidatesFor(host, searchRules(config ?? ''))) {
      const { failure: reason, ...found } = await this.#query(name, signal);
      if (found.addresses.length > 0) return found;
      failure ??= reason;
      if (UNANSWERED.has(codeOf(reason))) break;
    }
    throw new Error(problemOf(failure), { cause: failure });
  }

  /** Asks for both address families. `failure` is undefined if the server says that there is nothing. */
  async #query(name: string, signal: AbortSignal): Promise<Answers> {
    const { servers } = this.#options;
    // One for each query, so that cancelling it cancels nothing else; it reads which servers there are now.
    const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    let timer: NodeJS.Timeout | undefined;
    const first = (addresses: readonly string[]) => {
      timer ??= setTimeout(cancel, OTHER_FAMILY_MS);
      return addresses;
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answers = await Promise.allSettled([
        resolver.resolve4(name).then(first),
        resolver.resolve6(name).then(first),
      ]);
      const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
      const failures = answers.map((each) =>
        each.status === 'rejected' && !ABSENT.has(codeOf(each.reason)) ? (each.reason as unknown) : undefined,
      );
      const failure = failures.find((each) => each !== undefined);
      const family = failures[0] === undefined ? 'IPv6' : 'IPv4';
      return {
        addresses,
        failure,
        ...(failure !== undefined && { unanswered: { family, reason: problemOf(failure) } }),
      };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }
}

/** The names that a host is looked up by, in order. */
export function candidatesFor(host: string, { search, ndots }: SearchRules): readonly string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const completed = search.map((domain) => `${host}.${domain}`);
  return host.split('.').length > ndots ? [host, ...completed] : [...completed, host];
}

/** Reads the rules from the text of a resolv.conf. */
export function searchRules(text: string): SearchRules {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'search' || keyword === 'domain')
      search = values.map((each) => each.replace(/\.$/, '')).filter(Boolean);
    if (keyword !== 'options') continue;
    for (const value of values) ndots = Number(/^ndots:(\d+)$/.exec(value)?.[1] ?? ndots);
  }
  return { search, ndots };
}

/** The addresses of a host in the text of a hosts file. `localhost` needs no entry. */
function addressesIn(text: string, host: string): readonly string[] {
  const found: string[] = [];
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) !== 0 && names.some((name) => name.toLowerCase() === host)) found.push(address);
  }
  if (found.length === 0 && /(^|\.)localhost\.?$/.test(host)) return ['127.0.0.1', '::1'];
  return found.sort((a, b) => isIP(a) - isIP(b));
}

/** The text of a file; empty if it cannot be read. */
const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

function problemOf(failure: unknown): string {
  if (failure === undefined) return 'the name is not found in DNS';
  const code = codeOf(failure);
  return UNANSWERED.has(code) ? 'DNS does not answer' : `DNS answers ${String(code)}`;
}
