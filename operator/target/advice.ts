/**
 * Messages for users about a target that cannot be read, or can be read only in part: the problem, its effect on
 * mirrors, and the remedy.
 */
import { firstOf } from '../kube/conditions.ts';
import { describe, LimitError } from '../kube/errors.ts';
import type { TargetObstacle } from './target.ts';

/** Maximum number of refused namespaces that a message names. This leaves room for the reason and the remedy. */
const MAX_NAMED = 5;

export interface TargetProblem {
  /** Reason of the condition `TargetReachable`, or of `TargetWithinLimits` if a limit is exceeded. */
  readonly reason: 'Unreachable' | 'NamespaceForbidden' | 'LimitExceeded';
  /** Reason of the Event. */
  readonly event: 'TargetUnreachable' | 'NamespaceForbidden' | 'LimitExceeded';
  readonly problem: string;
  /** What happens to mirrors while the problem lasts. */
  readonly fate: string;
  /** What the user can do, as text to append to a message with `problem`. Empty if there is nothing to add. */
  readonly remedy: string;
}

export function targetProblem({ error, namespaces }: TargetObstacle): TargetProblem {
  if (error instanceof LimitError) {
    return {
      reason: 'LimitExceeded',
      event: 'LimitExceeded',
      problem: describe(error),
      fate: 'existing mirrors stay as they are',
      remedy: '',
    };
  }
  if (namespaces.length === 0) {
    return {
      reason: 'Unreachable',
      event: 'TargetUnreachable',
      problem: describe(error),
      fate: 'existing mirrors stay as they are',
      remedy: '',
    };
  }
  return {
    reason: 'NamespaceForbidden',
    event: 'NamespaceForbidden',
    problem: `namespace ${firstOf(namespaces, MAX_NAMED)} of the target may not be read: ${describe(error)}`,
    fate: 'what is mirrored from there stays as it is',
    remedy:
      '. Create it there and apply the Role that RemoteAccess renders for it, or take it off spec.targetNamespaces',
  };
}
