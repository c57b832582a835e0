/** What a migration would do, as it is printed. Pure. */
import { LOCAL_MIRROR, LOCAL_WRITE_LEASE, writeLeaseName } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import type { ReportFormat } from '../common/flags.ts';
import { reportOf } from '../common/link-status.ts';
import { reportText } from '../common/output.ts';
import { type Column, tableText } from '../common/table.ts';
import { type PlanReport, planText } from '../plan/report.ts';
import { type LocalState, STANDS_BY } from './local-state.ts';
import type { Plans } from './plans.ts';
import { type LinkState, replicasBefore, replicasOf } from './state.ts';

/** One Link, and what is to be done for it. */
export interface LinkReport {
  readonly link: string;
  readonly cluster: string;
  /** Deployments of Linkerd's controller, with their replicas. */
  readonly controllers: readonly { readonly name: string; readonly replicas: number }[];
  readonly writer: LinkState['writer'];
  readonly holder: string | undefined;
  readonly mirrors: number;
  /** What the operator would write as soon as it writes for the Link. Of the way back nothing is known. */
  readonly changes: PlanReport | undefined;
  /** What is left to do; nothing: it is done. */
  readonly steps: readonly string[];
}

/** Linkerd's local mirror, and what is to be done for it. */
export interface LocalReport {
  readonly deployment: string;
  readonly replicas: number;
  readonly writer: LocalState['writer'];
  readonly holder: string | undefined;
  readonly federatedServices: number;
  /** What the operator would write as soon as it writes local memberships. Of the way back nothing is known. */
  readonly changes: PlanReport | undefined;
  /** Whether the operator has no selector for local members, and leaves them to it. */
  readonly isLeft: boolean;
  /** Links that are handed over before it, and that this run does not hand over. */
  readonly after: readonly string[];
  /** What is left to do now. */
  readonly steps: readonly string[];
}

export const linkReport = (state: LinkState, changes: PlanReport | undefined, isBack: boolean): LinkReport => ({
  link: state.name,
  cluster: state.link.spec?.targetClusterName ?? '',
  controllers: state.controllers.map((each) => ({ name: each.metadata.name, replicas: replicasOf(each) })),
  writer: state.writer,
  holder: state.holder,
  mirrors: state.mirrors.size,
  changes,
  steps: isBack ? stepsBack(state) : stepsThere(state),
});

/**
 * The report of Linkerd's local mirror.
 * @param after Links that come before it
 */
export const localReport = (
  state: LocalState,
  changes: Plans['local'],
  after: readonly string[],
  isBack: boolean,
): LocalReport => {
  const steps = isBack ? localStepsBack(state) : changes === 'left' ? [] : localStepsThere(state);
  return {
    deployment: state.deployment.metadata.name,
    replicas: replicasOf(state.deployment),
    writer: state.writer,
    holder: state.holder,
    federatedServices: state.federated.size,
    changes: changes === 'left' ? undefined : changes,
    isLeft: changes === 'left',
    after: steps.length === 0 ? [] : after,
    steps: after.length === 0 ? steps : [],
  };
};

const stepsThere = ({ name, link, controllers, isSuspended, writer }: LinkState): readonly string[] => {
  const running = controllers.filter((each) => replicasOf(each) > 0);
  return [
    ...(isSuspended ? [`remove the annotation that suspends Link ${name}`] : []),
    ...running.map((each) => scaleDown(each.metadata.name, replicasOf(each))),
    ...(writer === 'operator' && !isSuspended && reportOf(link).ready.status === 'True'
      ? []
      : [
          `wait until the operator holds Lease ${writeLeaseName(name)} and Link ${name} is Ready`,
          'verify that every mirror has kept uid and ClusterIP',
        ]),
  ];
};

const stepsBack = ({ name, controllers, isSuspended, writer }: LinkState): readonly string[] => {
  const stopped = controllers.flatMap((each) => {
    const replicas = replicasBefore(each);
    return replicas === undefined ? [] : [scaleUp(each.metadata.name, replicas)];
  });
  return [
    ...stopped,
    ...(isSuspended ? [] : [`suspend Link ${name}: the operator releases its Lease and leaves the mirrors`]),
    ...(writer === 'another' && isSuspended
      ? []
      : [
          `wait until Linkerd's controller holds Lease ${writeLeaseName(name)}`,
          'verify that every mirror has kept uid and ClusterIP',
        ]),
  ];
};

const localStepsThere = ({ deployment, writer }: LocalState): readonly string[] => {
  const replicas = replicasOf(deployment);
  return [
    ...(replicas > 0 ? [scaleDown(LOCAL_MIRROR, replicas)] : []),
    ...(writer === 'operator'
      ? []
      : [
          `wait until the operator holds Lease ${LOCAL_WRITE_LEASE}`,
          'verify that every federated Service has kept uid and ClusterIP',
        ]),
  ];
};

const localStepsBack = ({ deployment }: LocalState): readonly string[] => {
  const replicas = replicasBefore(deployment);
  return replicas === undefined ? [] : [scaleUp(LOCAL_MIRROR, replicas), `wait until it is available: ${STANDS_BY}`];
};

const scaleDown = (deployment: string, replicas: number): string =>
  `scale Deployment ${deployment} from ${replicas} to 0, and note its replicas on it`;

const scaleUp = (deployment: string, replicas: number): string =>
  `scale Deployment ${deployment} to ${replicas}, as it was`;

const stepsText = (steps: readonly string[]): string => (steps.length === 0 ? 'done' : String(steps.length));

const localStepsText = ({ isLeft, after, steps }: LocalReport): string => {
  if (isLeft) return 'none';
  if (after.length === 0) return stepsText(steps);
  return after.length === 1 ? `after Link ${after.join()}` : `after ${after.length} Links`;
};

const countOf = (changes: PlanReport | undefined): string =>
  changes === undefined ? '' : String(changes.changes.length);

/** Who writes, as people read it: the Deployment that the holder of the Lease is a pod of. */
const writerText = (
  { writer, holder = '' }: Pick<LinkReport, 'writer' | 'holder'>,
  deployments: readonly string[],
): string =>
  writer === 'another' ? (deployments.find((name) => holder.startsWith(`${name}-`)) ?? cut(holder)) : writer;

const COLUMNS: readonly Column<LinkReport>[] = [
  { heading: 'LINK', value: ({ link }) => link },
  { heading: 'CLUSTER', value: ({ cluster }) => cluster, isWide: true },
  {
    heading: 'CONTROLLER',
    value: ({ controllers }) => controllers.map(({ name, replicas }) => `${name} (${replicas})`).join(', '),
  },
  {
    heading: 'WRITER',
    value: (report) =>
      writerText(
        report,
        report.controllers.map(({ name }) => name),
      ),
  },
  { heading: 'HOLDER', value: ({ holder = '' }) => holder, isWide: true },
  { heading: 'MIRRORS', value: ({ mirrors }) => String(mirrors) },
  { heading: 'CHANGES', value: ({ changes }) => countOf(changes) },
  { heading: 'STEPS', value: ({ steps }) => stepsText(steps) },
];

const LOCAL_COLUMNS: readonly Column<LocalReport>[] = [
  { heading: 'LOCAL MIRROR', value: ({ deployment, replicas }) => `${deployment} (${replicas})` },
  { heading: 'WRITER', value: (report) => writerText(report, [report.deployment]) },
  { heading: 'HOLDER', value: ({ holder = '' }) => holder, isWide: true },
  { heading: 'FEDERATED', value: ({ federatedServices }) => String(federatedServices) },
  { heading: 'CHANGES', value: ({ changes }) => countOf(changes) },
  { heading: 'STEPS', value: localStepsText },
];

/** @param local undefined if Linkerd's local mirror is not installed */
export const migrationText = (
  links: readonly LinkReport[],
  local: LocalReport | undefined,
  format: ReportFormat,
): string => {
  if (format === 'json' || format === 'yaml') {
    const found = { links, localMirror: local };
    return reportText(JSON.parse(JSON.stringify(found)) as object, format);
  }
  return [
    ...(links.length === 0 ? [] : [tableText(links, COLUMNS, format)]),
    ...(local === undefined ? [] : [tableText([local], LOCAL_COLUMNS, format)]),
    ...links.flatMap(({ link, changes, steps }) => [
      ...changesText(`Link ${link}`, changes),
      ...listed(`Link ${link}`, steps),
    ]),
    ...(local === undefined
      ? []
      : [...changesText('Local mirror', local.changes), ...listed('Local mirror', local.steps)]),
  ].join('\n');
};

/** How many changes are listed. */
const LISTED = 10;

/** What the operator would do for all Links and the local mirror. */
export const allChangesText = (links: readonly LinkReport[], local: LocalReport | undefined): string =>
  [
    ...links.flatMap(({ link, changes }) => changesText(`Link ${link}`, changes)),
    ...changesText('Local mirror', local?.changes),
  ].join('\n');

/** The first changes with their reasons; nothing if there are none. */
const changesText = (title: string, plan: PlanReport | undefined): readonly string[] => {
  if (plan === undefined) return [];
  const left = plan.changes.length - LISTED;
  const listed = planText({ ...plan, changes: plan.changes.slice(0, LISTED) }, 'table');
  if (listed === '') return [];
  const more = left > 0 ? `… and ${left} more changes, which -o json lists\n` : '';
  return [`${title}, what the operator would do:\n${listed}${more}`];
};

const listed = (title: string, steps: readonly string[]): readonly string[] =>
  steps.length === 0 ? [] : [`${title}:\n${steps.map((step, at) => `  ${at + 1}. ${step}\n`).join('')}`];
