/**
 * A Kubernetes object as the simulated API server holds it: plain JSON with a typed `metadata`.
 * Once stored an object is frozen and never changes; its JSON text is made once and shared by every answer and watch.
 */

/** One entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: string;
  fieldsType: 'FieldsV1';
  fieldsV1: object;
  subresource?: string;
}

/** The part of `metadata` that the server itself reads. */
export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: object[];
  managedFields?: ManagedFieldsEntry[];
}

/** Any object of any kind. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** A JSON object whose fields are looked at one by one. */
export type Fields = Record<string, unknown>;

/** Whether a JSON value is an object: neither null nor a list. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy that may be changed. JSON needs no structuredClone, which takes several times as long. */
export const mutable = <T>(value: T): T => copyOf(value) as T;

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  const copy: Fields = {};
  for (const field in value) {
    const child = (value as Fields)[field];
    copy[field] = typeof child === 'object' ? copyOf(child) : child;
  }
  return copy;
}

/** Freezes a JSON value, and everything in it, in place. */
export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const field in value) {
      const child: unknown = value[field];
      if (typeof child === 'object') freeze(child);
    }
  }
  return value;
}

const texts = new WeakMap<object, string>();

/** The JSON text of a frozen object; made on first use. */
export function textOf(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** Whether two JSON values are the same; the order of fields does not matter, nor do fields that are undefined. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => sameJson(item, b[index]))
    );
  }
  const [left, right] = [a as Fields, b as Fields];
  for (const field in left) if (!sameJson(left[field], right[field])) return false;
  for (const field in right) if (left[field] === undefined && right[field] !== undefined) return false;
  return true;
}

/** Now, as Kubernetes writes times: to the second. */
export const timestamp = (now = new Date()): string => `${now.toISOString().slice(0, -'.000Z'.length)}Z`;
