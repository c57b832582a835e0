/**
 * What can go wrong between us and an API server, as types that say what to do about it. Text that a server wrote is
 * cut before it travels on, and nothing here ever holds a request's headers or body: no token reaches a log from here.
 */

/** Longest foreign text that is repeated in a message, a condition or an Event. */
export const MAX_FOREIGN_TEXT = 256;

/** Cuts foreign text to {@link MAX_FOREIGN_TEXT} characters on one line. */
export function cut(text: string, max = MAX_FOREIGN_TEXT): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

/** The `Status` object that Kubernetes answers errors with. */
export interface StatusBody {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    /** Of what the error is about: a resource, in the plural. */
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
}

/** The API server answered, and the answer was no. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status code. */
  readonly code: number;
  /** Kubernetes' reason, such as `Conflict`, `Expired`, `Invalid`. */
  readonly reason: string;
  /** How long the server asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly string[];
  /** Plural of what the error is about, where the server says so. */
  readonly kind: string | undefined;

  constructor(code: number, body: StatusBody, what: string, retryAfterMs?: number) {
    super(`${what}: ${cut(body.message ?? body.reason ?? `HTTP ${code}`)} (${code})`);
    this.code = code;
    this.reason = body.reason ?? '';
    this.retryAfterMs = retryAfterMs;
    this.causes = (body.details?.causes ?? []).map((cause) => cause.reason ?? '');
    this.kind = body.details?.kind;
  }
}

/** No answer came: refused, reset, timed out, silent, or no name. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** A watch went silent: without a byte for longer than bookmarks take. */
export class SilenceError extends ConnectionError {
  /** Whether anything was heard on it before. */
  readonly heard: boolean;

  constructor(message: string, heard: boolean) {
    super(message);
    this.heard = heard;
  }
}

/** Trying again without a change cannot help; the message says what must change. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  /** CamelCase, for a condition. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const hasCode = (error: unknown, code: number): error is ApiError => error instanceof ApiError && error.code === code;

export const isNotFound = (error: unknown): error is ApiError => hasCode(error, 404);
/** The object changed, exists, or is not the one we meant. */
export const isConflict = (error: unknown): error is ApiError => hasCode(error, 409);
export const isForbidden = (error: unknown): error is ApiError => hasCode(error, 403);
export const isUnauthorized = (error: unknown): error is ApiError => hasCode(error, 401);
export const isInvalid = (error: unknown): error is ApiError => hasCode(error, 422) || hasCode(error, 400);

/** The namespace that was to be written to is not there, or is on its way out. */
export const isNamespaceGone = (error: unknown): error is ApiError =>
  (isNotFound(error) && error.kind === 'namespaces') ||
  (isForbidden(error) && error.causes.includes('NamespaceTerminating'));

/** The resourceVersion or continue token is no longer served: list again. */
export const isExpired = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 410 ||
    error.reason === 'Expired' ||
    error.causes.includes('ResourceVersionTooLarge') ||
    error.message.includes('Too large resource version'));

/** What kind of obstacle an error is: worth saying anew when it becomes another, unlike the error of each try. */
export const obstacleOf = (error: unknown): string =>
  error instanceof ApiError && error.code < 500 && error.code !== 429 ? String(error.code) : 'no answer';

/** The innermost message of an error, cut; for people. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return cut(String(error));
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error.cause;
  if (!(error instanceof ApiError) && inner instanceof Error) return cut(`${error.message}: ${inner.message}`);
  return cut(error.message);
}
