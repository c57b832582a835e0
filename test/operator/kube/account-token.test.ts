import { describe, expect, it, test } from 'vitest';
import {
  isLongLived,
  isSameAccount,
  readAccountToken,
  renewalMs,
  successorRequest,
  userOf,
} from '../../../operator/kube/account-token.ts';

const CLAIMS = {
  iat: 1_000_000,
  exp: 1_172_800,
  'kubernetes.io': {
    namespace: 'linkerd-multicluster',
    serviceaccount: { name: 'remote-access-east', uid: '11' },
    secret: { name: 'linkspan-peer-east', uid: '22' },
  },
};
const jwt = (claims: unknown): string =>
  ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'c2ln'].join('.');
const read = (claims: unknown = CLAIMS) => readAccountToken(jwt(claims));

describe('a token of a ServiceAccount (P2)', () => {
  it('says whose it is, what it is bound to, and when it ends', () => {
    expect(read()).toEqual({
      namespace: 'linkerd-multicluster',
      account: 'remote-access-east',
      uid: '11',
      boundTo: { name: 'linkspan-peer-east', uid: '22' },
      issuedAtMs: 1_000_000_000,
      expiresAtMs: 1_172_800_000,
    });
    expect(userOf(read()!)).toBe('system:serviceaccount:linkerd-multicluster:remote-access-east');
  });

  it('is renewed when four fifths of its life are over, or a little earlier', () => {
    expect(renewalMs(read()!, 0)).toBe(1_000_000_000 + 172_800_000 * 0.8);
    expect(renewalMs(read()!, 0.999)).toBeGreaterThan(1_000_000_000 + 172_800_000 * 0.75);
  });

  it('is followed by one that lives as long and is bound to the same Secret', () => {
    expect(successorRequest(read()!).spec).toEqual({
      expirationSeconds: 172_800,
      boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'linkspan-peer-east', uid: '22' },
    });
  });

  it('is followed by one for ten minutes at least, which no API server refuses', () => {
    expect(successorRequest(read({ ...CLAIMS, exp: CLAIMS.iat + 60 })!).spec.expirationSeconds).toBe(600);
  });

  it('is of the same account only with the same uid', () => {
    const anew = { ...CLAIMS['kubernetes.io'], serviceaccount: { name: 'remote-access-east', uid: '12' } };
    expect(isSameAccount(read()!, read({ ...CLAIMS, exp: 2_000_000 })!)).toBe(true);
    expect(isSameAccount(read()!, read({ ...CLAIMS, 'kubernetes.io': anew })!)).toBe(false);
  });

  const of = CLAIMS['kubernetes.io'];
  test.each<[string, string]>([
    ['is one that never ends', jwt({ ...CLAIMS, exp: undefined })],
    ['ends before it begins', jwt({ ...CLAIMS, exp: CLAIMS.iat - 1 })],
    ['has times that are no numbers', jwt({ ...CLAIMS, iat: '1', exp: '2' })],
    ['is of no account', jwt({ ...CLAIMS, 'kubernetes.io': { namespace: of.namespace } })],
    [
      'names what is no ServiceAccount',
      jwt({ ...CLAIMS, 'kubernetes.io': { ...of, serviceaccount: { name: '../x', uid: '1' } } }),
    ],
    ['names what is no namespace', jwt({ ...CLAIMS, 'kubernetes.io': { ...of, namespace: 'a/b' } })],
    ['has claims that are a list', jwt([])],
    ['has claims that are null', jwt(null)],
    ['has no JSON in it', 'e30.bm90IGpzb24.c2ln'],
    ['is no JSON Web Token', 'opaque-token'],
    ['has too many parts', `${jwt(CLAIMS)}.x`],
    ['is larger than any', jwt({ ...CLAIMS, padding: 'x'.repeat(20_000) })],
  ])('which %s is none that can be renewed', (_, token) => {
    expect(readAccountToken(token)).toBeUndefined();
  });

  test.each<[string, string, boolean]>([
    ['that Kubernetes keeps in a Secret', jwt({ iss: 'kubernetes/serviceaccount' }), true],
    ['that ends', jwt({ iss: 'kubernetes/serviceaccount', exp: 1 }), false],
    ['of another issuer', jwt({ iss: 'https://example.com' }), false],
    ['that says nothing', 'opaque', false],
  ])('one %s lives for ever: %s', (_, token, expected) => {
    expect(isLongLived(token)).toBe(expected);
  });

  it('is bound to nothing where the Secret that it names is none', () => {
    const odd = { ...of, secret: { name: 7, uid: '22' } };
    expect(read({ ...CLAIMS, 'kubernetes.io': odd })!.boundTo).toBeUndefined();
  });
});
