/**
 * The headers that a user of a kubeconfig authenticates with, and those by which it acts as another: what kubectl
 * sends.
 */
import { readFile } from 'node:fs/promises';
import { bearer, type Headers } from './access.ts';
import type { KubeconfigUser } from './kubeconfig-file.ts';

/** Reports whether the kubeconfig itself has a token or a password, which go before a login program. */
export const hasOwnHeaders = ({ token, tokenFile, username }: KubeconfigUser): boolean =>
  Boolean(token ?? '') || Boolean(tokenFile ?? '') || Boolean(username ?? '');

/**
 * Headers of the user's own token or password, as they are now: the file of a token is read again each time. What it
 * holds goes before the token of the kubeconfig, which counts when the file is empty or cannot be read.
 * @throws Error that completes "user `name` …", if there is a file but no token
 */
export async function ownHeaders({ token, tokenFile, username, password }: KubeconfigUser): Promise<Headers> {
  if (tokenFile) {
    try {
      const read = (await readFile(tokenFile, 'utf8')).trim();
      if (read !== '') return bearer(read);
    } catch (error) {
      if (!token) throw new Error(`has a tokenFile that cannot be read: ${(error as Error).message}`, { cause: error });
    }
    if (!token) throw new Error(`has a tokenFile that is empty: ${tokenFile}`);
  }
  if (token) return bearer(token);
  if (!username) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}

/** Headers by which the user acts as another. */
export function impersonation(user: KubeconfigUser): Headers {
  const { as, 'as-uid': uid, 'as-groups': groups = [], 'as-user-extra': extra = {} } = user;
  if (!as) return {};
  return {
    'Impersonate-User': onTheWire(as),
    ...(uid ? { 'Impersonate-Uid': onTheWire(uid) } : {}),
    ...(groups.length > 0 ? { 'Impersonate-Group': groups.map(onTheWire) } : {}),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`Impersonate-Extra-${escaped(key)}`, values.map(onTheWire)]),
    ),
  };
}

/** A header's value goes out as Latin-1; Kubernetes takes it for UTF-8. */
const onTheWire = (value: string): string => Buffer.from(value, 'utf8').toString('latin1');

/** What cannot be in the name of a header becomes `%XX`, as client-go has it. */
const escaped = (key: string): string =>
  [...Buffer.from(key, 'utf8')]
    .map((byte) => [byte, String.fromCharCode(byte)] as const)
    .map(([byte, char]) =>
      /[\w!#$&'*+.^`|~-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
