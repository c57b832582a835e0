/**
 * Building blocks of the JSON schemas of props. One schema holds for a construct in TypeScript, in plain JavaScript and in the
 * cluster file: it lists the props with their types, and refuses all others, since a misspelt one would silently have
 * no effect. The construct checks the values.
 */
import { INSTANCE_OF } from '../../crds/validate.ts';

/** A JSON schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schema of an object: its properties can be taken over into another. */
export interface ObjectSchema<P extends object = object> extends Schema {
  readonly properties: P;
  readonly required: readonly string[];
}

/** The schema of props: it has each of them, which the compiler checks. */
export type PropsSchema<P> = ObjectSchema<{ readonly [Name in keyof P]-?: Schema }>;

export const text = (description: string) => ({ type: 'string', description }) as const;

/** Text that no error may quote. */
export const secret = (description: string) => ({ type: 'string', description, writeOnly: true }) as const;

export const texts = (description: string) => ({ type: 'array', description, items: { type: 'string' } }) as const;

export const flag = (description: string) => ({ type: 'boolean', description }) as const;

export const number = (description: string) => ({ type: 'number', description }) as const;

export const integer = (description: string) => ({ type: 'integer', description }) as const;

/** A length of time, as TimeSpan is; a Duration of cdk8s is text by the time that it is checked. */
export const time = (description: string) => ({ type: ['string', 'number'], description }) as const;

export const choice = <const T extends readonly string[]>(description: string, ...values: T) =>
  ({ type: 'string', description, enum: values }) as const;

/** Labels, annotations and the like. */
export const map = (description: string) =>
  ({ type: 'object', description, additionalProperties: { type: 'string' } }) as const;

/** Values by names of the user's. */
export const mapOf = <const S extends Schema>(description: string, values: S) =>
  ({ type: 'object', description, additionalProperties: values }) as const;

export const list = <const S extends Schema>(description: string, items: S) =>
  ({ type: 'array', description, items }) as const;

/** An object with these properties and no others. */
export const object = <const P extends Readonly<Record<string, Schema>>, const R extends readonly (keyof P & string)[]>(
  description: string,
  properties: P,
  ...required: R
) => ({ type: 'object', description, additionalProperties: false, required, properties }) as const;

/** The schema of an object without some of its properties. */
export const without = <P extends object, O extends keyof P & string>(
  { properties, required, ...schema }: ObjectSchema<P>,
  ...left: readonly O[]
): ObjectSchema<Omit<P, O>> => {
  const isKept = (name: string): boolean => !(left as readonly string[]).includes(name);
  const kept = Object.entries(properties).filter(([name]) => isKept(name));
  return {
    ...schema,
    required: required.filter(isKept),
    properties: Object.fromEntries(kept) as unknown as Omit<P, O>,
  };
};

/** A schema with another description. */
export const described = <S extends Schema>(schema: S, description: string): S => ({ ...schema, description });

/** False, or a value of the schema; errors of a value are those of the schema alone. */
export const falseOr = <const S extends Schema>(description: string, schema: S) =>
  ({ description, if: { type: 'boolean' }, then: { enum: [false] }, else: schema }) as const;

/** ServiceAccounts of the same cluster. */
export const serviceAccounts = (description: string) =>
  list(
    description,
    object(
      'A ServiceAccount of the same cluster',
      { name: text('Name of the ServiceAccount'), namespace: text('Namespace of the ServiceAccount') },
      'name',
      'namespace',
    ),
  );

/** One of these words, or a value of the schema. */
export const wordOr = (schema: Schema, description: string, ...words: readonly string[]) =>
  ({ description, if: { type: 'string' }, then: { enum: words }, else: schema }) as const;

/** An instance of a class, which no cluster file can hold. */
export const instanceOf = (name: string) => ({ [INSTANCE_OF]: name, description: `A ${name}` }) as const;

/** Text, or an instance of a class. */
export const textOrInstanceOf = (description: string, name: string) =>
  ({ description, if: { type: 'string' }, then: {}, else: { [INSTANCE_OF]: name } }) as const;

export const labelSelector = (description: string) =>
  object(description, {
    matchLabels: map('Labels that an object must have; default any'),
    matchExpressions: list(
      'Requirements for the labels of an object; all must be met; default none',
      object(
        'A requirement',
        {
          key: text('Key of the label'),
          operator: choice('Operator that compares the label with the values', 'In', 'NotIn', 'Exists', 'DoesNotExist'),
          values: texts('Values, for In and NotIn; default none'),
        },
        'key',
        'operator',
      ),
    ),
  });
