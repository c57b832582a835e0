/**
 * The one shape in which a check of input answers: the value, typed, or all that is wrong with it. Links, props, cluster
 * files, flags and kubeconfigs are all refused in it, in the words that the API server uses.
 */

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

/** One line for people: `spec.gatewayPort: "0" must be between 1 and 65535 (write …); …`. */
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

const quote = (value: unknown): string => {
  const json = asText(value);
  return json.length <= VALUE_MAX_LENGTH ? json : `${json.slice(0, VALUE_MAX_LENGTH - 1)}…`;
};

/** JSON where there is some; what has none, such as a function or a class's instance, by its kind. */
const asText = (value: unknown): string => {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'symbol') return value.description ?? 'a symbol';
  if (typeof value === 'function' || typeof value === 'bigint') return `a ${typeof value}`;
  if (typeof value === 'object' && value !== null && !isPlain(value)) return `an instance of ${className(value)}`;
  try {
    return JSON.stringify(value);
  } catch {
    return 'an object';
  }
};

/** Name of the class that an object is of; an object without one is an Object. */
export const className = (value: object): string =>
  (value as { readonly constructor?: { readonly name?: string } }).constructor?.name ?? 'Object';

const isPlain = (value: object): boolean => {
  const of: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || of === null || of === Object.prototype;
};
