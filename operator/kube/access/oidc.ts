/**
 * The ID token that kubectl's `oidc` auth-provider keeps in a kubeconfig. It is used while it is valid. It is not
 * renewed here: an identity provider may replace the refresh token with each renewal, and whoever renews must then
 * write the kubeconfig, or its owner is logged out. kubectl does both.
 */
import type { KubeconfigUser } from './kubeconfig-file.ts';

/** How long before its end a token is no longer used, as for kubectl. */
const MARGIN_MS = 10_000;

/** @returns why an auth-provider cannot be used, completing "user `name` …"; undefined if it can, or there is none */
export function authProviderProblem({ 'auth-provider': provider }: KubeconfigUser): string | undefined {
  if (provider === undefined) return undefined;
  const { name = '', config = {} } = provider;
  if (name !== 'oidc') return `has an auth-provider that kubectl has removed (use a login program: exec)`;
  const missing = ['idp-issuer-url', 'client-id'].find((field) => !config[field]);
  return missing === undefined ? undefined : `has an auth-provider without ${missing} (add it)`;
}

/**
 * The ID token.
 * @throws Error that completes "user `name` …", if it has none, or one that has expired
 */
export function idToken({ 'auth-provider': provider }: KubeconfigUser): string {
  const token = provider?.config?.['id-token'] ?? '';
  if (token !== '' && expiryMs(token) > Date.now() + MARGIN_MS) return token;
  const state = token === '' ? 'has no ID token' : 'has an ID token that has expired';
  throw new Error(`${state} (run kubectl once with this context: it renews the token and keeps it)`);
}

/** When a token expires, in milliseconds since 1970; 0 if it does not say. */
function expiryMs(token: string): number {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
      exp?: unknown;
    };
    return Number(claims.exp ?? 0) * 1000;
  } catch {
    return 0;
  }
}
