/**
 * Every refusal of the API server, as the `Status` object that the real one answers with: code, reason, message and
 * details are worded as kube-apiserver words them, because clients and people read them.
 */

/** One cause in `details.causes`. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** What a refusal is about. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The names a resource has in refusals. */
export interface Named {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** `services`, or `leases.coordination.k8s.io`. */
const qualified = (group: string, word: string): string => (group === '' ? word : `${word}.${group}`);

const detailsOf = (group: string, kind: string, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind,
});

/** A request refused; {@link body} is the answer. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  readonly listMeta: object;

  constructor(code: number, reason: string, message: string, details?: StatusDetails, listMeta: object = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.listMeta = listMeta;
  }

  /** The `Status` object. */
  get body(): object {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.listMeta,
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', 'Unauthorized');

export const forbidden = (resource: Named, name: string, why: string, causes?: readonly StatusCause[]): ApiError =>
  new ApiError(
    403,
    'Forbidden',
    `${qualified(resource.group, resource.plural)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
    { ...detailsOf(resource.group, resource.plural, name), ...(causes === undefined ? {} : { causes }) },
  );

export const notFound = (resource: Named, name: string): ApiError =>
  new ApiError(
    404,
    'NotFound',
    `${qualified(resource.group, resource.plural)} "${name}" not found`,
    detailsOf(resource.group, resource.plural, name),
  );

export const methodNotAllowed = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const alreadyExists = (resource: Named, name: string): ApiError =>
  new ApiError(
    409,
    'AlreadyExists',
    `${qualified(resource.group, resource.plural)} "${name}" already exists`,
    detailsOf(resource.group, resource.plural, name),
  );

export const STALE = 'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = (group: string, word: string, name: string, why = STALE): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(group, word)} "${name}": ${why}`,
    detailsOf(group, word, name),
  );

/** Other managers own fields that an apply without `force` would change. */
export const applyConflict = (message: string, causes: readonly StatusCause[]): ApiError =>
  new ApiError(409, 'Conflict', message, { causes });

export const expired = (message: string, listMeta?: object): ApiError =>
  new ApiError(410, 'Expired', message, undefined, listMeta);

export const unsupportedMediaType = (given: string, accepted: readonly string[]): ApiError =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    given === '' ? undefined : {},
  );

/** One field that is not as it must be. */
export interface FieldError {
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueTooMany'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTypeInvalid';
  readonly field: string;
  readonly message: string;
}

/** A value as Go's `%#v` words it in validation messages. */
const worded = (value: unknown): string => JSON.stringify(value);

export const required = (field: string, detail = ''): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  message: detail === '' ? 'Required value' : `Required value: ${detail}`,
});

export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${worded(value)}: ${detail}`,
});

/** Built-in kinds list what they support in order of the alphabet, schemas as they state it. */
export const notSupported = (
  field: string,
  value: unknown,
  supported: readonly string[],
  order: 'sorted' | 'as given' = 'sorted',
): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${worded(value)}: supported values: ${(order === 'sorted' ? supported.toSorted() : supported).map(worded).join(', ')}`,
});

export const tooMany = (field: string, actual: number, most: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${most} items`,
});

export const duplicate = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${worded(value)}`,
});

export const forbiddenField = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${detail}`,
});

/** The object is refused for the given fields. */
export function unprocessable(resource: Named, name: string, errors: readonly FieldError[]): ApiError {
  const listed = errors.map(({ field, message }) => `${field}: ${message}`);
  return new ApiError(
    422,
    'Invalid',
    `${qualified(resource.group, resource.kind)} "${name}" is invalid: ${listed.length === 1 ? listed.join() : `[${listed.join(', ')}]`}`,
    {
      ...detailsOf(resource.group, resource.kind, name),
      causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  );
}

/** A list or get asks for a version that does not exist yet. */
export const tooLargeResourceVersion = (asked: number, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
