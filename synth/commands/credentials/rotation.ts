/**
 * A rotation as it would be carried out, read from both clusters. What a run that was stopped has left to do is on the
 * Secret of the Link: that the token in it is the next one, and which copy of Linkerd's goes with it.
 */
import { Annotation } from '../../../crds/wire.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { linkspanPair } from '../common/command-text.ts';
import { CommandError, refuseProblems } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import { accountInUse } from '../link/access-read.ts';
import { type AccountRead, ownerOf, readAccount } from '../link/account.ts';
import { otherTargetProblems, readHeld, tokensIn } from '../link/held.ts';
import { keptProblem } from '../link/keeper.ts';
import type { TwoClusters } from '../link/pair.ts';
import { freeTokenName, tokenIn } from '../link/token.ts';
import type { RotateFlags } from './flags.ts';
import { readKubeconfig, type Rotated } from './kubeconfig.ts';

/** What identifies the copy for Linkerd's destination controller, and is to be the same once it is made anew. */
export interface CopyMetadata {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** What is rotated. */
export interface Rotation {
  readonly source: Cluster;
  readonly target: Cluster;
  readonly link: string;
  /** Uid of the target; undefined if it may not be read. */
  readonly targetUid: string | undefined;
  /** The Secret of the Link. */
  readonly secret: Secret;
  /** The control plane's copy; `live` is undefined if a run that was stopped has deleted it. */
  readonly copy: { readonly metadata: CopyMetadata; readonly live: Secret | undefined } | undefined;
  readonly withToken: (token: string) => Rotated;
  readonly account: AccountRead;
  /** Name of the Secret of the target with the next token. */
  readonly next: string;
  /** The Secrets of the target with tokens that are to go. */
  readonly old: readonly Secret[];
  /** Those that stay, since others may use them. */
  readonly kept: readonly Secret[];
}

/** Reads what would be rotated. @throws CommandError with what stands in the way */
export const rotationOf = async (
  link: string,
  { source, target, sourceUid, targetUid }: TwoClusters,
  flags: RotateFlags,
): Promise<Rotation> => {
  const { namespace, sourceName = source.context, revoke } = flags;
  const refuse = (object: string, reason: string, remedy: string): never => {
    throw new CommandError([{ object, reason, remedy }]);
  };
  const held = await readHeld(source, link, flags);
  if (held.link?.spec?.targetClusterName === undefined) {
    const object = source.title(LINKS.kind, { namespace, name: link });
    return refuse(object, 'not found', 'name a Link, and its namespace with --namespace');
  }
  const { secret } = held;
  const title = source.title(SECRETS.kind, { namespace, name: held.secretName });
  const mint = (...flags: readonly string[]): string =>
    linkspanPair(source, target, 'credentials', 'mint', ...flags, '--name', link);
  const minting = `make new credentials with \`${mint('--apply')}\``;
  if (secret === undefined) return refuse(title, 'not found', minting);
  const read = readKubeconfig(secret);
  if (!read.ok) return refuse(title, read.reason, minting);
  refuseProblems(otherTargetProblems(source, target, targetUid, held));
  const used = await accountInUse(target, { ...held, copy: undefined }, namespace);
  if (used === undefined) {
    const reason = `its token is in no Secret of namespace ${namespace} of ${target.context}`;
    return refuse(title, reason, `check --to-context, or ${minting}`);
  }

  const account = await readAccount(target, used);
  const all = [...account.tokens, ...account.dead];
  const isHeld = (token: Secret, by: readonly Secret[]): boolean => tokensIn(by).has(tokenIn(token)?.token ?? '');
  const copied =
    held.copy !== undefined &&
    all.some((each) =>
      isHeld(
        each,
        [held.copy].filter((copy) => copy !== undefined),
      ),
    );
  const force = { isForced: flags.forceConflicts === true, minting: mint('-o', 'yaml') };
  const written = [secret, ...(copied && held.copy !== undefined ? [held.copy] : [])];
  refuseProblems(written.flatMap((each) => keptProblem(source, each, force)));

  const before = recordIn(secret);
  const current = account.tokens.findIndex((each) => isHeld(each, [secret]));
  // A younger one is what a run that was stopped has made; so is the one in use, if its run says so.
  const made =
    before !== undefined && current >= 0 ? account.tokens[current] : account.tokens.slice(0, Math.max(current, 0))[0];
  const next = made?.metadata.name ?? freeTokenName(account.name, all);
  const isOwn = revoke === true || ownerOf(account, { sourceUid, sourceName, held: tokensIn([secret]) }) === 'source';
  const mayGo = (each: Secret): boolean =>
    account.dead.includes(each) || (isOwn && (revoke === true || !isHeld(each, held.others)));
  const rest = all.filter(({ metadata }) => metadata.name !== next);
  return {
    source,
    target,
    link,
    targetUid,
    secret,
    copy: copied && held.copy ? { metadata: held.copy.metadata, live: held.copy } : lostCopy(before, held.copy),
    withToken: read.withToken,
    account,
    next,
    old: rest.filter(mayGo),
    kept: rest.filter((each) => !mayGo(each)),
  };
};

/** The copy that a run which was stopped has deleted, and not made anew. */
const lostCopy = (before: Unfinished | undefined, live: Secret | undefined): Rotation['copy'] =>
  before?.copy !== undefined && live === undefined ? { metadata: before.copy, live: undefined } : undefined;

/** What a run has yet to do once the Secret of the Link is written. */
interface Unfinished {
  readonly copy?: CopyMetadata | undefined;
}

/** The record of a rotation, for the Secret of the Link. */
export const recordOf = ({ copy }: Rotation): string => {
  if (copy === undefined) return '{}';
  const { namespace, name, labels, annotations } = copy.metadata;
  return JSON.stringify({ copy: { namespace, name, labels, annotations } } satisfies Unfinished);
};

const recordIn = ({ metadata }: Secret): Unfinished | undefined => {
  const text = metadata.annotations?.[Annotation.rotation];
  if (text === undefined) return undefined;
  try {
    const { copy } = JSON.parse(text) as Unfinished;
    return typeof copy?.name === 'string' && typeof copy.namespace === 'string' ? { copy } : {};
  } catch {
    return {};
  }
};
