/**
 * `linkspan migrate`: hands Links from Linkerd's controllers to the operator, Link by Link, then local memberships of
 * federated Services from Linkerd's local mirror, and back with `--back`. It shows what the operator would write when it
 * takes over, which is nothing, and the steps; `--apply` makes them. What stands in the way of any of it is reported before
 * the first is touched. A step that fails is undone, and running the command again goes on where it has ended.
 */
import { LinkApi, LOCAL_MIRROR } from '../../../crds/wire.ts';
import { type KubeObject, type Resource, SERVICES } from '../../../operator/kube/objects.ts';
import { note, print, printLine } from '../../print.ts';
import { patchTrials } from '../common/change-set/trial.ts';
import type { Existing } from '../common/change-set/want.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { type Problem, refuseProblems, reportingProblems } from '../common/command-error.ts';
import { kubectl } from '../common/command-text.ts';
import { stopIfAsked } from '../common/interruption.ts';
import { CRDS, DEPLOYMENTS, LINKS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { withReport } from '../common/output.ts';
import { liveReader } from '../common/reader.ts';
import { isLinkRefused, type PlanReport, planSummary } from '../plan/report.ts';
import { endingTokenProblems } from './ending-tokens.ts';
import type { MigrateFlags } from './flags.ts';
import { linksBefore, type LocalState, readLocal } from './local-state.ts';
import { handBackLocal, migrateLocal } from './local-steps.ts';
import { NO_PLANS, plansOf } from './plans.ts';
import { allChangesText, linkReport, localReport, migrationText } from './report.ts';
import { isSuspended, type LinkState, readState, replicasBefore, replicasOf } from './state.ts';
import { Standby } from './standby.ts';
import type { StepOptions } from './step.ts';
import { handBackLink, migrateLink } from './steps.ts';

/** Runs the command. Sets the exit code. */
export const migrate = (link: string | undefined, flags: MigrateFlags): Promise<void> =>
  reportingProblems(() => withCluster(flags, (cluster) => migrateIn(cluster, link, flags)));

const LINKS_RESOURCE = `${LINKS.plural}.${LINKS.group}`;

const migrateIn = async (cluster: Cluster, link: string | undefined, flags: MigrateFlags): Promise<void> => {
  const { namespace, apply, back, output, timeout: timeoutMs } = flags;
  const isBack = back === true;
  const local = await readLocal(cluster, namespace);
  const states = await readStates(cluster, namespace, link, local !== undefined);
  const chosen = new Set(states.map(({ name }) => name));
  const after = local ? linksBefore(local, chosen, isBack) : [];
  const toPlan = local?.writer === 'operator' || after.length > 0 ? undefined : local;
  const plans = isBack ? NO_PLANS : await plansOf(cluster, states, toPlan, flags);
  const reports = states.map((state) => linkReport(state, plans.links.get(state.name), isBack));
  const localReported = local && localReport(local, plans.local, after, isBack);
  for (const each of local ? localNotes(local, plans.local === 'left', isBack) : []) note(each);
  if (!apply) {
    await print(migrationText(reports, localReported, output));
    for (const [name, plan] of plans.links) printLine(`Link ${name}: ${planSummary(plan)}`);
    if (localReported?.changes !== undefined) printLine(`Local mirror: ${planSummary(localReported.changes)}`);
    return;
  }
  const pending = states.filter((_, at) => reports[at]?.steps.length !== 0);
  const pendingLocal = localReported?.steps.length === 0 ? undefined : local;
  const problems = isBack
    ? [
        ...backProblems(pending, cluster, flags),
        ...(await endingTokenProblems(pending, cluster, namespace)),
        ...(local ? throughGatewaysProblems(local, cluster, flags) : []),
      ]
    : [
        ...(await problemsOf(pending, plans.links, cluster, flags)),
        ...(pendingLocal ? localProblems(localReported?.changes, cluster, flags) : []),
      ];
  const isRead = output === 'table' || output === 'wide';
  if (problems.length > 0 && isRead) await print(allChangesText(reports, localReported));
  refuseProblems(problems);
  const trials = patchTrials(patchedBy(cluster, pending, pendingLocal));
  await withReport(isRead ? undefined : output, trials, async (report) => {
    const options: StepOptions = { cluster, namespace, timeoutMs, report };
    const standby = new Standby(options);
    const others = isBack ? [] : pending.filter(isOthers).map(({ name }) => name);
    if (others.length > 0) await standby.wait(others);
    for (const state of pending) {
      stopIfAsked(`Link ${state.name}`);
      const mirrors = lasting(state.mirrors, plans.links.get(state.name));
      if (isBack) await handBackLink(state, options);
      else await migrateLink({ ...state, mirrors }, standby, options);
    }
    if (pendingLocal === undefined) return;
    stopIfAsked(`Deployment ${LOCAL_MIRROR}`);
    const federated = lasting(pendingLocal.federated, localReported?.changes);
    if (isBack) await handBackLocal(pendingLocal, options);
    else await migrateLocal({ ...pendingLocal, federated }, standby, options);
  });
  if (pending.length === 0 && pendingLocal === undefined) printLine('nothing is left to do');
};

/** What the steps change. */
const patchedBy = (
  cluster: Cluster,
  links: readonly LinkState[],
  local: LocalState | undefined,
): readonly Existing[] => {
  const ofKind = (of: Resource, objects: readonly KubeObject[]) => objects.map((object) => ({ cluster, of, object }));
  return [
    ...links.flatMap(({ link, controllers }) => [...ofKind(LINKS, [link]), ...ofKind(DEPLOYMENTS, controllers)]),
    ...(local === undefined ? [] : ofKind(DEPLOYMENTS, [local.deployment])),
  ];
};

/** Whether the operator is to take a Link over, rather than to go on with one that it writes for. */
const isOthers = ({ writer, isSuspended }: LinkState): boolean => writer !== 'operator' || isSuspended;

/** @param isWithout whether there is something to do without a Link */
const readStates = async (
  cluster: Cluster,
  namespace: string,
  link: string | undefined,
  isWithout: boolean,
): Promise<readonly LinkState[]> => {
  const reader = liveReader(cluster);
  const names =
    link === undefined
      ? (await reader.select<LinkObject>(LINKS, { namespace })).map(({ metadata }) => metadata.name).sort()
      : [link];
  const found = await Promise.all(names.map((name) => readState(reader, namespace, name)));
  const states = found.filter((state) => state !== undefined);
  if (states.length === 0 && (link !== undefined || !isWithout)) {
    const object =
      link === undefined
        ? `Namespace ${namespace} of ${cluster.context}`
        : cluster.title(LINKS.kind, { namespace, name: link });
    const reason = link === undefined ? 'has no Link' : 'not found';
    refuseProblems([{ object, reason, remedy: 'name the namespace of the Links with --namespace' }]);
  }
  return states;
};

/** Services without those that the operator deletes or makes anew, as the plan says. */
const lasting = (services: ReadonlyMap<string, string>, plan: PlanReport | undefined): ReadonlyMap<string, string> => {
  const ended = new Set(
    (plan?.changes ?? [])
      .filter(({ kind, action }) => kind === SERVICES.kind && (action === 'delete' || action === 'replace'))
      .map(({ namespace = '', name }) => `${namespace}/${name}`),
  );
  return new Map([...services].filter(([key]) => !ended.has(key)));
};

const unwelcome = (plan: PlanReport): Omit<Problem, 'object'> => ({
  reason: `the operator would write: ${planSummary(plan)}`,
  remedy: 'they are listed above, and all of them with -o json and without --apply; to go on, add --accept-changes',
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
      remedy: `\`linkspan crds | ${kubectl(cluster, 'apply', '--server-side', '--force-conflicts', '--filename=-')}\``,
    });
  }
  for (const { name } of states) {
    const plan = plans.get(name);
    const isClean = plan === undefined || plan.changes.length + plan.held.length === 0;
    const refused = plan?.refused.find(isLinkRefused);
    if (refused !== undefined) {
      const remedy = 'mend the Link';
      problems.push({ object: title(name), reason: `would not be served: ${refused.message}`, remedy });
    } else if (!isClean && !acceptChanges) {
      problems.push({ object: title(name), ...unwelcome(plan) });
    }
  }
  return problems;
};

const localProblems = (
  plan: PlanReport | undefined,
  cluster: Cluster,
  { namespace, acceptChanges }: MigrateFlags,
): readonly Problem[] => {
  const object = cluster.title(DEPLOYMENTS.kind, { namespace, name: LOCAL_MIRROR });
  if (plan === undefined || plan.changes.length === 0 || acceptChanges) return [];
  return [{ object, ...unwelcome(plan) }];
};

/** What the user should know of what is not done, and of what comes of it. */
const localNotes = (
  { deployment, throughGateways }: LocalState,
  isLeft: boolean,
  isBack: boolean,
): readonly string[] => {
  if (isLeft) {
    return [
      `the operator has no --federated-selector, and leaves local members of federated Services to Deployment ${LOCAL_MIRROR}`,
    ];
  }
  if (!isBack) return [];
  return [
    ...(throughGateways === 0
      ? []
      : [
          `Deployment ${LOCAL_MIRROR} deletes ${throughGateways} federated Services, which lead through gateways, when it takes over: set spec.federation of the Links to flat first`,
        ]),
    ...(replicasOf(deployment) === 0 && replicasBefore(deployment) === undefined
      ? [`Deployment ${LOCAL_MIRROR} stays at 0 replicas: it is not noted on it how many it had`]
      : []),
  ];
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

/** Linkerd's local mirror deletes them when it takes over; a Link that is handed back first stays as it is. */
const throughGatewaysProblems = (
  { links, throughGateways }: LocalState,
  cluster: Cluster,
  { namespace }: MigrateFlags,
): readonly Problem[] => {
  const served = links.filter(({ link, writer }) => writer === 'operator' && !isSuspended(link));
  if (throughGateways === 0 || served.length === 0) return [];
  const gateway = served.filter(({ link }) => link.spec?.federation === 'gateway').map(({ name }) => name);
  const flat = `--patch=${JSON.stringify({ spec: { federation: 'flat' } })}`;
  const patch = kubectl(cluster, '--namespace', namespace, 'patch', LINKS_RESOURCE, ...gateway, '--type=merge', flat);
  const change = gateway.length === 0 ? '' : `on a flat network, run \`${patch}\`; `;
  return [
    {
      object: cluster.title(DEPLOYMENTS.kind, { namespace, name: LOCAL_MIRROR }),
      reason: `would delete ${throughGateways} federated Services, which lead through gateways`,
      remedy: `before a Link is handed back, ${change}run the command again when none of them leads through gateways, which the operator sees to`,
    },
  ];
};

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
