/**
 * `linkspan check`: reads the source cluster, and each target through the credentials of its Link, or who uses the gateway
 * of a cluster that exports; judges what was read; and prints what is wrong, each fault with its cause and what to do.
 * Exits 1 if anything is broken, or if it could not be looked at.
 */
import { kubeconfigAccess, loadSourceKubeconfig } from '../../../operator/kube/access/kubeconfig.ts';
import { sleep } from '../../../operator/kube/backoff.ts';
import { print, printLine } from '../../print.ts';
import { CommandError, ExitCode, type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { VERSION } from '../install/version.ts';
import { ACCESS_CHECKS } from './access/checks.ts';
import { readMetricsFiles } from './access/metrics-files.ts';
import { type UsageReport, usageReport, usageText } from './access/report.ts';
import { accessSurvey } from './access/survey.ts';
import type { Section } from './access/usage.ts';
import { outlookOf } from './access/verdicts.ts';
import { CHECKS } from './checks/index.ts';
import type { CheckFlags } from './flags.ts';
import { PRE_CHECKS } from './pre/checks.ts';
import { preSurvey } from './pre/survey.ts';
import { Reader } from './reader.ts';
import { type Checked, isSuccess, jsonReport, runChecks, tableReport } from './report.ts';
import { type Scope, survey } from './survey.ts';

/** Deadline of a request to the source, and time between two looks of `--wait`, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;
const WAIT_MS = 2_000;

/** Runs the command. Sets the exit code. */
export const check = (flags: CheckFlags): Promise<void> =>
  reportingProblems(async () => {
    refuseProblems(conflictsOf(flags), ExitCode.usage);
    const metrics = flags.gatewayMetrics && (await readMetricsFiles(flags.gatewayMetrics));
    const look = (): Promise<Found> => diagnoseAll(flags, metrics);
    let found = await look();
    // From the first look on: where one takes long, there is a second one all the same.
    const until = performance.now() + (flags.wait ? flags.timeout : 0);
    while (!isSuccess(found.checked) && performance.now() < until) {
      const errors = found.checked.filter(({ result }) => result === 'error');
      printLine(`waiting: ${errors.map(({ id }) => id).join(', ')}`);
      await sleep(WAIT_MS);
      found = await look();
    }
    const { checked, usage } = found;
    const table = (): string => `${usage === undefined ? '' : usageText(usage)}${tableReport(checked)}`;
    await print(flags.output === 'json' ? jsonReport(checked, { gatewayAccess: usage }) : table());
    if (!isSuccess(checked)) process.exitCode = ExitCode.failed;
  });

const conflictsOf = ({ pre, link, gatewayAccess, gatewayMetrics }: CheckFlags): readonly Problem[] => [
  ...(pre && link !== undefined ? [conflict('--link', '--pre', 'before the installation there is no Link')] : []),
  ...(pre && gatewayAccess
    ? [conflict('--gateway-access', '--pre', 'before the installation there is no gateway')]
    : []),
  ...(gatewayAccess && link !== undefined
    ? [conflict('--link', '--gateway-access', 'the gateway is of the cluster that exports, which needs no Link')]
    : []),
  ...(gatewayMetrics !== undefined && !gatewayAccess
    ? [{ object: '--gateway-metrics', reason: 'must be used with --gateway-access', remedy: 'give both' }]
    : []),
];

const conflict = (flag: string, other: string, why: string): Problem => ({
  object: flag,
  reason: `must not be used with ${other}`,
  remedy: `remove one of them: ${why}`,
});

/** What is found, and who uses the gateway if that was asked for. */
interface Found {
  readonly checked: readonly Checked[];
  readonly usage?: UsageReport;
}

type DiagnoseFlags = Omit<CheckFlags, 'output' | 'wait' | 'timeout'>;

/** Reads the clusters once, and judges them. */
export const diagnose = async (flags: DiagnoseFlags): Promise<readonly Checked[]> =>
  (await diagnoseAll(flags, undefined)).checked;

const diagnoseAll = async (flags: DiagnoseFlags, metrics: readonly Section[] | undefined): Promise<Found> => {
  const config = loadSourceKubeconfig(flags);
  const reader = new Reader(await kubeconfigAccess(config), { timeoutMs: REQUEST_TIMEOUT_MS });
  const { kubeconfig, namespace, linkerdNamespace, link } = flags;
  const scope: Scope = { kubeconfig, context: config.context, namespace, linkerdNamespace, link, version: VERSION };
  try {
    if (flags.pre) return { checked: runChecks(PRE_CHECKS, await preSurvey(reader, scope)) };
    if (flags.gatewayAccess) {
      const read = await accessSurvey(reader, scope, metrics);
      const facts = { ...read, outlook: outlookOf(read) };
      return { checked: runChecks(ACCESS_CHECKS, facts), usage: usageReport(facts) };
    }
    const facts = await survey(reader, scope);
    if (link !== undefined && facts.links.ok && facts.links.value.length === 0) {
      const object = `Link ${namespace}/${link} of ${scope.context}`;
      throw new CommandError([
        { object, reason: 'not found', remedy: 'name one with --link, or leave it out for all' },
      ]);
    }
    return { checked: runChecks(CHECKS, facts) };
  } finally {
    await reader.close();
  }
};
