/** The account with which a source reads a target, and the credentials that its token becomes. */
import { remoteAccessName } from '../../../crds/wire.ts';
import { applyAll } from '../common/apply.ts';
import { note } from '../../print.ts';
import type { ClusterObjects, ResultReport } from '../common/output.ts';
import type { ApiServer } from './api-server.ts';
import { accessManifests, credentialsManifests, type LinkSettings, type SourcePlace } from './manifests.ts';
import type { Pair } from './pair.ts';
import { type Account, awaitToken, readToken, tokenSecretOf } from './token.ts';

/** One way, as far as reading the target goes. */
export interface AccessWay extends Pair {
  readonly settings: Pick<LinkSettings, 'targetName' | 'domains'>;
  readonly apiServer: ApiServer;
}

/** What would be written. Credentials that no token has been made for yet are left out, with a note on stderr. */
export const previewAccess = async (
  way: AccessWay,
  place: SourcePlace,
): Promise<{ readonly access: ClusterObjects; readonly credentials: ClusterObjects }> => {
  const { source, target, sourceName, targetName, settings, apiServer } = way;
  const account = accountOf(way, place);
  const [token, tokenSecret] = await Promise.all([readToken(target, account), tokenSecretOf(target, account)]);
  if (token === undefined) {
    note(`the credentials of ${targetName} are left out: their token is made when the account is applied`);
  }
  return {
    access: {
      context: target.context,
      purpose: `the account with which ${sourceName} reads`,
      objects: accessManifests(account, { flat: place.flat, tokenSecret }),
    },
    credentials: {
      context: source.context,
      purpose: `the credentials of ${targetName}`,
      objects: token === undefined ? [] : credentialsManifests(settings, apiServer, token, place),
    },
  };
};

/**
 * Writes the account to the target and, with its token, the credentials to the source.
 * @throws CommandError if Kubernetes makes no token in time
 */
export const writeAccess = async (
  way: AccessWay,
  flags: SourcePlace & { readonly timeout: number },
  report: ResultReport,
): Promise<void> => {
  const { source, target, settings, apiServer } = way;
  const account = accountOf(way, flags);
  const tokenSecret = await tokenSecretOf(target, account);
  await applyAll(target, accessManifests(account, { flat: flags.flat, tokenSecret }), report);
  const token = await awaitToken(target, { namespace: account.namespace, name: tokenSecret }, flags.timeout);
  await applyAll(source, credentialsManifests(settings, apiServer, token, flags), report);
};

const accountOf = ({ sourceName }: Pair, { namespace }: SourcePlace): Account => ({
  namespace,
  name: remoteAccessName(sourceName),
});
