import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { ApiError } from '../../../../operator/kube/errors.ts';
import { SELF_SUBJECT_REVIEWS } from '../../../../operator/kube/objects.ts';
import { FencedError } from '../../../../operator/runtime/fence.ts';
import type { KeptSecret } from '../../../../operator/kube/keeper.ts';
import { type AskedTarget, Renewal, type RenewalOptions } from '../../../../operator/target/renewal/renewal.ts';
import { readAccountToken } from '../../../../operator/kube/account-token.ts';
import { ANCHOR } from '../../../support/trust-anchors.ts';

const LIFETIME_S = 1_000;
const START_S = 1_800_000_000;

const token = (
  issuedS: number,
  { uid = '11', name = 'reader', exp = issuedS + LIFETIME_S }: { uid?: string; name?: string; exp?: number } = {},
): string => {
  const claims = { iat: issuedS, exp, 'kubernetes.io': { namespace: 'mesh', serviceaccount: { name, uid } } };
  return ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'c2ln'].join('.');
};
const kubeconfig = (of: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'west',
        cluster: { server: 'https://192.0.2.1', 'certificate-authority-data': Buffer.from(ANCHOR).toString('base64') },
      },
    ],
    users: [{ name: 'west', user: { token: of } }],
    contexts: [{ name: 'west', context: { cluster: 'west', user: 'west' } }],
    'current-context': 'west',
  });
const status = (code: number) => new ApiError(code, {}, 'asked');

const stop = new AbortController();
let problems: (string | undefined)[];
let written: object[];
let asked: number;
/** What the target answers with a token; a function that throws refuses. */
let answer: () => unknown;
let user: string | undefined;
/** Whom the target takes the client in use for. */
let self: string;
let write: () => void;
let renewal: Renewal;

beforeEach(() => {
  vi.useFakeTimers({ now: START_S * 1_000 });
  [problems, written, asked, user] = [[], [], 0, 'system:serviceaccount:mesh:reader'];
  self = user;
  answer = () => token(Date.now() / 1_000);
  write = () => undefined;
  const source: RenewalOptions['source'] = {
    patch: (_of, _target, patch) => {
      write();
      written.push(patch);
      return Promise.resolve({} as never);
    },
  };
  renewal = new Renewal({
    namespace: 'mesh',
    source,
    tryOut: () => Promise.resolve(user),
    onProblem: (problem) => problems.push(problem),
    random: () => 0,
  });
});
afterEach(() => {
  renewal.stop();
  vi.useRealTimers();
});

const client: AskedTarget = {
  ask: async (of) => {
    if (of === SELF_SUBJECT_REVIEWS) return { status: { userInfo: { username: self, uid: '11' } } } as never;
    asked += 1;
    return Promise.resolve({ status: { token: answer() } } as never);
  },
  read: () => Promise.reject(status(404)),
};

const follow = (secret: Partial<KeptSecret> = {}, of = token(START_S)): void => {
  const metadata = { name: 'cluster-credentials-west', uid: 'u', resourceVersion: '7' };
  renewal.follow(
    { secret: { metadata, ...secret }, text: kubeconfig(of), token: readAccountToken(of)!, client },
    stop.signal,
  );
};
const pass = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(seconds * 1_000);

describe('a token that ends', () => {
  it('is renewed when four fifths of its life are over, and not before (P2)', async () => {
    follow();
    await pass(LIFETIME_S * 0.79);
    expect(asked).toBe(0);
    await pass(LIFETIME_S * 0.02);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatchObject({ metadata: { uid: 'u', resourceVersion: '7' } });
    await pass(LIFETIME_S * 5);
    expect(written).toHaveLength(1);
  });

  it('is renewed soon after a pause of the machine, which timers do not notice (P2, L142)', async () => {
    const days = 86_400;
    follow({}, token(START_S, { exp: START_S + 2 * days }));
    await pass(1);
    vi.setSystemTime((START_S + 1.9 * days) * 1_000);
    answer = () => token(START_S + 1.9 * days, { exp: START_S + 4 * days });
    await pass(61);
    expect(written).toHaveLength(1);
  });

  it('is renewed at once when the target refuses it (P2)', async () => {
    follow();
    await pass(1);
    renewal.hurry();
    await pass(1);
    expect(written).toHaveLength(1);
  });

  it('is tried again after a failure, less and less often, and what failed is said once (P2, P4)', async () => {
    answer = () => {
      throw status(500);
    };
    follow();
    await pass(LIFETIME_S * 0.8 + 1_200);
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThan(15);
    expect(problems).toEqual(['asked: HTTP 500 (500)']);
    answer = () => token(Date.now() / 1_000);
    await pass(300);
    expect([written.length, problems.at(-1)]).toEqual([1, undefined]);
  });

  it('is renewed by whoever keeps its Secret (P5)', async () => {
    follow({ keeper: { name: 'ExternalSecret west', isController: true } });
    await pass(LIFETIME_S * 2);
    expect([asked, written]).toEqual([0, []]);
    expect(problems).toEqual(['ExternalSecret west keeps the Secret, so that the operator does not write it']);
  });

  it('is not said to be kept by another once nobody keeps its Secret any more (P4, P5, L141)', () => {
    follow({ keeper: { name: 'ExternalSecret west', isController: true } });
    follow();
    expect([problems.length, renewal.problem]).toEqual([2, undefined]);
  });

  it('is not renewed, and nothing is reported, while the Lease may have expired; the next one is kept (H4, L144)', async () => {
    let attempts = 0;
    write = () => {
      attempts += 1;
      throw new FencedError('nothing is written until the Lease is renewed');
    };
    follow();
    await pass(LIFETIME_S * 0.8 + 20);
    expect([problems, written, asked]).toEqual([[], [], 1]);
    expect(attempts).toBeGreaterThan(15);
    write = () => undefined;
    await pass(1);
    expect([problems, written.length, asked]).toEqual([[], 1, 1]);
  });

  it('is followed anew, and without a word, when somebody else writes its Secret meanwhile (P2)', async () => {
    write = () => {
      throw status(409);
    };
    follow();
    await pass(LIFETIME_S * 0.8 + 10);
    expect(problems).toEqual([]);
    follow({}, token(Date.now() / 1_000));
    await pass(LIFETIME_S * 0.5);
    expect(written).toEqual([]);
  });

  test.each<[string, () => unknown, string]>([
    ['no token', () => undefined, 'the target gave no token that ends'],
    ['one that never ends', () => token(START_S, { exp: Number.NaN }), 'the target gave no token that ends'],
    [
      'one of another account',
      () => token(Date.now() / 1_000, { name: 'admin' }),
      'the target gave a token of another account',
    ],
    [
      'one of an account made anew',
      () => token(Date.now() / 1_000, { uid: '12' }),
      'the target gave a token of another account',
    ],
    ['one that ends no later', () => token(START_S), 'the target gave a token that ends no later'],
    ['one that no kubeconfig can hold', () => `${token(Date.now() / 1_000)}\n`, 'the renewed kubeconfig is not valid'],
  ])('is kept where the target answers with %s (P2)', async (_, given, problem) => {
    answer = given;
    follow();
    await pass(LIFETIME_S * 0.8 + 1);
    expect(written).toEqual([]);
    expect(problems[0]).toContain(problem);
  });

  it('is kept where the target knows the new one as somebody else (P2)', async () => {
    user = 'system:serviceaccount:mesh:admin';
    follow();
    await pass(LIFETIME_S * 0.8 + 1);
    expect([written, problems]).toEqual([[], ['the target gave a token of another account']]);
  });

  it('is renewed where the target goes by the certificate beside it, and takes both for the same (L290)', async () => {
    [user, self] = ['admin', 'admin'];
    follow();
    await pass(LIFETIME_S * 0.8 + 1);
    expect([written.length, problems]).toEqual([1, []]);
  });

  it('is renewed no more once nothing follows it', async () => {
    follow();
    renewal.follow(undefined, stop.signal);
    await pass(LIFETIME_S * 2);
    expect(asked).toBe(0);
  });
});
