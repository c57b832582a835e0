/**
 * The tokens of an account in a target that do not end. Kubernetes stores each in a Secret that names the account. While a
 * token is rotated there are two of them; the younger one counts. That of an account that was deleted is dead, also when an
 * account of that name was made anew.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { Annotation, Label, TOKEN_SECRET_TYPE, tokenSecretName, Value } from '../../../crds/wire.ts';
import { type KubeObject, type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import { warn } from '../../print.ts';
import type { Cluster } from '../common/cluster.ts';
import { ifAllowed } from '../common/readable.ts';
import { waitFor } from '../common/wait.ts';

/** How long Kubernetes may take to make a token. */
const TOKEN_TIMEOUT_MS = 30_000;

/** A ServiceAccount of a target. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** A token of the target, and the CA certificates that the target gives its own pods: PEM, in base64. */
export interface Token {
  readonly token: string;
  readonly caData: string;
}

/** The Secrets of a namespace with the tokens of accounts. */
export const allTokenSecrets = (target: Cluster, namespace: string): Promise<readonly Secret[]> =>
  target.list<Secret>(SECRETS, { namespace, fieldSelector: `type=${TOKEN_SECRET_TYPE}` });

/** Those of one account, the youngest first, whether Kubernetes has filled them or not. */
export const secretsOfAccount = (all: readonly Secret[], name: string): readonly Secret[] =>
  youngestFirst(all.filter(({ metadata }) => metadata.annotations?.[Annotation.serviceAccountName] === name));

/** Sorts Secrets. Of two that were made in one second the one with the higher number counts as the younger. */
export const youngestFirst = (all: readonly Secret[]): readonly Secret[] => {
  const age = ({ metadata }: Secret): string => metadata.creationTimestamp ?? '';
  return all.toSorted(
    (one, other) => BY_NUMBER.compare(age(other), age(one)) || BY_NUMBER.compare(nameOf(other), nameOf(one)),
  );
};

const nameOf = ({ metadata }: Secret): string => metadata.name;
const BY_NUMBER = new Intl.Collator('en', { numeric: true });

/** The Secrets for the tokens of an account, the youngest first. */
export const tokenSecretsOf = async (target: Cluster, { namespace, name }: Account): Promise<readonly Secret[]> =>
  secretsOfAccount(await allTokenSecrets(target, namespace), name);

/** Reports whether a Secret holds the token of an account that is gone. */
export const isDead = ({ metadata }: Secret, account: KubeObject | undefined): boolean => {
  const uid = metadata.annotations?.[Annotation.serviceAccountUid];
  return uid !== undefined && uid !== account?.metadata.uid;
};

/** The token in a Secret; undefined until Kubernetes has made it. */
export const tokenIn = (secret: Secret | undefined): Token | undefined => {
  const { token, 'ca.crt': caData } = secret?.data ?? {};
  return token && caData ? { token: Buffer.from(token, 'base64').toString(), caData } : undefined;
};

/** The token in the first of these Secrets that Kubernetes has filled. */
export const firstTokenIn = (secrets: readonly Secret[]): Token | undefined =>
  secrets.map(tokenIn).find((each) => each !== undefined);

/** `<account>-token`, or with a number if that is taken. */
export const freeTokenName = (account: string, taken: readonly Secret[]): string =>
  freeName(tokenSecretName(account), taken);

/** A name, or the same with a number if that is taken. */
export const freeName = (base: string, taken: readonly Secret[]): string => {
  const names = new Set(taken.map(({ metadata }) => metadata.name));
  let name = base;
  for (let number = 2; names.has(name); number += 1) name = `${base}-${number}`;
  return name;
};

/** The Secret that Kubernetes is to fill with a token of an account. */
export const tokenSecret = ({ namespace, name: account }: Account, name: string): ApiJson => ({
  apiVersion: 'v1',
  kind: SECRETS.kind,
  type: TOKEN_SECRET_TYPE,
  metadata: {
    name,
    namespace,
    labels: { [Label.extension]: Value.extension },
    annotations: { [Annotation.serviceAccountName]: account },
  },
});

/** Records on the Secret of a token that it was printed: for a source cluster, or for nobody who is known. */
export const markGiven = async (target: Cluster, secret: Secret, to = 'true'): Promise<void> => {
  const { metadata } = secret;
  const before = metadata.annotations?.[Annotation.tokenGiven];
  if (before === to || before === 'true') return;
  const patch = { metadata: { annotations: { [Annotation.tokenGiven]: to } } };
  const marked = await ifAllowed(() => target.patch(SECRETS, metadata, patch));
  if ('found' in marked) return;
  const mark = `${Annotation.tokenGiven}=${to}`;
  warn(
    `${marked.obstacle}: until its token is used, another source may take the account over, unless somebody who may annotates the Secret with ${mark}`,
  );
};

/**
 * Waits until Kubernetes has filled a Secret.
 * @throws CommandError if it has not in time
 */
export const awaitToken = (target: Cluster, ref: Account, timeoutMs: number): Promise<Token> => {
  const title = target.title(SECRETS.kind, ref);
  return waitFor(
    `the token in ${title}`,
    async () => {
      const token = tokenIn(await target.find<Secret>(SECRETS, ref));
      return token === undefined ? { pending: 'none is made yet' } : { done: token };
    },
    {
      timeoutMs: Math.min(timeoutMs, TOKEN_TIMEOUT_MS),
      problem: (_, waitedMs) => ({
        object: title,
        reason: `has no token after ${waitedMs / 1000} s`,
        remedy: noTokenRemedy(target),
      }),
    },
  );
};

/** What to do about a Secret that Kubernetes does not fill. */
export const noTokenRemedy = ({ context }: Cluster): string =>
  `see whether kube-controller-manager of ${context} runs: it makes the tokens of ServiceAccounts`;
