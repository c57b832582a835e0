/**
 * An aspect is one kind of thing that a target exports: Services that are mirrored, members of federated Services, or
 * Services with a ServiceExport. Whatever is derived from a target is derived from one aspect, and asks all of them
 * the same questions.
 */
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { Exported } from './read/exported.ts';

/**
 * What is known of an aspect now, and questions to the target. Keys are `namespace/name`.
 * @typeParam T what is known of one key
 */
export interface Aspect<T> {
  /** Whether the aspect is read at all. If not, nothing is known of it. */
  readonly isRead: boolean;
  /** Number of exports. A Service that is exported in two ways may count twice. */
  readonly size: number;
  keys(): ReadonlySet<string>;
  get(key: string): T | undefined;
  /** Returns the slices of an exported Service; undefined while they are not known, or if they are not read. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined;
  /** Reports whether enough is known to decide about a key: it is exported, or certainly not listed. */
  decides(key: string): boolean;
  /**
   * Reports whether the target, asked for this key, has confirmed what {@link get} returns. Watches and lists may be
   * behind, so nothing is removed before.
   */
  confirms(key: string): boolean;
  /** Asks the target for one key, unless it has been asked already. */
  ask(key: string): void;
  /** Forgets the answer of the target for one key. */
  forget(key: string): void;
}

/** Receives changes of one aspect. */
export interface AspectListener {
  /** Handles that Services, by key, may have changed, or that more or less may be derived from them. */
  changed(keys: Iterable<string>): void;
  /** Handles that all exports were listed anew, and are known. @default - nothing is done */
  listed?(): void;
  /** Handles that exports will be listed anew by another selector. @default - nothing is done */
  restarted?(): void;
  /**
   * Handles that the target has changed one export, so that the time until its mirror follows is measured. @default -
   * nothing is done
   */
  seen?(key: string): void;
}

/** Answers of a target about the pods of a Service (rule D5). */
export interface PodAnswers {
  /** Reports whether the target has answered that a Service has no such pod. */
  lacks(key: string, hostname: string): boolean;
  /** Asks the target about the pods of a Service, unless it has been asked already. */
  ask(key: string): void;
  /** Forgets the answer for a Service. */
  forget(key: string): void;
}

/** The exports of a target that are known now. */
export interface TargetView {
  readonly mirrored: Aspect<Exported>;
  readonly members: Aspect<Service>;
  /** Services with a ServiceExport. */
  readonly exports: ServiceExports;
  /** Pods of mirrored Services. */
  readonly pods: PodAnswers;
}

/** Services with a ServiceExport. {@link Aspect.get} returns those that exist. */
export interface ServiceExports extends Aspect<Service> {
  /** Returns when the ServiceExport of a key was created, RFC 3339; empty if that is not known. */
  since(key: string): string;
}

/** Tells whether objects that were derived from a key may be removed. */
export interface Certainty {
  /**
   * Reports whether the cluster certainly exports nothing under a key. If that is not certain, the cluster is asked,
   * and the key is reconciled again when it has answered.
   */
  confirmsGone(key: string): boolean;
  /** Forgets the answer of the cluster: each answer is good for one attempt. */
  forget(key: string): void;
}

/** Implements {@link Certainty.confirmsGone} for an aspect. */
export function confirmsGone(aspect: Pick<Aspect<unknown>, 'get' | 'confirms' | 'ask'>, key: string): boolean {
  if (aspect.get(key) !== undefined) return false;
  if (aspect.confirms(key)) return true;
  aspect.ask(key);
  return false;
}

/** Certainty of a cluster that exports nothing. */
export const ALWAYS_GONE: Certainty = { confirmsGone: () => true, forget: () => undefined };

/** Aspect of a cluster that certainly exports nothing. */
export const NOTHING_EXPORTED: ServiceExports = {
  isRead: true,
  size: 0,
  keys: () => new Set(),
  get: () => undefined,
  slicesOf: () => [],
  decides: () => true,
  confirms: () => true,
  ask: () => undefined,
  forget: () => undefined,
  since: () => '',
};

/** Answers for a Service that certainly has no pods. */
export const NO_PODS: PodAnswers = { lacks: () => true, ask: () => undefined, forget: () => undefined };
