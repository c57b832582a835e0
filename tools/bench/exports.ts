/**
 * Many running Services exported at once: how long until every mirror is written and ready, beside the same writes
 * made raw just before and just after, so that a machine that is slow today is as slow for both. The labels are work
 * for the target too, on the same cores: so the raw writes are also made beside as many labels on other Services.
 */
import { rawWrites, RAW_CLUSTER } from './raw-writes.ts';
import type { Row } from './report.ts';
import { addServices, labelServices } from './services.ts';
import { CONCURRENCY, type Stage } from './stage.ts';

const CLUSTER = 'west';

export const measureExports = async (stage: Stage, services: readonly string[]): Promise<readonly Row[]> => {
  const others = services.map((name) => `other-${name}`);
  await addServices(stage.west, others);
  const named = (prefix: string): readonly string[] => services.map((name) => `${prefix}-${name}`);
  await timeRaw(stage, named('warm').slice(0, 100));
  const rawBefore = await timeRaw(stage, named('before'));
  await stage.startOperator();
  const exported = await timeExports(stage, services);
  await stage.stopOperator();
  const [besideLabels] = await Promise.all([
    timeRaw(stage, named('beside')),
    labelServices(stage.west, others, 'other'),
  ]);
  const rawAfter = await timeRaw(stage, named('after'));
  await stage.startOperator();
  const raw = (rawBefore + rawAfter) / 2;
  return [
    { measure: `${services.length} exports at once → every mirror ready`, value: exported.seconds, unit: 's' },
    { measure: '  the same writes, raw', value: raw, unit: 's' },
    { measure: '  ratio', value: exported.seconds / raw, unit: '×', goal: 1.3 },
    { measure: '  the same writes, raw, beside as many labels', value: besideLabels, unit: 's' },
    { measure: '  ratio', value: exported.seconds / besideLabels, unit: '×', goal: 1.3 },
    { measure: '  until the last label was put', value: exported.labelSeconds, unit: 's' },
    { measure: '  CPU of the operator', value: exported.cpuSeconds, unit: 's' },
    { measure: '  requests to the source', value: exported.sourceRequests, unit: '' },
    { measure: '  requests to the target', value: exported.targetRequests, unit: '' },
    { measure: '  read from the target', value: exported.targetBytes / 1024, unit: 'kB' },
  ];
};

const timeRaw = async ({ client, watch }: Stage, services: readonly string[]): Promise<number> => {
  const write = rawWrites(client, services, CONCURRENCY);
  const ready = watch.count(RAW_CLUSTER, 'ready') + services.length;
  const began = Date.now();
  const done = watch.until('every raw mirror is seen', () => watch.count(RAW_CLUSTER, 'ready') >= ready);
  await write();
  return ((await done) - began) / 1000;
};

const timeExports = async (stage: Stage, services: readonly string[]) => {
  const { watch, operator, eastCluster, westCluster } = stage;
  const east = { host: new URL(eastCluster.server).host };
  const west = { host: new URL(westCluster.server).host };
  const read = async () => ({
    cpu: await operator.metric('process_cpu_seconds_total'),
    source: await operator.metric('rest_client_requests_total', east),
    target: await operator.metric('rest_client_requests_total', west),
    bytes: await operator.metric('linkspan_http_bytes_read_total', west),
  });
  const ready = watch.count(CLUSTER, 'ready') + services.length;
  const before = await read();
  const began = Date.now();
  const done = watch.until('every mirror is ready', () => watch.count(CLUSTER, 'ready') >= ready);
  await labelServices(stage.west, services, 'true');
  const labelSeconds = (Date.now() - began) / 1000;
  const seconds = ((await done) - began) / 1000;
  const after = await read();
  return {
    seconds,
    labelSeconds,
    cpuSeconds: after.cpu - before.cpu,
    sourceRequests: after.source - before.source,
    targetRequests: after.target - before.target,
    targetBytes: after.bytes - before.bytes,
  };
};
