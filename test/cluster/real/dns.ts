/** Asks the DNS server of a test cluster, and no other: what a pod would be answered, fully qualified names only. */
import { Resolver } from 'node:dns/promises';
import type { TestCluster } from '../types.ts';

/** What the server answers: records, sorted, or that the name does not exist. A name without such records has none. */
export type DnsAnswer = readonly string[] | 'NXDOMAIN';

/**
 * What is answered for a name: addresses, or `<port> <target>` of SRV records.
 * @throws Error when the server does not answer, or the cluster has none
 */
export const lookUp = async (dns: TestCluster['dns'], name: string, type: 'A' | 'AAAA' | 'SRV'): Promise<DnsAnswer> => {
  if (dns === undefined) throw new Error('this cluster was started without dns: true');
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`${dns.address}:${dns.port}`]);
  try {
    return (await ask(resolver, name, type)).toSorted();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOTFOUND') return 'NXDOMAIN';
    if (error.code === 'ENODATA') return [];
    throw error;
  }
};

/** The addresses that a name has, sorted; empty if it has none. */
export const resolve = async (
  dns: TestCluster['dns'],
  name: string,
  type: 'A' | 'AAAA',
): Promise<readonly string[]> => {
  const answer = await lookUp(dns, name, type);
  return answer === 'NXDOMAIN' ? [] : answer;
};

const ask = async (resolver: Resolver, name: string, type: 'A' | 'AAAA' | 'SRV'): Promise<readonly string[]> => {
  switch (type) {
    case 'A':
      return resolver.resolve4(name);
    case 'AAAA':
      return resolver.resolve6(name);
    case 'SRV':
      return (await resolver.resolveSrv(name)).map(({ port, name: target }) => `${port} ${target}`);
  }
};
