/**
 * What a history may have besides Links and mirrors: one feature with its objects, its users and its rules. A history names
 * the features that it has; all others cost it nothing.
 */
import type { FlagValues } from '../../../operator/config/flags.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../../cluster/simulated/storage/storage.ts';
import type { Command, TargetName } from '../command.ts';
import type { History } from '../history.ts';
import type { LinkState, SourceState } from '../oracle.ts';
import type { Stage } from '../stage.ts';

/** What is done when all is well, and the time in which everything is as it must be again. */
export type Step = readonly [what: string, act: () => Promise<void>, withinMs: number];

/** One feature in one history. */
export interface Part {
  /** Plays a command if it is one of this feature. @returns whether it is */
  play(command: Command): boolean;
  /**
   * What is wrong once everything is quiet.
   * @param links those that are served
   */
  problems(links: readonly LinkState[], source: SourceState): readonly string[];
  /** Everything of this feature that was broken works again. */
  calm?(): void;
  /** What follows once all is at rest and well. @returns what was not as it must be */
  epilogue?(): Promise<readonly string[]>;
  /** Any command is about to be played. */
  noticed?(command: Command): void;
  /**
   * Called from time to time while the gateway of a target cluster has been dead for so long that all must know it (F3), and
   * nothing is in the way. Whatever is wrong is complained of.
   */
  deadGateway?(cluster: string): void;
  /** What is done once all has been at rest and has passed the other tests. */
  steps?(): readonly Step[];
  /** Whether an object is the operator's to write, by this feature (rule A6). */
  isWritten?(object: KubeObject): boolean;
  /** Judges a write of the operator's to the source cluster, if it is one of this feature's. @returns whether it is */
  written?(event: StorageEvent, what: string): boolean;
  /** Whatever goes from a target cluster now may go (E6); of all, if none is named. */
  forgive?(cluster?: string): void;
  /** The source cluster was restored from a backup. */
  restored?(): void;
  /** The source cluster can be read again. @param sinceMs when it could be read last */
  sourceBack?(sinceMs: number): void;
  /**
   * A target is about to lose something without anybody deleting it.
   * @param what loses it
   * @param clusters what the target is called
   * @returns called when it has, with what tells since when the operator may know of it
   */
  lose?(target: TargetName, what: string, clusters: readonly string[]): (knownMs: () => number) => void;
}

/** A feature that histories may have. */
export interface Feature {
  /** Also part of the name under which the clusters of such histories are kept. */
  readonly name: string;
  isIn(history: History): boolean;
  /** What the source has to begin with, such as CRDs. */
  readonly sourceObjects: readonly object[];
  /** Kubernetes' controllers that the source needs, by their kube-controller-manager names. */
  readonly sourceControllers: readonly string[];
  /** What each target has to begin with. */
  readonly targetObjects: readonly object[];
  /** Of the operator. */
  readonly flags: FlagValues;
  /** Commands that change nothing but Services, pods and exports, so that gateways are judged on (F3). */
  readonly quiet: readonly Command['do'][];
  /** Takes part in a history: the clusters are there, the operator is not yet started. */
  join(stage: Stage): Part;
}
