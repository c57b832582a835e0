/**
 * Tracks whether a target can be read, whether it accepts the credentials, and whether it sends more than is read. The
 * results are the conditions `TargetReachable`, `CredentialsValid` and `TargetWithinLimits` of one Link. Each change is
 * logged and recorded as an Event (rules E4, E10).
 */
import { type Verdict, verdict } from '../kube/conditions.ts';
import { describe, isForbidden, isUnauthorized, LimitError } from '../kube/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { targetProblem } from '../target/advice.ts';
import type { TargetObstacle } from '../target/target.ts';
import type { LinkReport } from './environment.ts';

export class Reachability {
  readonly #link: string;
  readonly #log: Logger;
  readonly #report: LinkReport;
  #reachable: Verdict | undefined;
  #withinLimits: Verdict | undefined;
  /** Condition `CredentialsValid` by the Secret alone. */
  #shown: Verdict | undefined;
  /** The target's refusal of the credentials, until it answers. */
  #refusal: Verdict | undefined;
  /** When the target became unreachable, RFC 3339; undefined while it answers. */
  #unreachableSince: string | undefined;

  constructor(link: string, log: Logger, report: LinkReport) {
    this.#link = link;
    this.#log = log;
    this.#report = report;
  }

  /** Condition `TargetReachable`; undefined while it is not known. */
  get reachable(): Verdict | undefined {
    return this.#reachable;
  }

  /** Condition `TargetWithinLimits`; undefined while it is not known. */
  get withinLimits(): Verdict | undefined {
    return this.#withinLimits;
  }

  /** Condition `CredentialsValid`; undefined while it is not known. */
  get credentials(): Verdict | undefined {
    return this.#shown?.status === 'False' ? this.#shown : (this.#refusal ?? this.#shown);
  }

  /**
   * Sets whether the target can be read. Called on each change.
   * @param obstacle what prevents reading the target; undefined if nothing does
   * @param namespaces the only namespaces of the target that are read; undefined for all
   * @param inUse condition `CredentialsValid` if the client in use was created from the present Secret; undefined
   *   otherwise
   * @param refused condition `CredentialsValid` for a refusal, if the operator knows more about the refusal than the
   *   target's answer shows
   */
  found(
    obstacle: TargetObstacle | undefined,
    namespaces: readonly string[] | undefined,
    inUse: Verdict | undefined,
    refused?: Verdict,
  ): void {
    const link = this.#link;
    const isAnswering = obstacle === undefined || obstacle.error instanceof LimitError;
    if (isAnswering) {
      this.#reachable = verdict('True', 'Connected', '');
      this.#unreachableSince = undefined;
    }
    if (obstacle === undefined) {
      this.#withinLimits = verdict('True', 'WithinLimits', '');
      this.#log.info({ link }, 'the target can be read');
    } else if (isAnswering) {
      const { reason, event, problem, fate } = targetProblem(obstacle);
      this.#withinLimits = verdict('False', reason, `${problem}; ${fate}`);
      this.#log.warn({ link, error: problem }, `the target sends more than is read; ${fate}`);
      this.#report.event('Warning', event, problem);
    } else {
      this.#unreachableSince ??= new Date().toISOString();
      const { reason, event, problem, fate, remedy } = targetProblem(obstacle);
      this.#reachable = verdict('False', reason, `${problem}; ${fate} (since ${this.#unreachableSince})${remedy}`);
      this.#log.warn({ link, error: problem }, `the target cannot be read; ${fate}`);
      this.#report.event('Warning', event, problem + remedy);
    }
    const refusal = refusalOf(obstacle, namespaces);
    if (refusal !== undefined) this.#refusal = refused ?? refusal;
    else if (isAnswering || isForbidden(obstacle.error)) {
      this.#refusal = undefined;
      this.#shown = inUse ?? this.#shown;
    }
    this.#report.statusChanged();
  }

  /**
   * Forgets condition `TargetReachable`. Called when the target is about to be read with other selectors, or in other
   * namespaces.
   */
  readAnew(): void {
    this.#reachable = undefined;
  }

  /** Forgets condition `CredentialsValid`. Called when the Link names another Secret. */
  forgetCredentials(): void {
    this.#shown = undefined;
    this.#refusal = undefined;
  }

  /** Sets condition `CredentialsValid` by the Secret alone. A refusal by the target stands until the target answers. */
  setCredentials(found: Verdict): void {
    const wereBad = this.#shown?.status === 'False';
    const isNew = this.#shown?.status !== found.status || this.#shown.message !== found.message;
    this.#shown = found;
    if (isNew && found.status === 'False') {
      this.#log.warn({ link: this.#link, reason: found.reason, error: found.message }, 'the credentials are not valid');
      this.#report.event('Warning', found.reason, found.message);
    } else if (wereBad && found.status === 'True') {
      this.#log.info({ link: this.#link }, 'the credentials are valid again');
    }
    this.#report.statusChanged();
  }
}

/** Returns condition `CredentialsValid` if an obstacle is a refusal of the credentials; undefined otherwise. */
function refusalOf(obstacle: TargetObstacle | undefined, namespaces: readonly string[] = []): Verdict | undefined {
  if (obstacle === undefined) return undefined;
  const { error } = obstacle;
  if (isUnauthorized(error)) return verdict('False', 'Unauthorized', describe(error));
  // If only some of the namespaces are refused, the credentials are valid.
  const isPartial = obstacle.namespaces.length < namespaces.length;
  return isForbidden(error) && !isPartial ? verdict('False', 'Forbidden', describe(error)) : undefined;
}
