/** How many bytes objects take that are written for a target (rule E10). */
import type { KubeObject } from '../kube/objects.ts';

const measured = new WeakMap<KubeObject, number>();

/** Returns the bytes of an object as JSON, roughly; each object is measured once. */
export function bytesOf(object: KubeObject): number {
  const known = measured.get(object);
  if (known !== undefined) return known;
  const bytes = sizeOf(object);
  measured.set(object, bytes);
  return bytes;
}

/** What surrounds a value: quotes, a comma. */
const AROUND = 3;

/** Returns the bytes of a value as JSON, roughly. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return AROUND + value.length;
  if (typeof value !== 'object' || value === null) return 2 * AROUND;
  let bytes = AROUND;
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item);
  else {
    // Each object that is written is measured: no entry is made for each of its fields.
    const fields = value as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(fields)) bytes += AROUND + name.length + sizeOf(fields[name]);
  }
  return bytes;
}
