/**
 * Manners of API servers and of proxies before them that the operator must bear: each changes what is answered, as long
 * as the server has it.
 */
import type { Exchange } from '../cluster/simulated/exchange.ts';
import { expired } from '../cluster/simulated/storage/status.ts';

export const MANNERS = ['watches end young', 'bookmarks expire', 'lists repeat'] as const;
export type Manner =
  /** A watch ends after its first event, which is a bookmark that it begins with. */
  | 'watches end young'
  /** A watch begins with a bookmark, and each is followed by a 410. */
  | 'bookmarks expire'
  /** Each page of a list has the same `continue`. */
  | 'lists repeat';

/** The only token of a list that repeats. */
const AGAIN = 'again';

/** @returns an exchange whose answer is changed on its way */
export function mannered(exchange: Exchange, manner: Manner): Exchange {
  return manner === 'lists repeat' ? new Repeating(exchange) : new Ending(exchange, manner === 'bookmarks expire');
}

/** An exchange that passes everything on. */
export class Passing implements Exchange {
  protected readonly inner: Exchange;

  constructor(inner: Exchange) {
    this.inner = inner;
  }

  get method(): string {
    return this.inner.method;
  }

  get url(): string {
    return this.inner.url;
  }

  get headers(): Exchange['headers'] {
    return this.inner.headers;
  }

  get closed(): boolean {
    return this.inner.closed;
  }

  get begun(): boolean {
    return this.inner.begun;
  }

  text(): Promise<string> {
    return this.inner.text();
  }

  answer(code: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    this.inner.answer(code, headers, body);
  }

  begin(code: number, headers: Readonly<Record<string, string>>): void {
    this.inner.begin(code, headers);
  }

  write(text: string): void {
    this.inner.write(text);
  }

  end(): void {
    this.inner.end();
  }

  destroy(): void {
    this.inner.destroy();
  }

  onClose(listener: () => void): void {
    this.inner.onClose(listener);
  }
}

class Repeating extends Passing {
  override get url(): string {
    return this.inner.url.replace(`continue=${AGAIN}`, 'continue=');
  }

  override answer(code: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    const answer = JSON.parse(body.toString()) as { readonly items?: unknown; readonly metadata?: object };
    const isList = code === 200 && Array.isArray(answer.items);
    const repeated = isList ? { ...answer, metadata: { ...answer.metadata, continue: AGAIN } } : answer;
    this.inner.answer(code, headers, Buffer.from(JSON.stringify(repeated)));
  }
}

/** Watches end after an event, or after a bookmark with a 410. */
class Ending extends Passing {
  readonly #atBookmarks: boolean;
  #isOver = false;

  constructor(inner: Exchange, atBookmarks: boolean) {
    super(inner);
    this.#atBookmarks = atBookmarks;
  }

  override begin(code: number, headers: Readonly<Record<string, string>>): void {
    super.begin(code, headers);
    const resourceVersion = /[?&]watch=true/.test(this.url)
      ? /[?&]resourceVersion=(\d+)/.exec(this.url)?.[1]
      : undefined;
    if (code !== 200 || resourceVersion === undefined) return;
    this.write(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion } } })}\n`);
  }

  override write(text: string): void {
    if (this.#isOver) return;
    this.inner.write(text);
    if (text.includes('"type":"BOOKMARK"') !== this.#atBookmarks) return;
    this.#isOver = true;
    if (this.#atBookmarks) {
      this.inner.write(`${JSON.stringify({ type: 'ERROR', object: expired('too old resource version').body })}\n`);
    }
    setImmediate(() => this.inner.end());
  }
}
