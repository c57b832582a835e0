/** Listeners that the watches of a cluster notify. */
import type { ReflectorState } from '../../runtime/reflector.ts';

/** Receives reports of all watches of a cluster: states of reflectors, signs of life, and invalid objects. */
export interface ReadingListener {
  /**
   * Called when a reflector reports its state, and when the reflector is stopped.
   * @param reflector name of the reflector
   * @param state undefined if the reflector was stopped
   */
  state(reflector: string, state: ReflectorState | undefined): void;
  /**
   * Called when the cluster has sent a list, an event or a bookmark, or has ended a watch in the ordinary course.
   * @default - nothing is done
   */
  heard?(): void;
  /**
   * Called when an invalid object was left out.
   * @param what kind and name of the object, and why it is invalid
   */
  malformed(what: string): void;
}

/** Receives changes of the Services that one selector selects, and of their slices. */
export interface SelectedListener {
  /** Called when a Service became selected, has changed, or ceased to be selected. */
  service(key: string): void;
  /**
   * Called when the slices of a Service may have changed. @default - nothing is done
   * @param left the hostnames that were removed from a slice of the Service, as a watch event has shown. Hostnames
   *   whose removal only a list has shown are not included
   */
  slices?(key: string, left?: readonly string[]): void;
  /**
   * Called when a watch event or a list has shown that hostnames were added to a slice of a Service, or removed from
   * it. For each such change, {@link slices} is called afterwards. @default - nothing is done
   */
  pods?(key: string): void;
}

/** Notified when lists have completed. */
export interface ListsListener {
  /**
   * Called when a list of Services has completed, or when no list is needed because there is no selector.
   * @param lost whether the list lacks Services that were known before. False if `relist` asked for the list
   */
  relisted(lost: boolean): void;
  /** Called when a list of slices has completed. */
  slicesRelisted(): void;
}

/** Receives changes of the exports of a target. Keys are `namespace/name` of Services. */
export interface ExportListener {
  /**
   * Called when an exported Service or its slices may have changed, or when a Service became or ceased to be exported.
   * @default - nothing is done
   * @param left the hostnames that were removed from a slice of the Service, as a watch event has shown. Hostnames
   *   whose removal only a list has shown are not included. Passed only by the watches of gateway mode
   */
  serviceChanged?(key: string, left?: readonly string[]): void;
  /**
   * Called when a member or its slices may have changed, or when a Service became or ceased to be a member.
   * @default - nothing is done
   */
  memberChanged?(key: string): void;
  /**
   * Called when the target has answered a question about a Service that is or was exported, or about its pods.
   * @default - nothing is done
   */
  serviceAnswered?(key: string): void;
  /**
   * Called when the target has answered a question about a Service that is or was a member. @default - nothing is done
   */
  memberAnswered?(key: string): void;
  /**
   * Called when a question about a Service or its pods has failed for the first time. The question is asked again,
   * without limit.
   * @default - nothing is done
   */
  unanswered?(key: string, error: unknown): void;
}
