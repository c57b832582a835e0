/** What Links report of target Services and of themselves, awaited; and Links of which a test says what they mirror. */
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { link } from './builders.ts';
import type { LinkCondition } from './objects.ts';
import type { TwoClusters } from './two-clusters.ts';

/** For a busy machine. */
const DEADLINE_MS = 60_000;

/** Waits until a Link reports that a target Service is not mirrored, for this reason. */
export const untilRefused = (
  clusters: TwoClusters,
  reason: string,
  name: string,
  within = 'shop',
  of = 'west',
): Promise<LinkCondition> =>
  eventually(
    `${within}/${name} is refused with ${reason}`,
    async () => {
      const found = await clusters.mirrorCondition(name, within, of);
      return found?.reason === reason && found.status === 'False' ? found : undefined;
    },
    DEADLINE_MS,
  );

/** Waits until a Link reports that a target Service is mirrored. */
export const untilMirrored = (
  clusters: TwoClusters,
  name: string,
  within = 'shop',
  of = 'west',
): Promise<LinkCondition> =>
  eventually(
    `${within}/${name} is mirrored`,
    async () => {
      const found = await clusters.mirrorCondition(name, within, of);
      return found?.status === 'True' ? found : undefined;
    },
    DEADLINE_MS,
  );

/** Waits until a Link has a condition of this status. */
export const untilCondition = (
  clusters: TwoClusters,
  type: string,
  status: string,
  of = 'west',
): Promise<LinkCondition> =>
  eventually(
    `Link ${of} has ${type}=${status}`,
    async () => {
      const found = await clusters.condition(type, of);
      return found?.status === status ? found : undefined;
    },
    DEADLINE_MS,
  );

/** A Link to west under another name, without a probe, that mirrors what carries `via: <name>`. */
export const linkVia = (name: string, spec: object = {}): ObjectRef =>
  link(name, {
    clusterCredentialsSecret: 'cluster-credentials-west',
    probeSpec: undefined,
    selector: { matchLabels: { via: name } },
    remoteDiscoverySelector: undefined,
    ...spec,
  });
