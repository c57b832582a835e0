/**
 * Objects that are read once more before what is made from them is deleted. Watches and lists differ in age: a Service may have
 * left one watch before it enters another, and a list may be older than what another watch has shown. So the target is
 * asked for the one object, and its answer is compared with what is shown.
 *
 * An answer is kept until it is forgotten. Until then the target is not asked for the object again, whatever it said.
 */
import type { BackoffPolicy } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { ApiError } from '../kube/errors.ts';
import { keyOf, type KubeObject, type Resource, splitKey } from '../kube/objects.ts';
import { type Result, Workqueue } from '../runtime/workqueue.ts';
import type { Read } from './objects.ts';

export interface RereadsOptions<T extends KubeObject> {
  readonly of: Resource;
  /** Reads an object, or refuses it. */
  readonly read: (object: T) => Read<T>;
  /** Called before it counts as an answer that there is no such object; rejects if it does not count. */
  readonly checkNone?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Called with the key of an object for which there is an answer. */
  readonly onAnswer: (key: string) => void;
  /** Called when the target could not be asked for an object, the first time: it is asked again, without limit. */
  readonly onUnanswered: (key: string, error: unknown) => void;
  /** How long an object that could not be read waits. */
  readonly backoff: BackoffPolicy;
}

/** What the target answered about an object. */
export interface Answer<T extends KubeObject> {
  /** Undefined: it does not exist, or is not what the API allows. */
  readonly object: T | undefined;
}

/** What asks: a client. */
type Asking = Pick<KubeClient, 'list'>;

/** An object that has been asked for. What is answered to another question about it is out of date. */
interface Question {
  hasFailed: boolean;
}

/** Objects that are read at once: a thousand that go at a time are soon read, and other requests still get their turn. */
const AT_ONCE = 16;

export class Rereads<T extends KubeObject> {
  readonly #options: RereadsOptions<T>;
  readonly #queue: Workqueue;
  readonly #asked = new Map<string, Question>();
  readonly #answers = new Map<string, Answer<T>>();

  constructor(options: RereadsOptions<T>) {
    this.#options = options;
    this.#queue = new Workqueue({ backoff: options.backoff });
  }

  /**
   * Asks for an object, unless there is an answer, or will be.
   * @param key `namespace/name`
   */
  ask(key: string): void {
    if (this.#asked.has(key) || this.#answers.has(key)) return;
    this.#asked.set(key, { hasFailed: false });
    this.#queue.add(key);
  }

  /** Returns what the target answered about an object; undefined: nothing yet. */
  answer(key: string): Answer<T> | undefined {
    return this.#answers.get(key);
  }

  /** Forgets what was answered, or is about to be: it may be out of date. */
  forget(key: string): void {
    this.#asked.delete(key);
    this.#answers.delete(key);
  }

  /**
   * Forgets all answers, and asks again for every object that is still asked for, or whose answer settled nothing.
   * @param isSettled whether an answer agrees with what is shown
   */
  askAnew(isSettled: (key: string) => boolean): void {
    const keys = [...this.#asked.keys(), ...[...this.#answers.keys()].filter((key) => !isSettled(key))];
    this.#asked.clear();
    this.#answers.clear();
    for (const key of keys) this.ask(key);
  }

  /** Forgets all questions and answers about what need not be known. */
  forgetAll(isNeedless: (key: string) => boolean): void {
    for (const key of [...this.#asked.keys(), ...this.#answers.keys()]) if (isNeedless(key)) this.forget(key);
  }

  /** Asks until the signal aborts. */
  run(client: Asking, signal: AbortSignal): void {
    void this.#queue.run(AT_ONCE, (key) => this.#read(key, client, signal), signal);
  }

  async #read(key: string, client: Asking, signal: AbortSignal): Promise<Result> {
    const question = this.#asked.get(key);
    if (question === undefined) return {};
    const { onAnswer, onUnanswered } = this.#options;
    try {
      const object = await this.#readNow(key, client, signal);
      // It may have been forgotten, or asked for anew.
      if (signal.aborted || this.#asked.get(key) !== question) return {};
      this.#asked.delete(key);
      this.#answers.set(key, { object });
      onAnswer(key);
      return {};
    } catch (error) {
      if (!signal.aborted && !question.hasFailed) onUnanswered(key, error);
      question.hasFailed = true;
      return { retryAfterMs: (error instanceof ApiError ? error.retryAfterMs : undefined) ?? 0 };
    }
  }
  /** Reads an object as it is now, by a list of its name: whoever may read what is exported may list it. */
  async #readNow(key: string, client: Asking, signal: AbortSignal): Promise<T | undefined> {
    const { of, read, checkNone } = this.#options;
    const { namespace, name } = splitKey(key);
    const query = { namespace, fieldSelector: `metadata.name=${name}`, limit: 1 };
    const { items } = await client.list<T>(of, query, signal);
    const [object] = items.flatMap((item) => {
      const result = read(item);
      return 'object' in result ? [result.object] : [];
    });
    if (object !== undefined && keyOf(object) !== key) {
      throw new Error(`list ${of.plural}: asked for ${key}, answered with ${keyOf(object)}`);
    }
    if (object === undefined) await checkNone?.(signal);
    return object;
  }
}
