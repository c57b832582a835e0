/**
 * A source cluster whose API server takes its time, and a headless Service with thousands of pods: whether Leases are
 * renewed in time, and how long an export of another Link takes meanwhile.
 */
import { service, slice } from '../../test/support/builders.ts';
import { secondsOfExport } from './export-time.ts';
import type { Row } from './report.ts';
import { addExported, exportedTo, NAMESPACE } from './services.ts';
import { Stage, type StageOptions } from './stage.ts';

const LARGE = 'large';
const SMALL = 'small';
const ANSWER_MS = 300;
const PODS_OF_SLICE = 100;
/** Another Link's export meanwhile. */
const EXPORT_GOAL_S = 2;

/** A stage with two Links, one of which mirrors headless Services pod by pod, and a source that can be slowed down. */
export const setSlow = (options: Pick<StageOptions, 'nodeFlags' | 'asPod'>): Promise<Stage> => {
  const selecting = (name: string): object => ({ selector: { matchLabels: exportedTo(name) } });
  const links = { [LARGE]: { ...selecting(LARGE), enableHeadlessServices: true }, [SMALL]: selecting(SMALL) };
  return Stage.set({ ...options, links, runsPods: false, delaysSource: true, flags: ['--max-service-pods=100000'] });
};

/** @param pods of the headless Service */
export const measureSlow = async (
  stage: Stage,
  pods: number,
  progress: (what: string) => void,
): Promise<readonly Row[]> => {
  const { west, watch } = stage;
  await addExported(west, [{ name: 'web', link: SMALL }]);
  await stage.startOperator();
  progress(`every answer of the source takes ${ANSWER_MS} ms from now on`);
  stage.delaySource(ANSWER_MS);
  const alone = await secondsOfExport(stage, 'alone', SMALL);
  progress(`measuring: ${pods} endpoint mirrors`);
  const began = Date.now();
  const options = { namespace: NAMESPACE, labels: exportedTo(LARGE) };
  await west.create(service('set', { ...options, headless: true }));
  for (let at = 0; at < pods; at += PODS_OF_SLICE) {
    const endpoints = Array.from({ length: Math.min(PODS_OF_SLICE, pods - at) }, (_, index) => ({
      hostname: `set-${at + index}`,
      ip: `10.${10 + Math.floor((at + index) / 250)}.0.${((at + index) % 250) + 1}`,
    }));
    await west.create(slice('set', { ...options, name: `set-${at}`, endpoints }));
  }
  const all = watch.until('every endpoint mirror is ready', () => watch.count(LARGE, 'ready') > pods, 600_000);
  const beside: number[] = [];
  let isOver = false;
  const ended = all.then((atMs) => {
    isOver = true;
    return atMs;
  });
  while (!isOver) beside.push(await secondsOfExport(stage, `beside-${beside.length}`, SMALL));
  const seconds = ((await ended) - began) / 1000;
  stage.delaySource(0);
  const lost = stage.operator.log().filter((line) => /Lease.*is lost|lost Lease/.test(line)).length;
  return [
    { measure: `${pods} endpoint mirrors at ${ANSWER_MS} ms an answer → all ready`, value: seconds, unit: 's' },
    { measure: '  Leases that were lost', value: lost, unit: '', goal: 0 },
    {
      measure: `  an export of another Link meanwhile → ready, slowest of ${beside.length}`,
      value: Math.max(...beside),
      unit: 's',
      goal: EXPORT_GOAL_S,
    },
    { measure: '  the same with nothing else to do', value: alone, unit: 's' },
  ];
};
