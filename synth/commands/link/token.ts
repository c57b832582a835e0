/**
 * The token of an account in a target. Kubernetes stores it in a Secret that names the account. While a token is rotated
 * there are two of them; the younger one counts.
 */
import { Annotation, TOKEN_SECRET_TYPE, tokenSecretName } from '../../../crds/wire.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { waitFor } from '../common/wait.ts';

/** How long Kubernetes may take to make a token. */
const TOKEN_TIMEOUT_MS = 30_000;

/** A ServiceAccount of a target. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** A token of the target, and the CA that the target gives with it: PEM, in base64. */
export interface Token {
  readonly token: string;
  readonly caData: string;
}

/** The Secrets for the tokens of an account, the youngest first, whether Kubernetes has filled them or not. */
export const tokenSecretsOf = async (target: Cluster, { namespace, name }: Account): Promise<readonly Secret[]> => {
  const all = await target.list<Secret>(SECRETS, { namespace, fieldSelector: `type=${TOKEN_SECRET_TYPE}` });
  const age = ({ metadata }: Secret): string => metadata.creationTimestamp ?? '';
  return all
    .filter(({ metadata }) => metadata.annotations?.[Annotation.serviceAccountName] === name)
    .toSorted((one, other) => (age(one) < age(other) ? 1 : age(one) > age(other) ? -1 : 0));
};

/** The token in a Secret; undefined until Kubernetes has made it. */
export const tokenIn = (secret: Secret | undefined): Token | undefined => {
  const { token, 'ca.crt': caData } = secret?.data ?? {};
  return token && caData ? { token: Buffer.from(token, 'base64').toString(), caData } : undefined;
};

/** The Secret that an account's token is in, or, if it has none, is to be in. */
export const tokenSecretOf = async (target: Cluster, account: Account): Promise<string> => {
  const [youngest] = await tokenSecretsOf(target, account);
  return youngest?.metadata.name ?? tokenSecretName(account.name);
};

/** The token of an account; undefined if it has none. */
export const readToken = async (target: Cluster, account: Account): Promise<Token | undefined> =>
  (await tokenSecretsOf(target, account)).map(tokenIn).find((token) => token !== undefined);

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
