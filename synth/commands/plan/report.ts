/** A plan as it is printed. Pure. */
import { ROUTES } from '../../../operator/forecast/index.ts';
import type { MirrorStatus } from '../../../operator/mirror/status.ts';
import type { ReportFormat } from '../common/flags.ts';
import { reportText } from '../common/output.ts';
import { type Column, tableText } from '../common/table.ts';
import { describeChange, type PlannedChange } from './changes.ts';
import type { Plan } from './links.ts';

/** A plan as `-o json` and `-o yaml` have it. */
export interface PlanReport {
  readonly changes: readonly PlannedChange[];
  /**
   * Target Services that are not mirrored or do not join federated ones, Links that are not served, and ServiceImports and
   * ServiceFailovers that something stands in the way of.
   */
  readonly refused: readonly RefusedEntry[];
  /** What the import policies of Links keep away, with the first ten Services for each reason (rules N1, N2). */
  readonly notAdmitted: readonly NotAdmittedEntry[];
  /** Deletions that are held until they are confirmed (rule E6). */
  readonly held: readonly { readonly link: string; readonly count: number; readonly some: readonly string[] }[];
}

export interface NotAdmittedEntry {
  readonly link: string;
  /** Number of Services that the policy excludes. */
  readonly count: number;
  /** Number of Services that wait for approval; undefined if none needs it. */
  readonly waitingForApproval: number | undefined;
  readonly some: readonly RefusedEntry[];
}

export interface RefusedEntry {
  readonly link: string;
  /** `namespace/name` of the target Service; undefined for the whole Link. */
  readonly service: string | undefined;
  /** Name of the mirror, or of the federated Service, that there would be. */
  readonly mirror: string | undefined;
  /** Set if it does not join a federated Service. */
  readonly isMember?: true;
  /** Set if it is a ServiceImport or a ServiceFailover that would not work as it should. */
  readonly object?: { readonly kind: string; readonly name: string };
  readonly reason: string;
  readonly message: string;
}

/** Reports whether it is a Link that is refused, and not something of it, or beside it. */
export const isLinkRefused = ({ service, object }: RefusedEntry): boolean =>
  service === undefined && object === undefined;

/** Kinds in the order in which they are listed; others come after them. */
const KINDS = ['Namespace', 'Service', 'Endpoints', 'EndpointSlice', 'ServiceImport', ...Object.keys(ROUTES)];

const placeOf = (kind: string): number => (KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length);

export const planReport = ({ changes, links, refused, findings }: Plan): PlanReport => ({
  changes: changes
    .map(describeChange)
    .sort(
      (a, b) =>
        placeOf(a.kind) - placeOf(b.kind) ||
        compare(a.kind, b.kind) ||
        compare(a.namespace ?? '', b.namespace ?? '') ||
        compare(a.name, b.name),
    ),
  refused: [
    ...refused.map((each) => ({ ...each, service: undefined, mirror: undefined })),
    ...links.flatMap(({ link, statuses, members }) => [
      ...refusedOf(link, statuses),
      ...refusedOf(link, members).map((each) => ({ ...each, isMember: true as const })),
    ]),
    ...findings.map(({ of: { kind }, key, reason, message }) => {
      return { link: '', service: undefined, mirror: undefined, object: { kind, name: key }, reason, message };
    }),
  ],
  notAdmitted: links.flatMap(({ link, notAdmitted: found }) => {
    if (found === undefined) return [];
    const { notAdmitted: count, waitingForApproval } = found;
    if (count + (waitingForApproval ?? 0) === 0) return [];
    return [{ link, count, waitingForApproval, some: refusedOf(link, found.first) }];
  }),
  held: links.filter(({ held }) => held > 0).map(({ link, held, someHeld }) => ({ link, count: held, some: someHeld })),
});

const refusedOf = (link: string, statuses: readonly MirrorStatus[]): readonly RefusedEntry[] =>
  statuses
    .filter(({ mirrored }) => !mirrored)
    .map(({ remote, local, reason, message }) => ({
      link,
      service: `${remote.namespace}/${remote.name}`,
      mirror: `${remote.namespace}/${local}`,
      reason,
      message,
    }));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Row {
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly link: string;
  readonly service: string;
  readonly reason: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'ACTION', value: ({ action }) => action },
  { heading: 'KIND', value: ({ kind }) => kind },
  { heading: 'NAMESPACE/NAME', value: ({ name }) => name },
  { heading: 'LINK', value: ({ link }) => link, isWide: true },
  { heading: 'SERVICE', value: ({ service }) => service, isWide: true },
  { heading: 'REASON', value: ({ reason }) => reason },
];

export const planText = (report: PlanReport, format: ReportFormat): string => {
  if (format === 'json' || format === 'yaml') return reportText(plain(report), format);
  const { changes, refused, notAdmitted, held } = report;
  const rows: readonly Row[] = [
    ...changes.map(({ action, kind, namespace, name, link, service = '', reason }) => {
      return { action, kind, name: namespace === undefined ? name : `${namespace}/${name}`, link, service, reason };
    }),
    ...refused.map(({ link, service = '', mirror, object, reason, message }) => ({
      action: 'refuse',
      kind: object?.kind ?? (mirror === undefined ? 'Link' : 'Service'),
      name: object?.name ?? mirror ?? link,
      link,
      service,
      reason: `${reason}: ${message}`,
    })),
    ...notAdmitted.flatMap(({ some }) =>
      some.map(({ link, service = '', mirror = '', reason, message }) => ({
        ...{
          action: reason === 'WaitingForApproval' ? 'wait' : 'exclude',
          kind: 'Service',
          name: mirror,
          link,
          service,
        },
        reason: `${reason}: ${message}`,
      })),
    ),
    ...held.map(({ link, count, some }) => ({
      action: 'hold',
      kind: 'Link',
      name: link,
      link,
      service: '',
      reason: `PruneHeld: ${count} deletions would be held until they are confirmed: ${[...some, ...(count > some.length ? ['…'] : [])].join(', ')}`,
    })),
  ];
  return rows.length === 0 ? '' : tableText(rows, COLUMNS, format);
};

/** Without fields that have no value. */
const plain = (report: PlanReport): object => JSON.parse(JSON.stringify(report)) as object;

/** `2 to create, 1 to delete; 3 would not be mirrored`, for people. */
export const planSummary = ({ changes, refused, notAdmitted, held }: PlanReport): string => {
  const of = (action: string): number => changes.filter((each) => each.action === action).length;
  const counts = (['create', 'change', 'replace', 'delete'] as const)
    .map((action) => [of(action), `to ${action}`] as const)
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`);
  const more = [
    ...counted(
      refused.filter(({ isMember, object }) => !isMember && object === undefined).length,
      'would not be mirrored',
    ),
    ...counted(refused.filter(({ isMember }) => isMember).length, 'would not be federated'),
    ...counted(refused.filter(({ object }) => object !== undefined).length, 'would not work as they should'),
    ...notAdmitted.flatMap(({ link, count, waitingForApproval = 0 }) => [
      ...counted(count, `excluded by the policy of Link ${link}`),
      ...counted(waitingForApproval, `waiting for approval by Link ${link}`),
    ]),
    ...held.map(({ count, link }) => `${count} deletions of Link ${link} would be held`),
  ];
  const parts = [...(counts.length === 0 ? [] : [counts.join(', ')]), ...more];
  return parts.length === 0 ? 'no change' : parts.join('; ');
};

/**
 * How much is not as the Links want it: changes, deletions that would be held, and what is refused. What a policy keeps away is
 * as its Link wants it.
 */
export const changeCount = ({ changes, refused, held }: PlanReport): number =>
  changes.length + refused.length + held.reduce((sum, { count }) => sum + count, 0);

const counted = (count: number, what: string): readonly string[] => (count > 0 ? [`${count} ${what}`] : []);
