/** What the operator gives to everything that works for a Link, and what that work reports back to its Link. */
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

/** Returns the group of {@link SharedEnvironment.writes} for writes of no single cluster. `!` cannot occur in the name of a cluster. */
export const turnOf = (writes: string): string => `!${writes}`;

/** What all work in the source cluster shares. */
export interface SharedEnvironment {
  readonly config: OperatorConfig;
  readonly tuning: Tuning;
  /** The source cluster. */
  readonly client: KubeClient;
  /** The turns of writes of mirrors, shared fairly among Links (rule H7). */
  readonly writes: FairSemaphore;
  readonly source: SourceCluster;
  readonly families: ReadonlySet<IpFamily>;
  readonly claims: NameClaims;
  /** What depends on mirrors. @default - nothing does */
  readonly failovers?: MirrorListener | undefined;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Whether this replica certainly leads. */
  readonly mayWrite: MayWrite;
  /** Whether another replica has certainly ceased to write: this one leads in its place. */
  readonly hasCeased: (identity: string) => boolean;
  /** Of the source cluster. */
  readonly interruptions: Interruptions;
}

/** Learns what becomes of mirrors, and of what they stand for. */
export interface MirrorListener {
  /** What is known of a target Service has changed, or its mirror has: `namespace/name` of the mirror, or of the federated Service. */
  mirrorChanged(key: string): void;
}

/** Receives the reports of the work for a Link. */
export interface LinkReport {
  /** Schedules a write of the status: what is known may have changed. */
  statusChanged(): void;
  /** Records an Event on the Link. */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** Returns the verdict on the gateway that the status has. @default - it is not known */
  wasAlive?(): boolean | undefined;
}
