/** Asks the DNS server of a test cluster, and no other: what a pod would be answered, fully qualified names only. */
import { Resolver } from 'node:dns/promises';
import type { TestCluster } from '../types.ts';

const NO_SUCH_NAME: readonly unknown[] = ['ENOTFOUND', 'ENODATA'];

/**
 * The addresses that a name has, sorted; empty if it has none.
 * @throws Error when the server does not answer, or the cluster has none
 */
export const resolve = async (
  dns: TestCluster['dns'],
  name: string,
  type: 'A' | 'AAAA',
): Promise<readonly string[]> => {
  if (dns === undefined) throw new Error('this cluster was started without dns: true');
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`${dns.address}:${dns.port}`]);
  try {
    return (await (type === 'A' ? resolver.resolve4(name) : resolver.resolve6(name))).toSorted();
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_SUCH_NAME.includes(error.code)) return [];
    throw error;
  }
};
