/**
 * Questions that a target is asked before something is deleted, and its answers. Watches and lists differ in age, so what they
 * show is compared with an answer first.
 *
 * An answer is kept until it is forgotten. Until then the target is not asked again, whatever it said.
 */
import type { BackoffPolicy } from '../../kube/backoff.ts';
import { ApiError } from '../../kube/errors.ts';
import { type Result, Workqueue } from '../../runtime/workqueue.ts';

/** Learns what becomes of questions. */
export interface AnswerListener {
  /** There is an answer about a key. */
  answered(key: string): void;
  /** The target could not be asked about a key, the first time: it is asked again, without limit. */
  unanswered(key: string, error: unknown): void;
}

export interface QuestionsOptions<A, C> {
  /** Asks the target about a key, `namespace/name`; rejects if no answer comes. */
  readonly askNow: (key: string, client: C, signal: AbortSignal) => Promise<A>;
  readonly listener: AnswerListener;
  /** How long a key about which the target could not be asked waits. */
  readonly backoff: BackoffPolicy;
}

/** What has been asked about a key. The answer to another question about it is out of date. */
interface Question {
  hasFailed: boolean;
}

/** Questions that are asked at once: a thousand that come at a time are soon answered, and other requests still get their turn. */
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
   * Asks about a key, unless there is an answer, or will be.
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

  /** Forgets what was answered, or is about to be: it may be out of date. */
  forget(key: string): void {
    this.#asked.delete(key);
    this.#answers.delete(key);
  }

  /**
   * Forgets all answers, and asks again about every key that is still asked about, or whose answer settled nothing.
   * @param isSettled whether an answer agrees with what is shown
   */
  askAnew(isSettled: (key: string) => boolean): void {
    const keys = [...this.#asked.keys(), ...[...this.#answers.keys()].filter((key) => !isSettled(key))];
    this.#asked.clear();
    this.#answers.clear();
    for (const key of keys) this.ask(key);
  }

  /** Forgets all questions and answers about objects that nobody asks for any more. */
  forgetAll(isNeedless: (key: string) => boolean): void {
    for (const key of [...this.#asked.keys(), ...this.#answers.keys()]) if (isNeedless(key)) this.forget(key);
  }

  /** Asks until the signal aborts. */
  run(client: C, signal: AbortSignal): void {
    void this.#queue.run(AT_ONCE, (key) => this.#ask(key, client, signal), signal);
  }

  async #ask(key: string, client: C, signal: AbortSignal): Promise<Result> {
    const question = this.#asked.get(key);
    if (question === undefined) return {};
    const { askNow, listener } = this.#options;
    try {
      const answer = await askNow(key, client, signal);
      // It may have been forgotten, or asked anew.
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
