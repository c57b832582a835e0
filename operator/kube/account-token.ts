/**
 * Reads the claims of a ServiceAccount token: its account, what it is bound to, and when it expires. Nothing is
 * verified here, since only the API server can do that: the claims only decide when a new token is requested, and for
 * which account.
 */
import { type Fields, fieldsOf } from './conditions.ts';
import type { KubeObject } from './objects.ts';

/** A ServiceAccount token that expires. */
export interface AccountToken {
  readonly namespace: string;
  readonly account: string;
  /** Uid of the ServiceAccount. */
  readonly uid: string;
  /** Secret that the token is bound to: the token is void once it is deleted. */
  readonly boundTo: { readonly name: string; readonly uid: string } | undefined;
  /** Unix time in milliseconds. */
  readonly issuedAtMs: number;
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
}

/** The shortest lifetime that an API server grants, in seconds. */
const SHORTEST_S = 600;

/** Part of the lifetime after which a token is renewed, as kubelets renew theirs (rule P2). */
export const RENEWED_AFTER = 0.8;

/** Part of the time until a renewal over which renewals are spread, so that Links do not renew together. */
const SPREAD = 0.05;

/** Longest token that is read, in bytes. */
const MAX_TOKEN_BYTES = 16 * 1024;

/** A DNS subdomain, as names of namespaces and ServiceAccounts are. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** A uid, as API servers make them. */
const UID = /^[-A-Za-z0-9]{1,128}$/;

/** Returns the claims of a token; undefined if it is not a ServiceAccount token, or never expires. Never throws. */
export function readAccountToken(token: string): AccountToken | undefined {
  const claims = claimsOf(token);
  const { iat, exp } = claims;
  const of = fieldsOf(claims['kubernetes.io']);
  const account = named(of['serviceaccount']);
  const namespace = nameOf(of['namespace']);
  if (typeof iat !== 'number' || typeof exp !== 'number' || !(exp > iat) || !(iat > 0)) return undefined;
  if (account === undefined || namespace === undefined) return undefined;
  return {
    namespace,
    account: account.name,
    uid: account.uid,
    boundTo: named(of['secret']),
    issuedAtMs: iat * 1_000,
    expiresAtMs: exp * 1_000,
  };
}

/** Reports whether a token is one of a ServiceAccount that Kubernetes keeps in a Secret, and that does not end. */
export function isLongLived(token: string): boolean {
  const { iss, exp } = claimsOf(token);
  return iss === 'kubernetes/serviceaccount' && exp === undefined;
}

/** Returns the user name by which an API server knows the account of a token. */
export const userOf = ({ namespace, account }: AccountToken): string => `system:serviceaccount:${namespace}:${account}`;

/** Reports whether two tokens belong to the same account, by its uid, which is unique among all clusters. */
export const isSameAccount = (a: AccountToken, b: AccountToken): boolean => a.uid === b.uid && userOf(a) === userOf(b);

/**
 * Returns when to renew a token, as Unix time in milliseconds.
 * @param random uniform in [0, 1)
 * @param part part of the token's lifetime after which it is renewed
 */
export const renewalMs = ({ issuedAtMs, expiresAtMs }: AccountToken, random: number, part = RENEWED_AFTER): number =>
  issuedAtMs + (expiresAtMs - issuedAtMs) * Math.max(0, part - SPREAD * part * random);

/** Returns the TokenRequest for the successor of a token, with the same lifetime and bound to the same Secret. */
export const successorRequest = ({ issuedAtMs, expiresAtMs, boundTo }: AccountToken): Pick<TokenRequest, 'spec'> => ({
  spec: {
    expirationSeconds: Math.max(SHORTEST_S, Math.round((expiresAtMs - issuedAtMs) / 1_000)),
    ...(boundTo && { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', ...boundTo } }),
  },
});

/** A TokenRequest, and its answer. */
export interface TokenRequest extends KubeObject {
  readonly spec: {
    readonly expirationSeconds: number;
    readonly boundObjectRef?: {
      readonly apiVersion: string;
      readonly kind: string;
      readonly name: string;
      readonly uid?: string;
    };
  };
  readonly status?: { readonly token?: unknown };
}

const nameOf = (value: unknown): string | undefined =>
  typeof value === 'string' && NAME.test(value) ? value : undefined;

const named = (value: unknown): { readonly name: string; readonly uid: string } | undefined => {
  const fields = fieldsOf(value);
  const name = nameOf(fields['name']);
  const { uid } = fields;
  return name !== undefined && typeof uid === 'string' && UID.test(uid) ? { name, uid } : undefined;
};

/** Returns the claims of a JSON Web Token; an empty object if the text is not one. */
function claimsOf(token: string): Fields {
  const parts = token.split('.', 4);
  if (parts.length !== 3 || token.length > MAX_TOKEN_BYTES) return {};
  try {
    return fieldsOf(JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}
