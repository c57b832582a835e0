/**
 * The IP addresses of a target's gateway (rule C2). IPs are used as they are. Host names are looked up periodically,
 * all answers are used, and a failed lookup keeps the last answer. Only addresses of families that the source cluster
 * has are used. They are sorted, so that equal answers give equal lists.
 */
import { isIP } from 'node:net';
import { addressProblem } from '../../crds/gateway-address.ts';
import { sleep } from '../kube/backoff.ts';
import { describe } from '../kube/errors.ts';
import { machineNetwork } from '../kube/network.ts';
import type { IpFamily } from '../kube/objects.ts';

export type { IpFamily };

/** Returns all addresses of a host name. @throws Error if the lookup fails. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

const systemResolve: Resolve = (host, signal) => machineNetwork.resolve(host, signal);

export interface GatewayAddressOptions {
  /** IPs and host names of the Link's `gatewayAddress`. */
  readonly addresses: readonly string[];
  readonly families: ReadonlySet<IpFamily>;
  readonly periodMs: number;
  readonly resolve?: Resolve | undefined;
  /** Called after a lookup that changed the addresses or the problems. */
  readonly onChange: (state: GatewayAddressState) => void;
}

export interface GatewayAddressState {
  /** Usable addresses, sorted; empty if none has been found yet. */
  readonly addresses: readonly string[];
  /** One message for each address that cannot be used; empty if all can. */
  readonly problems: readonly string[];
}

/** Time after which a lookup has failed. */
const LOOKUP_DEADLINE_MS = 5_000;

/** Looks the addresses up at once, then every `periodMs`, until the signal aborts. */
export async function watchGatewayAddresses(options: GatewayAddressOptions, signal: AbortSignal): Promise<void> {
  const answers = new Map<string, readonly string[]>();
  let reported: string | undefined;
  while (!signal.aborted) {
    const state = await look(options, answers, signal);
    const text = JSON.stringify(state);
    if (!signal.aborted && text !== reported) {
      reported = text;
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
  signal: AbortSignal,
): Promise<GatewayAddressState> {
  const problems: string[] = [];
  const found = await Promise.all(
    addresses.map(async (address) => {
      if (isIP(address) !== 0) return [address];
      try {
        const answer = await withDeadline(resolve(address, signal));
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
    problems.push(`none of its addresses has an IP family of this cluster (${[...families].join(', ')})`);
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
