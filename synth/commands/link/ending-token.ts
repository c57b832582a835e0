/**
 * Tokens of an account that end, by the TokenRequest API. They are bound to a Secret of the target that holds nothing:
 * whoever deletes it voids them, and no others. While a token is rotated there are two such Secrets; the younger one counts.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { Annotation, Label, peerSecretName, RootCa, Value } from '../../../crds/wire.ts';
import { isForbidden } from '../../../operator/kube/errors.ts';
import { CONFIG_MAPS, type KubeObject, type Secret, SECRETS, TOKEN_REQUESTS } from '../../../operator/kube/objects.ts';
import {
  type AccountToken,
  readAccountToken,
  type TokenRequest,
  userOf,
} from '../../../operator/kube/account-token.ts';
import type { Trial } from '../common/change-set/trial.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError } from '../common/command-error.ts';
import { SERVICE_ACCOUNTS, TOKEN_REVIEWS } from '../common/kinds.ts';
import type { ConfigMap } from '../common/linkerd.ts';
import { type Account, firstTokenIn, freeName, youngestFirst } from './token.ts';

/** How long a token lives that is not the successor of one, if the server lets it. */
export const LIFETIME_MS = 48 * 3_600_000;

/** The Secrets that tokens which end are bound to. */
export interface Peers {
  /** Those of an account, the youngest first. */
  readonly peers: readonly Secret[];
  /** Those of others, whose names are taken. */
  readonly otherPeers: readonly Secret[];
}

/** Reads them. One that a person has made for the account has just the name: another account may have the same. */
export const peerSecretsOf = async (target: Cluster, { namespace, name }: Account): Promise<Peers> => {
  const [labelled, named] = await Promise.all([
    target.list<Secret>(SECRETS, { namespace, labelSelector: `${Label.extension}=${Value.extension}` }),
    target.find<Secret>(SECRETS, { namespace, name: peerSecretName(name) }),
  ]);
  const accountOf = ({ metadata }: Secret): string | undefined => metadata.annotations?.[Annotation.serviceAccount];
  const isOwn = (each: Secret): boolean =>
    accountOf(each) === name ||
    (each === named && accountOf(each) === undefined && Object.keys(each.data ?? {}).length === 0);
  const recorded = labelled.filter(
    (each) => accountOf(each) !== undefined && each.metadata.name !== named?.metadata.name,
  );
  const all = [...recorded, ...(named === undefined ? [] : [named])];
  return { peers: youngestFirst(all.filter(isOwn)), otherPeers: all.filter((each) => !isOwn(each)) };
};

/** `linkspan-peer-<source>`, or with a number if that is taken. */
export const freePeerName = ({ name, peers, otherPeers }: Account & Peers): string =>
  freeName(peerSecretName(name), [...peers, ...otherPeers]);

/** The Secret that tokens of an account are to be bound to. */
export const peerSecret = ({ namespace, name: account }: Account, name: string): ApiJson => ({
  apiVersion: 'v1',
  kind: SECRETS.kind,
  type: 'Opaque',
  metadata: {
    name,
    namespace,
    labels: { [Label.extension]: Value.extension },
    annotations: { [Annotation.serviceAccount]: account },
  },
});

/**
 * Asks for a token.
 * @param peer name of the Secret that it is bound to
 * @throws CommandError if the target gives none
 */
export const requestToken = async (
  target: Cluster,
  { namespace, name }: Account,
  peer: string,
  lifetimeMs: number,
): Promise<string> => {
  const { status } = await ask(target, { namespace, name }, peer, lifetimeMs);
  if (typeof status?.token === 'string' && readAccountToken(status.token) !== undefined) return status.token;
  const object = target.title(SERVICE_ACCOUNTS.kind, { namespace, name });
  throw new CommandError([
    {
      object,
      reason: 'the API server gave no token that ends',
      remedy: 'see whether it issues tokens of ServiceAccounts',
    },
  ]);
};

const ask = (
  target: Cluster,
  { namespace, name }: Account,
  peer: string,
  lifetimeMs: number,
): Promise<TokenRequest> => {
  const boundObjectRef = { apiVersion: 'v1', kind: SECRETS.kind, name: peer };
  const to = { of: SERVICE_ACCOUNTS, namespace, name, subresource: 'token' };
  const spec = { expirationSeconds: Math.round(lifetimeMs / 1_000), boundObjectRef };
  return target.ask<TokenRequest>(TOKEN_REQUESTS, { spec }, to);
};

/** Tries to ask for a token. */
export const tokenTrial =
  (target: Cluster, account: Account, peer: string): Trial =>
  () =>
    ask(target.trial(), account, peer, LIFETIME_MS);

/** Reports whether a token says that it is of an account, and was made in this cluster: uids are unique among all. */
export const isTokenOf = ({ namespace, name }: Account, object: KubeObject | undefined, token: AccountToken): boolean =>
  token.namespace === namespace && token.account === name && token.uid === object?.metadata.uid;

/** Reports whether the tokens that are bound to a Secret are among these. */
export const isBoundTo = ({ metadata: { uid } }: KubeObject, token: string): boolean =>
  uid !== undefined && readAccountToken(token)?.boundTo?.uid === uid;

interface TokenReview extends KubeObject {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: { readonly username?: unknown; readonly uid?: unknown };
  };
}

/**
 * Of tokens that say that they are of an account, those that the target accepts as such. Others are never sent to it: they
 * may be those of another cluster. Where it may not be asked, none is known to be accepted.
 */
export const acceptedTokens = async (
  target: Cluster,
  account: Account,
  object: KubeObject | undefined,
  tokens: ReadonlySet<string>,
): Promise<readonly string[]> => {
  const reviewed = [...tokens].map(async (token) => {
    const read = readAccountToken(token);
    if (read === undefined || !isTokenOf(account, object, read)) return [];
    try {
      const { status } = await target.ask<TokenReview>(TOKEN_REVIEWS, { spec: { token } });
      const { username, uid } = status?.user ?? {};
      return status?.authenticated === true && username === userOf(read) && uid === read.uid ? [token] : [];
    } catch (error) {
      if (error instanceof CommandError && isForbidden(error.cause)) return [];
      throw error;
    }
  });
  return (await Promise.all(reviewed)).flat();
};

/** How long a token lives; undefined if it does not end. */
export const lifetimeOf = (token: string): number | undefined => {
  const read = readAccountToken(token);
  return read && read.expiresAtMs - read.issuedAtMs;
};

/**
 * The CA certificates that the target gives its own pods: PEM, in base64.
 * @throws CommandError if it publishes none
 */
export const caOf = async (
  target: Cluster,
  { namespace, tokens }: Pick<Account, 'namespace'> & { readonly tokens: readonly Secret[] },
): Promise<string> => {
  const ref = { namespace, name: RootCa.name };
  const pem = (await target.find<ConfigMap>(CONFIG_MAPS, ref))?.data?.[RootCa.key];
  const ca = pem === undefined ? firstTokenIn(tokens)?.caData : encoded(pem);
  if (ca !== undefined) return ca;
  throw new CommandError([
    {
      object: target.title(CONFIG_MAPS.kind, ref),
      reason: 'not found, so that the CA of the API server is not known',
      remedy: `see whether kube-controller-manager of ${target.context} runs: it makes it in each namespace`,
    },
  ]);
};

const encoded = (text: string): string => Buffer.from(text).toString('base64');
