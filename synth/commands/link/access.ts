/**
 * The writes of an account and of the credentials that its tokens become. What is deleted is deleted last: rights that are
 * not granted any more, and tokens of accounts that are gone.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { OUR_MANAGERS } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { keeperOf } from '../../../operator/kube/keeper.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import { note } from '../../print.ts';
import type { Found } from '../common/apply.ts';
import { type Change, compare, conflictProblems } from '../common/change-set/compare.ts';
import { execute } from '../common/change-set/execute.ts';
import type { FieldPath } from '../common/change-set/fields.ts';
import { deletionTrials, type Trial } from '../common/change-set/trial.ts';
import { ALL_FIELDS, type Unwanted, type Want } from '../common/change-set/want.ts';
import { type Problem, refuseProblems } from '../common/command-error.ts';
import type { Cluster } from '../common/cluster.ts';
import { asWritten } from '../credentials/kubeconfig.ts';
import type { ClusterObjects, ResultReport } from '../common/output.ts';
import { accountInUse, type AccessFlags, type AccessRead, isLeft } from './access-read.ts';
import { type AccountRead, isValid, lacksController, recordOf } from './account.ts';
import type { ApiServer } from './api-server.ts';
import { caOf, freePeerName, isBoundTo, LIFETIME_MS, lifetimeOf, requestToken, tokenTrial } from './ending-token.ts';
import { recordedTarget, rotationRecord, tokensIn } from './held.ts';
import { copyTrials, writeCopy } from './linkerd-copy.ts';
import { linkerdTokenProblems } from './linkerd-token.ts';
import { accessManifests, credentialsManifests, type LinkSettings, type SourceTokens } from './manifests.ts';
import type { Pair } from './pair.ts';
import { awaitToken, firstTokenIn, freeTokenName, markGiven } from './token.ts';

/** One way, as far as reading the target goes. */
export interface AccessWay extends Pair, AccessRead {
  readonly settings: Pick<LinkSettings, 'targetName' | 'domains'>;
  readonly apiServer: ApiServer;
}

/** What would become of an account, and of the credentials in the source. */
export interface AccessPlan {
  readonly access: readonly Change[];
  readonly credentials: readonly Change[];
  readonly deletions: readonly Unwanted[];
  /** Why some of these must not be made. */
  readonly foreign: readonly Problem[];
  /** Those that the source keeps; what is not there is made when the account is written. */
  readonly kept: Partial<SourceTokens>;
  readonly secrets: AccessSecrets;
  /** How long a new token lives, in milliseconds. */
  readonly lifetimeMs: number;
  /** Renders the credentials. */
  readonly rendered: (tokens: SourceTokens) => readonly ApiJson[];
  readonly wantsOf: (tokens: SourceTokens) => readonly Want[];
}

/** Names of the Secrets of an account. */
interface AccessSecrets {
  readonly peerSecret: string;
  /** Undefined if no token is needed that does not end. */
  readonly tokenSecret: string | undefined;
}

/** Flags of a command that makes credentials. */
type PlanFlags = AccessFlags & {
  readonly apiServerAddress?: string | undefined;
  /** In milliseconds. */
  readonly tokenLifetime?: number | undefined;
};

/** Stands in for a token that is not made yet, so that the API server can say whether it would take the Secrets. */
const NO_TOKEN = 'none';

/** What an existing object of a flag's may be changed in, whoever has set it. */
export const takesOf = (isForced: true | undefined, fields: readonly FieldPath[] = []): Pick<Want, 'takes'> => ({
  takes: isForced ? ALL_FIELDS : fields,
});

/** Compares an account and the credentials with what is there. @throws CommandError if an API server would refuse them */
export const planAccess = async (way: AccessWay, flags: PlanFlags): Promise<AccessPlan> => {
  const { source, target, account, held, copies } = way;
  const secrets = {
    peerSecret: account.peers[0]?.metadata.name ?? freePeerName(account),
    tokenSecret: copies ? (account.tokens[0]?.metadata.name ?? freeTokenName(account.name, account.dead)) : undefined,
  };
  const kept = keptTokens(way);
  const manifests = manifestsOf(way, secrets);
  const rendered = await credentialsOf(way, flags);
  const wantsOf = (tokens: SourceTokens): readonly Want[] =>
    rendered(tokens)
      .filter((object) => !isLeft(liveOf(way, object), account, flags))
      .map((object) => ({ cluster: source, object, ...takesOf(flags.forceConflicts, [['data']]) }));
  const [access, credentials] = await Promise.all([
    compare(manifests.map((object) => ({ cluster: target, object, ...takesOf(flags.forceConflicts) }))),
    compare(wantsOf({ link: kept.link ?? NO_TOKEN, copy: copies ? (kept.copy ?? NO_TOKEN) : undefined })),
  ]);
  const stale = staleRights(account, manifests);
  const dead = account.dead.map((object) => ({ of: SECRETS, object }));
  const deletions = [...stale, ...dead].map((each) => ({ ...each, cluster: target }));
  const [before = ''] = tokensIn([held.secret]);
  const lifetimeMs = flags.tokenLifetime ?? lifetimeOf(before) ?? LIFETIME_MS;
  const isReplaced =
    kept.link === undefined && (await accountInUse(target, { ...held, copy: undefined }, flags.namespace));
  const foreign = [
    ...(flags.forceConflicts ? [] : foreignRights(target, stale)),
    ...(isReplaced ? await linkerdTokenProblems(source, held, flags) : []),
  ];
  return { access, credentials, deletions, foreign, kept, secrets, lifetimeMs, rendered, wantsOf };
};

/** The rights of an account that its manifests do not grant: what is deleted after these are written. */
export const staleRights = ({ rights }: AccountRead, manifests: readonly ApiJson[]): readonly Found[] =>
  rights.filter(
    ({ of, object }) =>
      !manifests.some(({ kind, metadata }) => kind === of.kind && metadata.namespace === object.metadata.namespace),
  );

/** Rights that others have set may be granted again by these: whoever limits an account must know. */
export const foreignRights = (target: Cluster, stale: readonly Found[]): readonly Problem[] =>
  stale.flatMap(({ of, object: { metadata } }) => {
    const others = (metadata.managedFields ?? []).map(({ manager = 'unknown' }) => manager);
    const foreign = [...new Set(others.filter((each) => !OUR_MANAGERS.includes(each)))].map((each) => cut(each));
    if (foreign.length === 0) return [];
    return [
      {
        object: target.title(of.kind, metadata),
        reason: `is not among the rights that the account is to have, and is set by ${foreign.join(', ')}`,
        remedy: 'add --force-conflicts to delete it',
      },
    ];
  });

/** The Secret of the source in whose place a rendered one would be. */
const liveOf = ({ held }: AccessWay, { metadata }: ApiJson): Secret | undefined =>
  [held.secret, held.copy].find((each) => each?.metadata.namespace === metadata.namespace);

/** The tokens that are valid. One that ends is kept if it is bound to the youngest Secret for that. */
const keptTokens = ({ account, held, copies }: AccessWay): Partial<SourceTokens> => {
  const [peer] = account.peers;
  const isCurrent = (token: string): boolean =>
    lifetimeOf(token) === undefined || (peer !== undefined && isBoundTo(peer, token));
  const link = [...tokensIn([held.secret])].find((token) => isValid(account, token) && isCurrent(token));
  const lasting = [...tokensIn([held.copy])].find(
    (token) => lifetimeOf(token) === undefined && isValid(account, token),
  );
  const copy = copies ? (lasting ?? firstTokenIn(account.tokens)?.token) : undefined;
  return { ...(link !== undefined && { link }), ...(copy !== undefined && { copy }) };
};

/** Renders the credentials. */
const credentialsOf = async (
  way: AccessWay,
  flags: PlanFlags,
): Promise<(tokens: SourceTokens) => readonly ApiJson[]> => {
  const { target, targetUid, held, settings, apiServer, account } = way;
  const caData = apiServer.caData ?? (await caOf(target, account));
  const recorded = { targetUid: targetUid ?? recordedTarget(held), rotation: rotationRecord(held) };
  const place = { ...flags, secretName: held.secretName, ...recorded };
  return (tokens) =>
    credentialsManifests(settings, { ...apiServer, caData }, tokens, place).map((object) =>
      asWritten(object, liveOf(way, object)),
    );
};

/** The manifests of the account. It keeps the source that it records where that may not be read. */
const manifestsOf = (
  { account, sourceUid, flat, exportNamespaces }: AccessWay,
  secrets: AccessSecrets,
): readonly ApiJson[] =>
  accessManifests(account, {
    flat,
    exportNamespaces,
    lacksController: lacksController(account),
    ...secrets,
    sourceUid: sourceUid ?? recordOf(account.object),
  });

/**
 * What would be written. The credentials hold a new token if the account is there and the source keeps none; else they are
 * left out, with a note on stderr.
 */
export const accessObjects = async (
  way: AccessWay,
  plan: AccessPlan,
): Promise<{ readonly access: ClusterObjects; readonly credentials: ClusterObjects }> => {
  const { source, target, sourceName, targetName } = way;
  const tokens = await printedTokens(way, plan);
  if (tokens === undefined) {
    note(`the credentials of ${targetName} are left out: their token is made when the account is applied`);
  }
  return {
    access: {
      context: target.context,
      purpose: `the account with which ${sourceName} reads`,
      objects: manifestsOf(way, plan.secrets),
    },
    credentials: {
      context: source.context,
      purpose: `the credentials of ${targetName}`,
      objects: tokens === undefined ? [] : plan.rendered(tokens),
    },
  };
};

/** The tokens of printed credentials: whoever keeps the Secret needs another one. An account that says nothing records it. */
const printedTokens = async (
  { target, account, held, copies, sourceUid }: AccessWay,
  { kept, lifetimeMs }: AccessPlan,
): Promise<SourceTokens | undefined> => {
  const [peer] = account.peers;
  const isKept = held.secret !== undefined && keeperOf(held.secret, OUR_MANAGERS) !== undefined;
  const known = isKept ? undefined : kept.link;
  if (copies && kept.copy === undefined) return undefined;
  if (known !== undefined) return { link: known, copy: kept.copy };
  if (peer === undefined || account.object === undefined) return undefined;
  const link = await requestToken(target, account, peer.metadata.name, lifetimeMs);
  if (recordOf(account.object) === undefined && sourceUid !== undefined) await markGiven(target, peer, sourceUid);
  return { link, copy: kept.copy };
};

/** What an account and its credentials need beside what was compared. */
export const accessTrials = (
  { source, target, account, held }: AccessWay,
  { kept, secrets, credentials, deletions }: AccessPlan,
): readonly Trial[] => [
  ...(kept.link === undefined ? [tokenTrial(target, account, secrets.peerSecret)] : []),
  ...(credentials.some((each) => isOfCopy(each, account)) ? copyTrials(source, held.copy) : []),
  ...deletionTrials(deletions),
];

/**
 * Writes the account to the target and, with its tokens, the credentials to the source. The deletions are left to do.
 * @throws CommandError if the target makes no token in time
 */
export const writeAccess = async (
  { target, account }: AccessWay,
  { access, kept, secrets, lifetimeMs, wantsOf }: AccessPlan,
  timeoutMs: number,
  report: ResultReport,
): Promise<void> => {
  await execute(access, report);
  const { namespace } = account;
  const { peerSecret, tokenSecret } = secrets;
  const copy =
    tokenSecret === undefined
      ? undefined
      : (kept.copy ?? (await awaitToken(target, { namespace, name: tokenSecret }, timeoutMs)).token);
  const link = kept.link ?? (await requestToken(target, account, peerSecret, lifetimeMs));
  const credentials = await compare(wantsOf({ link, copy }));
  refuseProblems(conflictProblems(credentials, FORCE));
  for (const change of credentials) {
    if (isOfCopy(change, account)) await writeCopy(change.want, change.live, timeoutMs, report);
    else await execute([change], report);
  }
};

/** Reports whether a change is of a copy that is there, all of which Linkerd reads. It is not where the Link is. */
const isOfCopy = ({ want: { object }, outcome }: Change, { namespace }: AccountRead): boolean =>
  object.metadata.namespace !== namespace && outcome === 'configured';

/** What to do about what others have set. */
export const FORCE = 'give the value by its flag, or add --force-conflicts to change it';
