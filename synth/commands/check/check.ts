/**
 * `linkspan check`: reads the source cluster, and each target through the credentials of its Link; judges what was read;
 * and prints what is wrong, each fault with its cause and what to do. Exits 1 if anything is broken, or if it could not
 * be looked at.
 */
import { kubeconfigAccess, loadSourceKubeconfig } from '../../../operator/kube/access/kubeconfig.ts';
import { sleep } from '../../../operator/kube/backoff.ts';
import { print, printLine } from '../../print.ts';
import { CommandError, ExitCode, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { VERSION } from '../install/version.ts';
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
    if (flags.pre && flags.link !== undefined) {
      const remedy = 'remove one of them: before the installation there is no Link';
      refuseProblems([{ object: '--link', reason: 'must not be used with --pre', remedy }], ExitCode.usage);
    }
    let found = await diagnose(flags);
    // From the first look on: where one takes long, there is a second one all the same.
    const until = performance.now() + (flags.wait ? flags.timeout : 0);
    while (!isSuccess(found) && performance.now() < until) {
      const errors = found.filter(({ result }) => result === 'error');
      printLine(`waiting: ${errors.map(({ id }) => id).join(', ')}`);
      await sleep(WAIT_MS);
      found = await diagnose(flags);
    }
    await print(flags.output === 'json' ? jsonReport(found) : tableReport(found));
    if (!isSuccess(found)) process.exitCode = ExitCode.failed;
  });

/** Reads the clusters once, and judges them. */
export const diagnose = async (flags: Omit<CheckFlags, 'output' | 'wait' | 'timeout'>): Promise<readonly Checked[]> => {
  const config = loadSourceKubeconfig(flags);
  const reader = new Reader(await kubeconfigAccess(config), { timeoutMs: REQUEST_TIMEOUT_MS });
  const { kubeconfig, namespace, linkerdNamespace, link } = flags;
  const scope: Scope = { kubeconfig, context: config.context, namespace, linkerdNamespace, link, version: VERSION };
  try {
    if (flags.pre) return runChecks(PRE_CHECKS, await preSurvey(reader, scope));
    const facts = await survey(reader, scope);
    if (link !== undefined && facts.links.ok && facts.links.value.length === 0) {
      const object = `Link ${namespace}/${link} of ${scope.context}`;
      throw new CommandError([
        { object, reason: 'not found', remedy: 'name one with --link, or leave it out for all' },
      ]);
    }
    return runChecks(CHECKS, facts);
  } finally {
    await reader.close();
  }
};
