/**
 * An aspect is one kind of thing that a target exports: Services that are mirrored, members of federated Services, or
 * Services with a ServiceExport. Every aspect answers the same questions, so that all objects that are derived from a
 * target are created and deleted by the same rules.
 */
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { Exported } from './read/exported.ts';

/**
 * One aspect of a target, as the watches show it, with the target's answers about single keys. A key is the
 * `namespace/name` of a Service.
 * @typeParam T what is known about one key
 */
export interface Aspect<T> {
  /** Whether the aspect is read at all. If not, nothing is known of it. */
  readonly isRead: boolean;
  /** Number of exports. A Service that the selectors of both modes select can count twice. */
  readonly size: number;
  keys(): ReadonlySet<string>;
  get(key: string): T | undefined;
  /** Returns the slices of an exported Service; undefined while they are not known, or if they are not read. */
  slicesOf(key: string): readonly EndpointSlice[] | undefined;
  /**
   * Reports whether enough has been listed to rely on what {@link get} returns for a key. Until then, a key for which
   * {@link get} returns undefined might still be exported.
   */
  decides(key: string): boolean;
  /**
   * Reports whether the target was asked about this one key, and its answer agrees with what {@link get} returns. Also
   * true if no answer is needed, for example because there is no selector. Deletions wait for this, because watches and
   * lists can be out of date.
   */
  confirms(key: string): boolean;
  /**
   * Asks the target about one key. Does nothing if the target has been asked already, and {@link forget} has not been
   * called since.
   */
  ask(key: string): void;
  /** Forgets what the target answered about one key. */
  forget(key: string): void;
}

/** Receives changes of one aspect. */
export interface AspectListener {
  /**
   * Called in these cases:
   * - Services or their slices may have changed, or the target has answered a question about the Services or their
   *   pods;
   * - a limit begins or ceases to admit Services;
   * - deletions that concern Services are no longer held.
   * @param keys keys of these Services
   */
  changed(keys: Iterable<string>): void;
  /**
   * Called when exports or their slices were listed anew, or when what is known about all exports may have changed for
   * another reason.
   * @default - nothing is done
   */
  listed?(): void;
  /**
   * Called when settings that decide what is read, for example a selector, have changed. The exports are then listed
   * anew.
   * @default - nothing is done
   */
  restarted?(): void;
  /**
   * Called when a watch or a list has shown that one export or its slices may have changed. The time until the mirror
   * follows is measured from this call.
   * @default - nothing is done
   */
  seen?(key: string): void;
}

/** Answers of a target about the pods of a Service (rule D5). */
export interface PodAnswers {
  /** Reports whether the target has answered that no pod of a Service has this hostname. */
  lacks(key: string, hostname: string): boolean;
  /**
   * Asks the target about the pods of a Service. Does nothing if the target has been asked already, and {@link forget}
   * has not been called since.
   */
  ask(key: string): void;
  /** Forgets what the target answered about the pods of a Service. */
  forget(key: string): void;
}

/** What is known now about the exports of a target. */
export interface TargetView {
  readonly mirrored: Aspect<Exported>;
  readonly members: Aspect<Service>;
  /** Services with a ServiceExport. */
  readonly exports: ServiceExports;
  /** Answers about the pods of mirrored Services. */
  readonly pods: PodAnswers;
}

/**
 * Services with a ServiceExport. {@link Aspect.get} returns undefined for a ServiceExport whose Service does not exist.
 */
export interface ServiceExports extends Aspect<Service> {
  /** Returns the creation time of the ServiceExport of this key, RFC 3339; an empty string if it is not known. */
  since(key: string): string;
}

/** Answers of a target about single Services. */
export type Answers = Pick<Aspect<unknown>, 'confirms' | 'ask' | 'forget'>;

/**
 * Reports whether a target, asked about one key, has confirmed what watches show for the key. If not, asks the target.
 */
export function isConfirmed(answers: Pick<Answers, 'confirms' | 'ask'>, key: string): boolean {
  if (answers.confirms(key)) return true;
  answers.ask(key);
  return false;
}

/**
 * Answers that confirm everything at once, without a question. Used for a cluster that certainly exports nothing, and
 * in forecasts, where the lists count as certain.
 */
export const ALWAYS_GONE: Answers = {
  confirms: () => true,
  ask: () => undefined,
  forget: () => undefined,
};

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

/** Answers that confirm at once, without a question, that a pod is gone, whichever pod it is. */
export const NO_PODS: PodAnswers = { lacks: () => true, ask: () => undefined, forget: () => undefined };
