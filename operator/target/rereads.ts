/**
 * Services that are read once more before what is made from them is deleted. Watches and lists differ in age: a Service may have
 * left one watch before it enters another, and a list may be older than what another watch has shown. So the target is
 * asked for the one Service, and its answer is compared with what is shown.
 *
 * An answer is kept until it is forgotten. Until then the target is not asked for the Service again, whatever it said.
 */
import type { BackoffPolicy } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { ApiError } from '../kube/errors.ts';
import { keyOf, type Service, SERVICES, splitKey } from '../kube/objects.ts';
import { type Result, Workqueue } from '../runtime/workqueue.ts';
import { readService } from './objects.ts';

export interface RereadsOptions {
  /** Called with the key of a Service for which there is an answer. */
  readonly onAnswer: (key: string) => void;
  /** Called when the target could not be asked for a Service, the first time: it is asked again, without limit. */
  readonly onUnanswered: (key: string, error: unknown) => void;
  /** How long a Service that could not be read waits. */
  readonly backoff: BackoffPolicy;
}

/** What the target answered about a Service. */
export interface Answer {
  /** Undefined: it does not exist, or is not what the API allows. */
  readonly service: Service | undefined;
}

/** A Service that has been asked for. What is answered to another question about it is out of date. */
interface Question {
  hasFailed: boolean;
}

/** Services that are read at once: a thousand that go at a time are soon read, and other requests still get their turn. */
const AT_ONCE = 16;

export class Rereads {
  readonly #options: RereadsOptions;
  readonly #queue: Workqueue;
  readonly #asked = new Map<string, Question>();
  readonly #answers = new Map<string, Answer>();

  constructor(options: RereadsOptions) {
    this.#options = options;
    this.#queue = new Workqueue({ backoff: options.backoff });
  }

  /**
   * Asks for a Service, unless there is an answer, or will be.
   * @param key `namespace/name`
   */
  ask(key: string): void {
    if (this.#asked.has(key) || this.#answers.has(key)) return;
    this.#asked.set(key, { hasFailed: false });
    this.#queue.add(key);
  }

  /** Returns what the target answered about a Service; undefined: nothing yet. */
  answer(key: string): Answer | undefined {
    return this.#answers.get(key);
  }

  /** Forgets what was answered, or is about to be: it may be out of date. */
  forget(key: string): void {
    this.#asked.delete(key);
    this.#answers.delete(key);
  }

  /**
   * Forgets all answers, and asks again for every Service that is still asked for, or whose answer settled nothing.
   * @param isSettled whether an answer agrees with what is shown
   */
  askAnew(isSettled: (key: string) => boolean): void {
    const keys = [...this.#asked.keys(), ...[...this.#answers.keys()].filter((key) => !isSettled(key))];
    this.#asked.clear();
    this.#answers.clear();
    for (const key of keys) this.ask(key);
  }

  /** Asks until the signal aborts. */
  run(client: Pick<KubeClient, 'list'>, signal: AbortSignal): void {
    void this.#queue.run(AT_ONCE, (key) => this.#read(key, client, signal), signal);
  }

  async #read(key: string, client: Pick<KubeClient, 'list'>, signal: AbortSignal): Promise<Result> {
    const question = this.#asked.get(key);
    if (question === undefined) return {};
    const { onAnswer, onUnanswered } = this.#options;
    try {
      const service = await readNow(key, client, signal);
      // It may have been forgotten, or asked for anew.
      if (signal.aborted || this.#asked.get(key) !== question) return {};
      this.#asked.delete(key);
      this.#answers.set(key, { service });
      onAnswer(key);
      return {};
    } catch (error) {
      if (!signal.aborted && !question.hasFailed) onUnanswered(key, error);
      question.hasFailed = true;
      return { retryAfterMs: (error instanceof ApiError ? error.retryAfterMs : undefined) ?? 0 };
    }
  }
}

/** Reads a Service as it is now, by a list of its name: whoever may read what is exported may list it. */
async function readNow(
  key: string,
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<Service | undefined> {
  const { namespace, name } = splitKey(key);
  const query = { namespace, fieldSelector: `metadata.name=${name}`, limit: 1 };
  const { items } = await client.list<Service>(SERVICES, query, signal);
  const [service] = items.flatMap((item) => {
    const read = readService(item);
    return 'object' in read ? [read.object] : [];
  });
  if (service !== undefined && keyOf(service) !== key) {
    throw new Error(`list services: asked for ${key}, answered with ${keyOf(service)}`);
  }
  return service;
}
