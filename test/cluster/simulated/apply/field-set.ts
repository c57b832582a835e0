/**
 * Sets of field paths, as `metadata.managedFields` records them in the format FieldsV1, with the operations that
 * server-side apply is made of. Sets are values: no operation changes its arguments.
 */
import { sameJson } from '../storage/object.ts';
import { childrenOf, type Child, type Shape } from './shape.ts';

/** A path is in the set if the node at its end is a member. */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

const NO_CHILDREN: ReadonlyMap<string, FieldSet> = new Map();
const LEAF: FieldSet = { member: true, children: NO_CHILDREN };
export const EMPTY: FieldSet = { member: false, children: NO_CHILDREN };

export const isEmpty = (set: FieldSet): boolean => !set.member && set.children.size === 0;

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const children = new Map(a.children);
  for (const [step, child] of b.children) {
    const mine = children.get(step);
    children.set(step, mine === undefined ? child : union(mine, child));
  }
  return { member: a.member || b.member, children };
}

function combine(a: FieldSet, b: FieldSet, member: boolean, keepLoners: boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  const operation = keepLoners ? difference : intersection;
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    const result = other === undefined ? (keepLoners ? child : EMPTY) : operation(child, other);
    if (!isEmpty(result)) children.set(step, result);
  }
  return { member, children };
}

export const difference = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, a.member && !b.member, true);

export const intersection = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, a.member && b.member, false);

export const sameSet = (a: FieldSet, b: FieldSet): boolean =>
  a.member === b.member &&
  a.children.size === b.children.size &&
  [...a.children].every(([step, child]) => {
    const other = b.children.get(step);
    return other !== undefined && sameSet(child, other);
  });

/** The fields that a value sets, as an apply owns them: leaves, and the items of keyed lists themselves. */
export function fieldsOf(value: unknown, shape: Shape, isItem = false): FieldSet {
  const children = childrenOf(value, shape);
  if (children === undefined || children.size === 0) return LEAF;
  const ofItems = Array.isArray(value);
  return {
    member: isItem,
    children: new Map([...children].map(([step, child]) => [step, fieldsOf(child.value, child.shape, ofItems)])),
  };
}

/** Every path in a value, containers too. */
function everythingIn(value: unknown, shape: Shape): FieldSet {
  const children = childrenOf(value, shape);
  if (children === undefined || children.size === 0) return LEAF;
  return {
    member: true,
    children: new Map([...children].map(([step, child]) => [step, everythingIn(child.value, child.shape)])),
  };
}

/** What differs between two values. */
export interface Difference {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const SAME: Difference = { added: EMPTY, modified: EMPTY, removed: EMPTY };

export function compare(before: unknown, after: unknown, shape: Shape): Difference {
  if (before === after || (before === undefined && after === null)) return SAME;
  if (before === undefined) return { ...SAME, added: everythingIn(after, shape) };
  if (after === undefined) return { ...SAME, removed: everythingIn(before, shape) };
  const old = childrenOf(before, shape);
  // A container that was emptied is null: all in it is removed, itself it still is.
  const now = after === null && old !== undefined ? new Map<string, Child>() : childrenOf(after, shape);
  if (old === undefined || now === undefined || (after !== null && Array.isArray(before) !== Array.isArray(after))) {
    return sameJson(before, after) ? SAME : { ...SAME, modified: LEAF };
  }
  const found = {
    added: new Map<string, FieldSet>(),
    modified: new Map<string, FieldSet>(),
    removed: new Map<string, FieldSet>(),
  };
  for (const step of new Set([...old.keys(), ...now.keys()])) {
    const [left, right] = [old.get(step), now.get(step)];
    const inner = compare(left?.value, right?.value, (right ?? left)!.shape);
    for (const part of ['added', 'modified', 'removed'] as const) {
      if (!isEmpty(inner[part])) found[part].set(step, inner[part]);
    }
  }
  const set = (children: ReadonlyMap<string, FieldSet>): FieldSet => ({ member: false, children });
  return { added: set(found.added), modified: set(found.modified), removed: set(found.removed) };
}

/**
 * The paths of the members, as refusals word them (`.spec.ports[port=80,protocol="TCP"].name`) and in their order: at
 * each level first what is owned there, then what is owned further in.
 */
export function pathsOf(set: FieldSet, prefix = ''): readonly string[] {
  const inside = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  const here = inside.filter(([, child]) => child.member).map(([step]) => prefix + pathElement(step));
  return [...here, ...inside.flatMap(([step, child]) => pathsOf(child, prefix + pathElement(step)))];
}

function pathElement(step: string): string {
  const rest = step.slice(2);
  if (step.startsWith('f:')) return `.${rest}`;
  if (step.startsWith('v:')) return `[=${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as Record<string, unknown>);
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
}

interface FieldsV1 {
  [step: string]: FieldsV1;
}

const decoded = new WeakMap<object, FieldSet>();

/** Reads FieldsV1; the result for a stored (frozen) entry is kept. */
export function decode(fields: object): FieldSet {
  let set = decoded.get(fields);
  if (set === undefined) {
    set = decodeNode(fields as FieldsV1, false);
    if (Object.isFrozen(fields)) decoded.set(fields, set);
  }
  return set;
}

function decodeNode(fields: FieldsV1, inner: boolean): FieldSet {
  const steps = Object.keys(fields).filter((step) => step !== '.');
  if (inner && steps.length === 0) return LEAF;
  return { member: '.' in fields, children: new Map(steps.map((step) => [step, decodeNode(fields[step]!, true)])) };
}

/** Writes FieldsV1. */
export function encode(set: FieldSet): object {
  const fields: FieldsV1 = {};
  if (set.member && set.children.size > 0) fields['.'] = {};
  for (const step of [...set.children.keys()].sort()) fields[step] = encode(set.children.get(step)!) as FieldsV1;
  return fields;
}
