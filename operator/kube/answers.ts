/**
 * Reads the answers of an API server, none beyond a limit (rule E10): a hostile one could otherwise exhaust the memory,
 * or stall everything else while a long answer is parsed.
 */
import { sleep } from './backoff.ts';
import { ApiError, LimitError, type StatusBody } from './errors.ts';
import { parseJson } from './json.ts';
import { inMiB, ItemCutter } from './lines.ts';
import type { WireResponse } from './wire.ts';

/** Longest object, in an answer, a list or an event of a watch; etcd stores at most 1.5 MiB. */
export const MAX_OBJECT_BYTES = 4 * 1024 * 1024;

/** Longest page of a list. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;

/** Longest answer that is an error: of a longer one, the beginning is read. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Time that the items of a list may take at once, before other work gets a turn. */
const SLICE_MS = 20;

/** Longest wait that a server is granted (rule H4). */
const MAX_RETRY_AFTER_MS = 300_000;

/** What is read, and how much of it. */
export interface Reading {
  /** For errors. */
  readonly what: string;
  /** Most values in one object, see json.ts. */
  readonly maxValues: number;
}

/** @throws LimitError if the answer is too long, SyntaxError if it is not JSON */
export async function readObject<T>(response: WireResponse, { what, maxValues }: Reading): Promise<T> {
  const { text, isWhole } = await readText(response, MAX_OBJECT_BYTES);
  if (!isWhole) throw new LimitError(`${what}: the answer is longer than ${inMiB(MAX_OBJECT_BYTES)}`);
  return parseJson<T>(text, what, maxValues);
}

/** @throws LimitError if the answer is too long */
export async function readPlainText(response: WireResponse, what: string): Promise<string> {
  const { text, isWhole } = await readText(response, MAX_OBJECT_BYTES);
  if (!isWhole) throw new LimitError(`${what}: the answer is longer than ${inMiB(MAX_OBJECT_BYTES)}`);
  return text;
}

/**
 * Reads a page of a list. Its items are parsed and taken one by one, as they arrive.
 * @returns the list without its items
 * @throws LimitError if the page or an item is too long, SyntaxError if it is not JSON; what `take` throws
 */
export async function readList<T, L>(
  { body }: WireResponse,
  { what, maxValues }: Reading,
  take: (item: T) => void,
): Promise<L> {
  const cutter = new ItemCutter(what, MAX_OBJECT_BYTES);
  let bytes = 0;
  let sinceMs = performance.now();
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_PAGE_BYTES) throw new LimitError(`${what}: a page is longer than ${inMiB(MAX_PAGE_BYTES)}`);
    for (const item of cutter.push(chunk)) {
      take(parseJson<T>(item, what, maxValues));
      if (performance.now() - sinceMs < SLICE_MS) continue;
      await sleep(0);
      sinceMs = performance.now();
    }
  }
  return JSON.parse(cutter.end()) as L;
}

/** Reads an answer that is an error. */
export async function readRefusal(response: WireResponse, what: string): Promise<ApiError> {
  const { text } = await readText(response, MAX_ERROR_BYTES);
  let body: StatusBody;
  try {
    body = JSON.parse(text) as StatusBody;
  } catch {
    body = { message: text };
  }
  const seconds = Number(response.headers['retry-after'] ?? body.details?.retryAfterSeconds);
  const retryAfterMs = seconds > 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : undefined;
  return new ApiError(response.statusCode, body, what, retryAfterMs);
}

/** Reads the answer as text, or its beginning if it is longer than `maxBytes`. */
async function readText({ body }: WireResponse, maxBytes: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  return { text: Buffer.concat(chunks).toString('utf8', 0, maxBytes), isWhole: bytes <= maxBytes };
}
