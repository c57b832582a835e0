/**
 * The leader of two replicas is killed, again and again: time from its death to the next export's mirror,
 * which only the other one can write. Each death comes at another moment between two renewals.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATOR_SETTINGS } from '../../crds/operator-settings.ts';
import type { OperatorProcess } from '../../test/support/operator-process.ts';
import { secondsOfExport } from './export-time.ts';
import { percentile, type Row } from './report.ts';
import { addExported, exportedTo } from './services.ts';
import { Stage, type StageOptions } from './stage.ts';

const LINK = 'west';
const KILLS = 20;
/** Rule H10: a take-over takes at most so many times the Lease's duration. */
const MOST_LEASES = 1.2;
/** Longer than the time between two renewals of any Lease of the operator. */
const SPREAD_MS = 10_000;
const RETRY_MS = 200;

export const setTakeOver = (options: Pick<StageOptions, 'nodeFlags' | 'asPod'>): Promise<Stage> =>
  Stage.set({ ...options, links: { [LINK]: { selector: { matchLabels: exportedTo(LINK) } } }, runsPods: false });

export const measureTakeOver = async (stage: Stage, progress: (what: string) => void): Promise<readonly Row[]> => {
  const replicas = new Set<OperatorProcess>();
  const start = async (number: number): Promise<void> => {
    const replica = stage.launchOperator([`--identity=linkspan-${number}`]);
    replicas.add(replica);
    await replica.up();
  };
  try {
    await Promise.all([start(0), start(1)]);
    await addExported(stage.west, [{ name: 'web', link: LINK }]);
    await stage.watch.until('a replica leads', () => stage.watch.count(LINK, 'ready') >= 1);
    const seconds: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      // The other one has to be there, and the moment of the death is another each time.
      await sleep(SPREAD_MS * (0.5 + Math.random()));
      const leader = await leaderOf(replicas);
      replicas.delete(leader);
      await leader.kill();
      seconds.push(await secondsOfExport(stage, `after-${kill}`, LINK));
      progress(`kill ${kill + 1} of ${KILLS}: ${seconds.at(-1)!.toFixed(1)} s`);
      await start(kill + 2);
    }
    const goal = Number.parseFloat(OPERATOR_SETTINGS.leaseDuration.default) * MOST_LEASES;
    const measure = `leader killed → the other has written, ${KILLS} times`;
    return [
      { measure: `${measure}: median`, value: percentile(seconds, 0.5), unit: 's', goal },
      { measure: `${measure}: worst`, value: Math.max(...seconds), unit: 's', goal },
    ];
  } finally {
    await Promise.all([...replicas].map((replica) => replica.stop()));
  }
};

async function leaderOf(replicas: ReadonlySet<OperatorProcess>): Promise<OperatorProcess> {
  for (;;) {
    for (const each of replicas) {
      if ((await each.metric('leader_election_master_status').catch(() => 0)) === 1) return each;
    }
    await sleep(RETRY_MS);
  }
}
