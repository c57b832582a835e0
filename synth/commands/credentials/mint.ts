/**
 * `linkspan credentials mint`: an account for the source in the target, and the credentials that its token becomes, for a
 * Link that somebody else declares, as Git does. Safe to run again: an account that has a token keeps it.
 */
import { credentialsName } from '../../../crds/wire.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { manifestsText, withReport } from '../common/output.ts';
import { previewAccess, writeAccess } from '../link/access.ts';
import { apiServerOf } from '../link/api-server.ts';
import { FLAG_OF_PROP } from '../link/manifests.ts';
import { type Pair, withPair } from '../link/pair.ts';
import { addressProblems, domainsOf, INSTALL, INSTALL_LINKERD, missingNamespace } from '../link/survey.ts';
import { print } from '../../print.ts';
import type { MintFlags } from './flags.ts';

/** Runs the command. Sets the exit code. */
export const mint = (flags: MintFlags): Promise<void> =>
  reportingProblems(() => withPair(flags, (pair) => mintPair(pair, flags)), FLAG_OF_PROP);

const mintPair = async (pair: Pair, flags: MintFlags): Promise<void> => {
  const { source, target, targetName } = pair;
  const { namespace, linkerdNamespace, apiServerAddress } = flags;
  if (namespace === linkerdNamespace) refuseProblems([SAME_NAMESPACE], ExitCode.usage);
  const missing = await Promise.all([
    missingNamespace(source, namespace, INSTALL),
    missingNamespace(target, namespace, INSTALL),
    flags.flat ? missingNamespace(source, linkerdNamespace, INSTALL_LINKERD) : undefined,
    otherSecret(pair, flags),
  ]);
  refuseProblems([
    ...missing.filter((problem) => problem !== undefined),
    ...addressProblems(target, `pods of ${source.context}`, { apiServerAddress, addressFlag: '--api-server-address' }),
  ]);
  const way = {
    ...pair,
    settings: { targetName, domains: await domainsOf(target, flags) },
    apiServer: apiServerOf(target.reachedBy, apiServerAddress),
  };
  if (!flags.apply) {
    const { access, credentials } = await previewAccess(way, flags);
    const filled = [access, credentials].filter(({ objects }) => objects.length > 0);
    await print(manifestsText(filled, flags.output ?? 'yaml'));
    return;
  }
  await withReport(flags.output, (report) => writeAccess(way, flags, report));
};

const SAME_NAMESPACE: Problem = {
  object: '--linkerd-namespace',
  reason: 'must differ from --namespace: both have a Secret of the same name',
  remedy: 'name the namespace of the control plane, or use --flat=false',
};

/** A Link that reads its credentials elsewhere would not notice these. */
const otherSecret = async (
  { source, targetName: name }: Pair,
  { namespace }: MintFlags,
): Promise<Problem | undefined> => {
  const found = await source.find<LinkObject>(LINKS, { namespace, name });
  const secret = found?.spec?.clusterCredentialsSecret;
  if (secret === undefined || secret === credentialsName(name)) return undefined;
  return {
    object: source.title(LINKS.kind, { namespace, name }),
    reason: `reads its credentials from Secret ${secret}`,
    remedy: `set its spec.clusterCredentialsSecret to ${credentialsName(name)}, or leave it out`,
  };
};
