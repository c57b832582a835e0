/** Tokens of ServiceAccounts that end: asked for, reviewed, and void once their account or what they are bound to is gone. */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { type Answer, ok } from './answers.ts';
import type { User } from './kinds/rbac.ts';
import { idOf, SECRETS, SERVICE_ACCOUNTS } from './kinds/resources.ts';
import { parseBody, type Registry } from './storage/registry.ts';
import { ApiError, invalid, unprocessable } from './storage/status.ts';
import { keyOf } from './storage/storage.ts';

const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const GROUP = 'authentication.k8s.io/v1';
const KEY = randomBytes(32);
const SHORTEST_S = 600;
const DEFAULT_S = 3_600;

interface Claims {
  readonly iss: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly sub: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: { readonly name: string; readonly uid: string };
    readonly secret?: { readonly name: string; readonly uid: string };
  };
}

interface TokenRequestSpec {
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: { readonly kind?: string; readonly name: string; readonly uid?: string };
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signatureOf = (text: string): string => createHmac('sha256', KEY).update(text).digest('base64url');
const nowS = (): number => Math.floor(Date.now() / 1_000);

/** The user by which an API server knows an account. */
export const userOfAccount = (namespace: string, name: string, uid: string | undefined): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  ...(uid !== undefined && { uid }),
});

/** Answers a TokenRequest. */
export function requestToken(registry: Registry, namespace: string, name: string, text: string): Answer {
  const account = registry.get(SERVICE_ACCOUNTS, namespace, name);
  const { spec = {} } = parseBody(text) as { readonly spec?: TokenRequestSpec };
  const { expirationSeconds = DEFAULT_S, boundObjectRef: ref } = spec;
  if (expirationSeconds < SHORTEST_S) {
    const why = 'may not specify a duration less than 10 minutes';
    const of = { group: 'authentication.k8s.io', plural: 'tokenrequests', kind: 'TokenRequest' };
    throw unprocessable(of, '', [invalid('spec.expirationSeconds', expirationSeconds, why)]);
  }
  const bound = ref && registry.get(SECRETS, namespace, ref.name).metadata;
  if (bound !== undefined && ref?.uid !== undefined && ref.uid !== bound.uid) {
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw new ApiError(409, 'Conflict', `Operation cannot be fulfilled on Secret "${ref.name}": ${why}`, {});
  }
  const iat = nowS();
  const claims: Claims = {
    ...{ iss: ISSUER, aud: [ISSUER], iat, nbf: iat, exp: iat + expirationSeconds, jti: randomUUID() },
    sub: `system:serviceaccount:${namespace}:${name}`,
    'kubernetes.io': {
      namespace,
      serviceaccount: { name, uid: account.metadata.uid ?? '' },
      ...(bound && { secret: { name: bound.name, uid: bound.uid ?? '' } }),
    },
  };
  const signed = `${encoded({ alg: 'HS256', kid: 'simulated' })}.${encoded(claims)}`;
  const status = {
    token: `${signed}.${signatureOf(signed)}`,
    expirationTimestamp: new Date(claims.exp * 1_000).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  const answered = { audiences: [ISSUER], expirationSeconds, boundObjectRef: ref ?? null };
  return ok({ kind: 'TokenRequest', apiVersion: GROUP, metadata: { name, namespace }, spec: answered, status }, 201);
}

/** Whose a token is that ends; undefined for nobody's. */
export function userOfToken(registry: Registry, token: string): User | undefined {
  const [head = '', body = '', signature = ''] = token.split('.');
  const expected = Buffer.from(signatureOf(`${head}.${body}`));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims;
  const { namespace, serviceaccount: account, secret } = claims['kubernetes.io'];
  const uidOf = (of: typeof SECRETS, name: string): string | undefined =>
    registry.storage.collection(idOf(of)).get(keyOf(namespace, name))?.metadata.uid;
  const isVoid =
    claims.exp <= nowS() ||
    uidOf(SERVICE_ACCOUNTS, account.name) !== account.uid ||
    (secret !== undefined && uidOf(SECRETS, secret.name) !== secret.uid);
  return isVoid ? undefined : userOfAccount(namespace, account.name, account.uid);
}

/** Answers a TokenReview. */
export function reviewToken(authenticate: (token: string) => User | undefined, text: string): Answer {
  const { spec = {} } = parseBody(text) as { readonly spec?: { readonly token?: string } };
  const user = authenticate(spec.token ?? '');
  const status =
    user === undefined
      ? { user: {}, error: '[invalid bearer token]' }
      : { authenticated: true, user: infoOf(user), audiences: [ISSUER] };
  return ok({ kind: 'TokenReview', apiVersion: GROUP, metadata: {}, spec, status }, 201);
}

/** Answers a SelfSubjectReview: who asks. */
export const reviewSelf = (user: User): Answer =>
  ok({ kind: 'SelfSubjectReview', apiVersion: GROUP, metadata: {}, status: { userInfo: infoOf(user) } }, 201);

const infoOf = ({ name, groups, uid }: User): object => ({ username: name, groups, ...(uid !== undefined && { uid }) });
