/**
 * Nothing to do: what the operator writes, reads and holds while its mirrors are right, and the target is busy with
 * Services that are not exported.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_PERIOD_MS } from '../../operator/runtime/events.ts';
import { service } from '../../test/support/builders.ts';
import { concurrently } from '../../test/support/concurrently.ts';
import type { Row } from './report.ts';
import { isWrite, operatorRequests } from './requests.ts';
import { addServices } from './services.ts';
import type { Stage } from './stage.ts';

const UPDATES = 5_000;
const UPDATED_SERVICES = 100;
/** A bookmark of a watch, and one a minute of each: Services in two modes, slices by label and by name. */
const BOOKMARK_BYTES = 512;
const WATCHES = 4;

export const measureIdle = async (stage: Stage, minutes: number): Promise<readonly Row[]> => {
  const { operator, eastCluster, west, westCluster } = stage;
  const services = Array.from({ length: UPDATED_SERVICES }, (_, index) => `busy-${index}`);
  await addServices(west, services);
  // Wait until the Events of the last measurement are written: a repeated Event is counted within its minute.
  await sleep(EVENT_PERIOD_MS + 5_000);
  const target = { host: new URL(westCluster.server).host };
  const bytes = (): Promise<number> => operator.metric('linkspan_http_bytes_read_total', target);
  const [bytesBefore, cpuBefore, began] = [
    await bytes(),
    await operator.metric('process_cpu_seconds_total'),
    Date.now(),
  ];
  await eastCluster.clearAudit();

  const updates = Array.from({ length: UPDATES }, (_, index) => index);
  await concurrently(updates, 8, (index) =>
    west.patch(service(services[index % UPDATED_SERVICES] ?? ''), { metadata: { annotations: { at: String(index) } } }),
  );
  await sleep(Math.max(0, minutes * 60_000 - (Date.now() - began)));

  const elapsedMinutes = (Date.now() - began) / 60_000;
  const bytesRead = (await bytes()) - bytesBefore;
  const cpuSeconds = (await operator.metric('process_cpu_seconds_total')) - cpuBefore;
  const writes = (await operatorRequests(eastCluster)).filter(isWrite);
  const others = writes.filter(({ resource }) => resource !== 'leases');
  for (const { verb, resource, namespace = '', name = '' } of others)
    console.error(`write: ${verb} ${resource} ${namespace}/${name}`);
  const mirrors = stage.watch.count('west', 'ready');
  return [
    {
      measure: `idle with ${mirrors} mirrors for ${elapsedMinutes.toFixed(1)} min: writes but leases`,
      value: others.length,
      unit: '',
      goal: 0,
    },
    { measure: '  lease renewals', value: writes.length - others.length, unit: '' },
    {
      measure: '  resident memory of the operator',
      value: (await operator.metric('process_resident_memory_bytes')) / 1024 ** 2,
      unit: 'MB',
      goal: 110,
    },
    { measure: '  CPU of the operator', value: cpuSeconds, unit: 's' },
    {
      measure: `  read from the target during ${UPDATES} updates of others (bookmarks only)`,
      value: bytesRead / 1024,
      unit: 'kB',
      goal: ((Math.ceil(elapsedMinutes) + 1) * WATCHES * BOOKMARK_BYTES) / 1024,
    },
  ];
};
