/**
 * The IP addresses of a target's gateway (rule C2). IPs are used as they are; host names are looked up periodically, all
 * answers are used, and a failed lookup keeps the last answer. Only addresses of families that the source cluster has are
 * kept, sorted, so that equal answers are equal lists.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { addressProblem } from '../../crds/gateway-address.ts';
import { sleep } from '../kube/backoff.ts';
import { describe } from '../kube/errors.ts';
import type { IpFamily } from '../kube/objects.ts';

export type { IpFamily };

/** All addresses of a host name. @throws Error if the lookup fails. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface GatewayAddressOptions {
  /** IPs and host names, as the Link has them. */
  readonly addresses: readonly string[];
  readonly families: ReadonlySet<IpFamily>;
  readonly periodMs: number;
  readonly resolve?: Resolve | undefined;
  /** Called after a lookup that changed the addresses or the problems. */
  readonly onChange: (state: GatewayAddressState) => void;
}

export interface GatewayAddressState {
  /** Usable addresses, sorted; empty if none was ever found. */
  readonly addresses: readonly string[];
  /** What went wrong, by address; empty if nothing did. */
  readonly problems: readonly string[];
}

/** A lookup that takes longer has failed. */
const LOOKUP_DEADLINE_MS = 5_000;

/** The system's resolver, which knows /etc/hosts and search domains. */
export const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Looks the addresses up at once, then every `periodMs`, until the signal aborts. */
export async function watchGatewayAddresses(options: GatewayAddressOptions, signal: AbortSignal): Promise<void> {
  const answers = new Map<string, readonly string[]>();
  let told: string | undefined;
  while (!signal.aborted) {
    const state = await look(options, answers);
    const text = JSON.stringify(state);
    if (!signal.aborted && text !== told) {
      told = text;
      options.onChange(state);
    }
    // IPs do not change.
    if (options.addresses.every((address) => isIP(address) !== 0)) return;
    await sleep(options.periodMs, signal);
  }
}

async function look(
  { addresses, families, resolve = systemResolve }: GatewayAddressOptions,
  answers: Map<string, readonly string[]>,
): Promise<GatewayAddressState> {
  const problems: string[] = [];
  const found = await Promise.all(
    addresses.map(async (address) => {
      if (isIP(address) !== 0) return [address];
      try {
        const answer = await withDeadline(resolve(address));
        if (answer.length === 0) throw new Error('no addresses');
        answers.set(address, answer);
      } catch (error) {
        problems.push(`${address}: ${describe(error)}`);
      }
      return answers.get(address) ?? [];
    }),
  );
  const usable = [...new Set(found.flat())].filter((address) => {
    if (!families.has(isIP(address) === 6 ? 'IPv6' : 'IPv4')) return false;
    const problem = addressProblem(address);
    if (problem !== undefined) problems.push(`${address}: ${problem}`);
    return problem === undefined;
  });
  if (usable.length === 0 && problems.length === 0) {
    problems.push(`none of its addresses is of a family that this cluster has (${[...families].join(', ')})`);
  }
  return { addresses: usable.sort(), problems: problems.sort() };
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const deadline = sleep(LOOKUP_DEADLINE_MS, timer.signal).then(() => {
    throw new Error(`no answer in ${LOOKUP_DEADLINE_MS / 1000} s`);
  });
  deadline.catch(() => undefined);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    timer.abort();
  }
}
