/**
 * The patches that are not applies: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and Kubernetes' strategic merge
 * patch, which merges keyed lists item by item. Each takes an object that may be changed and returns the result.
 */
import { isFields, mutable, sameJson, type Fields } from '../storage/object.ts';
import { shapeOfField, type Shape } from './shape.ts';
import { ApiError, badRequest } from '../storage/status.ts';

/** One step of a JSON patch. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

const refused = (message: string): ApiError => new ApiError(422, 'Invalid', message, {});

const missing = (pointer: string): ApiError =>
  refused(`the server rejected our request due to an error in our request: path ${pointer} does not exist`);

function find(root: unknown, steps: readonly string[], pointer: string): unknown {
  let value = root;
  for (const step of steps) {
    if (Array.isArray(value)) value = (value as unknown[])[Number(step)];
    else if (isFields(value)) value = value[step];
    else throw missing(pointer);
  }
  return value;
}

function remove(root: unknown, pointer: string): unknown {
  const steps = stepsOf(pointer);
  const last = steps.at(-1)!;
  const parent = find(root, steps.slice(0, -1), pointer);
  const value = find(root, steps, pointer);
  if (value === undefined) throw missing(pointer);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else Reflect.deleteProperty(parent as Fields, last);
  return value;
}

function add(root: unknown, pointer: string, value: unknown): void {
  const steps = stepsOf(pointer);
  const last = steps.at(-1)!;
  const parent = find(root, steps.slice(0, -1), pointer);
  if (Array.isArray(parent)) parent.splice(last === '-' ? parent.length : Number(last), 0, value);
  else if (isFields(parent)) parent[last] = value;
  else throw missing(pointer);
}

/** Applies a JSON patch in place. */
export function jsonPatch<T>(object: T, operations: readonly JsonPatchOperation[]): T {
  for (const { op, path, from = '', value } of operations) {
    switch (op) {
      case 'add':
        add(object, path, value);
        break;
      case 'remove':
        remove(object, path);
        break;
      case 'replace':
        remove(object, path);
        add(object, path, value);
        break;
      case 'move':
        add(object, path, remove(object, from));
        break;
      case 'copy':
        add(object, path, mutable(find(object, stepsOf(from), from)));
        break;
      case 'test':
        if (!sameJson(find(object, stepsOf(path), path), value)) {
          throw refused('the server rejected our request due to an error in our request');
        }
        break;
      default:
        throw badRequest(`unknown operation ${String(op)}`);
    }
  }
  return object;
}

/** Merges a JSON merge patch in place: null removes. */
export function mergePatch<T extends object>(object: T, patch: Fields): T {
  const target = object as Fields;
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(target, name);
    else if (isFields(value)) target[name] = mergePatch(isFields(target[name]) ? target[name] : {}, value);
    else target[name] = value;
  }
  return object;
}

/** Merges a strategic merge patch in place. */
export function strategicMergePatch<T extends object>(object: T, patch: Fields, shape: Shape): T {
  const target = object as Fields;
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    const inner = shapeOfField(shape, name);
    if (value === null) Reflect.deleteProperty(target, name);
    else if (isFields(value)) {
      const base = isFields(target[name]) && value.$patch !== 'replace' ? target[name] : {};
      target[name] = strategicMergePatch(base, value, inner);
    } else if (Array.isArray(value) && (inner.set || inner.patchKey !== undefined)) {
      target[name] = mergeList((target[name] ?? []) as unknown[], value, inner);
    } else target[name] = value;
  }
  return object;
}

function mergeList(list: readonly unknown[], patch: readonly unknown[], shape: Shape): unknown[] {
  if (shape.set) return [...new Set([...list, ...patch])];
  const key = shape.patchKey!;
  const merged = patch.some((item) => (item as Fields).$patch === 'replace') ? [] : [...list];
  for (const item of patch as readonly Fields[]) {
    const index = merged.findIndex((other) => (other as Fields)[key] === item[key]);
    if (item.$patch === 'delete') {
      if (index >= 0) merged.splice(index, 1);
    } else if (item.$patch === undefined) {
      if (index >= 0) merged[index] = strategicMergePatch(merged[index] as Fields, item, shape.items ?? {});
      else merged.push(item);
    }
  }
  return merged;
}
