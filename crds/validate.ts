/**
 * Checks of values against JSON schemas. A schema is compiled once, when it is first used, since that takes memory.
 * Values are never changed, and unknown fields are allowed unless the schema says otherwise, as the API server has it.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

import { type Checked, type FieldError, fieldError, fieldPath } from './field-error.ts';

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
