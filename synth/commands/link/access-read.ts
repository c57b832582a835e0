/**
 * The account with which a source reads a target, and what the source has of its tokens, as they are; and why they must not
 * be written. What no flag says stays as it is.
 */
import { keeperOf } from '../../../operator/kube/keeper.ts';
import { Annotation, remoteAccessName, OUR_MANAGERS } from '../../../crds/wire.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import { readAccountToken } from '../../../operator/kube/account-token.ts';
import type { Cluster } from '../common/cluster.ts';
import { kubectl } from '../common/command-text.ts';
import { LINKS, SERVICE_ACCOUNTS } from '../common/kinds.ts';
import type { Problem } from '../common/command-error.ts';
import { readsPodToken } from '../common/credentials-secret.ts';
import { mintAgain } from '../common/remedies.ts';
import {
  type AccountRead,
  accountProblems,
  isFlat,
  isOneOf,
  isProven,
  isValid,
  limitsOf,
  otherRightsProblems,
  ownerOf,
  readAccount,
  readsAll,
  unknownLimitProblems,
} from './account.ts';
import { type ApiServer, apiServerOf } from './api-server.ts';
import { isTokenOf } from './ending-token.ts';
import {
  type Held,
  heldServer,
  otherTargetProblems,
  readHeld,
  recordedTarget,
  secretNameOf,
  type SourceNamespaces,
  tokensIn,
} from './held.ts';
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
  /** Whether it needs a token for that: a copy that reads the one of its own pod stays as it is. */
  readonly copies: boolean;
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
  const tokens = tokensIn([held.secret, held.copy]);
  const own = { namespace, name: remoteAccessName(sourceName) };
  const used = flags.sourceName === undefined ? await accountInUse(target, held, namespace) : undefined;
  let account = await readAccount(target, used ?? own, tokens);
  const claim = { sourceUid, sourceName, held: new Set<string>() };
  if (used !== undefined && used.name !== own.name && ownerOf(account, claim) !== 'source') {
    account = await readAccount(target, own, tokens);
  }
  const limit = flags.exportNamespaces ?? held.link?.spec?.targetNamespaces ?? limitsOf(account);
  const flat = flags.flat ?? (isFlat(account) || held.copy !== undefined || (!held.link && flags.gateway === false));
  return {
    account,
    held,
    flat,
    copies: flat && !readsPodToken(held.copy),
    exportNamespaces: limit?.length === 0 ? undefined : limit,
  };
};

/** The account whose token the source has; that of the Link counts before that of the copy. */
export const accountInUse = async (
  target: Cluster,
  { secret, copy }: Held,
  namespace: string,
): Promise<Account | undefined> => {
  const tokens = tokensIn([secret, copy]);
  if (tokens.size === 0) return undefined;
  const secrets = await allTokenSecrets(target, namespace);
  for (const token of tokens) {
    const name = secrets.find((each) => tokenIn(each)?.token === token)?.metadata.annotations?.[
      Annotation.serviceAccountName
    ];
    if (name !== undefined) return { namespace, name };
    // One that ends says whose it is.
    const read = readAccountToken(token);
    if (read?.namespace !== namespace) continue;
    const account = { namespace, name: read.account };
    if (isTokenOf(account, await target.find(SERVICE_ACCOUNTS, account), read)) return account;
  }
  return undefined;
};

/** Reports whether one of the tokens in these Secrets is of an account. */
export const isUsedBy = (account: AccountRead, secrets: readonly (Secret | undefined)[]): boolean =>
  [...tokensIn(secrets)].some((token) => isOneOf(account, token));

/** Reports whether the credentials of a Link are certainly those of the target. */
export const isOfTarget = (
  { targetUid }: Pick<Pair, 'targetUid'>,
  { held: { secret }, account }: Pick<AccessRead, 'held' | 'account'>,
): boolean => {
  const recorded = recordedTarget({ secret });
  return (recorded !== undefined && recorded === targetUid) || isProven(account, tokensIn([secret]));
};

/** Where the source reaches the target: as the flag says, else as the credentials have it that it reads the target with. */
export const accessServer = (
  { target, targetUid }: Pair,
  { held, account }: AccessRead,
  given: string | undefined,
): { readonly apiServer: ApiServer; readonly isKept: boolean } => {
  const before = heldServer(held);
  const fresh = apiServerOf(target.reachedBy, given);
  if (before === undefined) return { apiServer: fresh, isKept: false };
  // An account is of one cluster alone: its token shows where it is from, also once it is void.
  if (!isOfTarget({ targetUid }, { held, account }) && !isUsedBy(account, [held.secret]))
    return { apiServer: fresh, isKept: false };
  // What the kubeconfig says of its own server is newer. Where it says nothing, somebody else has said it.
  const { caData } = before.server === fresh.server && target.isProvenByMachine ? before : fresh;
  if (given !== undefined) return { apiServer: { ...fresh, caData }, isKept: false };
  return { apiServer: before.server === fresh.server ? { ...fresh, caData } : before, isKept: true };
};

/** Reports whether a Secret is left to whoever keeps it, since the token in it is valid. */
export const isLeft = (
  secret: Secret | undefined,
  account: AccountRead,
  { forceConflicts, apiServerAddress }: AccessFlags & { readonly apiServerAddress?: string | undefined },
): boolean => {
  const keeper = secret && keeperOf(secret, OUR_MANAGERS);
  if (keeper === undefined || (forceConflicts && !keeper.isController) || apiServerAddress !== undefined) return false;
  return [...tokensIn([secret])].some((token) => isValid(account, token));
};

/** Why an account or the credentials must not be made. */
export const accessProblems = (pair: Pair, access: AccessRead, flags: AccessFlags): readonly Problem[] => {
  const { source, target, sourceUid, targetUid, sourceName } = pair;
  const { account, held } = access;
  return [
    ...accountProblems(target, account, { sourceUid, sourceName, held: tokensIn([held.secret, held.copy]) }),
    ...otherRightsProblems(target, account, 'name this source otherwise with --source-name'),
    ...otherTargetProblems(source, target, targetUid, held),
    ...unknownTargetProblems(pair, access),
    ...otherLinkProblems(pair, access),
    ...unknownLimitProblems(target, account, flags.exportNamespaces ?? access.exportNamespaces),
    ...(flags.flat === false && held.copy !== undefined ? [copyProblem(source, held.copy, target)] : []),
    ...sharedProblems(source, target, access, flags),
    ...(flags.flat === true && flags.exportNamespaces === undefined && access.exportNamespaces !== undefined
      ? [limitProblem(access.exportNamespaces)]
      : []),
  ];
};

/** The obstacle to writing credentials that record a cluster, where it cannot be seen which one the target is. */
const unknownTargetProblems = (
  { source, target, targetUid }: Pair,
  { held, account }: AccessRead,
): readonly Problem[] => {
  const recorded = recordedTarget(held);
  if (held.secret === undefined || recorded === undefined || targetUid !== undefined) return [];
  if (isUsedBy(account, [held.secret])) return [];
  return [
    {
      object: source.title(SECRETS.kind, held.secret.metadata),
      reason: `is for the cluster whose namespace kube-system has the uid ${recorded}, and that of ${target.context} may not be read`,
      remedy: `have somebody run the command who may get namespace kube-system of ${target.context}`,
    },
  ];
};

/** The obstacle to writing a Secret that is not certainly of the target: a Link of another cluster reads that by it. */
const otherLinkProblems = (pair: Pair, access: AccessRead): readonly Problem[] => {
  const { source, targetName } = pair;
  const { secretName, link, otherLinks } = access.held;
  if (isOfTarget(pair, access)) return [];
  const cluster = link?.spec?.targetClusterName ?? targetName;
  return otherLinks
    .filter((each) => secretNameOf(each, each.metadata.name) === secretName)
    .filter(({ spec }) => spec?.targetClusterName !== cluster)
    .map(({ metadata, spec }) => ({
      object: source.title(LINKS.kind, metadata),
      reason: `reads cluster ${spec?.targetClusterName ?? ''} by Secret ${secretName}, which is to have the token of another`,
      remedy: 'name the cluster otherwise with --name, or have that Link name another Secret',
    }));
};

/** Other Links of the source that read with the account keep their rights. */
const sharedProblems = (
  source: Cluster,
  target: Cluster,
  access: AccessRead,
  { namespace }: AccessFlags,
): readonly Problem[] => {
  const { account, held } = access;
  const users = held.others.filter((each) => isUsedBy(account, [each]));
  const [user] = users;
  if (user === undefined) return [];
  const lost = rightsLost(access);
  const copies = users.filter(({ metadata }) => metadata.namespace !== namespace);
  return [
    ...lost.map(({ what, keep }) => ({
      object: target.title(SERVICE_ACCOUNTS.kind, account),
      reason: `${source.title(SECRETS.kind, user.metadata)} reads with it, and would lose ${what}`,
      remedy: `name this source otherwise with --source-name, for an account of its own, or keep the rights with ${keep}`,
    })),
    ...(lost.some(({ keep }) => keep === FLAT) ? copies.map((copy) => copyProblem(source, copy, target)) : []),
  ];
};

const FLAT = '--flat';

/** Linkerd's destination controller reads whole clusters. */
const limitProblem = (limits: readonly string[]): Problem => ({
  object: FLAT,
  reason: `needs the rights to read the whole target, and the Link or its account is limited to ${limits.join(', ')}`,
  remedy: 'leave it out, or add --export-namespaces= to lift the limit',
});

/** What an account may read, and would not any more; and the flag that keeps it. */
const rightsLost = ({ account, flat, exportNamespaces }: AccessRead) => {
  const before = readsAll(account) ? undefined : (limitsOf(account) ?? []);
  const isLess = exportNamespaces !== undefined && before?.every((each) => exportNamespaces.includes(each)) !== true;
  const kept = before === undefined ? '' : [...new Set([...before, ...(exportNamespaces ?? [])])].join(',');
  const what = before === undefined ? 'all other namespaces' : before.join(', ');
  return [
    ...(isFlat(account) && !flat ? [{ what: 'the rights of a flat network', keep: FLAT }] : []),
    ...(isLess ? [{ what, keep: `--export-namespaces=${kept}` }] : []),
  ];
};

/** Why the credentials must not be written, though they may be printed: somebody else keeps them. */
export const keptProblems = (
  { source, target, targetName }: Pair,
  { account, held, copies }: AccessRead,
  flags: AccessFlags & { readonly apiServerAddress?: string | undefined },
): readonly Problem[] => {
  const minting = mintAgain(source, target, targetName, flags, '-o', 'yaml');
  const force = { isForced: flags.forceConflicts === true, minting };
  const secrets = [held.secret, ...(copies ? [held.copy] : [])].filter((each) => each !== undefined);
  return secrets.filter((each) => !isLeft(each, account, flags)).flatMap((each) => keptProblem(source, each, force));
};

/** Linkerd's destination controller fails of a cluster that it has credentials for, and may not read. */
const copyProblem = (source: Cluster, { metadata }: Secret, { context }: Cluster): Problem => ({
  object: source.title(SECRETS.kind, metadata),
  reason: `Linkerd reads ${context} with it, and would fail without the rights that --flat=false takes away`,
  remedy: `leave out --flat=false, or delete it first: \`${kubectl(source, '-n', metadata.namespace ?? '', 'delete', 'secret', metadata.name)}\``,
});
