/**
 * What a hostile target costs the operator, and the other Links: memory at most, the longest time for which its event loop
 * answered nothing, requests, log lines, and how long an export of another Link takes meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATOR_SETTINGS } from '../../crds/operator-settings.ts';
import { Label } from '../../crds/wire.ts';
import { credentials, link } from '../../test/support/builders.ts';
import { askAdmin } from '../../test/support/metrics.ts';
import { HostileTarget, KINDS, type Kind } from './hostile-target.ts';
import type { Row } from './report.ts';
import { secondsOfExport } from './export-time.ts';
import { addExported, exportedTo, NAMESPACE } from './services.ts';
import { Stage, type StageOptions } from './stage.ts';

const HEALTHY = 'west';
/** How long each kind of target is there. */
const EACH_MS = 15_000;
/** Until something is exported to the healthy Link, and between two exports. */
const EXPORT_EVERY_MS = 4_000;
const EXPORTS = 3;
/** What is written for one Link, at most, by default (rule E10). */
const WRITTEN_GOAL_MB = Number(OPERATOR_SETTINGS.maxWrittenMib.default);
const SAMPLE_MS = 20;
const MEMORY_EVERY = 25;
/** Another Link's export while one target misbehaves. */
const EXPORT_GOAL_S = 2;

/** A stage with one Link to a target that is as it should be. */
export const setHostile = (options: Pick<StageOptions, 'nodeFlags' | 'asPod'>): Promise<Stage> =>
  Stage.set({ ...options, links: { [HEALTHY]: { selector: { matchLabels: exportedTo(HEALTHY) } } }, runsPods: false });

export const measureHostile = async (stage: Stage, progress: (what: string) => void): Promise<readonly Row[]> => {
  const target = await HostileTarget.start();
  try {
    await addExported(stage.west, [{ name: 'web', link: HEALTHY }]);
    await stage.startOperator();
    const rows: Row[] = [{ measure: 'memory with a healthy Link', value: await memory(stage), unit: 'MB' }];
    for (const kind of Object.keys(KINDS) as Kind[]) {
      progress(`measuring: ${KINDS[kind]}`);
      rows.push(...(await beside(stage, target, kind)));
    }
    return rows;
  } finally {
    await target.stop();
  }
};

const beside = async (stage: Stage, target: HostileTarget, kind: Kind): Promise<readonly Row[]> => {
  const { east, operator } = stage;
  const name = `hostile-${kind}`;
  const kubeconfig = target.kubeconfig(kind);
  const lines = operator.log().length;
  const ended = new AbortController();
  const sampled = sample(stage, ended.signal);
  const began = performance.now();
  await east.apply(credentials(name, kubeconfig));
  await east.apply(link(name, { probeSpec: undefined, enableHeadlessServices: true }));
  let slowest = 0;
  for (let at = 0; at < EXPORTS; at += 1) {
    await sleep(EXPORT_EVERY_MS);
    slowest = Math.max(slowest, await secondsOfExport(stage, `beside-${kind}-${at}`, HEALTHY));
  }
  await sleep(Math.max(0, began + EACH_MS - performance.now()));
  ended.abort();
  const { memoryMb, silentMs } = await sampled;
  const written = await writtenFor(stage, name);
  const requests = await target.requests(kind);
  if (requests === 0) throw new Error(`${name}: the operator asked it for nothing`);
  await east.delete(link(name));
  await east.delete(credentials(name, kubeconfig));
  return [
    { measure: `${KINDS[kind]}: memory at most`, value: memoryMb, unit: 'MB' },
    { measure: '  longest time without an answer of /healthz', value: silentMs, unit: 'ms' },
    { measure: '  an export of another Link → ready, slowest', value: slowest, unit: 's', goal: EXPORT_GOAL_S },
    { measure: `  requests to it in ${EACH_MS / 1000} s`, value: requests, unit: '' },
    { measure: '  written for it: objects', value: written.objects, unit: '' },
    { measure: '  written for it', value: written.megabytes, unit: 'MB', goal: WRITTEN_GOAL_MB },
    { measure: '  log lines', value: operator.log().length - lines, unit: '' },
  ];
};

/** What the source holds of a target, as JSON. */
async function writtenFor(
  { east }: Stage,
  cluster: string,
): Promise<{ readonly objects: number; readonly megabytes: number }> {
  const kinds = [
    { apiVersion: 'v1', kind: 'Service' },
    { apiVersion: 'v1', kind: 'Endpoints' },
    { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  ];
  const all = (await Promise.all(kinds.map((kind) => east.list({ ...kind, namespace: NAMESPACE })))).flat();
  const own = all.filter(({ metadata }) => metadata.labels?.[Label.clusterName] === cluster);
  return { objects: own.length, megabytes: JSON.stringify(own).length / 1024 ** 2 };
}

/** Watches the memory of the operator, and how long it is silent, until the signal aborts. */
const sample = async (
  stage: Stage,
  signal: AbortSignal,
): Promise<{ readonly memoryMb: number; readonly silentMs: number }> => {
  const address = await stage.operator.up();
  let [memoryMb, silentMs] = [0, 0];
  for (let at = 0; !signal.aborted; at += 1) {
    const began = performance.now();
    await askAdmin(address, '/healthz');
    silentMs = Math.max(silentMs, performance.now() - began);
    if (at % MEMORY_EVERY === 0) memoryMb = Math.max(memoryMb, await memory(stage));
    await sleep(SAMPLE_MS);
  }
  return { memoryMb, silentMs };
};

const memory = async ({ operator }: Stage): Promise<number> =>
  (await operator.metric('process_resident_memory_bytes')) / 1024 ** 2;
