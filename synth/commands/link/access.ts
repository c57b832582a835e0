/**
 * The writes of an account and of the credentials that its token becomes. What is deleted is deleted last: rights that are
 * not granted any more, and tokens of accounts that are gone.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { SECRETS } from '../../../operator/kube/objects.ts';
import { note } from '../../print.ts';
import { type Change, compare, conflictProblems } from '../common/change-set/compare.ts';
import { execute } from '../common/change-set/execute.ts';
import type { FieldPath } from '../common/change-set/fields.ts';
import { ALL_FIELDS, type Unwanted, type Want } from '../common/change-set/want.ts';
import { refuseProblems } from '../common/command-error.ts';
import type { ClusterObjects, ResultReport } from '../common/output.ts';
import { type AccessFlags, type AccessRead, isLeft } from './access-read.ts';
import { recordOf } from './account.ts';
import type { ApiServer } from './api-server.ts';
import { accessManifests, credentialsManifests, type LinkSettings } from './manifests.ts';
import type { Pair } from './pair.ts';
import { awaitToken, freeTokenName, type Token, tokenIn } from './token.ts';

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
  /** Undefined until Kubernetes has made it. */
  readonly token: Token | undefined;
  /** Name of the Secret that it is in, or is to be in. */
  readonly tokenSecret: string;
  readonly wantsOf: (token: Token) => readonly Want[];
}

/** Stands in for a token that is not made yet, so that the API server can say whether it would take the Secrets. */
const NO_TOKEN: Token = {
  token: 'none',
  caData: Buffer.from('-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n').toString('base64'),
};

/** What an existing object of a flag's may be changed in, whoever has set it. */
export const takesOf = (isForced: true | undefined, fields: readonly FieldPath[] = []): Pick<Want, 'takes'> => ({
  takes: isForced ? ALL_FIELDS : fields,
});

/** Compares an account and the credentials with what is there. @throws CommandError if an API server would refuse them */
export const planAccess = async (
  way: AccessWay,
  flags: AccessFlags & { readonly apiServerAddress?: string | undefined },
): Promise<AccessPlan> => {
  const { source, target, targetUid, account, held, flat, settings, apiServer } = way;
  const tokenSecret = account.tokens[0]?.metadata.name ?? freeTokenName(account.name, account.dead);
  const token = account.tokens.map(tokenIn).find((each) => each !== undefined);
  const manifests = manifestsOf(way, tokenSecret);
  const place = { ...flags, flat, secretName: held.secretName, targetUid };
  const wantsOf = (made: Token): readonly Want[] =>
    credentialsManifests(settings, apiServer, made, place)
      .filter(({ metadata }) => {
        const live = [held.secret, held.copy].find((each) => each?.metadata.namespace === metadata.namespace);
        return !isLeft(live, account, flags);
      })
      .map((object) => ({ cluster: source, object, ...takesOf(flags.forceConflicts, [['data']]) }));
  const [access, credentials] = await Promise.all([
    compare(manifests.map((object) => ({ cluster: target, object, ...takesOf(flags.forceConflicts) }))),
    compare(wantsOf(token ?? NO_TOKEN)),
  ]);
  const isWanted = ({ kind, metadata: { namespace } }: { readonly kind: string; metadata: ApiJson['metadata'] }) =>
    manifests.some((each) => each.kind === kind && each.metadata.namespace === namespace);
  const stale = account.rights.filter(
    ({ of, object: { metadata } }) => !isWanted({ kind: of.kind, metadata: metadata as ApiJson['metadata'] }),
  );
  const dead = account.dead.map((object) => ({ of: SECRETS, object }));
  const deletions = [...stale, ...dead].map((each) => ({ ...each, cluster: target }));
  return { access, credentials, deletions, token, tokenSecret, wantsOf };
};

/** The manifests of the account. It keeps the source that it records where that may not be read. */
const manifestsOf = (
  { account, sourceUid, flat, exportNamespaces }: AccessWay,
  tokenSecret: string,
): readonly ApiJson[] =>
  accessManifests(account, {
    flat,
    exportNamespaces,
    tokenSecret,
    sourceUid: sourceUid ?? recordOf(account.object),
  });

/** What would be written. Credentials that no token has been made for yet are left out, with a note on stderr. */
export const accessObjects = (
  way: AccessWay,
  { token, tokenSecret, wantsOf }: AccessPlan,
): { readonly access: ClusterObjects; readonly credentials: ClusterObjects } => {
  const { source, target, sourceName, targetName } = way;
  if (token === undefined) {
    note(`the credentials of ${targetName} are left out: their token is made when the account is applied`);
  }
  return {
    access: {
      context: target.context,
      purpose: `the account with which ${sourceName} reads`,
      objects: manifestsOf(way, tokenSecret),
    },
    credentials: {
      context: source.context,
      purpose: `the credentials of ${targetName}`,
      objects: token === undefined ? [] : wantsOf(token).map(({ object }) => object),
    },
  };
};

/**
 * Writes the account to the target and, with its token, the credentials to the source. The deletions are left to do.
 * @throws CommandError if Kubernetes makes no token in time
 */
export const writeAccess = async (
  { target, account }: AccessWay,
  { access, tokenSecret, wantsOf }: AccessPlan,
  timeoutMs: number,
  report: ResultReport,
): Promise<void> => {
  await execute(access, report);
  const token = await awaitToken(target, { namespace: account.namespace, name: tokenSecret }, timeoutMs);
  const credentials = await compare(wantsOf(token));
  refuseProblems(conflictProblems(credentials, FORCE));
  await execute(credentials, report);
};

/** What to do about what others have set. */
export const FORCE = 'give the value by its flag, or add --force-conflicts to change it';
