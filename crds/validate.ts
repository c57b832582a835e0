/**
 * Checks of values against JSON schemas. A schema is compiled once, when it is first used, since that takes memory.
 * Values are never changed, and unknown fields are allowed unless the schema says otherwise, as the API server has it.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

import { didYouMean } from './did-you-mean.ts';
import { type Checked, className, type FieldError, fieldError, fieldPath } from './field-error.ts';

/** How values are checked, besides by the schema. */
export interface CheckOptions {
  /** Path of the value in its object, such as `spec`; the paths of errors start with it. */
  readonly root?: string;
  /** By name of a format that the schema uses: why a text is not of it, or `undefined` if it is. */
  readonly formats?: Readonly<Record<string, (text: string) => string | undefined>>;
  /** Whether values may be credentials, and so must not be quoted. */
  readonly secret?: boolean;
  /** Most errors that are reported of one value. @default all */
  readonly limit?: number;
  /** Whether checking ends at the first error: a hostile value could have a million. @default false */
  readonly firstOnly?: boolean;
}

/**
 * Checks values against a JSON schema, whose type the caller vouches for. The schema is compiled at the first value.
 * @returns a function that throws Error when the schema itself is wrong
 */
export const compile = <T>(schema: object, options: CheckOptions = {}): ((value: unknown) => Checked<T>) => {
  let validate: ValidateFunction<T> | undefined;
  return (value) => {
    validate ??= ajvFor(options).compile<T>(schema);
    if (validate(value)) return { ok: true, value };
    const errors = (validate.errors ?? []).filter(isReported).slice(0, options.limit);
    return { ok: false, errors: errors.map((error) => toFieldError(error, value, options)) };
  };
};

/** Keyword of a schema for what is no JSON: the name of a class that the value must be an instance of. */
export const INSTANCE_OF = 'x-instance-of';

/** Names of the class of a value, and of those that it extends; by name, since a package may be there twice. */
const classesOf = (value: unknown): readonly string[] => {
  const names: string[] = [];
  for (let of: unknown = value; typeof of === 'object' && of !== null; of = Object.getPrototypeOf(of)) {
    names.push(className(of));
  }
  return names;
};

const shared = new Map<boolean, Ajv>();

/** Formats belong to an instance, so schemas without formats of their own share one. */
const ajvFor = ({ formats, firstOnly = false }: CheckOptions): Ajv => {
  if (formats !== undefined) return makeAjv(formats, !firstOnly);
  const ajv = shared.get(firstOnly) ?? makeAjv({}, !firstOnly);
  shared.set(firstOnly, ajv);
  return ajv;
};

const makeAjv = (formats: NonNullable<CheckOptions['formats']>, allErrors: boolean): Ajv => {
  const ajv = new Ajv({
    allErrors,
    allowUnionTypes: true,
    verbose: true,
    formats: {
      // The API server checks formats; here a date is opaque.
      'date-time': true,
      int32: true,
      int64: true,
      ...Object.fromEntries(
        Object.entries(formats).map(([name, problem]) => [name, (text: string) => problem(text) === undefined]),
      ),
    },
  });
  ajv.addKeyword({
    keyword: INSTANCE_OF,
    schemaType: 'string',
    validate: (name: string, value: unknown) => classesOf(value).includes(name),
    errors: false,
  });
  ajv.addVocabulary([
    'x-kubernetes-int-or-string',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-list-type',
    'x-kubernetes-map-type',
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-validations',
  ]);
  return ajv;
};

/** Not what follows from another error: that a condition failed, or that each of several alternatives lacks its field. */
const isReported = ({ keyword, schemaPath }: ErrorObject): boolean =>
  keyword !== 'if' && !/\/anyOf\/\d+\/required$/.test(schemaPath);

const toFieldError = (error: ErrorObject, value: unknown, { root = '', formats, secret }: CheckOptions): FieldError => {
  const path = toPath(error.instancePath, value, root);
  const params: Readonly<Record<string, unknown>> = error.params;
  const field = (name: unknown): string => fieldPath(path, String(name).slice(0, FIELD_MAX_LENGTH));
  const isSecret = secret === true || isWriteOnly(error.parentSchema);
  const found = (reason: string, remedy?: string): FieldError =>
    fieldError(path, isSecret ? undefined : error.data, reason, remedy);
  switch (error.keyword) {
    case 'required':
    case 'dependencies':
      return fieldError(field(params.missingProperty), undefined, 'is required');
    case 'additionalProperties':
      return fieldError(
        field(params.additionalProperty),
        undefined,
        'is not a known field',
        unknownFieldRemedy(String(params.additionalProperty), error.parentSchema),
      );
    case 'anyOf': {
      const required = (error.schema as readonly { readonly required?: readonly string[] }[]).flatMap(
        (alternative) => alternative.required ?? [],
      );
      return required.length > 0
        ? fieldError(path, undefined, `must have ${required.join(' or ')}`)
        : found(error.message ?? 'must match a schema');
    }
    case 'enum':
      if (String(params.allowedValues) === 'false') return found('must be false, or an object');
      return found(`must be one of ${String(params.allowedValues).replaceAll(',', ', ')}`);
    case 'const':
      return found(`must be ${JSON.stringify(params.allowedValue)}`);
    case 'type':
      return found(
        `must be ${[params.type].flat().map(article).join(' or ')}`,
        isSecret ? undefined : remedyForType(params.type, error.data),
      );
    case INSTANCE_OF:
      return found(`must be ${article(error.schema)}`);
    case 'format':
      return found(
        formats?.[String(params.format)]?.(String(error.data)) ?? `must be a valid ${String(params.format)}`,
      );
    case 'minimum':
      return found(`must be greater than or equal to ${String(params.limit)}`);
    case 'minItems':
    case 'minLength':
      return found(params.limit === 1 ? 'must not be empty' : (error.message ?? 'is too short'));
    case 'maxItems':
      return found(`must have at most ${String(params.limit)} ${params.limit === 1 ? 'item' : 'items'}`);
    default:
      return found(error.message ?? `must satisfy ${error.keyword}`);
  }
};

/** A schema says so of what may be written but not shown. */
const isWriteOnly = (schema: unknown): boolean => (schema as { readonly writeOnly?: boolean }).writeOnly === true;

/** Most characters of a field's name in a path: the name may be foreign. */
const FIELD_MAX_LENGTH = 64;

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

const article = (type: unknown): string => (/^[aeio]/.test(String(type)) ? `an ${String(type)}` : `a ${String(type)}`);

const remedyForType = (type: unknown, data: unknown): string | undefined => {
  if (type === 'string' && (typeof data === 'number' || typeof data === 'boolean')) {
    return `put it in quotes: ${JSON.stringify(String(data))}`;
  }
  if (type === 'array' && typeof data === 'string' && data.length <= FIELD_MAX_LENGTH) {
    return `put it in a list: ${JSON.stringify(data.split(',').map((item) => item.trim()))}`;
  }
  const isNumber = type === 'integer' || type === 'number';
  if (isNumber && typeof data === 'string' && /^-?\d+$/.test(data)) return `write ${data}, without quotes`;
  if (type === 'boolean' && (data === 'true' || data === 'false')) return `write ${data}, without quotes`;
  return undefined;
};

const unknownFieldRemedy = (name: string, schema: unknown): string => {
  const { properties = {} } = schema as { readonly properties?: object };
  const meant = didYouMean(name, Object.keys(properties));
  return meant === undefined ? 'remove it, or correct its name' : `did you mean ${meant}?`;
};
