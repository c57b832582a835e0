/** What a migration would do, as it is printed. Pure. */
import { writeLeaseName } from '../../../crds/wire.ts';
import type { ReportFormat } from '../common/flags.ts';
import { conditionOf } from '../common/link-status.ts';
import { reportText } from '../common/output.ts';
import { type Column, tableText } from '../common/table.ts';
import type { PlanReport } from '../plan/report.ts';
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

const stepsThere = ({ name, link, controllers, isSuspended, writer }: LinkState): readonly string[] => {
  const running = controllers.filter((each) => replicasOf(each) > 0);
  return [
    ...(isSuspended ? [`remove the annotation that suspends Link ${name}`] : []),
    ...running.map(
      (each) => `scale Deployment ${each.metadata.name} from ${replicasOf(each)} to 0, and note its replicas on it`,
    ),
    ...(writer === 'operator' && !isSuspended && conditionOf(link, 'Ready')?.status === 'True'
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
    return replicas === undefined ? [] : [`scale Deployment ${each.metadata.name} to ${replicas}, as it was`];
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

const COLUMNS: readonly Column<LinkReport>[] = [
  { heading: 'LINK', value: ({ link }) => link },
  { heading: 'CLUSTER', value: ({ cluster }) => cluster, isWide: true },
  {
    heading: 'CONTROLLER',
    value: ({ controllers }) => controllers.map(({ name, replicas }) => `${name} (${replicas})`).join(', '),
  },
  { heading: 'WRITER', value: ({ writer }) => writer },
  { heading: 'HOLDER', value: ({ holder = '' }) => holder, isWide: true },
  { heading: 'MIRRORS', value: ({ mirrors }) => String(mirrors) },
  { heading: 'CHANGES', value: ({ changes }) => (changes === undefined ? '' : String(changes.changes.length)) },
  { heading: 'STEPS', value: ({ steps }) => (steps.length === 0 ? 'done' : String(steps.length)) },
];

export const migrationText = (links: readonly LinkReport[], format: ReportFormat): string => {
  if (format === 'json' || format === 'yaml')
    return reportText(JSON.parse(JSON.stringify({ links })) as object, format);
  const todo = links.filter(({ steps }) => steps.length > 0);
  return [
    tableText(links, COLUMNS, format),
    ...todo.map(({ link, steps }) => `\nLink ${link}:\n${steps.map((step, at) => `  ${at + 1}. ${step}\n`).join('')}`),
  ].join('');
};
