/**
 * Validators compiled from the JSON schemas, and the shape every check of outside data answers in: the value, typed,
 * or all that is wrong with it. A schema is compiled once, when it is first used, since that takes memory; values are
 * never changed, and unknown fields are allowed, as the API server allows them.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

/** Most characters of a value that a {@link FieldError} quotes. */
const VALUE_MAX_LENGTH = 64;

/** One thing that is wrong with one field. */
export interface FieldError {
  /** Where, as kubectl spells it: `spec.probeSpec.period`, `spec.selector.matchExpressions[0].key`. */
  readonly path: string;
  /** The value found, as JSON, cut at 64 characters; absent where the field is. */
  readonly value?: string;
  /** Completes "`path` `value` …": `must be a string`, `is required`. */
  readonly reason: string;
  /** What to write instead. */
  readonly remedy?: string;
}

/** A value that has been checked, or all that is wrong with it: at least one error. */
export type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: readonly FieldError[] };

/** Takes note of an error, so that a check can go on to the next field. */
export type Report = (error: FieldError) => void;

/** A {@link FieldError} that quotes `value`; `undefined` means the field is absent. */
export const fieldError = (path: string, value: unknown, reason: string, remedy?: string): FieldError => ({
  path,
  ...(value === undefined ? {} : { value: quote(value) }),
  reason,
  ...(remedy === undefined ? {} : { remedy }),
});

/** One line for people: `spec.gatewayPort: "0" is not between 1 and 65535 (write …); …`. */
export const formatFieldErrors = (errors: readonly FieldError[]): string =>
  errors
    .map(({ path, value, reason, remedy }) =>
      [path === '' ? undefined : `${path}:`, value, reason, remedy === undefined ? undefined : `(${remedy})`]
        .filter((part) => part !== undefined)
        .join(' '),
    )
    .join('; ');

/** `parent.name`, or `parent["name"]` where the name would be mistaken for a path. */
export const fieldPath = (parent: string, name: string | number): string => {
  if (typeof name === 'number') return `${parent}[${name}]`;
  if (!/^[\w$-]+$/.test(name)) return `${parent}[${JSON.stringify(name)}]`;
  return parent === '' ? name : `${parent}.${name}`;
};

let ajv: Ajv | undefined;

const makeAjv = (): Ajv => {
  const made = new Ajv({
    allErrors: true,
    verbose: true,
    // The API server checks formats; here a date is opaque.
    formats: { 'date-time': true, int32: true, int64: true },
  });
  made.addVocabulary([
    'x-kubernetes-int-or-string',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-list-type',
    'x-kubernetes-map-type',
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-validations',
  ]);
  return made;
};

/**
 * Checks values against a JSON schema, whose type the caller vouches for. The schema is compiled at the first value.
 * @param root path of the value in its object, such as `spec`; fields of errors start with it
 * @returns a function that throws Error when the schema itself is wrong
 */
export const compile = <T>(schema: object, root = ''): ((value: unknown) => Checked<T>) => {
  let validate: ValidateFunction<T> | undefined;
  return (value) => {
    validate ??= (ajv ??= makeAjv()).compile<T>(schema);
    return validate(value)
      ? { ok: true, value }
      : { ok: false, errors: findings(validate.errors ?? []).map((error) => toFieldError(error, value, root)) };
  };
};

/** Of a condition ajv also says that it failed, besides what failed in its branch. */
const findings = (errors: readonly ErrorObject[]): readonly ErrorObject[] =>
  errors.filter(({ keyword }) => keyword !== 'if');

const toFieldError = (error: ErrorObject, value: unknown, root: string): FieldError => {
  const path = toPath(error.instancePath, value, root);
  const params: Readonly<Record<string, unknown>> = error.params;
  switch (error.keyword) {
    case 'required':
      return fieldError(fieldPath(path, String(params.missingProperty)), undefined, 'is required');
    case 'additionalProperties':
      return fieldError(fieldPath(path, String(params.additionalProperty)), undefined, 'is unknown');
    case 'enum':
      return fieldError(path, error.data, `must be one of ${String(params.allowedValues).replaceAll(',', ', ')}`);
    case 'type':
      return fieldError(
        path,
        error.data,
        `must be ${article(String(params.type))}`,
        remedyForType(params.type, error.data),
      );
    default:
      return fieldError(path, error.data, error.message ?? `fails ${error.keyword}`);
  }
};

/** An ajv JSON pointer as a path; a step into an array becomes an index, one into an object a name. */
const toPath = (pointer: string, value: unknown, root: string): string => {
  let path = root;
  let parent = value;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    path = fieldPath(path, Array.isArray(parent) ? Number(name) : name);
    parent = (parent as Readonly<Record<string, unknown>>)[name];
  }
  return path;
};

const article = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);

const remedyForType = (type: unknown, data: unknown): string | undefined =>
  type === 'string' && (typeof data === 'number' || typeof data === 'boolean')
    ? `put it in quotes: ${JSON.stringify(String(data))}`
    : undefined;

const quote = (value: unknown): string => {
  const json = JSON.stringify(value);
  return json.length <= VALUE_MAX_LENGTH ? json : `${json.slice(0, VALUE_MAX_LENGTH - 1)}…`;
};
