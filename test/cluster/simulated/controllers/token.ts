/** Fills the token Secrets of ServiceAccounts, and knows whose a token is. */
import { randomUUID } from 'node:crypto';
import { CERTIFICATE } from '../../certificate.ts';
import type { KubeObject } from '../storage/object.ts';
import type { User } from '../kinds/rbac.ts';
import type { Registry } from '../storage/registry.ts';
import { idOf, SECRETS, SERVICE_ACCOUNTS } from '../kinds/resources.ts';
import { keyOf } from '../storage/storage.ts';
import { userOfAccount } from '../tokens.ts';
import { put } from './writes.ts';

const TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const accountOf = (registry: Registry, { type, metadata }: KubeObject): KubeObject | undefined =>
  type === TYPE
    ? registry.storage
        .collection(idOf(SERVICE_ACCOUNTS))
        .get(keyOf(metadata.namespace, metadata.annotations?.[ACCOUNT] ?? ''))
    : undefined;

/** Reconciles one Secret. */
export function reconcileToken(registry: Registry, key: string): void {
  const secret = registry.storage.collection(idOf(SECRETS)).get(key);
  const account = secret === undefined ? undefined : accountOf(registry, secret);
  if (secret === undefined || account === undefined) return;
  const data = (secret.data ?? {}) as Readonly<Record<string, string>>;
  if (data.token !== undefined) return;
  // The token contains the key of its Secret, so that looking it up needs no index.
  const token = `${Buffer.from(key).toString('base64url')}.${randomUUID()}`;
  const annotations = { ...secret.metadata.annotations, [ACCOUNT_UID]: account.metadata.uid ?? '' };
  const { namespace = '' } = secret.metadata;
  put(registry, SECRETS, {
    ...secret,
    metadata: { ...secret.metadata, annotations },
    data: { ...data, token: base64(token), namespace: base64(namespace), 'ca.crt': base64(CERTIFICATE) },
  });
}

/** The ServiceAccount a token was made for, if it still is in its Secret. */
export function serviceAccountOf(registry: Registry, token: string): User | undefined {
  const key = Buffer.from(token.split('.')[0] ?? '', 'base64url').toString();
  const secret = registry.storage.collection(idOf(SECRETS)).get(key);
  if (secret === undefined || (secret.data as Readonly<Record<string, string>> | undefined)?.token !== base64(token))
    return undefined;
  const account = accountOf(registry, secret);
  if (account === undefined) return undefined;
  const { namespace = '', name, uid } = account.metadata;
  return userOfAccount(namespace, name, uid);
}

/** The Secrets that wait for a ServiceAccount. */
export const secretsOf = (account: KubeObject, registry: Registry): readonly string[] =>
  registry.storage
    .collection(idOf(SECRETS))
    .entries()
    .filter(([, secret]) => accountOf(registry, secret)?.metadata.uid === account.metadata.uid)
    .map(([key]) => key);
