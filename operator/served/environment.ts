/** What all work for a Link gets from the operator, and what this work reports to its Link. */
import type { OperatorConfig } from '../config/config.ts';
import type { Tuning } from '../config/tuning.ts';
import type { KubeClient } from '../kube/client.ts';
import type { FairSemaphore } from '../kube/semaphore.ts';
import type { Metrics } from '../metrics/index.ts';
import type { NameClaims } from '../mirror/names.ts';
import type { MayWrite } from '../runtime/fence.ts';
import type { Interruptions } from '../runtime/interruptions.ts';
import type { Logger } from '../runtime/logger.ts';
import type { IpFamily } from '../gateway/addresses.ts';
import type { SourceCluster } from '../source/source.ts';

/**
 * Returns the group of {@link SharedEnvironment.writes} for writes that do not belong to one cluster. No cluster has a
 * `!` in its name.
 */
export const turnOf = (writes: string): string => `!${writes}`;

/** What all work in the source cluster shares. */
export interface SharedEnvironment {
  readonly config: OperatorConfig;
  readonly tuning: Tuning;
  /** Client for the source cluster. */
  readonly client: KubeClient;
  /** Turns for writes of mirrors, shared fairly among Links (rule H7). */
  readonly writes: FairSemaphore;
  readonly source: SourceCluster;
  readonly families: ReadonlySet<IpFamily>;
  readonly claims: NameClaims;
  /** Failovers, which depend on mirrors. @default - none */
  readonly failovers?: MirrorListener | undefined;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Whether this replica certainly leads. */
  readonly mayWrite: MayWrite;
  /** Reports whether another replica certainly no longer writes, because this replica leads in its place. */
  readonly hasCeased: (identity: string) => boolean;
  /** Interruptions of the connection to the source cluster. */
  readonly interruptions: Interruptions;
}

/** Notified of changes of mirrors and of the Services that they stand for. */
export interface MirrorListener {
  /**
   * Called when a mirror, or what is known about its target Service, has changed. Of a headless mirror, its endpoint
   * mirrors may have changed, too.
   * @param key `namespace/name` of the mirror or of the federated Service
   */
  mirrorChanged(key: string): void;
}

/** Receives the reports of the work for a Link. */
export interface LinkReport {
  /** Schedules a write of the status. Called when what is known may have changed. */
  statusChanged(): void;
  /** Records an Event on the Link. */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** Returns whether the status of the Link says that the gateway was alive. @default - it is not known */
  wasAlive?(): boolean | undefined;
}
