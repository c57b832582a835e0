/**
 * The account with which a source reads a target, and what the source has of its tokens, as they are; and why they must not
 * be written. What no flag says stays as it is.
 */
import { keeperOf } from '../../../operator/kube/keeper.ts';
import { Annotation, remoteAccessName, OUR_MANAGERS } from '../../../crds/wire.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { kubectl, linkspanPair } from '../common/command-text.ts';
import type { Problem } from '../common/command-error.ts';
import { type AccountRead, accountProblems, isFlat, isProven, ownerOf, readAccount } from './account.ts';
import { type ApiServer, apiServerOf } from './api-server.ts';
import { type Held, heldServer, otherTargetProblems, readHeld, type SourceNamespaces, tokensIn } from './held.ts';
import { keptProblem } from './keeper.ts';
import type { Pair } from './pair.ts';
import { type Account, allTokenSecrets, tokenIn } from './token.ts';

/** What the flags say of an account. */
export interface AccessFlags extends SourceNamespaces {
  readonly sourceName?: string;
  /** @default - as the account is; false for a new one, if there is a gateway */
  readonly flat?: boolean | undefined;
  readonly gateway?: boolean | undefined;
  readonly exportNamespaces?: readonly string[] | undefined;
  readonly forceConflicts?: true;
}

export interface AccessRead {
  readonly account: AccountRead;
  readonly held: Held;
  /** Whether Linkerd may read the target, or is to. */
  readonly flat: boolean;
  /** The only namespaces that the source may read; undefined for all. */
  readonly exportNamespaces: readonly string[] | undefined;
}

/** Reads both. An account of another name that is the source's own stays in use. */
export const readAccess = async (
  { source, target, sourceUid, sourceName, targetName }: Pair,
  flags: AccessFlags,
): Promise<AccessRead> => {
  const { namespace } = flags;
  const held = await readHeld(source, targetName, flags);
  const own = { namespace, name: remoteAccessName(sourceName) };
  const used = flags.sourceName === undefined ? await accountInUse(target, held, namespace) : undefined;
  let account = await readAccount(target, used ?? own);
  const claim = { sourceUid, sourceName, held: new Set<string>() };
  if (used !== undefined && used.name !== own.name && ownerOf(account, claim) !== 'source') {
    account = await readAccount(target, own);
  }
  const limit = flags.exportNamespaces ?? held.link?.spec?.targetNamespaces ?? [];
  return {
    account,
    held,
    flat: flags.flat ?? (isFlat(account) || held.copy !== undefined || (!held.link && flags.gateway === false)),
    exportNamespaces: limit.length === 0 ? undefined : limit,
  };
};

/** The account whose token the source has. */
export const accountInUse = async (
  target: Cluster,
  { secret, copy }: Held,
  namespace: string,
): Promise<Account | undefined> => {
  const tokens = tokensIn([secret, copy]);
  if (tokens.size === 0) return undefined;
  const current = (await allTokenSecrets(target, namespace)).find((each) => tokens.has(tokenIn(each)?.token ?? ''));
  const name = current?.metadata.annotations?.[Annotation.serviceAccountName];
  return name === undefined ? undefined : { namespace, name };
};

/** Where the source reaches the target: as the flag says, else as the credentials have it that it reads the target with. */
export const accessServer = (
  { target, targetUid }: Pair,
  { held, account }: AccessRead,
  given: string | undefined,
): { readonly apiServer: ApiServer; readonly isKept: boolean } => {
  const before = heldServer(held);
  const fresh = apiServerOf(target.reachedBy, given);
  if (given !== undefined || before === undefined) return { apiServer: fresh, isKept: false };
  const recorded = held.secret?.metadata.annotations?.[Annotation.targetClusterUid];
  const isOfTarget = (recorded !== undefined && recorded === targetUid) || isProven(account, tokensIn([held.secret]));
  // What the kubeconfig says of its own server is newer.
  return isOfTarget
    ? { apiServer: before.server === fresh.server ? fresh : before, isKept: true }
    : { apiServer: fresh, isKept: false };
};

/** Reports whether a Secret is left to whoever keeps it, since the token in it is valid. */
export const isLeft = (
  secret: Secret | undefined,
  { tokens }: AccountRead,
  { forceConflicts, apiServerAddress }: AccessFlags & { readonly apiServerAddress?: string | undefined },
): boolean => {
  const keeper = secret && keeperOf(secret, OUR_MANAGERS);
  if (keeper === undefined || (forceConflicts && !keeper.isController) || apiServerAddress !== undefined) return false;
  const held = tokensIn([secret]);
  return tokens.some((each) => held.has(tokenIn(each)?.token ?? ''));
};

/** Why an account or the credentials must not be written. */
export const accessProblems = (
  { source, target, sourceUid, targetUid, sourceName, targetName }: Pair,
  { account, held, flat }: AccessRead,
  flags: AccessFlags & { readonly apiServerAddress?: string | undefined },
): readonly Problem[] => {
  const minting = linkspanPair(source, target, 'credentials', 'mint', '-o', 'yaml', '--name', targetName);
  const force = { isForced: flags.forceConflicts === true, minting };
  const secrets = [held.secret, ...(flat ? [held.copy] : [])].filter((each) => each !== undefined);
  return [
    ...accountProblems(target, account, { sourceUid, sourceName, held: tokensIn([held.secret, held.copy]) }),
    ...otherTargetProblems(source, target, targetUid, held),
    ...secrets.filter((each) => !isLeft(each, account, flags)).flatMap((each) => keptProblem(source, each, force)),
    ...(flags.flat === false && held.copy !== undefined ? [copyProblem(source, held.copy, target)] : []),
  ];
};

/** Linkerd's destination controller fails of a cluster that it has credentials for, and may not read. */
const copyProblem = (source: Cluster, { metadata }: Secret, { context }: Cluster): Problem => ({
  object: source.title(SECRETS.kind, metadata),
  reason: `Linkerd reads ${context} with it, and would fail without the rights that --flat=false takes away`,
  remedy: `leave out --flat=false, or delete it first: \`${kubectl(source, '-n', metadata.namespace ?? '', 'delete', 'secret', metadata.name)}\``,
});
