/**
 * `linkspan credentials revoke`: cuts one peer off in the target. It needs nothing of the peer, which may be lost or in
 * foreign hands. A token that can be renewed can be renewed by a thief as well, bound to nothing; so the account goes, and
 * with it every token that was ever made of it. Safe to run again: what is gone is passed over.
 */
import { Label, remoteAccessName, SHARED_ACCOUNT, Value } from '../../../crds/wire.ts';
import { type KubeObject, SECRETS } from '../../../operator/kube/objects.ts';
import { note, printLine, warn } from '../../print.ts';
import { resultFormat } from '../common/change-flags.ts';
import { printDeletions } from '../common/change-set/deletions.ts';
import { executeDeletions } from '../common/change-set/execute.ts';
import { deletionTrials } from '../common/change-set/trial.ts';
import type { Unwanted } from '../common/change-set/want.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { kubectl } from '../common/command-text.ts';
import { CommandError, ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { SERVICE_ACCOUNTS } from '../common/kinds.ts';
import { withReport } from '../common/output.ts';
import { ifAllowed } from '../common/readable.ts';
import { readersOf } from '../install/readers.ts';
import { type AccountRead, readAccount, secretsOf } from '../link/account.ts';
import { clusterNameProblems } from '../link/pair.ts';
import type { RevokeFlags } from './flags.ts';

/** Runs the command. Sets the exit code. */
export const revoke = (peer: string, flags: RevokeFlags): Promise<void> =>
  reportingProblems(async () => {
    const { namespace, serviceAccountName: name = remoteAccessName(peer) } = flags;
    refuseProblems([...clusterNameProblems('<peer>', peer, ''), ...sharedProblems(name)], ExitCode.usage);
    await withCluster(flags, async (target) => {
      const account = await readAccount(target, { namespace, name });
      refuseProblems(foreignProblems(target, account));
      const unwanted = tracesOf(target, account);
      if (unwanted.length === 0) {
        await sayNothingLeft(target, account, peer, flags);
        return;
      }
      if (!flags.apply) {
        await printDeletions(unwanted, flags);
        return;
      }
      const trials = deletionTrials(unwanted);
      await withReport(resultFormat(flags), trials, (report) => executeDeletions(unwanted, report));
      note(
        `${target.context} refuses all tokens of ${name} from now on; API servers may take one for 10 s more that they have just seen`,
      );
    });
  });

/** What the peer reads the target with. Its rights go first: API servers keep no answers about these. */
const tracesOf = (cluster: Cluster, account: AccountRead): readonly Unwanted[] => {
  const { object, rights } = account;
  const ofKind = (of: Unwanted['of'], objects: readonly (KubeObject | undefined)[]) =>
    objects.flatMap((each) => (each === undefined ? [] : [{ of, object: each }]));
  const all = [...rights, ...ofKind(SERVICE_ACCOUNTS, [object]), ...ofKind(SECRETS, secretsOf(account))];
  return all.map((each) => ({ ...each, cluster }));
};

/**
 * Says that there is no account. The peer may read with one of another name: which of them, only a person knows.
 * @throws CommandError if the accounts cannot be listed
 */
const sayNothingLeft = async (
  target: Cluster,
  { namespace, name, areRightsKnown }: AccountRead,
  peer: string,
  { serviceAccountName }: RevokeFlags,
): Promise<void> => {
  const ofAccount = `nothing is left in ${target.context} of ServiceAccount ${namespace}/${name}`;
  if (serviceAccountName !== undefined) {
    printLine(ofAccount);
    return;
  }
  const read = await ifAllowed(() => readersOf(target, namespace));
  if ('obstacle' in read) {
    const reason = `is not there, and it is not known whether ${peer} reads ${target.context} with another: ${read.obstacle}`;
    const remedy = 'name the account of the peer with --service-account-name';
    throw new CommandError([{ object: target.title(SERVICE_ACCOUNTS.kind, { namespace, name }), reason, remedy }]);
  }
  const others = read.found.map((each) => each.account.metadata.name);
  const named = others.filter((other) => other !== SHARED_ACCOUNT);
  if (named.length > 0)
    warn(
      `${target.context} is read with ${named.join(', ')}: if one of them is that of ${peer}, name it with --service-account-name`,
    );
  const isNone = others.length === 0 && areRightsKnown;
  printLine(isNone ? `nothing is left in ${target.context} that ${peer} could read it with` : ofAccount);
};

/** The account of Linkerd's chart, which any number of sources use. */
const sharedProblems = (name: string): readonly Problem[] =>
  name === SHARED_ACCOUNT
    ? [
        {
          object: `ServiceAccount ${name}`,
          reason: 'may be that of several source clusters, and all of them would be cut off',
          remedy: 'give each an account of its own with `linkspan credentials mint`, then delete this one',
        },
      ]
    : [];

/** What has a name of ours, and is not ours, is left alone, with all the rest. */
const foreignProblems = (target: Cluster, { object, namespace, name, tokens }: AccountRead): readonly Problem[] => {
  const label = `${Label.extension}=${Value.extension}`;
  const isUnknown =
    object === undefined ? tokens.length > 0 : object.metadata.labels?.[Label.extension] !== Value.extension;
  if (!isUnknown) return [];
  return [
    {
      object: target.title(SERVICE_ACCOUNTS.kind, { namespace, name }),
      reason: `is not known as an account of a source cluster: it lacks the label ${label}`,
      remedy: `if it is one, run \`${kubectl(target, '-n', namespace, 'label', 'serviceaccount', name, label)}\``,
    },
  ];
};
