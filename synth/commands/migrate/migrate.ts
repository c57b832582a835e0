/**
 * `linkspan migrate`: hands Links from Linkerd's controllers to the operator, Link by Link, and back with `--back`. It
 * shows what the operator would write when it takes over, which is nothing, and the steps; `--apply` makes them. What
 * stands in the way of any Link is reported before the first is touched. Running it again goes on where it has ended.
 */
import type { LinkSettings } from '../../../crds/index.ts';
import { Annotation, LinkApi } from '../../../crds/wire.ts';
import { note, print, printLine } from '../../print.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { CRDS, LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { conditionOf } from '../common/link-status.ts';
import { withReport } from '../common/output.ts';
import { liveReader } from '../common/reader.ts';
import { planLinks } from '../plan/links.ts';
import { type PlanReport, planReport, planSummary } from '../plan/report.ts';
import { readSource } from '../plan/source.ts';
import { readServed, withTarget } from '../plan/target.ts';
import type { MigrateFlags } from './flags.ts';
import { linkReport, migrationText } from './report.ts';
import { type LinkState, readState, replicasBefore, replicasOf } from './state.ts';
import { handBackLink, migrateLink, type StepOptions } from './steps.ts';

/** Runs the command. Sets the exit code. */
export const migrate = (link: string | undefined, flags: MigrateFlags): Promise<void> =>
  reportingProblems(() => withCluster(flags, (cluster) => migrateIn(cluster, link, flags)));

const migrateIn = async (cluster: Cluster, link: string | undefined, flags: MigrateFlags): Promise<void> => {
  const { namespace, apply, back, output, timeout: timeoutMs } = flags;
  const states = await readStates(cluster, namespace, link);
  const plans = back ? new Map<string, PlanReport>() : await planEach(cluster, states, flags);
  if (!apply) {
    const reports = states.map((state) => linkReport(state, plans.get(state.name), back === true));
    await print(migrationText(reports, output));
    for (const [name, plan] of plans) printLine(`Link ${name}: ${planSummary(plan)}`);
    return;
  }
  const pending = states.filter((state) => linkReport(state, undefined, back === true).steps.length > 0);
  refuseProblems(back ? backProblems(pending, cluster, flags) : await problemsOf(pending, plans, cluster, flags));
  await withReport(output === 'json' || output === 'yaml' ? output : undefined, async (report) => {
    const options: StepOptions = { cluster, namespace, timeoutMs, report };
    for (const state of pending) await (back ? handBackLink(state, options) : migrateLink(state, options));
  });
  if (pending.length === 0) printLine('nothing is left to do');
};

const readStates = async (
  cluster: Cluster,
  namespace: string,
  link: string | undefined,
): Promise<readonly LinkState[]> => {
  const reader = liveReader(cluster);
  const names =
    link === undefined
      ? (await reader.select<LinkObject>(LINKS, { namespace })).map(({ metadata }) => metadata.name).sort()
      : [link];
  const found = await Promise.all(names.map((name) => readState(reader, namespace, name)));
  const states = found.filter((state) => state !== undefined);
  if (states.length === 0) {
    const object =
      link === undefined
        ? `Namespace ${namespace} of ${cluster.context}`
        : cluster.title(LINKS.kind, { namespace, name: link });
    const reason = link === undefined ? 'has no Link' : 'not found';
    refuseProblems([{ object, reason, remedy: 'name the namespace of the Links with --namespace' }]);
  }
  return states;
};

/** What the operator would write for each Link if it wrote for it now. */
const planEach = async (
  cluster: Cluster,
  states: readonly LinkState[],
  flags: MigrateFlags,
): Promise<ReadonlyMap<string, PlanReport>> => {
  const plans = new Map<string, PlanReport>();
  for (const { name, link } of states) {
    // As it is without the annotation that suspends it: the operator would serve it.
    const source = await readSource(liveReader(cluster), flags, [unsuspended(link)]);
    const read = (settings: LinkSettings) =>
      withTarget(source, settings, [], (target) => readServed(source, settings, target, note));
    plans.set(name, planReport(await planLinks(source, [name], read, note)));
  }
  return plans;
};

/** Any text but `true` suspends nothing. */
const unsuspended = (link: LinkObject): LinkObject => ({
  ...link,
  metadata: { ...link.metadata, annotations: { [Annotation.suspended]: '' } },
});

const problemsOf = async (
  states: readonly LinkState[],
  plans: ReadonlyMap<string, PlanReport>,
  cluster: Cluster,
  { namespace, acceptChanges }: MigrateFlags,
): Promise<readonly Problem[]> => {
  const title = (name: string): string => cluster.title(LINKS.kind, { namespace, name });
  const problems: Problem[] = [];
  if (states.length > 0 && !(await hasOurCrd(cluster))) {
    problems.push({
      object: cluster.title(CRDS.kind, { name: LinkApi.crd }),
      reason: "is Linkerd's own, which drops what the operator reports",
      remedy: 'linkspan crds | kubectl apply --server-side --force-conflicts -f -',
    });
  }
  for (const { name, link } of states) {
    const { reason } = conditionOf(link, 'Ready') ?? {};
    if (reason === undefined) {
      problems.push({
        object: title(name),
        reason: 'no operator has reported on it',
        remedy: 'install the operator, which stands by until the Link is handed to it',
      });
    }
    const plan = plans.get(name);
    const isClean = plan === undefined || plan.changes.length + plan.held.length === 0;
    const refused = plan?.refused.find(({ service }) => service === undefined);
    if (refused !== undefined) {
      const remedy = 'mend the Link';
      problems.push({ object: title(name), reason: `would not be served: ${refused.message}`, remedy });
    } else if (!isClean && !acceptChanges) {
      problems.push({
        object: title(name),
        reason: `the operator would write: ${planSummary(plan)}`,
        remedy: 'see which with -o json and without --apply; to go on, add --accept-changes',
      });
    }
  }
  return problems;
};

const backProblems = (
  states: readonly LinkState[],
  cluster: Cluster,
  { namespace }: MigrateFlags,
): readonly Problem[] =>
  states
    .filter(
      ({ controllers }) => !controllers.some((each) => replicasOf(each) > 0 || replicasBefore(each) !== undefined),
    )
    .map(({ name }) => ({
      object: cluster.title(LINKS.kind, { namespace, name }),
      reason: "there is no Deployment of Linkerd's controller for it that could be started again",
      remedy: `install it with Linkerd's chart: controllers: [{link: {ref: {name: ${name}}}}]`,
    }));

interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly versions?: readonly { readonly schema?: unknown }[] };
}

/** Linkerd's CRD has no conditions in the status of a Link. */
const hasOurCrd = async (cluster: Cluster): Promise<boolean> => {
  const crd = await cluster.find<Crd>(CRDS, { name: LinkApi.crd });
  return (crd?.spec?.versions ?? []).some(({ schema }) => {
    const { openAPIV3Schema } = (schema ?? {}) as {
      readonly openAPIV3Schema?: { properties?: { status?: { properties?: Record<string, unknown> } } };
    };
    return openAPIV3Schema?.properties?.status?.properties?.['conditions'] !== undefined;
  });
};
