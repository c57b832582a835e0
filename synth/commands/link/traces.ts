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
import { accountInUse, isUsedBy } from './access-read.ts';
import { type AccountRead, ownerOf, readAccount, recordOf, removalCommands, secretsOf } from './account.ts';
import { type Held, secretNameOf, type SourceNamespaces, tokensIn } from './held.ts';
import type { Pair } from './pair.ts';

/** The target, and what the source is to it. */
export type Target = Omit<Pair, 'source' | 'targetName'>;

/** What goes, and why the rest does not. */
export interface Traces {
  readonly unwanted: readonly Unwanted[];
  readonly notes: readonly string[];
}

/** The credentials of a Link: its Secret, and the copy of Linkerd. */
export const credentialsTraces = (
  source: Cluster,
  cluster: string,
  { secret, secretName, copy, otherLinks }: Held,
): Traces & { readonly staying: readonly Secret[] } => {
  const users = (isUsed: (link: LinkObject) => boolean): readonly string[] =>
    otherLinks.filter(isUsed).map(({ metadata }) => `Link ${metadata.name} uses it`);
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
  const { account, isInUse } = await accountOf(target, held, staying, { namespace, sourceUid, sourceName });
  const { object } = account;
  if (object === undefined) {
    return { unwanted: [], notes: [`no account of ${sourceName} was found in ${target.context}`] };
  }
  const keep = (why: string): Traces => ({
    unwanted: [],
    notes: [`${target.title(SERVICE_ACCOUNTS.kind, account)} stays, since ${why}`],
  });
  if (isUsedBy(account, [...held.others, ...staying])) {
    return keep(`other credentials of the source cluster are of it`);
  }
  if (!account.areRightsKnown) {
    return keep('its Roles cannot be listed in all namespaces: have somebody run the command who may list them');
  }
  const [silent] = isInUse ? [] : held.otherLinks.filter((link) => !hasToken(link, [...held.others, ...staying]));
  if (silent !== undefined) {
    const remove = removalCommands(target, account);
    return keep(`Link ${silent.metadata.name}, whose credentials cannot be read, may read with it; else run ${remove}`);
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

/** Reports whether the credentials of a Link are among these, with a token. */
const hasToken = (link: LinkObject, secrets: readonly Secret[]): boolean =>
  secrets.some(
    (each) =>
      each.metadata.namespace === link.metadata.namespace &&
      each.metadata.name === secretNameOf(link, link.metadata.name) &&
      tokensIn([each]).size > 0,
  );

/** The account of the token that the source has; without one, the first of those that record the source which is unused. */
const accountOf = async (
  target: Cluster,
  held: Held,
  staying: readonly Secret[],
  { namespace, sourceUid, sourceName }: SourceOf,
): Promise<{ readonly account: AccountRead; readonly isInUse: boolean }> => {
  const tokens = tokensIn([held.secret, held.copy]);
  const used = await accountInUse(target, held, namespace);
  if (used !== undefined) return { account: await readAccount(target, used, tokens), isInUse: true };
  const labelSelector = `${Label.extension}=${Value.extension}`;
  const all = await target.list(SERVICE_ACCOUNTS, { namespace, labelSelector });
  const recorded = all.filter(
    ({ metadata }) => sourceUid !== undefined && metadata.annotations?.[Annotation.sourceClusterUid] === sourceUid,
  );
  const read = (name: string): Promise<AccountRead> => readAccount(target, { namespace, name }, tokens);
  const names = recorded.map(({ metadata }) => metadata.name);
  const usual = remoteAccessName(sourceName);
  const [named, ...others] = await Promise.all([read(usual), ...names.filter((name) => name !== usual).map(read)]);
  const found = (names.includes(usual) ? [named, ...others] : [...others, named]).filter(
    ({ object }) => object !== undefined,
  );
  const unused = found.find((each) => !isUsedBy(each, [...held.others, ...staying]));
  return { account: unused ?? found[0] ?? named, isInUse: false };
};

interface SourceOf {
  readonly namespace: string;
  readonly sourceUid: string | undefined;
  readonly sourceName: string;
}
