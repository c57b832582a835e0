/** What the demo can play: steps on a stage, and what surrounds them. */
import type { Backing } from '../../test/cluster/index.ts';
import type { ObjectRef } from '../../test/cluster/workload/index.ts';
import type { Clusters, Stage } from './stage.ts';

/** A play, by the names of its target clusters. */
export interface Play<Target extends string> {
  /** Names it in the first line. */
  readonly title: string;
  readonly targets: readonly Target[];
  /** Definitions that the source has beside the Link's. @default none */
  readonly crds?: (backing: Backing) => readonly ObjectRef[];
  /** What each cluster is there for. */
  readonly roles: Clusters<Target, string>;
  /** Plays it to its end. @throws Error for a step that does not come true */
  readonly perform: (stage: Stage<Target>) => Promise<void>;
  /** Names it in the last line. */
  readonly end: string;
  /** What a user may type when all keeps running. */
  readonly commands: readonly string[];
}
