/**
 * A request as it leaves the process, and the answer as it arrives: what networks and the routes of theirs exchange.
 */
import type { Headers } from './access/access.ts';

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

export interface WireResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Throws if the connection breaks or the request's signal aborts. */
  readonly body: AsyncIterable<Buffer>;
}
