/**
 * Every property of a schema, and the values that it is given one after another. What there is to touch comes from the
 * schema alone, so that a property that is added is touched, too; the table below only makes values meaningful.
 */
import { isDeepStrictEqual } from 'node:util';

export type Schema = Readonly<Record<string, unknown>>;
/** Keys from the root; `[]` is the first item of a list. */
export type Path = readonly string[];

/** A property, and what it is set to, in order. */
export interface Property {
  /** As in `spec.probeSpec.period`. */
  readonly name: string;
  readonly path: Path;
  readonly values: readonly unknown[];
}

/** It is taken away. */
export const ABSENT = Symbol('absent');

/** Meaningful values by the name of a property, for what a schema calls a text or a number. */
export type Samples = Readonly<Record<string, readonly unknown[]>>;

const fieldsOf = ({ properties }: Schema): Readonly<Record<string, Schema>> =>
  (properties ?? {}) as Readonly<Record<string, Schema>>;

/** All properties below a schema, itself left out, outer ones first. */
export function propertiesOf(schema: Schema, root: Path, samples: Samples): readonly Property[] {
  const below = Object.entries(fieldsOf(schema)).flatMap(([key, field]) => [
    propertyOf(field, [...root, key], samples),
    ...propertiesOf(field, [...root, key], samples),
  ]);
  const { items } = schema as { readonly items?: Schema };
  return items === undefined ? below : [...below, ...propertiesOf(items, [...root, '[]'], samples)];
}

const nameOf = (path: Path): string => path.join('.').replaceAll('.[]', '[]');

function propertyOf(schema: Schema, path: Path, samples: Samples): Property {
  const name = nameOf(path);
  const all = valuesOf(schema, name, samples);
  const values = all.filter((value, at) => all.findIndex((each) => isDeepStrictEqual(each, value)) === at);
  // What is empty comes after what is absent, since it mostly means the same.
  const isEmpty = (value: unknown): boolean => ['""', '[]', '{}'].includes(JSON.stringify(value));
  return { name, path, values: [...values.filter((each) => !isEmpty(each)), ABSENT, ...values.filter(isEmpty)] };
}

/** Values of a property, valid and invalid ones. */
function valuesOf(schema: Schema, name: string, samples: Samples): readonly unknown[] {
  const own = samples[name] ?? [];
  if (Array.isArray(schema['enum'])) return [...own, ...(schema['enum'] as readonly unknown[]), 'no such value'];
  switch (schema['type']) {
    case 'boolean':
      return [true, false];
    case 'integer': {
      const [first = 2] = own as readonly number[];
      return [...own, first * 2, 1, 0];
    }
    case 'array':
      return [...own, [sampleOf(schema['items'] as Schema, `${name}[]`, samples)], []];
    case 'object':
      return [...own, sampleOf(schema, name, samples), {}];
    case 'string':
      return [...own, 'No Such_Value!', ''];
    default:
      // An integer or a text.
      return [...own, 1, 'neither', 0];
  }
}

/** Something that the schema admits. */
function sampleOf(schema: Schema, name: string, samples: Samples): unknown {
  const [own] = samples[name] ?? [];
  if (own !== undefined) return own;
  if (Array.isArray(schema['enum'])) return (schema['enum'] as readonly unknown[])[0];
  switch (schema['type']) {
    case 'boolean':
      return true;
    case 'integer':
      return schema['minimum'] ?? 1;
    case 'array':
      return [sampleOf(schema['items'] as Schema, `${name}[]`, samples)];
    case 'object': {
      const fields = fieldsOf(schema);
      if (Object.keys(fields).length === 0) return { 'example.com/key': 'value' };
      const required = (schema['required'] as readonly string[] | undefined) ?? Object.keys(fields);
      return Object.fromEntries(
        required.map((key) => [key, sampleOf(fields[key]!, `${name}.${key}`, samples)] as const),
      );
    }
    case 'string':
      return schema['format'] === 'date-time' ? '2026-01-01T00:00:00Z' : 'sample';
    default:
      return 1;
  }
}

/** A copy of an object with a property set, or taken away; what it is in is made of samples where it is missing. */
export function withValue(object: unknown, path: Path, value: unknown, schema: Schema, samples: Samples): unknown {
  return set(object, path, { value, schema, samples, name: '' });
}

interface Setting {
  readonly value: unknown;
  readonly schema: Schema;
  readonly samples: Samples;
  readonly name: string;
}

function set(into: unknown, [key, ...rest]: Path, { schema, name, ...setting }: Setting): unknown {
  if (key === undefined) return setting.value;
  const isItem = key === '[]';
  const inner = isItem ? (schema['items'] as Schema) : fieldsOf(schema)[key]!;
  const innerName = isItem ? `${name}[]` : name === '' ? key : `${name}.${key}`;
  const next = { ...setting, schema: inner, name: innerName };
  if (isItem) {
    const [first = sampleOf(inner, innerName, setting.samples), ...others] = (into ?? []) as readonly unknown[];
    return [set(first, rest, next), ...others];
  }
  const fields = (into ?? {}) as Readonly<Record<string, unknown>>;
  if (rest.length === 0 && setting.value === ABSENT) {
    const { [key]: _, ...others } = fields;
    return others;
  }
  const there = fields[key] ?? (rest.length === 0 ? undefined : sampleOf(inner, innerName, setting.samples));
  return { ...fields, [key]: rest.length === 0 ? setting.value : set(there, rest, next) };
}
