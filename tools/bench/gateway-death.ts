/**
 * The gateway dies, and comes back: time from the verdict, as the operator logs it, to the last mirror that shows it,
 * beside as many raw writes.
 */
import type { LogEntry } from '../../test/support/operator-process.ts';
import { RAW_CLUSTER, rawDeaths, rawWrites } from './raw-writes.ts';
import type { Row } from './report.ts';
import { CONCURRENCY, type Stage } from './stage.ts';

const CLUSTER = 'west';

export const measureGatewayDeath = async (stage: Stage): Promise<readonly Row[]> => {
  const { gateway, watch } = stage;
  const mirrors = watch.count(CLUSTER, 'ready');
  const seconds = async (alive: boolean): Promise<number> => {
    const state = alive ? 'ready' : 'notReady';
    const verdict = verdictOf(stage, alive);
    const all = watch.until(`every mirror is ${state}`, () => watch.count(CLUSTER, state) >= mirrors);
    await (alive ? gateway.revive() : gateway.die());
    const { time } = await verdict;
    return ((await all) - Date.parse(time)) / 1000;
  };
  const death = await seconds(false);
  const revival = await seconds(true);
  const raw = await rawSeconds(stage, mirrors);
  return [
    { measure: `gateway dead → ${mirrors} mirrors not ready, after the verdict`, value: death, unit: 's', goal: 3 },
    { measure: '  as many writes, raw', value: raw, unit: 's' },
    { measure: '  ratio', value: death / raw, unit: '×' },
    { measure: '  gateway alive → all ready', value: revival, unit: 's' },
  ];
};

/** The verdict on the gateway that the operator logs next. */
export const verdictOf = ({ operator }: Stage, alive: boolean): Promise<LogEntry> =>
  operator.logged(
    ({ msg, alive: found }) =>
      (msg === 'the gateway is alive' || msg === 'the gateway is not alive') && found === alive,
  );

const rawSeconds = async ({ client, watch }: Stage, count: number): Promise<number> => {
  const names = Array.from({ length: count }, (_, index) => `dying-${index}`);
  await rawWrites(client, names, CONCURRENCY)();
  const notReady = watch.count(RAW_CLUSTER, 'notReady') + count;
  const die = rawDeaths(client, names, CONCURRENCY);
  const began = Date.now();
  const done = watch.until('every raw mirror is not ready', () => watch.count(RAW_CLUSTER, 'notReady') >= notReady);
  await die();
  return ((await done) - began) / 1000;
};
