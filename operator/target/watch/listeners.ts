/** Who learns what the watches of a cluster come to. */
import type { ReflectorState } from '../../runtime/reflector.ts';

/** Learns how a cluster is read, whatever is read of it. */
export interface ReadingListener {
  /** A reflector is in another state; undefined when it is stopped. */
  state(reflector: string, state: ReflectorState | undefined): void;
  /** The cluster has been heard: a list, an event or a bookmark has come. @default - nothing is done */
  heard?(): void;
  /** An object was left out since it is not what the API allows. */
  malformed(what: string): void;
}

/** Learns what may have changed of the Services that one selector selects. */
export interface SelectedListener {
  /** A Service was selected, has changed, or is no longer selected. */
  service(key: string): void;
  /**
   * What is behind a Service may have changed. @default - nothing is done
   * @param left hostnames of pods that a watch, not a list, reported as gone from a slice of the Service
   */
  slices?(key: string, left?: readonly string[]): void;
  /** Pods with a hostname have come or gone, by a watch or a list; called before {@link slices}. @default - nothing is done */
  pods?(key: string): void;
}

/** Learns that lists have completed. */
export interface ListsListener {
  /**
   * Services were listed anew.
   * @param lost whether some are no longer there, and this list was not asked for by `relist`
   */
  relisted(lost: boolean): void;
  /** What is behind Services was listed anew. */
  slicesRelisted(): void;
}

/** Learns what may have changed of what a target exports. Keys are `namespace/name` of Services. */
export interface ExportListener {
  /**
   * An exported Service, or what is behind it, may have changed. @default - nothing is done
   * @param left hostnames of pods that a watch, not a list, reported as gone from a slice of the Service
   */
  serviceChanged?(key: string, left?: readonly string[]): void;
  /** A Service that is, was or comes to be a member, or what is behind it, may have changed. @default - nothing is done */
  memberChanged?(key: string): void;
  /** The target has answered for a Service that was asked for. @default - nothing is done */
  serviceAnswered?(key: string): void;
  /** The target has answered for a Service that was asked for as a member. @default - nothing is done */
  memberAnswered?(key: string): void;
  /** The target does not answer for a Service at first: it is asked again, without limit. @default - nothing is done */
  unanswered?(key: string, error: unknown): void;
}
