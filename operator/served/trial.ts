/**
 * New credentials that are being tried (rule E2). The target is read with the new credentials beside the old ones,
 * until the new ones work or are given up.
 */
import type { KubeClient } from '../kube/client.ts';
import type { Target, TargetObstacle } from '../target/target.ts';

export class Trial {
  readonly client: KubeClient;
  readonly #onProblem: (error: unknown) => void;
  readonly #end = Promise.withResolvers<boolean>();
  readonly #ended = new AbortController();
  #target: Target | undefined;
  #obstacle: TargetObstacle | undefined;
  /**
   * Time since which all watches that the new credentials allow are open, and the old ones read none of the namespaces
   * that the new ones are refused; on the monotonic clock. Undefined while this is not so.
   */
  #openMs: number | undefined;

  /**
   * @param onProblem called when the reason why the target cannot be read with the new credentials has changed
   */
  constructor(client: KubeClient, onProblem: (error: unknown) => void) {
    this.client = client;
    this.#onProblem = onProblem;
  }

  /** The target that is read with the new credentials; undefined until {@link read} is called. */
  get target(): Target | undefined {
    return this.#target;
  }

  /** What prevents reading the target with the new credentials; undefined if nothing does. */
  get obstacle(): TargetObstacle | undefined {
    return this.#obstacle;
  }

  /** Resolves when the trial has ended. The value is whether the new credentials are in use. */
  get adopted(): Promise<boolean> {
    return this.#end.promise;
  }

  /** Aborts when the trial has ended, successfully or not. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Reads a target with the new credentials. A target that was made for other selectors is stopped. */
  read(target: Target, signal: AbortSignal): void {
    this.#target?.stop();
    this.#target = target;
    this.#openMs = undefined;
    target.run(this.client, signal);
  }

  /** Records what prevents reading the target; undefined if nothing does. */
  found(obstacle: TargetObstacle | undefined): void {
    this.#obstacle = obstacle;
    this.#openMs = undefined;
    if (obstacle !== undefined) this.#onProblem(obstacle.error);
  }

  /**
   * Reports whether the new credentials can read every namespace that the old ones can. Call it while all watches that
   * the new ones allow are open. For each namespace that the new ones are refused, the old ones must have failed to
   * read it since that state began, because at an earlier failure the target may have been down for both.
   */
  readsAllOf(current: Target | undefined): boolean {
    const refused = this.#target?.refused ?? [];
    const isRead = refused.some((namespace) => current?.isRead(namespace) === true);
    const sinceMs = (this.#openMs ??= performance.now());
    if (isRead) this.#openMs = undefined;
    return !isRead && refused.every((namespace) => current === undefined || current.failedMs(namespace) > sinceMs);
  }

  /** Ends the trial: the new credentials are now in use. */
  adopt(): void {
    this.#ended.abort();
    this.#end.resolve(true);
  }

  /** Ends the trial, and stops reading. */
  giveUp(): void {
    this.#ended.abort();
    this.#target?.stop();
    this.#end.resolve(false);
  }
}
