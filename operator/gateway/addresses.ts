/**
 * The IP addresses of a target's gateway (rule C2). IPs are used as they are. Host names are looked up periodically,
 * all answers are used, and a failed lookup keeps what is known. An address that is missing from a few answers stays.
 * Only addresses of families that the source cluster has are used. They are sorted, so that equal answers give equal
 * lists.
 */
import { isIP } from 'node:net';
import { addressProblem } from '../../crds/gateway-address.ts';
import { sleep } from '../kube/backoff.ts';
import { describe } from '../kube/errors.ts';
import type { ResolvedHost } from '../kube/names.ts';
import type { Network } from '../kube/network.ts';
import type { IpFamily } from '../kube/objects.ts';
import { within } from '../kube/within.ts';

export type { IpFamily };

export interface GatewayAddressOptions {
  /** IPs and host names of the Link's `gatewayAddress`. */
  readonly addresses: readonly string[];
  readonly families: ReadonlySet<IpFamily>;
  readonly periodMs: number;
  readonly network: Pick<Network, 'resolve'>;
  /** Called after a lookup that changed the addresses or the problems. */
  readonly onChange: (state: GatewayAddressState) => void;
}

export interface GatewayAddressState {
  /** Usable addresses, sorted; empty if none has been found yet. */
  readonly addresses: readonly string[];
  /** One message for each address that cannot be used; empty if all can. */
  readonly problems: readonly string[];
  /** Message that more addresses are found than are used; absent if all are. */
  readonly excess?: string;
}

/**
 * So many addresses are used: every endpoint of every mirror lists them, and whoever answers for a host name decides
 * how many there are, and whether they are others each time (rule E10).
 */
export const MAX_ADDRESSES = 32;

/** Time after which a lookup has failed. */
const LOOKUP_DEADLINE_MS = 5_000;

/**
 * Lookups in a row without an address after which it is not used any more. Some load balancers answer with a few of
 * their addresses, each time with others.
 */
const FORGET_AFTER = 5;

/** The usable addresses of one host name, each with the number of answers since one had it. */
type Answers = Map<string, number>;

/** Looks the addresses up once. */
export const lookUpGatewayAddresses = (
  options: Pick<GatewayAddressOptions, 'addresses' | 'families' | 'network'>,
  signal: AbortSignal,
): Promise<GatewayAddressState> => look(options, answersOf(options.addresses), signal);

const answersOf = (addresses: readonly string[]): ReadonlyMap<string, Answers> =>
  new Map(addresses.map((host) => [host, new Map<string, number>()]));

/** Looks the addresses up at once, then every `periodMs`, until the signal aborts. */
export async function watchGatewayAddresses(options: GatewayAddressOptions, signal: AbortSignal): Promise<void> {
  const answers = answersOf(options.addresses);
  let inUse: readonly string[] = [];
  let reported: string | undefined;
  while (!signal.aborted) {
    const state = await look(options, answers, signal, inUse);
    inUse = state.addresses;
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
  { families, network }: Pick<GatewayAddressOptions, 'families' | 'network'>,
  answers: ReadonlyMap<string, Answers>,
  signal: AbortSignal,
  inUse: readonly string[] = [],
): Promise<GatewayAddressState> {
  const problems = new Set<string>();
  const isOfCluster = (address: string): boolean => families.has(familyOf(address));
  const isUsable = (address: string): boolean => {
    if (!isOfCluster(address)) return false;
    const problem = addressProblem(address);
    if (problem !== undefined) problems.add(`${address}: ${problem}`);
    return problem === undefined;
  };
  await Promise.all(
    [...answers].map(async ([host, known]) => {
      try {
        const answer: ResolvedHost = isIP(host) === 0 ? await lookup(host, network, signal) : { addresses: [host] };
        const usable = answer.addresses.filter(isUsable);
        // Of a family that the cluster lacks nothing has to be known.
        const { unanswered } = answer;
        const unknown = unanswered && families.has(unanswered.family) ? unanswered : undefined;
        if (unknown !== undefined) {
          problems.add(`${host}: its ${unknown.family} addresses are not known: ${unknown.reason}`);
        } else if (!answer.addresses.some(isOfCluster)) {
          problems.add(`${host}: none of its addresses has an IP family of this cluster (${[...families].join(', ')})`);
        }
        remember(known, usable, unanswered?.family);
      } catch (error) {
        problems.add(`${host}: ${describe(error)}`);
      }
    }),
  );
  const found = answeredLast([...answers.values()]);
  // What is in use stays, so that a name with many addresses does not have all endpoints rewritten with each answer.
  const kept = inUse.filter((each) => found.has(each));
  const addresses = [...new Set([...kept, ...found])].slice(0, MAX_ADDRESSES);
  return {
    addresses: addresses.sort(),
    problems: [...problems].sort(),
    ...(found.size > addresses.length && {
      excess: `it has more than ${MAX_ADDRESSES} addresses, of which ${MAX_ADDRESSES} are used`,
    }),
  };
}

const familyOf = (address: string): IpFamily => (isIP(address) === 6 ? 'IPv6' : 'IPv4');

/** Returns all addresses, those of the last answers first. */
const answeredLast = (all: readonly Answers[]): ReadonlySet<string> => {
  const missed = all.flatMap((known) => [...known]);
  return new Set(
    missed.sort(([a, missedA], [b, missedB]) => missedA - missedB || (a < b ? -1 : 1)).map(([each]) => each),
  );
};

/** @throws Error if no answer comes in time, or none that holds an address */
async function lookup(
  host: string,
  network: GatewayAddressOptions['network'],
  signal: AbortSignal,
): Promise<ResolvedHost> {
  const overdue = `no answer in ${LOOKUP_DEADLINE_MS / 1000} s`;
  const answer = await within(LOOKUP_DEADLINE_MS, signal, (until) => network.resolve(host, until), overdue);
  if (answer.addresses.length === 0) throw new Error('no addresses');
  return answer;
}

/**
 * Takes in an answer. One without any usable address drops none, nor does one drop any of a family that it is not
 * about.
 */
function remember(known: Answers, answer: readonly string[], unanswered: IpFamily | undefined): void {
  if (answer.length === 0) return;
  for (const [address, missed] of known) {
    if (familyOf(address) === unanswered) continue;
    if (missed + 1 < FORGET_AFTER) known.set(address, missed + 1);
    else known.delete(address);
  }
  for (const address of answer) known.set(address, 0);
}
