/** Listeners that the watches of a cluster notify. */
import type { ReflectorState } from '../../runtime/reflector.ts';

/** Receives what all watches of a cluster report, whatever the kind of object. */
export interface ReadingListener {
  /** Handles the state of a reflector; undefined when it is stopped. */
  state(reflector: string, state: ReflectorState | undefined): void;
  /** Handles that the cluster has sent a list, an event or a bookmark. @default - nothing is done */
  heard?(): void;
  /** Handles that an invalid object was left out. */
  malformed(what: string): void;
}

/** Receives changes of the Services that one selector selects. */
export interface SelectedListener {
  /** Handles a Service that was selected, has changed, or is no longer selected. */
  service(key: string): void;
  /**
   * Handles that the slices of a Service may have changed. @default - nothing is done
   * @param left hostnames that a watch event, not a list, has removed from a slice of the Service
   */
  slices?(key: string, left?: readonly string[]): void;
  /**
   * Handles that a watch event or a list has added hostnames to the slices of a Service, or removed some. Called before
   * {@link slices}. @default - nothing is done
   */
  pods?(key: string): void;
}

/** Receives lists that have completed. */
export interface ListsListener {
  /**
   * Handles a list of Services.
   * @param lost whether the list lacks Services that were known, and was not requested by `relist`
   */
  relisted(lost: boolean): void;
  /** Handles a list of slices. */
  slicesRelisted(): void;
}

/** Receives changes of what a target exports. Keys are `namespace/name` of Services. */
export interface ExportListener {
  /**
   * Handles that an exported Service or its slices may have changed. @default - nothing is done
   * @param left hostnames that a watch event, not a list, has removed from a slice of the Service
   */
  serviceChanged?(key: string, left?: readonly string[]): void;
  /**
   * Handles that a Service, or its slices, may have changed, or that the Service became or ceased to be a member.
   * @default - nothing is done
   */
  memberChanged?(key: string): void;
  /**
   * Handles that the target has answered a question about an exported Service or its pods. @default - nothing is done
   */
  serviceAnswered?(key: string): void;
  /** Handles that the target has answered a question about a member. @default - nothing is done */
  memberAnswered?(key: string): void;
  /**
   * Handles that a question about a Service has failed for the first time. It is asked again, without limit. @default
   * - nothing is done
   */
  unanswered?(key: string, error: unknown): void;
}
