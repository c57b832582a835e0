/**
 * Clusters that suites share, one after the other, since a real API server costs seconds to start. They live as long as
 * the test worker. Whoever has one gets it as it was when it started, but for installed kinds, and has it alone.
 */
import { GUESTS } from './guests.ts';
import { type RealCluster, startReal } from './real/real.ts';
import { startSimulated } from './simulated/start.ts';
import type { Backing, TestCluster } from './types.ts';

/** Real clusters that nobody has, by name. */
const idle = new Map<string, RealCluster[]>();

/**
 * A cluster without DNS, whose users are the admin and the guests; the caller stops it, which gives it back. A simulated
 * one is made anew each time: that takes milliseconds.
 * @param controllers Kubernetes' own that run while it is lent; not `serviceaccount-controller`, on which admission depends
 */
export const borrowCluster = async (
  backing: Backing,
  name: string,
  controllers: readonly string[] = [],
): Promise<TestCluster> => {
  if (backing === 'simulated') return startSimulated({ name, users: GUESTS, controllers });
  const cluster = idle.get(name)?.pop() ?? (await startReal({ name, users: GUESTS }));
  await cluster.runControllers(controllers);
  return lent(cluster);
};

/** The cluster, but for its end. */
const lent = (cluster: RealCluster): TestCluster => {
  let back: Promise<void> | undefined;
  const stop = (): Promise<void> => (back ??= giveBack(cluster));
  return new Proxy(cluster, {
    get: (_, property) => {
      const value: unknown = property === 'stop' ? stop : Reflect.get(cluster, property, cluster);
      return typeof value === 'function' ? (value.bind(cluster) as unknown) : value;
    },
  });
};

const giveBack = async (cluster: RealCluster): Promise<void> => {
  try {
    await cluster.reset();
    idle.set(cluster.name, [...(idle.get(cluster.name) ?? []), cluster]);
  } catch {
    // One that cannot be made as it was is not lent again.
    await cluster.stop();
  }
};
