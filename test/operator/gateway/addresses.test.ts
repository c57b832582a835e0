import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import {
  type GatewayAddressOptions,
  type GatewayAddressState,
  type IpFamily,
  watchGatewayAddresses,
} from '../../../operator/gateway/addresses.ts';
import type { ResolvedHost } from '../../../operator/kube/names.ts';

type Resolve = (host: string) => Promise<readonly string[] | ResolvedHost>;

const isList = (answer: readonly string[] | ResolvedHost): answer is readonly string[] => Array.isArray(answer);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PERIOD_MS = 60_000;
const IPV4: ReadonlySet<IpFamily> = new Set(['IPv4']);

/** Watches addresses; `states` is what was told. */
function watching(addresses: readonly string[], resolve: Resolve, options: Partial<GatewayAddressOptions> = {}) {
  const states: GatewayAddressState[] = [];
  const stop = new AbortController();
  const done = watchGatewayAddresses(
    {
      addresses,
      families: IPV4,
      periodMs: PERIOD_MS,
      network: {
        resolve: async (host) => {
          const answer = await resolve(host);
          return isList(answer) ? { addresses: answer } : answer;
        },
      },
      onChange: (state) => states.push(state),
      ...options,
    },
    stop.signal,
  );
  return { states, stop, done };
}

const never: Resolve = () => Promise.reject(new Error('not to be asked'));
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the addresses of a gateway (C2)', () => {
  test.each<[string, readonly string[], readonly IpFamily[], readonly string[], number]>([
    ['IPs stand for themselves, sorted', ['203.0.113.9', '203.0.113.10'], ['IPv4'], ['203.0.113.10', '203.0.113.9'], 0],
    [
      'all answers to a name are used, once',
      ['gw.example', '203.0.113.1'],
      ['IPv4'],
      ['203.0.113.1', '203.0.113.2'],
      0,
    ],
    ['families that the cluster does not have are left out (L25)', ['both.example'], ['IPv4'], ['203.0.113.1'], 0],
    ['both families, where there are both', ['both.example'], ['IPv4', 'IPv6'], ['2001:db8::1', '203.0.113.1'], 0],
    ['none of a usable family is a problem', ['six.example'], ['IPv4'], [], 1],
    [
      'what endpoints may not hold is a problem, and the rest is used',
      ['127.0.0.1', '203.0.113.1'],
      ['IPv4'],
      ['203.0.113.1'],
      1,
    ],
    ['an answer of nothing is a problem', ['empty.example'], ['IPv4'], [], 1],
  ])('%s', async (_, addresses, families, expected, problems) => {
    const answers: Readonly<Record<string, readonly string[]>> = {
      'gw.example': ['203.0.113.2', '203.0.113.1', '203.0.113.2'],
      'both.example': ['2001:db8::1', '203.0.113.1'],
      'six.example': ['2001:db8::1'],
      'empty.example': [],
    };
    const { states, stop, done } = watching(addresses, async (host) => answers[host]!, { families: new Set(families) });
    await pass(0);
    stop.abort();
    await done;
    expect(states.map((state) => [state.addresses, state.problems.length])).toEqual([[expected, problems]]);
  });

  it('are asked for once if they are IPs', async () => {
    const { done, states } = watching(['203.0.113.1'], never);
    await done;
    expect(states).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are looked up anew every period, and told when they change', async () => {
    let answer = ['203.0.113.1'];
    const { states, stop, done } = watching(['gw.example'], async () => answer);
    await pass(3 * PERIOD_MS);
    expect(states).toHaveLength(1);
    answer = ['203.0.113.2', '203.0.113.1'];
    await pass(PERIOD_MS);
    expect(states.at(-1)).toEqual({ addresses: ['203.0.113.1', '203.0.113.2'], problems: [] });
    stop.abort();
    await done;
  });

  it('do not change with a name that is answered with a few of its addresses in turn', async () => {
    let lookups = 0;
    const { states, stop, done } = watching(['gw.example'], async () => {
      lookups += 1;
      return [`203.0.113.${lookups % 3}`, `203.0.113.${(lookups + 1) % 3}`];
    });
    await pass(2 * PERIOD_MS);
    const known = states.length;
    expect(states.at(-1)?.addresses).toEqual(['203.0.113.0', '203.0.113.1', '203.0.113.2']);
    await pass(20 * PERIOD_MS);
    expect(states).toHaveLength(known);
    stop.abort();
    await done;
  });

  it('leave when five lookups in a row are without them', async () => {
    let answer = ['203.0.113.1'];
    const { states, stop, done } = watching(['gw.example'], async () => answer);
    await pass(0);
    answer = ['203.0.113.2'];
    await pass(4 * PERIOD_MS);
    expect(states.at(-1)?.addresses).toEqual(['203.0.113.1', '203.0.113.2']);
    await pass(PERIOD_MS);
    expect(states.at(-1)?.addresses).toEqual(['203.0.113.2']);
    stop.abort();
    await done;
  });

  /** What is known of a name after ten answers that are another one than the first. */
  const afterTen = async (
    first: readonly string[],
    then: readonly string[] | ResolvedHost,
    families: ReadonlySet<IpFamily> = IPV4,
  ): Promise<GatewayAddressState | undefined> => {
    let answer: readonly string[] | ResolvedHost = first;
    const { states, stop, done } = watching(['gw.example'], async () => answer, { families });
    await pass(0);
    answer = then;
    await pass(10 * PERIOD_MS);
    stop.abort();
    await done;
    return states.at(-1);
  };

  it('L127 L158 stay while DNS answers about the other family alone, which goes on, and that is a problem', async () => {
    const half: ResolvedHost = { addresses: ['2001:db8::2'], unanswered: { family: 'IPv4', reason: 'no answer' } };
    expect(await afterTen(['203.0.113.1', '2001:db8::1'], half, new Set(['IPv4', 'IPv6']))).toEqual({
      addresses: ['2001:db8::2', '203.0.113.1'],
      problems: ['gw.example: its IPv4 addresses are not known: no answer'],
    });
  });

  it('L158 are others, once all that are used have been missing, also where one family is never answered', async () => {
    const many = (from: number) => Array.from({ length: 32 }, (_, index) => `203.0.113.${from + index}`);
    const half: ResolvedHost = { addresses: many(100), unanswered: { family: 'IPv6', reason: 'no answer' } };
    const state = await afterTen(many(1), half, new Set(['IPv4', 'IPv6']));
    expect(state?.addresses).toEqual(many(100));
    expect(state?.excess).toBeUndefined();
  });

  it('L127 need no answer about a family that the cluster lacks', async () => {
    const answer = { addresses: ['203.0.113.1'], unanswered: { family: 'IPv6', reason: 'no answer' } } as const;
    const { states, stop, done } = watching(['gw.example'], async () => answer);
    await pass(0);
    expect(states).toEqual([{ addresses: ['203.0.113.1'], problems: [] }]);
    stop.abort();
    await done;
  });

  it('L128 stay while a name leads to another family alone, and that is a problem', async () => {
    expect(await afterTen(['203.0.113.1'], ['2001:db8::1'])).toEqual({
      addresses: ['203.0.113.1'],
      problems: ['gw.example: none of its addresses has an IP family of this cluster (IPv4)'],
    });
  });

  it('stay while a name leads nowhere that endpoints may lead', async () => {
    const state = await afterTen(['203.0.113.1'], ['127.0.0.1']);
    expect(state?.addresses).toEqual(['203.0.113.1']);
    expect(state?.problems.join()).toContain('127.0.0.1: must not be a loopback');
  });

  it('stay as they were when a lookup fails, which is told, as is its end', async () => {
    let failing = false;
    const { states, stop, done } = watching(['gw.example'], async () => {
      if (failing) throw new Error('SERVFAIL');
      return ['203.0.113.1'];
    });
    await pass(0);
    failing = true;
    await pass(2 * PERIOD_MS);
    expect(states.at(-1)).toEqual({ addresses: ['203.0.113.1'], problems: ['gw.example: SERVFAIL'] });
    failing = false;
    await pass(PERIOD_MS);
    expect(states.map(({ problems }) => problems.length)).toEqual([0, 1, 0]);
    stop.abort();
    await done;
  });

  it('are told even if one name of several never answers', async () => {
    const { states, stop, done } = watching(['dead.example', '203.0.113.1'], () => new Promise(() => undefined));
    await pass(10_000);
    expect(states).toEqual([{ addresses: ['203.0.113.1'], problems: ['dead.example: no answer in 5 s'] }]);
    stop.abort();
    await done;
  });
});

describe('a name with more addresses than are used (E10)', () => {
  /** 40 addresses in each answer: the first of them stay, the others are other ones each time. */
  const answering = (stable: number): Resolve => {
    let answer = 0;
    return () => {
      answer += 1;
      const addresses = Array.from({ length: 40 }, (_, at) => `203.0.${at < stable ? 0 : answer}.${at}`);
      return Promise.resolve(addresses.reverse());
    };
  };

  it('leads to 32 of them, which stay, whatever else is answered, and says so once', async () => {
    const { states } = watching(['gw.example'], answering(40));
    await pass(5 * PERIOD_MS);
    expect(states.map(({ addresses }) => addresses.length)).toEqual([32]);
    expect(states[0]?.problems).toEqual([]);
    expect(states[0]?.excess).toContain('more than 32 addresses');
  });

  it('leads to others only in the place of those that are not answered any more', async () => {
    const { states } = watching(['gw.example'], answering(30));
    await pass(20 * PERIOD_MS);
    const [first] = states;
    for (const { addresses } of states) {
      expect(addresses).toHaveLength(32);
      expect(addresses.filter((each) => first!.addresses.includes(each)).length).toBeGreaterThanOrEqual(30);
    }
    // An address is forgotten after five answers without it.
    expect(states.length).toBeLessThanOrEqual(5);
  });
});
