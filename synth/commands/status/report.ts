/** What `linkspan status` prints, for people and for programs. Pure. */
import type { FailoverReport } from '../common/failovers.ts';
import type { FederatedService } from '../common/federated.ts';
import type { McsObjects } from '../common/imports.ts';
import type { Unserved } from '../common/lease.ts';
import {
  isAtFault,
  type LinkCondition,
  type LinkReport,
  probedAlive,
  type ServiceReport,
} from '../common/link-status.ts';
import type { ReportFormat } from '../common/flags.ts';
import { reportText } from '../common/output.ts';
import { type Column, tableText } from '../common/table.ts';
import { failoverTexts, failoverValue } from './failovers.ts';
import { isMcsWell, mcsTexts, mcsValue } from './mcs.ts';
import { findingColumns, type FindingRow, parts, shown } from './parts.ts';

/** A Link, and whether anybody serves it. */
export interface LinkState {
  readonly report: LinkReport;
  /** Why what it reports is not to be relied on; undefined if somebody serves it. */
  readonly unserved: Unserved | undefined;
}

/** Condition Ready, unless it is of somebody who is gone. */
export const readyOf = ({ report, unserved }: LinkState): LinkCondition =>
  unserved === undefined || report.ready.status !== 'True'
    ? report.ready
    : { ...report.ready, status: 'Unknown', ...unserved };

/** Reports whether nothing of what is printed is broken, or not known. */
export const isAllWell = (links: readonly LinkState[], { mcs, failovers = [] }: Joint = {}): boolean =>
  links.every(
    (link) => readyOf(link).status === 'True' && ![...link.report.services, ...link.report.members].some(isAtFault),
  ) &&
  failovers.every(({ ready }) => ready.status === 'True') &&
  (mcs === undefined || isMcsWell(mcs));

/** A Service that is not mirrored, or that does not join its federated Service. */
interface Left extends ServiceReport {
  readonly link: string;
}

const leftOf = (links: readonly LinkState[], of: 'services' | 'members'): readonly Left[] =>
  links.flatMap(({ report }) =>
    report[of].filter(({ isMirrored }) => !isMirrored).map((service) => ({ ...service, link: report.name })),
  );

/** What there is beside Links. */
export interface Joint {
  /** The federated Services; undefined if they are not read. */
  readonly federated?: readonly FederatedService[] | undefined;
  /** Undefined if the API server does not serve the MCS API. */
  readonly mcs?: McsObjects | undefined;
  /** Undefined if the API server does not serve ServiceFailovers, or they may not be read. */
  readonly failovers?: readonly FailoverReport[] | undefined;
}

/** The report. */
export const statusText = (
  links: readonly LinkState[],
  format: ReportFormat,
  { federated, mcs, failovers }: Joint = {},
): string => {
  if (format === 'json' || format === 'yaml') {
    const federatedServices = federated?.map(federatedValue);
    return reportText(
      {
        links: links.map(valueOf),
        ...(federatedServices && { federatedServices }),
        ...(mcs && mcsValue(mcs)),
        ...(failovers && { serviceFailovers: failovers.map(failoverValue) }),
      },
      format,
    );
  }
  const isFederating = links.some(({ report }) => report.members.length > 0);
  return [
    tableText(links, isFederating ? [...LINK_COLUMNS, ...WITH_MEMBERS] : LINK_COLUMNS, format),
    ...parts(links.flatMap(findingsOf), findingColumns('LINK'), format),
    ...parts(leftOf(links, 'services'), leftColumns('NOT MIRRORED'), format),
    ...parts(leftOf(links, 'members'), leftColumns('NOT FEDERATED'), format),
    ...parts(federated ?? [], FEDERATED_COLUMNS, format),
    ...(mcs ? mcsTexts(mcs, format) : []),
    ...failoverTexts(failovers ?? [], format),
  ].join('\n');
};

const valueOf = (link: LinkState): object => {
  const { name, namespace, cluster, conditions, gateway, gatewayAddresses, mirrors } = link.report;
  const { members } = link.report;
  const left = (of: 'services' | 'members') =>
    leftOf([link], of).map(({ link: _, isMirrored: __, mirror, ...service }) => ({
      ...service,
      [of === 'services' ? 'mirror' : 'federatedService']: mirror,
    }));
  return {
    name,
    namespace,
    cluster,
    ready: shown(readyOf(link)),
    conditions: conditions.map(shown),
    ...(gateway && {
      gateway: {
        ...gateway,
        addresses: gatewayAddresses,
        alive: link.unserved ? null : (probedAlive(link.report) ?? null),
      },
    }),
    ...(mirrors && { mirrors }),
    notMirrored: left('services'),
    ...(members.length > 0 && { members: joinedOf(members), notFederated: left('members') }),
  };
};

/** How many members join their federated Services. */
const joinedOf = (members: readonly ServiceReport[]): { readonly total: number; readonly joined: number } => ({
  total: members.length,
  joined: members.filter(({ isMirrored }) => isMirrored).length,
});

const federatedText = (members: readonly ServiceReport[]): string => {
  const { total, joined } = joinedOf(members);
  return total === 0 ? '' : `${joined}/${total}`;
};

const gatewayText = ({ report, unserved }: LinkState): string => {
  if (report.gateway === undefined) return 'none';
  const gatewayAlive = probedAlive(report);
  return gatewayAlive === undefined || unserved !== undefined ? 'unknown' : gatewayAlive ? 'alive' : 'down';
};

const LINK_COLUMNS: readonly Column<LinkState>[] = [
  { heading: 'LINK', value: ({ report }) => report.name },
  { heading: 'CLUSTER', value: ({ report }) => report.cluster },
  { heading: 'READY', value: (link) => readyOf(link).status },
  { heading: 'REASON', value: (link) => readyOf(link).reason },
  { heading: 'GATEWAY', value: gatewayText },
  { heading: 'MIRRORED', value: ({ report: { mirrors } }) => (mirrors ? `${mirrors.ready}/${mirrors.total}` : '') },
  { heading: 'SINCE', isWide: true, value: (link) => readyOf(link).since },
  { heading: 'ADDRESSES', isWide: true, value: ({ report }) => report.gatewayAddresses.join(',') },
  { heading: 'CREATED', isWide: true, value: ({ report }) => report.createdAt },
];

/** Shown if any Link has members. */
const WITH_MEMBERS: readonly Column<LinkState>[] = [
  { heading: 'FEDERATED', value: ({ report: { members } }) => federatedText(members) },
];

/** Condition that is True when something is wrong. */
const HELD = 'PruneHeld';

const findingsOf = (link: LinkState): readonly FindingRow[] => {
  const ready = readyOf(link);
  const others = link.report.conditions.filter(
    ({ type, status }) => type !== 'Ready' && status === (type === HELD ? 'True' : 'False'),
  );
  const isExplained = others.some(({ reason, message }) => reason === ready.reason && message === ready.message);
  const all = ready.status === 'True' || isExplained ? others : [ready, ...others];
  return all.map((condition) => ({ ...condition, object: link.report.name }));
};

const leftColumns = (heading: string): readonly Column<Left>[] => [
  { heading: 'LINK', value: ({ link }) => link },
  { heading, value: ({ namespace, name }) => `${namespace}/${name}` },
  { heading: 'REASON', value: ({ reason }) => reason },
  { heading: 'MESSAGE', value: ({ message }) => message },
];

/** Clusters, sorted; the local one has no name. */
const clustersOf = ({ membership: { clusters, local } }: FederatedService): readonly string[] => [
  ...(local ? ['(local)'] : []),
  ...[...clusters].toSorted(),
];

const shapeOf = ({ membership: { mode } }: FederatedService): 'gateway' | 'flat' =>
  mode === 'gateway' ? 'gateway' : 'flat';

const federatedValue = (federated: FederatedService): object => ({
  namespace: federated.service.metadata.namespace,
  name: federated.service.metadata.name,
  federation: shapeOf(federated),
  local: federated.membership.local,
  clusters: [...federated.membership.clusters].toSorted(),
});

const FEDERATED_COLUMNS: readonly Column<FederatedService>[] = [
  { heading: 'FEDERATED SERVICE', value: ({ service: { metadata } }) => `${metadata.namespace}/${metadata.name}` },
  { heading: 'FEDERATION', value: shapeOf },
  { heading: 'MEMBERS IN', value: (federated) => clustersOf(federated).join(',') },
];
