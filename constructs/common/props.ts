/**
 * Validation of props: against their schema, then by the rules of the construct. Values that the schema refuses are left
 * out, so that the rules can rely on types, and all errors are found together. A construct with invalid props uses
 * stand-in props: the program keeps working with it until synthesis fails.
 */
import { Construct } from 'constructs';
import { type Checked, className, type FieldError } from '../../crds/field-error.ts';
import { compile, INSTANCE_OF } from '../../crds/validate.ts';
import { recordInvalid } from './invalid-props.ts';
import type { ObjectSchema, PropsSchema, Schema } from './schema.ts';
import { goDuration } from './time-span.ts';
import { watchNames } from './unique-names.ts';

/** The valid part of props, and the errors of the rest. */
export interface ReadProps<P> {
  readonly props: P;
  readonly errors: readonly FieldError[];
}

/** Rules of a construct for its props. */
export interface PropsRules {
  /** Name of the construct in errors, as in `Link linkerd-multicluster/west`. */
  readonly construct: string;
  /** Errors; a rule without an error gives `undefined`. */
  readonly found: readonly (FieldError | undefined)[];
}

/** Checks props against their schema. Other values become JSON: a Duration becomes text. */
export const readProps = <P extends object>(schema: PropsSchema<P>, given: unknown): ReadProps<P> =>
  readJsonProps(schema, plain(given ?? {}) as P);

/**
 * Returns the props for a construct: those given, or the stand-in if they are invalid, which is recorded.
 * @param rules applied to the part of the props that the schema accepts
 */
export const acceptProps = <P extends object>(...of: Parameters<typeof acceptOptions<P>>): P => {
  watchNames(of[0]);
  return acceptOptions<P>(...of);
};

/** The same for a construct of the user, whose objects are not ours to judge. */
export const acceptOptions = <P extends object>(
  construct: Construct,
  schema: PropsSchema<P>,
  given: P | undefined,
  standIn: P | undefined,
  rules: (props: P) => PropsRules,
): P => {
  const { props, errors } = readProps<P>(schema, given);
  const { construct: name, found } = rules(props);
  const all = [...errors, ...beside(errors, found)];
  if (all.length === 0) return props;
  recordInvalid(construct, { construct: name, errors: all });
  return standIn ?? props;
};

/** Like `readProps`, for JSON props of thousands of constructs: valid props are returned as the same object. */
export const readJsonProps = <P extends object>(schema: PropsSchema<P>, given: P): ReadProps<P> => {
  const value: unknown = given ?? {};
  const checked = checkOf(schema)(value);
  return checked.ok
    ? { props: given, errors: [] }
    : { props: salvage(schema, value, true) as P, errors: checked.errors };
};

/** Errors of rules, except for paths that the schema has refused. */
export const beside = (
  errors: readonly FieldError[],
  found: readonly (FieldError | undefined)[],
): readonly FieldError[] =>
  found
    .filter((error) => error !== undefined)
    .filter(({ path }) => !errors.some((refused) => isWithin(path, refused.path) || isWithin(refused.path, path)));

const isWithin = (path: string, outer: string): boolean =>
  path === outer || (path.startsWith(outer) && /^[.[]/.test(path.slice(outer.length)));

type Check = (value: unknown) => Checked<unknown>;

const checks = new WeakMap<Schema, Check>();

const checkOf = (schema: Schema): Check => {
  const check = checks.get(schema) ?? compile(schema);
  checks.set(schema, check);
  return check;
};

/** A copy without undefined values, with a Duration as text and an object without fields as a symbol; constructs are kept. */
const plain = (value: unknown, around: readonly unknown[] = []): unknown => {
  if (typeof value !== 'object' || value === null || around.includes(value)) return value;
  const inner = (each: unknown): unknown => plain(each, [...around, value]);
  if (Array.isArray(value)) return value.map(inner);
  if (isDuration(value)) return goDuration(value);
  if (Construct.isConstruct(value)) return value;
  // A Map, a Set, a Promise and the like have no fields, and would pass for an empty object.
  if (Object.prototype.toString.call(value) !== '[object Object]') return Symbol(`an instance of ${className(value)}`);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, inner(each)]])),
  );
};

const isDuration = (value: object): value is Parameters<typeof goDuration>[0] & object =>
  'toMilliseconds' in value && typeof value.toMilliseconds === 'function';

/** Stands in for required text: a name that most rules accept. */
const MISSING = 'missing';

/**
 * The part of a value that its schema accepts. Refused values are left out if they are optional, else replaced.
 * @param isRequired whether the value is required
 * @returns undefined for a value that is left out
 */
const salvage = (schema: Schema, value: unknown, isRequired: boolean): unknown => {
  if ('if' in schema) {
    const { if: when, then, else: otherwise } = schema as Readonly<Record<'if' | 'then' | 'else', Schema>>;
    const kept = salvage(checkOf(when)(value).ok ? { ...then, type: when['type'] } : otherwise, value, isRequired);
    return kept === undefined && isRequired ? replacement(when) : kept;
  }
  if (checkOf(schema)(value).ok) return value;
  const {
    type,
    properties,
    items,
    additionalProperties,
    required = [],
  } = schema as Partial<ObjectSchema> & {
    readonly items?: Schema;
    readonly additionalProperties?: false | Schema;
  };
  if (type === 'array' && Array.isArray(value) && items) {
    return value.map((item) => salvage(items, item, true));
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'object' && (isObject || isRequired)) {
    const fields = (isObject ? value : {}) as Readonly<Record<string, unknown>>;
    const named = Object.entries<Schema>((properties ?? {}) as Readonly<Record<string, Schema>>);
    const salvaged = named.map(([name, each]) => {
      const must = required.includes(name);
      const field =
        fields[name] === undefined && !must
          ? undefined
          : salvage(each, fields[name], must && (isRequired || !('enum' in each)));
      return [name, field] as const;
    });
    if (!isRequired && salvaged.some(([name, field]) => field === undefined && required.includes(name)))
      return undefined;
    const others = Object.entries(fields).filter(([name]) => properties === undefined || !(name in properties));
    const kept = additionalProperties
      ? others.map(([name, field]) => [name, salvage(additionalProperties, field, false)] as const)
      : [];
    return Object.fromEntries([...salvaged, ...kept].filter(([, field]) => field !== undefined));
  }
  if (!isRequired) return undefined;
  return replacement(schema);
};

const replacement = ({ type, enum: words, ...schema }: Schema): unknown => {
  if (INSTANCE_OF in schema) return undefined;
  if (Array.isArray(words)) return words[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return false;
    default:
      return MISSING;
  }
};
