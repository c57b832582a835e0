/** What `linkspan status` prints of Links, for people and for programs. Pure. */
import type { LinkCondition, LinkReport, ServiceReport } from '../common/link-status.ts';
import type { ReportFormat } from '../common/flags.ts';
import { reportText } from '../common/output.ts';
import { type Column, tableText } from '../common/table.ts';

/** A Link, and whether anybody serves it. */
export interface LinkState {
  readonly report: LinkReport;
  /** Why what it reports may be old; undefined if somebody serves it. */
  readonly unserved: string | undefined;
}

/** Condition Ready, unless it is of somebody who is gone. */
export const readyOf = ({ report, unserved }: LinkState): LinkCondition =>
  unserved === undefined || report.ready.status !== 'True'
    ? report.ready
    : { ...report.ready, status: 'Unknown', reason: 'NotServed', message: unserved };

/** Reports whether all is well. */
export const isAllReady = (links: readonly LinkState[]): boolean =>
  links.every((link) => readyOf(link).status === 'True');

/** A Service that is not mirrored. */
interface Left extends ServiceReport {
  readonly link: string;
}

const leftOf = (links: readonly LinkState[]): readonly Left[] =>
  links.flatMap(({ report }) =>
    report.services.filter(({ isMirrored }) => !isMirrored).map((service) => ({ ...service, link: report.name })),
  );

/** The report. */
export const statusText = (links: readonly LinkState[], format: ReportFormat): string => {
  if (format === 'json' || format === 'yaml') return reportText({ links: links.map(valueOf) }, format);
  const left = leftOf(links);
  const findings = links.flatMap(findingsOf);
  return [
    tableText(links, LINK_COLUMNS, format),
    ...(findings.length === 0 ? [] : [tableText(findings, FINDING_COLUMNS, format)]),
    ...(left.length === 0 ? [] : [tableText(left, LEFT_COLUMNS, format)]),
  ].join('\n');
};

const valueOf = (link: LinkState): object => {
  const { name, namespace, cluster, conditions, gateway, gatewayAlive, gatewayAddresses, mirrors } = link.report;
  const notMirrored = leftOf([link]).map(({ link: _, isMirrored: __, ...service }) => service);
  return {
    name,
    namespace,
    cluster,
    ready: shown(readyOf(link)),
    conditions: conditions.map(shown),
    ...(gateway && { gateway: { ...gateway, addresses: gatewayAddresses, alive: gatewayAlive ?? null } }),
    ...(mirrors && { mirrors }),
    notMirrored,
  };
};

const shown = ({ observedGeneration: _, ...condition }: LinkCondition): object => condition;

const gatewayText = ({ gateway, gatewayAlive }: LinkReport): string => {
  if (gateway === undefined) return 'none';
  return gatewayAlive === undefined ? 'unknown' : gatewayAlive ? 'alive' : 'down';
};

const LINK_COLUMNS: readonly Column<LinkState>[] = [
  { heading: 'LINK', value: ({ report }) => report.name },
  { heading: 'CLUSTER', value: ({ report }) => report.cluster },
  { heading: 'READY', value: (link) => readyOf(link).status },
  { heading: 'REASON', value: (link) => readyOf(link).reason },
  { heading: 'GATEWAY', value: ({ report }) => gatewayText(report) },
  { heading: 'MIRRORED', value: ({ report: { mirrors } }) => (mirrors ? `${mirrors.ready}/${mirrors.total}` : '') },
  { heading: 'SINCE', isWide: true, value: (link) => readyOf(link).since },
  { heading: 'ADDRESSES', isWide: true, value: ({ report }) => report.gatewayAddresses.join(',') },
  { heading: 'CREATED', isWide: true, value: ({ report }) => report.createdAt },
];

/** A condition that is not as it should be. */
interface FindingRow extends LinkCondition {
  readonly link: string;
}

/** Condition that is True when something is wrong. */
const HELD = 'PruneHeld';

const findingsOf = (link: LinkState): readonly FindingRow[] => {
  const ready = readyOf(link);
  const others = link.report.conditions.filter(
    ({ type, status }) => type !== 'Ready' && status === (type === HELD ? 'True' : 'False'),
  );
  const isExplained = others.some(({ reason, message }) => reason === ready.reason && message === ready.message);
  const all = ready.status === 'True' || isExplained ? others : [ready, ...others];
  return all.map((condition) => ({ ...condition, link: link.report.name }));
};

const FINDING_COLUMNS: readonly Column<FindingRow>[] = [
  { heading: 'LINK', value: ({ link }) => link },
  { heading: 'CONDITION', value: ({ type, status }) => `${type}=${status}` },
  { heading: 'REASON', value: ({ reason }) => reason },
  { heading: 'MESSAGE', value: ({ message }) => message },
];

const LEFT_COLUMNS: readonly Column<Left>[] = [
  { heading: 'LINK', value: ({ link }) => link },
  { heading: 'NOT MIRRORED', value: ({ namespace, name }) => `${namespace}/${name}` },
  { heading: 'REASON', value: ({ reason }) => reason },
  { heading: 'MESSAGE', value: ({ message }) => message },
];
