/**
 * `linkspan credentials mint`: an account for the source in the target, and the credentials that its token becomes, for a
 * Link that somebody else declares, as Git does. Safe to run again: an account that has a token keeps it.
 */
import { print, warn } from '../../print.ts';
import { manifestFormat, resultFormat } from '../common/change-flags.ts';
import { conflictProblems } from '../common/change-set/compare.ts';
import { executeDeletions } from '../common/change-set/execute.ts';
import { changesText } from '../common/change-set/text.ts';
import { creationTrials } from '../common/change-set/trial.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { printManifests, withReport } from '../common/output.ts';
import { accessObjects, accessTrials, FORCE, planAccess, writeAccess } from '../link/access.ts';
import { accessProblems, accessServer, keptProblems, readAccess } from '../link/access-read.ts';
import { warnOfAuthority } from '../link/api-server.ts';
import { named } from '../link/flags.ts';
import { FLAG_OF_PROP } from '../link/manifests.ts';
import { type Pair, withPair } from '../link/pair.ts';
import {
  addressProblems,
  domainsOf,
  INSTALL_IN_BOTH,
  installLinkerd,
  missingExports,
  missingNamespace,
} from '../link/survey.ts';
import type { MintFlags } from './flags.ts';

/** Runs the command. Sets the exit code. */
export const mint = (given: MintFlags): Promise<void> =>
  reportingProblems(() => {
    const flags = named(given);
    return withPair(flags, (pair) => mintPair(pair, flags));
  }, FLAG_OF_PROP);

const mintPair = async (pair: Pair, flags: MintFlags): Promise<void> => {
  const { source, target } = pair;
  const { namespace, linkerdNamespace, apiServerAddress } = flags;
  if (namespace === linkerdNamespace) refuseProblems([SAME_NAMESPACE], ExitCode.usage);
  const access = await readAccess(pair, flags);
  const missing = await Promise.all([
    missingNamespace(source, namespace, INSTALL_IN_BOTH),
    missingNamespace(target, namespace, INSTALL_IN_BOTH),
    access.flat ? missingNamespace(source, linkerdNamespace, installLinkerd(flags.flat)) : undefined,
    ...missingExports(target, flags),
  ]);
  const { apiServer, isKept } = accessServer(pair, access, apiServerAddress);
  const address = { apiServerAddress, addressFlag: '--api-server-address' };
  refuseProblems([
    ...missing.filter((problem) => problem !== undefined),
    ...(isKept ? [] : addressProblems(target, `pods of ${source.context}`, address)),
    ...accessProblems(pair, access, flags),
  ]);
  warnOfAuthority(target, apiServer);
  // Its own name is that of the Link.
  const targetName = access.held.link?.spec?.targetClusterName ?? pair.targetName;
  const settings = { targetName, domains: await domainsOf(target, flags) };
  const way = { ...pair, ...access, settings, apiServer };
  const plan = await planAccess(way, flags);
  const changes = [...plan.access, ...plan.credentials];
  const refused = [...keptProblems(pair, access, flags), ...conflictProblems(changes, FORCE), ...plan.foreign];
  if (flags.apply) {
    refuseProblems(refused);
    const trials = [...creationTrials(changes), ...accessTrials(way, plan)];
    await withReport(resultFormat(flags), trials, async (report) => {
      await writeAccess(way, plan, flags.timeout, report);
      await executeDeletions(plan.deletions, report);
    });
    return;
  }
  const format = manifestFormat(flags);
  if (format === undefined) {
    await print(changesText([...changes, ...plan.deletions.map((want) => ({ want, outcome: 'deleted' as const }))]));
  } else {
    const objects = await accessObjects(way, plan);
    const filled = [objects.access, objects.credentials].filter((each) => each.objects.length > 0);
    await printManifests(filled, format, flags);
  }
  for (const { object, reason } of refused) warn(`${object}: ${reason}; --apply would be refused`);
};

const SAME_NAMESPACE: Problem = {
  object: '--linkerd-namespace',
  reason: 'must differ from --namespace: both have a Secret of the same name',
  remedy: 'name the namespace of the control plane, or use --flat=false',
};
