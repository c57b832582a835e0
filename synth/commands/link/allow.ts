/**
 * `linkspan allow`: an account in a target, for somebody else to read it with. Its manifests are printed, or written with
 * `--apply`. `linkspan link-gen` then makes credentials of it. The namespace is not part of them: whoever deleted
 * what is printed would delete all that is in it.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { peerSecretName, tokenSecretName } from '../../../crds/wire.ts';
import { print } from '../../print.ts';
import { compare, conflictProblems } from '../common/change-set/compare.ts';
import { execute, executeDeletions } from '../common/change-set/execute.ts';
import { creationTrials, deletionTrials } from '../common/change-set/trial.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { refuseProblems, reportingProblems } from '../common/command-error.ts';
import { SERVICE_ACCOUNTS } from '../common/kinds.ts';
import { documentsText, withReport } from '../common/output.ts';
import { FORCE, foreignRights, staleRights, takesOf } from './access.ts';
import {
  type AccountRead,
  isFlat,
  lacksController,
  limitsOf,
  otherRightsProblems,
  readAccount,
  recordOf,
  unknownLimitProblems,
} from './account.ts';
import { freePeerName } from './ending-token.ts';
import type { AllowFlags } from './gen-flags.ts';
import { accessManifests } from './manifests.ts';
import { INSTALL, missingNamespace } from './survey.ts';
import { freeTokenName } from './token.ts';

/** The flags by the props that are made of them. */
const FLAG_OF_PROP = {
  name: '--service-account-name',
  namespace: '--namespace',
  exportNamespaces: '--export-namespaces',
};

/** Runs the command. Sets the exit code. */
export const allow = (flags: AllowFlags): Promise<void> =>
  reportingProblems(async () => {
    const { flat = false, exportNamespaces } = flags;
    const account = { namespace: flags.namespace, name: flags.serviceAccountName };
    // Rendered before a cluster is asked, so that names that no account can have are refused first.
    const offline = accessManifests(account, {
      flat,
      exportNamespaces,
      peerSecret: peerSecretName(account.name),
      tokenSecret: isLongLived(flags, flat) ? tokenSecretName(account.name) : undefined,
    });
    if (flags.ignoreCluster && !flags.apply) {
      await print(documentsText(offline, flags.output));
      return;
    }
    await withCluster(flags, async (target) => {
      const missing = await missingNamespace(target, flags.namespace, INSTALL);
      refuseProblems(missing === undefined ? [] : [missing]);
      const read = await readAccount(target, account);
      if (!flags.ignoreCluster) refuseExisting(target, read);
      refuseProblems([
        ...otherRightsProblems(target, read, 'name another account with --service-account-name'),
        ...unknownLimitProblems(target, read, flags.exportNamespaces),
      ]);
      await give(target, read, flags);
    });
  }, FLAG_OF_PROP);

/** Whether the account is to have a token that does not end, as Linkerd's destination controller needs. */
const isLongLived = ({ longLivedToken }: AllowFlags, flat: boolean): boolean => longLivedToken === true || flat;

/** The manifests of an account: what no flag says of it stays. */
const manifestsOf = (read: AccountRead, flags: AllowFlags): readonly ApiJson[] => {
  const flat = flags.flat ?? isFlat(read);
  return accessManifests(read, {
    flat,
    exportNamespaces: flags.exportNamespaces ?? limitsOf(read),
    lacksController: lacksController(read),
    peerSecret: read.peers[0]?.metadata.name ?? freePeerName(read),
    tokenSecret: isLongLived(flags, flat)
      ? (read.tokens[0]?.metadata.name ?? freeTokenName(read.name, read.dead))
      : undefined,
    sourceUid: recordOf(read.object),
  });
};

const give = async (target: Cluster, read: AccountRead, flags: AllowFlags): Promise<void> => {
  const objects = manifestsOf(read, flags);
  if (!flags.apply) {
    await print(documentsText(objects, flags.output));
    return;
  }
  const changes = await compare(
    objects.map((object) => ({ cluster: target, object, ...takesOf(flags.forceConflicts) })),
  );
  const stale = staleRights(read, objects);
  refuseProblems([...conflictProblems(changes, FORCE), ...(flags.forceConflicts ? [] : foreignRights(target, stale))]);
  const unwanted = stale.map((each) => ({ ...each, cluster: target }));
  const trials = [...creationTrials(changes), ...deletionTrials(unwanted)];
  await withReport(flags.output === 'json' ? 'json' : undefined, trials, async (report) => {
    await execute(changes, report);
    await executeDeletions(unwanted, report);
  });
};

const refuseExisting = (target: Cluster, { object, namespace, name }: AccountRead): void => {
  if (object === undefined) return;
  refuseProblems([
    {
      object: target.title(SERVICE_ACCOUNTS.kind, { namespace, name }),
      reason: 'exists already',
      remedy: 'name another with --service-account-name, or give this one the rights with --ignore-cluster',
    },
  ]);
};
