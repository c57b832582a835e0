/**
 * What can go wrong between the operator and an API server, as types that tell callers how to react. Text from a server
 * is cut before it is passed on, and no error holds a request's headers or body: no token reaches a log from here.
 */

/** Longest foreign text that is repeated in a message, a condition or an Event. */
export const MAX_FOREIGN_TEXT = 256;

/**
 * Cuts foreign text to {@link MAX_FOREIGN_TEXT} characters on one line, without control characters, which could give
 * orders to the terminal that shows it.
 */
export function cut(text: string, max = MAX_FOREIGN_TEXT): string {
  // Of a long text only the beginning is looked at.
  const line = text
    .slice(0, max * 8)
    .replaceAll(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

/** The `Status` object that Kubernetes answers errors with. */
export interface StatusBody {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    /** Plural of the resource that the error is about. */
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
}

/** The API server answered with an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status code. */
  readonly code: number;
  /** Kubernetes' reason, such as `Conflict`, `Expired`, `Invalid`. */
  readonly reason: string;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly string[];
  /** The fields that are wrong, if the server names them. */
  readonly fields: readonly string[];
  /** Plural of the resource that the error is about, if the server names it. */
  readonly kind: string | undefined;

  constructor(code: number, body: StatusBody, what: string, retryAfterMs?: number) {
    super(`${what}: ${cut(body.message ?? body.reason ?? `HTTP ${code}`)} (${code})`);
    this.code = code;
    this.reason = body.reason ?? '';
    this.retryAfterMs = retryAfterMs;
    this.causes = (body.details?.causes ?? []).map((cause) => cause.reason ?? '');
    this.fields = (body.details?.causes ?? []).map((cause) => cause.field ?? '');
    this.kind = body.details?.kind;
  }
}

/** No answer came: the connection was refused, reset or silent, timed out, or the name did not resolve. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** A watch was silent for longer than the time between two bookmarks. */
export class SilenceError extends ConnectionError {}

/** The server sent more than is read of it; the message names what and the limit (rule E10). */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/** Reason of a TerminalError: the kubeconfig is right, and its login program or ID token gives no credentials. */
export const LOGIN_FAILED = 'LoginFailed';

/** A retry cannot help until something changes; the message names it. */
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
/** The object has changed, exists already, or is not the one that was named. */
export const isConflict = (error: unknown): error is ApiError => hasCode(error, 409);
export const isForbidden = (error: unknown): error is ApiError => hasCode(error, 403);
export const isUnauthorized = (error: unknown): error is ApiError => hasCode(error, 401);
/** The server asks for a pause. */
export const isTooManyRequests = (error: unknown): error is ApiError => hasCode(error, 429);
/** The server has no answer at the moment, whatever is asked of it. */
export const isUnavailable = (error: unknown): boolean =>
  isTooManyRequests(error) || (error instanceof ApiError && error.code >= 500);
export const isInvalid = (error: unknown): error is ApiError => hasCode(error, 422) || hasCode(error, 400);

/** An object cannot have its name: of a Service, one that an older API server does not allow yet. */
export const isNameRefused = (error: unknown): error is ApiError =>
  hasCode(error, 422) && error.fields.includes('metadata.name');

/**
 * For `catch`: turns `404 Not Found` into `undefined`, the result of a read or a deletion of an object that is not
 * there.
 * @throws any other error
 */
export const unlessNotFound = (error: unknown): undefined => {
  if (!isNotFound(error)) throw error;
};

/** The namespace of a write does not exist, or is being deleted. */
export const isNamespaceGone = (error: unknown): error is ApiError =>
  (isNotFound(error) && error.kind === 'namespaces') ||
  (isForbidden(error) && error.causes.includes('NamespaceTerminating'));

/** The resourceVersion or continue token is no longer served: a new list is needed. */
export const isExpired = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 410 ||
    error.reason === 'Expired' ||
    error.causes.includes('ResourceVersionTooLarge') ||
    error.message.includes('Too large resource version'));

/** What OpenSSL and Node call a certificate that is not trusted. */
const UNTRUSTED = /CERT|ISSUER|SIGNATURE|ALTNAME/;

/**
 * The kind of obstacle that an error is: reported again when it changes, unlike the error of each try. Two refusals are
 * of one kind if they are about the same resource, since each is to be granted by itself.
 */
export function obstacleOf(error: unknown): string {
  if (error instanceof LimitError) return error.message;
  if (error instanceof ApiError && !isUnavailable(error)) return `${error.code} ${error.kind ?? ''}`;
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return UNTRUSTED.test(String(cause?.code)) ? 'no trust' : 'no answer';
}

/** Describes an error and its cause in one line, cut. A cause that the error names itself is not named again. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return cut(String(error));
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error.cause;
  if (error instanceof ApiError || !(inner instanceof Error)) return cut(error.message);
  // The error of several connections that failed has no text of its own.
  if (error.message === '') return cut(inner.message);
  return cut(error.message.includes(inner.message) ? error.message : `${error.message}: ${inner.message}`);
}

/** Reports whether a webhook is in the way of a dry run alone: one that has side effects cannot take part in it. */
export const hasNoDryRun = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 400 && /does not support dry run/.test(error.message);
