/**
 * `linkspan link`: lets the source cluster mirror Services of the target. It makes an account in the target, waits for its
 * token, and writes the credentials and the Link to the source. A Link that is there keeps the settings that no flag gives.
 * All obstacles are reported before anything is written; without `--apply` nothing is, and what would change is printed.
 */
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { note, print, printLine, warn } from '../../print.ts';
import { manifestFormat, resultFormat } from '../common/change-flags.ts';
import { type Change, compareOne, conflictProblems } from '../common/change-set/compare.ts';
import { execute, executeDeletions } from '../common/change-set/execute.ts';
import { changesText } from '../common/change-set/text.ts';
import { creationTrials } from '../common/change-set/trial.ts';
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { kubectl } from '../common/command-text.ts';
import type { Cluster } from '../common/cluster.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { conditionOf } from '../common/link-status.ts';
import { type ClusterObjects, printManifests, type ResultReport, withReport } from '../common/output.ts';
import { readable } from '../common/readable.ts';
import { grantNamespaces } from '../common/remedies.ts';
import { waitFor } from '../common/wait.ts';
import { installedProps } from '../install/manifests.ts';
import { findRecord } from '../install/survey.ts';
import { accessObjects, accessTrials, type AccessPlan, FORCE, planAccess, takesOf, writeAccess } from './access.ts';
import { keptProblems } from './access-read.ts';
import { federationOf, federationProblems } from './federation.ts';
import { type LinkFlags, named } from './flags.ts';
import type { Given } from './given.ts';
import { FLAG_OF_PROP, linkManifest } from './manifests.ts';
import { type Pair, wayBack, withPair } from './pair.ts';
import { survey, type Way } from './survey.ts';
import { stayingProblems, wantedLink } from './wanted-link.ts';

/** Runs the command. Sets the exit code. */
export const link = (given: LinkFlags): Promise<void> =>
  reportingProblems(async () => {
    const flags = named(given);
    refuseProblems(flagProblems(flags), ExitCode.usage);
    await withPair(flags, (pair) => linkPair(pair, flags));
  }, FLAG_OF_PROP);

/** One way, compared with what is there. */
interface Plan {
  readonly way: Way;
  readonly access: AccessPlan;
  readonly link: Change;
  /** The whole Link, with the settings that it keeps. */
  readonly whole: ApiJson;
}

const linkPair = async (pair: Pair, flags: LinkFlags): Promise<void> => {
  const until = performance.now() + flags.timeout;
  const ways = await survey(waysOf(pair, flags), flags, flags.wait ? flags.timeout : 0);
  const plans = await Promise.all(ways.map((way) => planOf(way, flags)));
  if (flags.enableNamespaceCreation === true) {
    const notes = ways.map(({ source }) => namespaceCreationNote(source, flags.namespace));
    for (const each of await Promise.all(notes)) if (each !== undefined) note(each);
  }
  const changes = plans.flatMap(({ access, link }) => [...access.access, ...access.credentials, link]);
  const refused = [...conflictProblems(changes, FORCE), ...plans.flatMap(({ staying }) => staying)];
  if (!flags.apply) {
    await preview(plans, flags);
    for (const { object, reason } of refused) warn(`${object}: ${reason}; --apply would be refused`);
    return;
  }
  refuseProblems(refused);
  const trials = [...creationTrials(changes), ...plans.flatMap(({ way, access }) => accessTrials(way, access))];
  await withReport(resultFormat(flags), trials, async (report) => {
    for (const plan of plans) await write(plan, flags, report);
  });
  if (flags.wait) for (const way of ways) await untilReady(way, flags, until - performance.now());
};

/** What the operator of a source lacks to create namespaces; undefined if nothing, or if `linkspan install` has not made it. */
const namespaceCreationNote = async (source: Cluster, namespace: string): Promise<string | undefined> => {
  const record = await readable(() => findRecord(source, namespace));
  if (!('found' in record) || record.found === undefined) return undefined;
  const { operator } = installedProps(namespace, record.found.settings);
  if (operator?.enableNamespaceCreation === true || operator?.grantNamespaceCreation === true) return undefined;
  const { kubeconfig, context } = source;
  return `the operator of ${context} may not create namespaces: ${grantNamespaces({ kubeconfig, context, namespace })}`;
};

const planOf = async (way: Way, flags: LinkFlags): Promise<Plan & { readonly staying: readonly Problem[] }> => {
  const { source, settings, flat, exportNamespaces, held, given } = way;
  const federation = federationOf({ federation: flags.federation, gateway: settings.gateway !== undefined, flat });
  const contents = { ...flags, flat, exportNamespaces, federation, secretName: held.secretName, name: way.targetName };
  // Rendered first, so that what no manifest can have is refused before a cluster is asked.
  const wanted = wantedLink(held.link, linkManifest(settings, contents), flags, given);
  const object = wanted.applied;
  const [access, link] = await Promise.all([
    planAccess(way, { ...flags, apiServerAddress: given.apiServerAddress }),
    compareOne({ cluster: source, object, ...takesOf(flags.forceConflicts, wanted.takes) }),
  ]);
  const { apiServerAddress } = given;
  const staying = [
    ...keptProblems(way, way, { ...flags, apiServerAddress }),
    ...stayingProblems(source, held.link, wanted),
    ...access.foreign,
  ];
  return { way, access, link, whole: wanted.whole, staying };
};

const flagProblems = (flags: LinkFlags): readonly Problem[] => {
  const refusal = (flag: string, reason: string, remedy: string): Problem => ({ object: flag, reason, remedy });
  const { both, gatewayAddresses, gatewayPort, sourceApiServerAddress } = flags;
  const ofGateway = [gatewayAddresses && '--gateway-addresses', gatewayPort && '--gateway-port'].filter(
    (flag) => typeof flag === 'string',
  );
  return [
    ...(flags.wait && !flags.apply ? [refusal('--wait', 'needs --apply', 'add it: nothing is written without')] : []),
    ...(sourceApiServerAddress !== undefined && !both
      ? [refusal('--source-api-server-address', 'needs --both', 'add it, or remove the address')]
      : []),
    ...ofGateway.flatMap((flag) => [
      ...(both ? [refusal(flag, 'must not be used with --both: it is of one gateway', 'link each way by itself')] : []),
      ...(flags.gateway === false
        ? [refusal(flag, 'must not be used with --gateway=false', 'remove one of them')]
        : []),
    ]),
    ...federationProblems(flags),
  ];
};

/** The way there, and with `--both` the way back. */
const waysOf = (pair: Pair, flags: LinkFlags): readonly { readonly pair: Pair; readonly given: Given }[] => {
  const { gatewayName, gatewayNamespace } = flags;
  const service = { gatewayName, gatewayNamespace };
  const there = {
    apiServerAddress: flags.apiServerAddress,
    addressFlag: '--api-server-address',
    addresses: flags.gatewayAddresses,
    port: flags.gatewayPort,
    ...service,
  };
  const back = {
    apiServerAddress: flags.sourceApiServerAddress,
    addressFlag: '--source-api-server-address',
    ...service,
  };
  return [{ pair, given: there }, ...(flags.both ? [{ pair: wayBack(pair), given: back }] : [])];
};

/** Prints what would be written. */
const preview = async (plans: readonly Plan[], flags: LinkFlags): Promise<void> => {
  const format = manifestFormat(flags);
  if (format === undefined) {
    const all = plans.flatMap(({ access, link }) => [
      ...access.access,
      ...access.credentials,
      link,
      ...access.deletions.map((want) => ({ want, outcome: 'deleted' as const })),
    ]);
    await print(changesText(all));
    return;
  }
  const lists = plans.map(async ({ way, access: plan, whole }): Promise<readonly ClusterObjects[]> => {
    const { access, credentials } = await accessObjects(way, plan);
    const purpose = `the Link to ${way.targetName}, and its credentials`;
    return [access, { context: way.source.context, purpose, objects: [...credentials.objects, whole] }];
  });
  await printManifests((await Promise.all(lists)).flat(), format, flags);
};

/**
 * Writes one way: the account, then, with its token, the credentials and the Link, and last what is not needed any more.
 */
const write = async ({ way, access, link }: Plan, flags: LinkFlags, report: ResultReport): Promise<void> => {
  await writeAccess(way, access, flags.timeout, report);
  await execute([link], report);
  await executeDeletions(access.deletions, report);
};

/** Waits until the operator reports that the Link, as it is now, is Ready. */
const untilReady = async ({ source, targetName }: Way, { namespace }: LinkFlags, timeoutMs: number): Promise<void> => {
  const ref = { namespace, name: targetName };
  const title = source.title('Link', ref);
  await waitFor(
    title,
    async () => {
      const found = await source.find<LinkObject>(LINKS, ref);
      const ready = conditionOf(found, 'Ready');
      if (ready === undefined || ready.observedGeneration < (found?.metadata.generation ?? 0)) {
        return { pending: NO_REPORT };
      }
      return ready.status === 'True' ? { done: undefined } : { pending: `${ready.reason}: ${ready.message}` };
    },
    {
      timeoutMs,
      problem: (pending) => ({
        object: title,
        reason: `is not Ready in time: ${pending}`,
        remedy:
          pending === NO_REPORT
            ? `see whether the operator runs in ${source.context}`
            : kubectl(source, '-n', namespace, 'describe', 'link', targetName),
      }),
    },
  );
  printLine(`Link ${targetName} of ${source.context} is Ready`);
};

const NO_REPORT = 'no operator has reported on it yet';
