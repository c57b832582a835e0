/**
 * One sort of what a target exports: the Services that are mirrored, or the members of federated Services. Whatever is
 * derived from a target is derived from one of them, and asks the same questions of it.
 */
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { Exported } from './read/exported.ts';

/**
 * What is known of it at a moment. Keys are `namespace/name`.
 * @typeParam T what there is of one key
 */
export interface AspectView<T> {
  /** How many there are; a Service that is exported in two ways may count twice. */
  readonly size: number;
  keys(): ReadonlySet<string>;
  get(key: string): T | undefined;
  /** The slices behind one of them; undefined while it is not known which there are, or if they are not read. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined;
  /** Whether enough is known to decide about a key: it is there, or is known not to be. */
  decides(key: string): boolean;
  /**
   * Whether the target, asked for the one Service, has answered what {@link get} returns. Watches and lists may be behind,
   * so nothing is taken away before.
   */
  confirms(key: string): boolean;
}

/** What is read, and can be asked for. */
export interface Aspect<T> extends AspectView<T> {
  /** Asks the target for one Service, unless it has been asked. */
  ask(key: string): void;
  /** Forgets what the target answers when it is asked for one Service. */
  forgetAnswer(key: string): void;
}

/** What a target exports, as far as it is known at a moment. */
export interface TargetView {
  readonly mirrored: AspectView<Exported>;
  readonly members: AspectView<Service>;
  /** Whether the target, asked for the pods behind one Service, has answered that this is not among them (rule D5). */
  lacksPod(key: string, hostname: string): boolean;
}
