/**
 * New credentials that are tried (rule E2): the target is read with them, beside what is read with the old ones, until
 * they have proven themselves or are given up.
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

  /** @param onProblem called on change with why the target cannot be read with them yet */
  constructor(client: KubeClient, onProblem: (error: unknown) => void) {
    this.client = client;
    this.#onProblem = onProblem;
  }

  /** The target as it is read with them. */
  get target(): Target | undefined {
    return this.#target;
  }

  /** What is in the way of reading it. */
  get obstacle(): TargetObstacle | undefined {
    return this.#obstacle;
  }

  /** Resolves with whether the credentials came into use. */
  get adopted(): Promise<boolean> {
    return this.#end.promise;
  }

  /** Aborts when the trial has ended, either way. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Reads a target with them, in place of one that was made for other selectors. */
  read(target: Target, signal: AbortSignal): void {
    this.#target?.stop();
    this.#target = target;
    target.run(this.client, signal);
  }

  /** Records what is in the way of reading the target. `undefined` clears it. */
  found(obstacle: TargetObstacle | undefined): void {
    this.#obstacle = obstacle;
    if (obstacle !== undefined) this.#onProblem(obstacle.error);
  }

  /** Reports whether they can read all that the old ones can. */
  readsAllOf(current: Target | undefined): boolean {
    return !this.#target?.refused.some((namespace) => current?.isRead(namespace) === true);
  }

  /** Ends the trial: the target that was tried is the one in use now. */
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
