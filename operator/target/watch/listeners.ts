/** Listeners that the watches of a cluster notify. */
import type { ReflectorState } from '../../runtime/reflector.ts';

/** Receives what all watches of a cluster report, whatever the kind of object. */
export interface ReadingListener {
  /** Handles the state of a reflector. The state is undefined when the reflector is stopped. */
  state(reflector: string, state: ReflectorState | undefined): void;
  /** Called when the cluster has sent a list, an event or a bookmark. @default - nothing is done */
  heard?(): void;
  /** Called when an invalid object was left out. */
  malformed(what: string): void;
}

/** Receives changes of the Services that one selector selects. */
export interface SelectedListener {
  /** Handles a Service that was selected, has changed, or is no longer selected. */
  service(key: string): void;
  /**
   * Called when the slices of a Service may have changed. @default - nothing is done
   * @param left the hostnames that a watch event has removed from a slice of the Service; hostnames that a list no
   *   longer has are not among them
   */
  slices?(key: string, left?: readonly string[]): void;
  /**
   * Called when a watch event or a list has added hostnames to the slices of a Service, or has removed hostnames from
   * them. This call comes before that of {@link slices}. @default - nothing is done
   */
  pods?(key: string): void;
}

/** Receives lists that have completed. */
export interface ListsListener {
  /**
   * Called when a list of Services has completed.
   * @param lost whether the list lacks Services that were known, and was not requested by `relist`
   */
  relisted(lost: boolean): void;
  /** Called when a list of slices has completed. */
  slicesRelisted(): void;
}

/** Receives changes of the exports of a target. Keys are `namespace/name` of Services. */
export interface ExportListener {
  /**
   * Called when an exported Service or its slices may have changed. @default - nothing is done
   * @param left the hostnames that a watch event has removed from a slice of a Service in gateway mode. Hostnames that
   *   a list no longer has are not among them. Never passed for a Service in flat mode
   */
  serviceChanged?(key: string, left?: readonly string[]): void;
  /**
   * Called when a member or its slices may have changed, or when a Service became or ceased to be a member.
   * @default - nothing is done
   */
  memberChanged?(key: string): void;
  /**
   * Called when the target has answered a question about an exported Service or its pods. @default - nothing is done
   */
  serviceAnswered?(key: string): void;
  /** Called when the target has answered a question about a member. @default - nothing is done */
  memberAnswered?(key: string): void;
  /**
   * Called when a question about a Service has failed for the first time. The question is asked again, without limit.
   * @default - nothing is done
   */
  unanswered?(key: string, error: unknown): void;
}
