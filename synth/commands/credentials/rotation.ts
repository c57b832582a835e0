/**
 * A rotation as it would be carried out, read from both clusters. What a run that was stopped has left to do is on the
 * Secret of the Link: that the token in it is the next one, and which copy of Linkerd's goes with it.
 */
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError, type Problem, refuseProblems } from '../common/command-error.ts';
import { LINKS, SERVICE_ACCOUNTS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { conditionOf } from '../common/link-status.ts';
import { mintAgain } from '../common/remedies.ts';
import { accountInUse } from '../link/access-read.ts';
import { type AccountRead, isBehind, isOneOf, mayNotRenew, ownerOf, readAccount, secretsOf } from '../link/account.ts';
import { freePeerName, isBoundTo, LIFETIME_MS, lifetimeOf } from '../link/ending-token.ts';
import { type Held, otherTargetProblems, readHeld, rotationRecord, tokensIn } from '../link/held.ts';
import { keptProblem } from '../link/keeper.ts';
import { linkerdTokenProblems } from '../link/linkerd-token.ts';
import type { TwoClusters } from '../link/pair.ts';
import { freeTokenName, tokenIn } from '../link/token.ts';
import type { RotateFlags } from './flags.ts';
import { readKubeconfig } from './kubeconfig.ts';

/** What identifies the copy for Linkerd's destination controller, and is to be the same once it is made anew. */
export interface CopyMetadata {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The control plane's copy as it is rotated. */
export interface CopyRotation {
  readonly metadata: CopyMetadata;
  /** Undefined if a run that was stopped has deleted it. */
  readonly live: Secret | undefined;
  /** Name of the Secret of the target with its next token, which does not end. */
  readonly next: string;
}

/** What is rotated. */
export interface Rotation {
  readonly source: Cluster;
  readonly target: Cluster;
  readonly link: string;
  /** Uids of both; undefined if it may not be read. */
  readonly sourceUid: string | undefined;
  readonly targetUid: string | undefined;
  /** The Secret of the Link. */
  readonly secret: Secret;
  readonly copy: CopyRotation | undefined;
  readonly withToken: (token: string) => string;
  readonly account: AccountRead;
  /** Name of the Secret of the target that the next token is bound to. */
  readonly next: string;
  /** The next token, if a run that was stopped has written it; else one is asked for. */
  readonly written: string | undefined;
  /** How long it lives, in milliseconds. */
  readonly lifetimeMs: number;
  /** The Secrets of the target that are to go, with the tokens that they hold or that are bound to them. */
  readonly old: readonly Secret[];
  /** Those that stay, since others may use them. */
  readonly kept: readonly Secret[];
}

/** A Link that is left to others: no operator would ever take the new token up. */
const unservedProblems = (source: Cluster, link: LinkObject | undefined): readonly Problem[] => {
  const accepted = conditionOf(link, 'Accepted');
  if (link === undefined || accepted?.status !== 'False') return [];
  // An invalid Link may be served all the same.
  if (conditionOf(link, 'CredentialsValid')?.status !== 'Unknown') return [];
  const reason = `the operator does not serve it, and would not take the new token up: ${accepted.reason}: ${accepted.message}`;
  return [{ object: source.title(LINKS.kind, link.metadata), reason, remedy: 'rotate once it is served' }];
};

/** Reads what would be rotated. @throws CommandError with what stands in the way */
export const rotationOf = async (
  link: string,
  { source, target, sourceUid, targetUid }: TwoClusters,
  flags: RotateFlags,
): Promise<Rotation> => {
  const { namespace, sourceName = source.context, revoke } = flags;
  const held = await readHeld(source, link, flags);
  const mint = (...words: readonly string[]): string => mintAgain(source, target, link, flags, ...words);
  const minting = `make new credentials with \`${mint('--apply')}\``;
  const { secret, read } = readSecret(source, link, held, namespace, minting);
  refuseProblems([...otherTargetProblems(source, target, targetUid, held), ...unservedProblems(source, held.link)]);
  const used = await accountInUse(target, { ...held, copy: undefined }, namespace);
  if (used === undefined) {
    const reason = `its token is of no account in namespace ${namespace} of ${target.context}`;
    return refuse(source.title(SECRETS.kind, secret.metadata), reason, `check --to-context, or ${minting}`);
  }

  const own = tokensIn([secret]);
  const account = await readAccount(target, used, own);
  refuseProblems([
    ...renewalProblems(target, account, mint('--apply')),
    ...(await linkerdTokenProblems(source, held, flags)),
  ]);
  const before = recordIn(secret);
  const live = await liveCopy(source, held, before);
  refuseProblems(before?.copy === undefined ? [] : foreignCopyProblems(source, account, live));
  const copy = copyOf(account, live, before);
  const force = { isForced: flags.forceConflicts === true, minting: mint('-o', 'yaml') };
  const writes = [secret, ...(copy?.live === undefined ? [] : [copy.live])];
  refuseProblems(writes.flatMap((each) => keptProblem(source, each, force)));

  const { token } = read;
  const current = account.peers.findIndex((each) => isBoundTo(each, token));
  const isWritten = before !== undefined && current >= 0;
  // A younger one is what a run that was stopped has made, or that nothing is bound to yet.
  const made = isWritten ? account.peers[current] : account.peers.slice(0, current < 0 ? 1 : current)[0];
  const next = made?.metadata.name ?? freePeerName(account);
  const isOwn = revoke === true || ownerOf(account, { sourceUid, sourceName, held: own }) === 'source';
  const others = tokensIn(held.others);
  // One that does not end may be that of a copy which nobody has named: of these, only those that are known go.
  const known = tokensIn([secret, copy?.live]);
  const isReplaced = (each: Secret): boolean =>
    !account.tokens.includes(each) || isBehind(each, known) || (before?.old ?? []).includes(each.metadata.uid ?? '');
  const mayGo = (each: Secret): boolean =>
    account.dead.includes(each) || (isOwn && (revoke === true || (!isBehind(each, others) && isReplaced(each))));
  const rest = secretsOf(account).filter(({ metadata }) => metadata.name !== next && metadata.name !== copy?.next);
  return {
    source,
    target,
    link,
    sourceUid,
    targetUid,
    secret,
    copy,
    withToken: read.withToken,
    account,
    next,
    written: isWritten ? token : undefined,
    lifetimeMs: flags.tokenLifetime ?? lifetimeOf(token) ?? LIFETIME_MS,
    old: rest.filter(mayGo),
    kept: rest.filter((each) => !mayGo(each)),
  };
};

const refuse = (object: string, reason: string, remedy: string): never => {
  throw new CommandError([{ object, reason, remedy }]);
};

/** A token that ends, and that nobody can renew, ends the Link. */
const renewalProblems = (target: Cluster, account: AccountRead, minting: string): readonly Problem[] =>
  mayNotRenew(account)
    ? [
        {
          object: target.title(SERVICE_ACCOUNTS.kind, account),
          reason: 'may not renew a token that ends',
          remedy: `give the Link an account that may with \`${minting}\``,
        },
      ]
    : [];

/** The Secret of the Link, which must have a token. */
const readSecret = (source: Cluster, link: string, held: Held, namespace: string, minting: string) => {
  if (held.link?.spec?.targetClusterName === undefined) {
    const object = source.title(LINKS.kind, { namespace, name: link });
    return refuse(object, 'not found', 'name a Link, and its namespace with --namespace');
  }
  const { secret } = held;
  const title = source.title(SECRETS.kind, { namespace, name: held.secretName });
  if (secret === undefined) return refuse(title, 'not found', minting);
  const read = readKubeconfig(secret);
  return read.ok ? { secret, read } : refuse(title, read.reason, minting);
};

/** The copy that is there: where a run that was stopped has left its record, else where the flags say. */
const liveCopy = async (
  source: Cluster,
  { copy }: Held,
  before: Unfinished | undefined,
): Promise<Secret | undefined> => {
  const { namespace, name } = before?.copy ?? {};
  if (name === undefined || (copy?.metadata.name === name && copy.metadata.namespace === namespace)) return copy;
  return source.find<Secret>(SECRETS, { namespace, name });
};

/** The copy, if it is of the account. One that a run has deleted is made anew; one that it has written has the next token. */
const copyOf = (
  account: AccountRead,
  live: Secret | undefined,
  before: Unfinished | undefined,
): CopyRotation | undefined => {
  if (before?.copy !== undefined) {
    const { next, ...metadata } = before.copy;
    return { metadata, live, next };
  }
  if (live === undefined || !isOfAccount(account, live)) return undefined;
  const tokens = tokensIn([live]);
  const current = account.tokens.findIndex((each) => isBehind(each, tokens));
  const made = account.tokens.slice(0, Math.max(current, 0))[0];
  const next = made?.metadata.name ?? freeTokenName(account.name, [...account.tokens, ...account.dead]);
  return { metadata: live.metadata, live, next };
};

const isOfAccount = (account: AccountRead, copy: Secret): boolean =>
  [...tokensIn([copy])].some((token) => isOneOf(account, token) || isBehindDead(account, token));

/** A record is foreign: what is where it says is made anew only if it is of the account. */
const foreignCopyProblems = (source: Cluster, account: AccountRead, live: Secret | undefined): readonly Problem[] =>
  live === undefined || isOfAccount(account, live)
    ? []
    : [
        {
          object: source.title(SECRETS.kind, live.metadata),
          reason: `is where a rotation that was stopped had Linkerd's copy, and is not of account ${account.name}`,
          remedy: 'see who has put it there; once it is deleted, run the command again',
        },
      ];

const isBehindDead = ({ dead }: AccountRead, token: string): boolean =>
  dead.some((secret) => tokenIn(secret)?.token === token);

/** What a run has yet to do once the Secret of the Link is written. */
interface Unfinished {
  readonly copy?: (CopyMetadata & { readonly next: string }) | undefined;
  /** The uids of the Secrets of the target that are to go. */
  readonly old?: readonly string[];
}

/** The record of a rotation, for the Secret of the Link. */
export const recordOf = ({ copy, old }: Rotation): string => {
  const { namespace, name = '', labels, annotations } = copy?.metadata ?? {};
  return JSON.stringify({
    ...(copy && { copy: { namespace, name, labels, annotations, next: copy.next } }),
    old: old.flatMap(({ metadata: { uid } }) => uid ?? []),
  } satisfies Unfinished);
};

const recordIn = (secret: Secret): Unfinished | undefined => {
  const text = rotationRecord({ secret });
  if (text === undefined) return undefined;
  try {
    const { copy, old } = JSON.parse(text) as Unfinished;
    const isWhole = [copy?.name, copy?.namespace, copy?.next].every((each) => typeof each === 'string');
    return { ...(isWhole && { copy }), old: Array.isArray(old) ? old : [] };
  } catch {
    return {};
  }
};
