/**
 * Sets of field paths, as `metadata.managedFields` records them in the format FieldsV1, with the operations that
 * server-side apply is made of. Sets are values: no operation changes its arguments.
 */
import { type Fields, freeze, isFields, sameJson } from '../storage/object.ts';
import { childrenOf, type Child, type Shape, shapeOfField } from './shape.ts';

/** A path is in the set if the node at its end is a member. */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

const NO_CHILDREN: ReadonlyMap<string, FieldSet> = new Map();
const LEAF: FieldSet = { member: true, children: NO_CHILDREN };
export const EMPTY: FieldSet = { member: false, children: NO_CHILDREN };

export const isEmpty = (set: FieldSet): boolean => !set.member && set.children.size === 0;

/** Sets that come out as they went in are the same object: what is known of one (see encode) is not found out again. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  let children: Map<string, FieldSet> | undefined;
  for (const [step, child] of b.children) {
    const mine = a.children.get(step);
    const sum = mine === undefined ? child : union(mine, child);
    if (sum !== mine) (children ??= new Map(a.children)).set(step, sum);
  }
  return withChildren(a, a.member || b.member, children);
}

export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return a;
  let children: Map<string, FieldSet> | undefined;
  for (const [step, other] of b.children) {
    const mine = a.children.get(step);
    const left = mine && difference(mine, other);
    if (left === undefined || left === mine) continue;
    children ??= new Map(a.children);
    if (isEmpty(left)) children.delete(step);
    else children.set(step, left);
  }
  return withChildren(a, a.member && !b.member, children);
}

/** @param children undefined for those of the set */
const withChildren = (
  set: FieldSet,
  member: boolean,
  children: ReadonlyMap<string, FieldSet> = set.children,
): FieldSet => (children === set.children && member === set.member ? set : { member, children });

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return EMPTY;
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    const shared = other === undefined ? EMPTY : intersection(child, other);
    if (!isEmpty(shared)) children.set(step, shared);
  }
  return { member: a.member && b.member, children };
}

export const sameSet = (a: FieldSet, b: FieldSet): boolean =>
  a === b ||
  (a.member === b.member &&
    a.children.size === b.children.size &&
    [...a.children].every(([step, child]) => {
      const other = b.children.get(step);
      return other !== undefined && sameSet(child, other);
    }));

/** A set as a schema has it that has become another since: of what is a whole by now, no part is owned, but all of it. */
export function byShape(set: FieldSet, shape: Shape): FieldSet {
  if (set.children.size === 0) return set;
  if (shape.atomic) return LEAF;
  let children: Map<string, FieldSet> | undefined;
  for (const [step, child] of set.children) {
    const inner = step.startsWith('f:') ? shapeOfField(shape, step.slice(2)) : (shape.items ?? {});
    const reshaped = byShape(child, inner);
    if (reshaped !== child) (children ??= new Map(set.children)).set(step, reshaped);
  }
  return withChildren(set, set.member, children);
}

/** The fields that a value sets, as an apply owns them: leaves, and the items of keyed lists themselves. */
export function fieldsOf(value: unknown, shape: Shape, isItem = false): FieldSet {
  const children = childrenOf(value, shape);
  const ofItems = Array.isArray(value);
  // A list that is merged item by item is owned by its items alone, and one without any by nobody.
  if (children === undefined || children.size === 0) return children !== undefined && ofItems ? EMPTY : LEAF;
  const owned = [...children].map(([step, child]) => [step, fieldsOf(child.value, child.shape, ofItems)] as const);
  return { member: isItem, children: new Map(owned.filter(([, inner]) => !isEmpty(inner))) };
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
const CHANGED: Difference = { ...SAME, modified: LEAF };

export function compare(before: unknown, after: unknown, shape: Shape): Difference {
  if (before === after || (before === undefined && after === null)) return SAME;
  if (before === undefined) return { ...SAME, added: everythingIn(after, shape) };
  if (after === undefined) return { ...SAME, removed: everythingIn(before, shape) };
  if (typeof before !== 'object' && typeof after !== 'object') return CHANGED;
  if (shape.atomic === undefined && isFields(before) && isFields(after)) return compareFields(before, after, shape);
  const old = childrenOf(before, shape);
  // A container that was emptied is null: all in it is removed, itself it still is.
  const now = after === null && old !== undefined ? new Map<string, Child>() : childrenOf(after, shape);
  if (old === undefined || now === undefined || (after !== null && Array.isArray(before) !== Array.isArray(after))) {
    return sameJson(before, after) ? SAME : CHANGED;
  }
  const found = new Changes();
  for (const [step, { value, shape: inner }] of old) found.add(step, compare(value, now.get(step)?.value, inner));
  for (const [step, { value, shape: inner }] of now) {
    if (!old.has(step)) found.add(step, compare(undefined, value, inner));
  }
  return found.all();
}

/** As any children are compared; most values are objects, of which most are the same. */
function compareFields(before: Fields, after: Fields, shape: Shape): Difference {
  const found = new Changes();
  for (const name in before) {
    const value = before[name];
    if (value === undefined || value === after[name]) continue;
    found.add(`f:${name}`, compare(value, after[name], shapeOfField(shape, name)));
  }
  for (const name in after) {
    const value = after[name];
    if (before[name] !== undefined || value === undefined) continue;
    found.add(`f:${name}`, compare(undefined, value, shapeOfField(shape, name)));
  }
  return found.all();
}

/** The differences of the children of a value. */
class Changes {
  #added: Map<string, FieldSet> | undefined;
  #modified: Map<string, FieldSet> | undefined;
  #removed: Map<string, FieldSet> | undefined;

  add(step: string, inner: Difference): void {
    if (inner === SAME) return;
    if (!isEmpty(inner.added)) (this.#added ??= new Map()).set(step, inner.added);
    if (!isEmpty(inner.modified)) (this.#modified ??= new Map()).set(step, inner.modified);
    if (!isEmpty(inner.removed)) (this.#removed ??= new Map()).set(step, inner.removed);
  }

  all(): Difference {
    if ((this.#added ?? this.#modified ?? this.#removed) === undefined) return SAME;
    return {
      added: containerOf(this.#added),
      modified: containerOf(this.#modified),
      removed: containerOf(this.#removed),
    };
  }
}

const containerOf = (children: ReadonlyMap<string, FieldSet> | undefined): FieldSet =>
  children === undefined ? EMPTY : { member: false, children };

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

const encoded = new WeakMap<FieldSet, object>();

/** Writes FieldsV1, frozen; the result for a set is kept. */
export function encode(set: FieldSet): object {
  let fields = encoded.get(set);
  if (fields === undefined) {
    fields = freeze(encodeNode(set));
    encoded.set(set, fields);
    decoded.set(fields, set);
  }
  return fields;
}

function encodeNode(set: FieldSet): FieldsV1 {
  const fields: FieldsV1 = {};
  if (set.member && set.children.size > 0) fields['.'] = {};
  for (const step of [...set.children.keys()].sort()) fields[step] = encodeNode(set.children.get(step)!);
  return fields;
}
