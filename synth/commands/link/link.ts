/**
 * `linkspan link`: lets the source cluster mirror Services of the target. It makes an account in the target, waits for its
 * token, and writes the credentials and the Link to the source. All obstacles are reported before anything is written;
 * without `--apply` nothing is, and the manifests are printed.
 */
import { ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { applyAll } from '../common/apply.ts';
import { LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { conditionOf } from '../common/link-status.ts';
import { type ClusterObjects, manifestsText, type ResultReport, withReport } from '../common/output.ts';
import { waitFor } from '../common/wait.ts';
import { print, printLine } from '../../print.ts';
import { federationOf, federationProblems } from './federation.ts';
import type { LinkFlags } from './flags.ts';
import { previewAccess, writeAccess } from './access.ts';
import { FLAG_OF_PROP, linkManifests } from './manifests.ts';
import { type Pair, wayBack, withPair } from './pair.ts';
import { type Given, survey, type Way } from './survey.ts';

/** Runs the command. Sets the exit code. */
export const link = (flags: LinkFlags): Promise<void> =>
  reportingProblems(async () => {
    refuseProblems(flagProblems(flags), ExitCode.usage);
    await withPair(flags, (pair) => linkPair(pair, { ...flags, federation: federationOf(flags) }));
  }, FLAG_OF_PROP);

const linkPair = async (pair: Pair, flags: LinkFlags): Promise<void> => {
  const until = performance.now() + flags.timeout;
  const ways = await survey(waysOf(pair, flags), flags, flags.wait ? flags.timeout : 0);
  if (!flags.apply) {
    await print(manifestsText(await preview(ways, flags), flags.output ?? 'yaml'));
    return;
  }
  // Rendered once before anything is written, so that what no manifest can have is refused first.
  for (const { settings } of ways) linkManifests(settings, flags);
  await withReport(flags.output, async (report) => {
    for (const way of ways) await write(way, flags, report);
  });
  if (flags.wait) for (const way of ways) await untilReady(way, flags, until - performance.now());
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
      ...(flags.gateway ? [] : [refusal(flag, 'must not be used with --gateway=false', 'remove one of them')]),
    ]),
    ...federationProblems(flags),
  ];
};

/** The way there, and with `--both` the way back. */
const waysOf = (pair: Pair, flags: LinkFlags): readonly { readonly pair: Pair; readonly given: Given }[] => {
  const there = {
    apiServerAddress: flags.apiServerAddress,
    addressFlag: '--api-server-address',
    addresses: flags.gatewayAddresses,
    port: flags.gatewayPort,
  };
  const back = { apiServerAddress: flags.sourceApiServerAddress, addressFlag: '--source-api-server-address' };
  return [{ pair, given: there }, ...(flags.both ? [{ pair: wayBack(pair), given: back }] : [])];
};

/** What would be written. */
const preview = async (ways: readonly Way[], flags: LinkFlags): Promise<readonly ClusterObjects[]> => {
  const all = await Promise.all(
    ways.map(async (way): Promise<readonly ClusterObjects[]> => {
      const { access, credentials } = await previewAccess(way, flags);
      const purpose = `the Link to ${way.targetName}, and its credentials`;
      const objects = [...credentials.objects, ...linkManifests(way.settings, flags)];
      return [access, { context: way.source.context, purpose, objects }];
    }),
  );
  return all.flat();
};

/** Writes one way: the account, then, with its token, the credentials and the Link. */
const write = async (way: Way, flags: LinkFlags, report: ResultReport): Promise<void> => {
  await writeAccess(way, flags, report);
  await applyAll(way.source, linkManifests(way.settings, flags), report);
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
            : `see kubectl --context ${source.context} -n ${namespace} describe link ${targetName}`,
      }),
    },
  );
  printLine(`Link ${targetName} of ${source.context} is Ready`);
};

const NO_REPORT = 'no operator has reported on it yet';
