/**
 * Fields of an object: which differ between two states of it, and who has set each, by its managedFields. A path is what
 * a person writes (`spec.ports.mc-gateway.port`): an item of a list whose items have names is a step by its name, and a
 * list without names is one value. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { FieldsV1, KubeObject } from '../../../../operator/kube/objects.ts';

/** Steps from the root of an object: names of fields, keys of maps, names of list items. */
export type FieldPath = readonly string[];

/** A field that differs. A value that is not there is undefined. */
export interface FieldChange {
  readonly path: FieldPath;
  readonly before: unknown;
  readonly after: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The items of a list by their names; undefined for a list whose items have none, or share one. */
const namedItems = (value: unknown): ReadonlyMap<string, Fields> | undefined => {
  if (!Array.isArray(value)) return undefined;
  const items = new Map<string, Fields>();
  for (const item of value as readonly unknown[]) {
    if (!isFields(item) || typeof item['name'] !== 'string' || items.has(item['name'])) return undefined;
    items.set(item['name'], item);
  }
  return items;
};

/** What is below a value, by its step; undefined for a value that is compared as a whole. */
const stepsOf = (value: unknown): ReadonlyMap<string, unknown> | undefined =>
  isFields(value) ? new Map(Object.entries(value)) : namedItems(value);

/** The leaves that differ between two values. */
export const fieldChanges = (before: unknown, after: unknown, path: FieldPath = []): readonly FieldChange[] => {
  if (isDeepStrictEqual(before, after)) return [];
  const was = stepsOf(before);
  const is = stepsOf(after);
  // What comes or goes is listed field by field; an empty map or list is a value of its own.
  if (Array.isArray(before) !== Array.isArray(after) && before !== undefined && after !== undefined) {
    return [{ path, before, after }];
  }
  const steps = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  const isLeaf = (value: unknown, below: ReadonlyMap<string, unknown> | undefined): boolean =>
    value !== undefined && below === undefined;
  if (steps.size === 0 || isLeaf(before, was) || isLeaf(after, is)) return [{ path, before, after }];
  return [...steps].flatMap((step) => fieldChanges(was?.get(step), is?.get(step), [...path, step]));
};

/** What the API server writes by itself, and what every write changes. */
const SERVER_FIELDS = ['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp', 'selfLink'];

/** An object without what the API server writes by itself. */
export const writtenPart = (object: KubeObject): Fields => {
  const { status: _, ...rest } = object as KubeObject & { readonly status?: unknown };
  const metadata = Object.entries(object.metadata).filter(([key]) => !SERVER_FIELDS.includes(key));
  return { ...rest, metadata: Object.fromEntries(metadata) };
};

/** Reports whether a path is at or below a pattern, in which `*` stands for any one step. */
export const isWithin = (path: FieldPath, pattern: FieldPath): boolean =>
  pattern.length <= path.length && pattern.every((step, at) => step === '*' || step === path[at]);

/** The value at a path; undefined if there is none. */
export const valueAt = (object: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>((value, step) => stepsOf(value)?.get(step), object);

/** The paths of an object that a pattern leads to. */
export const pathsOf = (object: unknown, pattern: FieldPath): readonly FieldPath[] =>
  pattern.reduce<readonly FieldPath[]>(
    (paths, step) =>
      paths.flatMap((path) => {
        const below = stepsOf(valueAt(object, path));
        const steps = step === '*' ? [...(below?.keys() ?? [])] : below?.has(step) ? [step] : [];
        return steps.map((each) => [...path, each]);
      }),
    [[]],
  );

/** A value without what is at a path. */
export const without = <T>(value: T, path: FieldPath): T => {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(value)) {
    const items = value as readonly Fields[];
    const kept = rest.length === 0 ? items.filter(({ name }) => name !== step) : items;
    return kept.map((item) => (item['name'] === step ? without(item, rest) : item)) as T;
  }
  if (!isFields(value) || !(step in value)) return value;
  const { [step]: inner, ...others } = value;
  return (rest.length === 0 ? others : { ...others, [step]: without(inner, rest) }) as T;
};

/**
 * The field managers that have set a field, or a part of it, without one's own.
 * @param own the manager that asks
 */
export const managersOf = (object: KubeObject, path: FieldPath, own: string): readonly string[] => {
  const entries = (object.metadata.managedFields ?? []).filter(
    ({ manager, subresource }) => manager !== own && subresource !== 'status',
  );
  const found = entries
    .filter(({ fieldsV1 }) => fieldsV1 !== undefined && isSet(fieldsV1, object, path))
    .map(({ manager }) => manager ?? 'unknown');
  return [...new Set(found)];
};

/** Reports whether a set of fields has a path, or something below or above it that is set as a whole. */
const isSet = (fields: FieldsV1, value: unknown, path: FieldPath): boolean => {
  const [step, ...rest] = path;
  // A field without fields below it was set as a whole.
  if (step === undefined || Object.keys(fields).length === 0) return true;
  const inner = Array.isArray(value) ? itemFields(fields, value, step) : fields[`f:${step}`];
  return inner !== undefined && isSet(inner, stepsOf(value)?.get(step), rest);
};

/** What is set of an item of a list: its key in a set of fields names some of its fields. */
const itemFields = (fields: FieldsV1, list: unknown, name: string): FieldsV1 | undefined => {
  const item = namedItems(list)?.get(name);
  const entry = Object.entries(fields).find(([key]) => {
    if (!key.startsWith('k:')) return false;
    const keys = JSON.parse(key.slice(2)) as Fields;
    return Object.entries(keys).every(([field, value]) => isDeepStrictEqual(item?.[field], value));
  });
  return entry?.[1];
};
