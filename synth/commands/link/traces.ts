/**
 * What a Link leaves in both clusters beside its mirrors: the credentials, and the account in the target. What another Link,
 * another source cluster or a controller has or keeps, stays, and it is said why.
 */
import { keeperOf } from '../../../operator/kube/keeper.ts';
import { Annotation, CredentialsSecret, Label, remoteAccessName, Value, OUR_MANAGERS } from '../../../crds/wire.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import type { Unwanted } from '../common/change-set/want.ts';
import type { Cluster } from '../common/cluster.ts';
import { SERVICE_ACCOUNTS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { accountInUse } from './access-read.ts';
import { type AccountRead, isOneOf, ownerOf, readAccount, recordOf, removalCommands, secretsOf } from './account.ts';
import { type Held, secretNameOf, type SourceNamespaces, tokensIn } from './held.ts';

import type { Pair } from './pair.ts';

/** The target, and what the source is to it. */
export type Target = Omit<Pair, 'source' | 'targetName'>;

/** What goes, and why the rest does not. */
export interface Traces {
  readonly unwanted: readonly Unwanted[];
  readonly notes: readonly string[];
}

/**
 * The credentials of a Link: its Secret, and the copy of Linkerd.
 * @param others the other Links
 */
export const credentialsTraces = (
  source: Cluster,
  cluster: string,
  { secret, secretName, copy }: Held,
  others: readonly LinkObject[],
): Traces & { readonly staying: readonly Secret[] } => {
  const users = (isUsed: (link: LinkObject) => boolean): readonly string[] =>
    others.filter(isUsed).map(({ metadata }) => `Link ${metadata.name} uses it`);
  const of = (found: Secret | undefined, uses: readonly string[]) => {
    if (found?.type !== CredentialsSecret.type) return [];
    const keeper = keeperOf(found, OUR_MANAGERS);
    const kept = keeper?.isController ? [`${keeper.name} keeps it`] : [];
    return [{ found, why: [...uses, ...kept] }];
  };
  const all = [
    ...of(
      secret,
      users((link) => secretNameOf(link, link.metadata.name) === secretName),
    ),
    ...of(
      copy,
      users(({ spec }) => spec?.targetClusterName === cluster),
    ),
  ];
  const staying = all.filter(({ why }) => why.length > 0);
  return {
    unwanted: all
      .filter(({ why }) => why.length === 0)
      .map(({ found }) => ({ cluster: source, of: SECRETS, object: found })),
    notes: staying.map(
      ({ found, why }) => `${source.title(SECRETS.kind, found.metadata)} stays, since ${why.join(', and ')}`,
    ),
    staying: staying.map(({ found }) => found),
  };
};

/** The account with which a source reads a target: that of the token which the source has, else that which records it. */
export const accessTraces = async (
  { target, sourceUid, sourceName }: Target,
  held: Held,
  { staying }: { readonly staying: readonly Secret[] },
  { namespace }: SourceNamespaces,
): Promise<Traces> => {
  const account = await accountOf(target, held, { namespace, sourceUid, sourceName });
  const { object } = account;
  if (object === undefined) {
    return { unwanted: [], notes: [`no account of ${sourceName} was found in ${target.context}`] };
  }
  const keep = (why: string): Traces => ({
    unwanted: [],
    notes: [`${target.title(SERVICE_ACCOUNTS.kind, account)} stays, since ${why}`],
  });
  const elsewhere = tokensIn([...held.others, ...staying]);
  if ([...elsewhere].some((token) => isOneOf(account, token))) {
    return keep(`other credentials of the source cluster are of it`);
  }
  switch (ownerOf(account, { sourceUid, sourceName, held: tokensIn([held.secret, held.copy]) })) {
    case 'another':
      return keep(
        `another source cluster reads with it, that whose namespace kube-system has the uid ${recordOf(object)}`,
      );
    case 'unknown':
      return keep(`others may read with it; to remove it, run ${removalCommands(target, account)}`);
    case 'source': {
      const secrets = secretsOf(account).map((each) => ({ of: SECRETS, object: each }));
      const all = [...secrets, ...account.rights, { of: SERVICE_ACCOUNTS, object }];
      return { unwanted: all.map((each) => ({ ...each, cluster: target })), notes: [] };
    }
  }
};

const accountOf = async (
  target: Cluster,
  held: Held,
  { namespace, sourceUid, sourceName }: SourceOf,
): Promise<AccountRead> => {
  const tokens = tokensIn([held.secret, held.copy]);
  const used = await accountInUse(target, held, namespace);
  if (used !== undefined) return readAccount(target, used, tokens);
  const labelSelector = `${Label.extension}=${Value.extension}`;
  const all = await target.list(SERVICE_ACCOUNTS, { namespace, labelSelector });
  const recorded = all.find(
    ({ metadata }) => sourceUid !== undefined && metadata.annotations?.[Annotation.sourceClusterUid] === sourceUid,
  );
  return readAccount(target, { namespace, name: recorded?.metadata.name ?? remoteAccessName(sourceName) }, tokens);
};

interface SourceOf {
  readonly namespace: string;
  readonly sourceUid: string | undefined;
  readonly sourceName: string;
}
