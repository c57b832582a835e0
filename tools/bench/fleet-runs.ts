/**
 * Two lives of the operator of a fleet: one that writes every mirror, and one that finds them all right. What a mirror
 * costs is counted from the audit log of the source cluster.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEntry } from '../../test/cluster/index.ts';
import type { OperatorProcess } from '../../test/support/operator-process.ts';
import type { Row } from './report.ts';
import { byKind, isOfMirror, isWrite, operatorRequests } from './requests.ts';
import { NAMESPACE } from './services.ts';
import type { Stage } from './stage.ts';

const TIMEOUT_MS = 3_600_000;
const POLL_MS = 100;
/** How long what follows the last mirror may take: statuses and Events. */
const SETTLE_MS = 10_000;
const IDLE_MS = 60_000;
/** Lines. */
const LOG_TAIL = 20;
/** Resources that are written also while no mirror needs a write. */
const BOOKKEEPING = new Set(['leases', 'events', 'links']);

/** @param count of mirrors of all Links */
export const measureFleetExport = async (
  stage: Stage,
  count: number,
  minutes: number,
): Promise<{ readonly seconds: number; readonly rows: readonly Row[] }> => {
  const { eastCluster, links, watch } = stage;
  await eastCluster.clearAudit();
  const began = Date.now();
  const operator = stage.launchOperator();
  const areReady = () => links.reduce((sum, link) => sum + watch.count(link, 'ready'), 0) >= count;
  const endedMs = await Promise.race([watch.until('every mirror is ready', areReady, TIMEOUT_MS), ended(operator)]);
  const cpu = await operator.metric('process_cpu_seconds_total');
  await caughtUp(operator, count);
  const resident = await memory(operator);
  const requests = await operatorRequests(eastCluster);
  await sleep(minutes * 60_000);
  const idle = await memory(operator);
  const ofMirrors = requests.filter((each) => isOfMirror(each, NAMESPACE));
  const rows = [
    { measure: '  CPU of the operator', value: cpu, unit: 's' },
    { measure: '  requests per mirror: writes', value: ofMirrors.filter(isWrite).length / count, unit: '', goal: 2 },
    { measure: '  requests per mirror: reads', value: ofMirrors.filter(isRead).length / count, unit: '', goal: 0 },
    ...kinds(requests),
    { measure: '  resident memory of the operator', value: resident, unit: 'MB' },
    { measure: `  after ${minutes} idle min`, value: idle, unit: 'MB' },
  ];
  return { seconds: (endedMs - began) / 1000, rows };
};

/** @param count of mirrors, which are there and right */
export const measureFleetRestart = async (stage: Stage, count: number): Promise<readonly Row[]> => {
  const { eastCluster, westCluster } = stage;
  await eastCluster.clearAudit();
  const began = Date.now();
  const operator = stage.launchOperator();
  await caughtUp(operator, count);
  const seconds = (Date.now() - began) / 1000;
  const cpu = await operator.metric('process_cpu_seconds_total');
  const traffic = [
    ...(await trafficOf(operator, 'source', eastCluster.server)),
    ...(await trafficOf(operator, 'target', westCluster.server)),
  ];
  await sleep(SETTLE_MS);
  const resident = await memory(operator);
  const requests = await operatorRequests(eastCluster);
  await eastCluster.clearAudit();
  await sleep(IDLE_MS);
  const idle = (await operatorRequests(eastCluster)).filter(isWrite);
  const needless = requests.filter((each) => isWrite(each) && !BOOKKEEPING.has(each.resource));
  return [
    { measure: `restart → all ${stage.links.length} Links Synced`, value: seconds, unit: 's' },
    { measure: '  writes but Leases, Events and Links', value: needless.length, unit: '', goal: 0 },
    ...kinds(requests),
    ...traffic,
    { measure: '  CPU of the operator', value: cpu, unit: 's' },
    { measure: '  resident memory of the operator', value: resident, unit: 'MB' },
    {
      measure: `  idle for ${IDLE_MS / 60_000} min: writes but Leases`,
      value: idle.filter(({ resource }) => resource !== 'leases').length,
      unit: '',
      goal: 0,
    },
  ];
};

/** Waits until the operator itself counts every mirror as ready, which it does once their Links are Synced. */
const caughtUp = async (operator: OperatorProcess, count: number): Promise<void> => {
  while ((await operator.metric('linkspan_mirrors', { state: 'ready' })) < count) await sleep(POLL_MS);
};

/** @throws Error if the operator ends by itself, with the last of its log */
const ended = async (operator: OperatorProcess): Promise<never> => {
  const how = await operator.died();
  throw new Error(`the operator has ended (${how}); its log ends:\n${operator.log().slice(-LOG_TAIL).join('\n')}`);
};

const isRead = ({ verb }: AuditEntry): boolean => verb === 'get';

const kinds = (requests: readonly AuditEntry[]): readonly Row[] =>
  byKind(requests).map(([kind, value]) => ({ measure: `  requests to the source: ${kind}`, value, unit: '' }));

const trafficOf = async (operator: OperatorProcess, name: string, server: string): Promise<readonly Row[]> => {
  const { host } = new URL(server);
  return [
    {
      measure: `  requests to the ${name}`,
      value: await operator.metric('rest_client_requests_total', { host }),
      unit: '',
    },
    {
      measure: `  read from the ${name}`,
      value: (await operator.metric('linkspan_http_bytes_read_total', { host })) / 1024,
      unit: 'kB',
    },
  ];
};

const memory = async (operator: OperatorProcess): Promise<number> =>
  (await operator.metric('process_resident_memory_bytes')) / 1024 ** 2;
