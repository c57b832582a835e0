/**
 * A fleet: many Links in one operator, each with mirrors of its own; from the start of the operator to the last mirror,
 * beside the same writes made raw, half of them before and half after.
 */
import { service } from '../../test/support/builders.ts';
import { concurrently } from '../../test/support/concurrently.ts';
import { measureFleetExport, measureFleetRestart } from './fleet-runs.ts';
import { RAW_CLUSTER, rawWrites } from './raw-writes.ts';
import type { Row } from './report.ts';
import { addExported, exportedTo } from './services.ts';
import { CONCURRENCY, Stage, type StageOptions } from './stage.ts';

/** A stage whose Links select different Services of the one target, which has no controllers. */
export const setFleet = (links: number, options: Pick<StageOptions, 'nodeFlags' | 'asPod'>): Promise<Stage> => {
  const specs = Array.from({ length: links }, (_, index): [string, object] => {
    const name = `fleet-${index}`;
    return [name, { selector: { matchLabels: exportedTo(name) } }];
  });
  return Stage.set({ ...options, links: Object.fromEntries(specs), runsPods: false });
};

/**
 * @param services of each Link
 * @param minutes until memory is measured again
 */
export const measureFleet = async (
  stage: Stage,
  services: number,
  minutes: number,
  progress: (what: string) => void,
): Promise<readonly Row[]> => {
  const exports = stage.links.flatMap((link) =>
    Array.from({ length: services }, (_, index) => ({ name: `web-${index}-of-${link}`, link })),
  );
  const count = exports.length;
  progress(`${count} Services are exported to ${stage.links.length} Links`);
  await addExported(stage.west, exports);
  const raw = exports.map(({ name }) => name);
  await timeRaw(stage, raw.slice(0, 100));
  progress('half of the raw writes');
  const rawBefore = await timeRaw(stage, raw.slice(0, count / 2));
  progress('measuring: fleet');
  const exported = await measureFleetExport(stage, count, minutes);
  await stage.stopOperator();
  progress('measuring: restart of the fleet');
  const restarted = await measureFleetRestart(stage, count);
  await stage.stopOperator();
  progress('the other half of the raw writes');
  const rawSeconds = rawBefore + (await timeRaw(stage, raw.slice(count / 2)));
  return [
    {
      measure: `operator started → ${count} mirrors of ${stage.links.length} Links ready`,
      value: exported.seconds,
      unit: 's',
    },
    { measure: '  the same writes, raw', value: rawSeconds, unit: 's' },
    { measure: '  ratio', value: exported.seconds / rawSeconds, unit: '×', goal: 1.3 },
    ...exported.rows,
    ...restarted,
  ];
};

/** Makes mirrors raw, and deletes them when all have been seen: the operator is to hold its own alone. */
const timeRaw = async ({ client, watch, east }: Stage, services: readonly string[]): Promise<number> => {
  const write = rawWrites(client, services, CONCURRENCY);
  const began = Date.now();
  await write();
  const ended = await watch.until(
    'every raw mirror is seen',
    () => watch.count(RAW_CLUSTER, 'ready') >= services.length,
  );
  await concurrently(services, CONCURRENCY, (name) => east.delete(service(`${name}-${RAW_CLUSTER}`)));
  await watch.until('no raw mirror is left', () => watch.count(RAW_CLUSTER, 'ready') === 0);
  return (ended - began) / 1000;
};
