/**
 * One sort of what a target exports: the Services that are mirrored, the members of federated Services, or what
 * ServiceExports export. Whatever is derived from a target is derived from one of them, and asks the same questions of it.
 */
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { Exported } from './read/exported.ts';

/**
 * What is known of it at a moment, and what the target is asked for it. Keys are `namespace/name`.
 * @typeParam T what there is of one key
 */
export interface Aspect<T> {
  /** Whether it is being read at all: before, nothing is known of it. */
  readonly isRead: boolean;
  /** How many there are; a Service that is exported in two ways may count twice. */
  readonly size: number;
  keys(): ReadonlySet<string>;
  get(key: string): T | undefined;
  /** The slices behind one of them; undefined while it is not known which there are, or if they are not read. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined;
  /** Whether enough is known to decide about a key: it is there, or is known not to be. */
  decides(key: string): boolean;
  /**
   * Whether the target, asked for the one key, has answered what {@link get} returns. Watches and lists may be behind, so
   * nothing is taken away before.
   */
  confirms(key: string): boolean;
  /** Asks the target for one key, unless it has been asked. */
  ask(key: string): void;
  /** Forgets what the target answers when it is asked for one key. */
  forget(key: string): void;
}

/** Learns what may have changed of one sort of a target's exports. */
export interface AspectListener {
  /** Reconciles keys of Services: what is known of them, or what may be made of them, has changed. */
  changed(keys: Iterable<string>): void;
  /** All were listed anew, and are known. @default - nothing is done */
  listed?(): void;
  /** They are about to be listed by another selector. @default - nothing is done */
  restarted?(): void;
  /** The target has changed one: what is made of it follows from now on. @default - nothing is done */
  seen?(key: string): void;
}

/** What the target answers when it is asked for the pods behind one Service (rule D5). */
export interface PodAnswers {
  /** Whether the target has answered that this pod is not among them. */
  lacks(key: string, hostname: string): boolean;
  /** Asks the target, unless it has been asked. */
  ask(key: string): void;
  /** Forgets what the target answers. */
  forget(key: string): void;
}

/** What a target exports, as far as it is known at a moment. */
export interface TargetView {
  readonly mirrored: Aspect<Exported>;
  readonly members: Aspect<Service>;
  /** The Services that ServiceExports export. */
  readonly exports: ServiceExports;
  /** The pods behind what is mirrored. */
  readonly pods: PodAnswers;
}

/** The Services that ServiceExports export; {@link Aspect.get} returns those that exist. */
export interface ServiceExports extends Aspect<Service> {
  /** When the ServiceExport of a key was created, RFC 3339; empty if that is not known. */
  since(key: string): string;
}

/** Says whether what has been made of a key may go. */
export interface Certainty {
  /**
   * Reports whether it is certain that the cluster exports nothing under a key, so that what was made of it may go. If not,
   * the cluster is asked, and the key is reconciled again when it has answered.
   */
  confirmsGone(key: string): boolean;
  /** Forgets what the cluster answered: an answer is good for one attempt. */
  forget(key: string): void;
}

/** Reports what {@link Certainty.confirmsGone} does, of an aspect. */
export function confirmsGone(aspect: Pick<Aspect<unknown>, 'get' | 'confirms' | 'ask'>, key: string): boolean {
  if (aspect.get(key) !== undefined) return false;
  if (aspect.confirms(key)) return true;
  aspect.ask(key);
  return false;
}

/** Nothing is exported, and that is certain. */
export const ALWAYS_GONE: Certainty = { confirmsGone: () => true, forget: () => undefined };

/** An aspect under which nothing is exported, and that is certain. */
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

/** No pod is there, and that is certain. */
export const NO_PODS: PodAnswers = { lacks: () => true, ask: () => undefined, forget: () => undefined };
