/**
 * Cuts JSON values out of the bytes of an answer as they arrive: lines out of a stream, items out of a list. No
 * character of several bytes is ever cut in two, and no value may be longer than a limit, since a hostile server could
 * otherwise send one that does not end.
 */
import { LimitError } from './errors.ts';

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A buffer that is kept for the next text is at most this long. */
const KEPT_BYTES = 64 * 1024;

/**
 * A text whose bytes arrive in pieces. They are copied: a short piece would keep the buffer alive that it is cut from.
 */
class GrowingText {
  readonly #maxBytes: number;
  readonly #what: string;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** @param what names the text in the error */
  constructor(what: string, maxBytes: number) {
    this.#what = what;
    this.#maxBytes = maxBytes;
  }

  /** @throws LimitError if the text becomes longer than allowed */
  append(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) throw new LimitError(`${this.#what} is longer than ${inMiB(this.#maxBytes)}`);
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  /** Returns the text, and begins another. */
  take(): string {
    const text = this.#bytes.toString('utf8', 0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.alloc(0);
    return text;
  }
}

/** A number of bytes, for messages. */
export const inMiB = (bytes: number): string => `${bytes / 1024 / 1024} MiB`;

/** Cuts lines out of the bytes of a stream. */
export class LineCutter {
  /** The beginning of a line that has not ended yet. */
  readonly #rest: GrowingText;

  /** @param what is read, for errors */
  constructor(what: string, maxBytes: number) {
    this.#rest = new GrowingText(`${what}: a line`, maxBytes);
  }

  /**
   * Returns the lines that end in this chunk, without those that are empty.
   * @throws LimitError if a line is longer than allowed
   */
  *push(chunk: Buffer): IterableIterator<string> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#rest.append(chunk.subarray(start, end));
      start = end + 1;
      const line = this.#rest.take();
      if (line !== '') yield line;
    }
    this.#rest.append(chunk.subarray(start));
  }
}

/** Longest list without its items: what is left is metadata. */
const MAX_REST_BYTES = 256 * 1024;

/**
 * Cuts the items out of a Kubernetes list: the objects in the one array that is a field of the list itself. They are
 * found by counting brackets, and each is to be parsed by itself: parsing a whole page at once would stall everything
 * else.
 */
export class ItemCutter {
  readonly #item: GrowingText;
  readonly #rest: GrowingText;
  #depth = 0;
  #isInArray = false;
  #isInString = false;
  #isEscaped = false;

  /** @param what is read, for errors */
  constructor(what: string, maxBytes: number) {
    this.#item = new GrowingText(`${what}: an item`, maxBytes);
    this.#rest = new GrowingText(`${what}: the metadata`, MAX_REST_BYTES);
  }

  /**
   * Returns the items that end in this chunk, as JSON.
   * @throws LimitError if an item is longer than allowed
   */
  *push(chunk: Buffer): IterableIterator<string> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (byte === QUOTE) this.#isInString = true;
      else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
        if (this.#depth === 1) this.#isInArray = byte === OPEN_BRACKET;
        // Commas between items are dropped.
        if (this.#depth === 2 && this.#isInArray) start = at;
        this.#depth += 1;
        if (this.#depth === 2 && this.#isInArray) {
          this.#rest.append(chunk.subarray(start, at + 1));
          start = at + 1;
        }
      } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
        this.#depth -= 1;
        if (this.#depth === 1 && this.#isInArray) {
          this.#isInArray = false;
          start = at;
        } else if (this.#depth === 2 && this.#isInArray) {
          this.#item.append(chunk.subarray(start, at + 1));
          start = at + 1;
          yield this.#item.take();
        }
      }
    }
    if (!this.#isInArray) this.#rest.append(chunk.subarray(start));
    else if (this.#depth > 2) this.#item.append(chunk.subarray(start));
  }

  /** Returns the list without its items, as JSON. */
  end(): string {
    return this.#rest.take();
  }
}
