/**
 * Questions that a target must answer before something is deleted, and the target's answers. Watches and lists may be
 * out of date, so the operator compares them with an answer.
 *
 * An answer is kept until the caller forgets it. Until then, the target is not asked about the key again, even if its
 * answer differs from what the watches show.
 */
import type { BackoffPolicy } from '../../kube/backoff.ts';
import { ApiError } from '../../kube/errors.ts';
import { type Result, Workqueue } from '../../runtime/workqueue.ts';

/** Receives answers, and failures to get one. */
export interface AnswerListener {
  /** Called when the target has answered about a key. */
  answered(key: string): void;
  /** Called when a question has failed for the first time. The question is asked again, without limit. */
  unanswered(key: string, error: unknown): void;
}

export interface QuestionsOptions<A, C> {
  /** Asks the target about a key, `namespace/name`. Rejects if there is no answer. */
  readonly askNow: (key: string, client: C, signal: AbortSignal) => Promise<A>;
  readonly listener: AnswerListener;
  /** Delay before a question that failed is asked again. */
  readonly backoff: BackoffPolicy;
}

/** A question that waits for its answer. If a key is asked about anew, an answer to the old question is ignored. */
interface Question {
  hasFailed: boolean;
}

/**
 * Maximum number of questions that one instance asks at the same time: half of the 32 ordinary requests that a client
 * sends at once by default, so that one instance leaves room for other requests. A thousand questions of one request
 * each take as long as 63 requests in a row.
 */
const AT_ONCE = 16;

export class Questions<A, C> {
  readonly #options: QuestionsOptions<A, C>;
  readonly #queue: Workqueue;
  readonly #asked = new Map<string, Question>();
  readonly #answers = new Map<string, A>();

  constructor(options: QuestionsOptions<A, C>) {
    this.#options = options;
    this.#queue = new Workqueue({ backoff: options.backoff });
  }

  /**
   * Asks about a key, unless the target has answered already, or the question is waiting for its answer.
   * @param key `namespace/name`
   */
  ask(key: string): void {
    if (this.#asked.has(key) || this.#answers.has(key)) return;
    this.#asked.set(key, { hasFailed: false });
    this.#queue.add(key);
  }

  /** Returns the answer about a key, or `undefined` before there is one. */
  answer(key: string): A | undefined {
    return this.#answers.get(key);
  }

  /** Forgets the answer about a key. An answer that has not arrived yet will be ignored: it might be out of date. */
  forget(key: string): void {
    this.#asked.delete(key);
    this.#answers.delete(key);
  }

  /**
   * Forgets all answers. Asks again about each key whose question had no answer yet, or whose answer differed from what
   * the watches show.
   * @param isSettled reports whether the answer about a key agrees with what the watches show
   */
  askAnew(isSettled: (key: string) => boolean): void {
    const keys = [...this.#asked.keys(), ...[...this.#answers.keys()].filter((key) => !isSettled(key))];
    this.#asked.clear();
    this.#answers.clear();
    for (const key of keys) this.ask(key);
  }

  /** Forgets questions and answers that are no longer needed. */
  forgetAll(isNeedless: (key: string) => boolean): void {
    for (const key of [...this.#asked.keys(), ...this.#answers.keys()]) if (isNeedless(key)) this.forget(key);
  }

  /** Sends the questions to the target until the signal aborts. */
  run(client: C, signal: AbortSignal): void {
    void this.#queue.run(AT_ONCE, (key) => this.#ask(key, client, signal), signal);
  }

  async #ask(key: string, client: C, signal: AbortSignal): Promise<Result> {
    const question = this.#asked.get(key);
    if (question === undefined) return {};
    const { askNow, listener } = this.#options;
    try {
      const answer = await askNow(key, client, signal);
      // The question may have been forgotten, or asked anew.
      if (signal.aborted || this.#asked.get(key) !== question) return {};
      this.#asked.delete(key);
      this.#answers.set(key, answer);
      listener.answered(key);
      return {};
    } catch (error) {
      if (!signal.aborted && !question.hasFailed) listener.unanswered(key, error);
      question.hasFailed = true;
      return { retryAfterMs: (error instanceof ApiError ? error.retryAfterMs : undefined) ?? 0 };
    }
  }
}
