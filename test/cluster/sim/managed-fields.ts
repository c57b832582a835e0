/**
 * Server-side apply, and the record of which manager owns which fields that it rests on: merging what is applied,
 * conflicts with other managers, and the removal of what a manager no longer applies and nobody else owns.
 */
import {
  compare,
  decode,
  difference,
  EMPTY,
  encode,
  fieldsOf,
  intersection,
  isEmpty,
  pathsOf,
  sameSet,
  union,
  type FieldSet,
} from './field-set.ts';
import { isFields, type Fields, type KubeObject, type ManagedFieldsEntry } from './object.ts';
import { childrenOf, itemKey, shapeOfField, type Shape } from './shape.ts';
import { applyConflict } from './status.ts';

/** Who writes, and through what. */
export interface Writer {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
  /** Kubernetes time of the write. */
  readonly time: string;
  /** Top-level fields the request cannot write, so that it does not own them either. */
  readonly ignored: readonly string[];
}

interface Owner {
  readonly entry: Omit<ManagedFieldsEntry, 'fieldsV1'>;
  readonly set: FieldSet;
}

type Owners = Map<string, Owner>;

/** Two writes are of one owner if this is the same; an apply is so under any version. */
const identity = (entry: Pick<ManagedFieldsEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string =>
  [entry.manager, entry.operation, entry.subresource, entry.operation === 'Apply' ? '' : entry.apiVersion].join('\0');

const ownersOf = (entries: readonly ManagedFieldsEntry[]): Owners =>
  new Map(entries.map(({ fieldsV1, ...entry }) => [identity(entry), { entry, set: decode(fieldsV1) }]));

/** The metadata that managers own and requests can change. */
const OWNED_METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** The part of an object that managers own. */
function owned(object: KubeObject, ignored: readonly string[] = []): Fields {
  const { apiVersion: _a, kind: _k, metadata, ...fields } = object;
  for (const field of ignored) Reflect.deleteProperty(fields, field);
  const recorded: readonly (keyof KubeObject['metadata'])[] = [...OWNED_METADATA, 'generateName'];
  const present = recorded.filter((field) => metadata[field] !== undefined && metadata[field] !== null);
  return {
    ...fields,
    ...(ignored.includes('metadata') || present.length === 0
      ? {}
      : { metadata: Object.fromEntries(present.map((field) => [field, metadata[field]])) }),
  };
}

/** The record after a write: emptied owners are dropped, the rest stand as the API server sorts them. */
function entriesOf(owners: Owners): ManagedFieldsEntry[] {
  const order = ({ operation, time = '', manager }: ManagedFieldsEntry): string =>
    [operation, time, manager].join('\0');
  return [...owners.values()]
    .filter(({ set }) => !isEmpty(set))
    .map(({ entry, set }) => ({ ...entry, fieldsV1: encode(set) }))
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

const entryOf = (writer: Writer): Owner['entry'] => ({
  manager: writer.manager,
  operation: writer.operation,
  apiVersion: writer.apiVersion,
  time: writer.time,
  fieldsType: 'FieldsV1',
  ...(writer.subresource === undefined ? {} : { subresource: writer.subresource }),
});

/** Gives the writer a set; its time moves only if the set does. */
function own(owners: Owners, writer: Writer, set: FieldSet): void {
  const id = identity(writer);
  const before = owners.get(id);
  owners.set(id, before !== undefined && sameSet(before.set, set) ? before : { entry: entryOf(writer), set });
}

/** What a create starts from: the sections every built-in kind has. */
const BLANK: Fields = { metadata: {}, spec: {}, status: {} };

/**
 * The record of owners after a create or an update that is no apply.
 * @param before the object as it was; undefined for a create
 * @param after the object as the request has it, its own managedFields included
 */
export function trackUpdate(
  before: KubeObject | undefined,
  after: KubeObject,
  shape: Shape,
  writer: Writer,
): ManagedFieldsEntry[] {
  const given = writer.subresource === undefined ? (after.metadata.managedFields ?? []) : [];
  const reset = given.length === 1 && Object.keys(given[0]!).length === 0;
  const kept = before?.metadata.managedFields ?? [];
  if (reset || (before !== undefined && kept.length === 0 && given.length === 0)) return [];
  const owners = ownersOf(given.length > 0 && before !== undefined ? given : kept);
  const { added, modified, removed } = compare(
    before === undefined ? BLANK : owned(before, writer.ignored),
    owned(after, writer.ignored),
    shape,
  );
  const changed = union(added, modified);
  if (isEmpty(changed) && isEmpty(removed)) return entriesOf(owners);
  const self = identity(writer);
  for (const [id, { entry, set }] of owners) {
    const left = difference(id === self ? set : difference(set, changed), removed);
    owners.set(id, { entry, set: left });
  }
  const mine = union(owners.get(self)?.set ?? EMPTY, changed);
  owners.set(self, { entry: entryOf(writer), set: mine });
  return entriesOf(owners);
}

/**
 * The object after an apply, its managedFields included.
 * @param live the object as it is; for one that does not exist, its name and nothing else
 * @throws ApiError 409 that names the fields of other managers that would change, unless `force`
 */
export function applyFields(
  live: KubeObject,
  applied: KubeObject,
  shape: Shape,
  writer: Writer,
  force: boolean,
): KubeObject {
  const owners = ownersOf(live.metadata.managedFields ?? []);
  if (owners.size === 0 && live.metadata.uid !== undefined) {
    const first: Writer = { ...writer, manager: 'before-first-apply', operation: 'Update' };
    own(owners, first, compare(BLANK, owned(live, writer.ignored), shape).added);
  }
  const self = identity(writer);
  const last = owners.get(self)?.set;
  own(owners, writer, fieldsOf(owned(applied, writer.ignored), shape));

  const [before, config] = [owned(live, writer.ignored), owned(applied, writer.ignored)];
  let after = merge(before, config, shape) as Fields;
  if (last !== undefined) {
    const all = [...owners.values()].reduce((sum, { set }) => union(sum, set), EMPTY);
    after = prune(after, shape, last, all) as Fields;
  }

  const { added, modified, removed } = compare(before, after, shape);
  const changed = union(added, modified);
  const conflicts: Conflict[] = [];
  for (const [id, { entry, set }] of owners) {
    const clash = id === self ? EMPTY : intersection(set, changed);
    if (!isEmpty(clash)) conflicts.push(...pathsOf(clash).map((path) => ({ owner: worded(entry), path })));
    owners.set(id, { entry, set: difference(difference(set, clash), id === self ? EMPTY : removed) });
  }
  if (conflicts.length > 0 && !force) throw conflictError(conflicts);

  const { metadata = {}, ...rest } = after;
  const kept = writer.ignored
    .map((field) => [field, live[field]])
    .filter(([field, value]) => field !== 'metadata' && value !== undefined);
  return {
    apiVersion: live.apiVersion,
    kind: live.kind,
    ...rest,
    ...(Object.fromEntries(kept) as Fields),
    metadata: { ...live.metadata, ...defined(live.metadata, metadata as Fields), managedFields: entriesOf(owners) },
  };
}

/** The metadata fields that managers own, with those that are gone set to undefined. */
const defined = (live: object, metadata: Fields): Fields => {
  const fields: Fields = {};
  for (const name of OWNED_METADATA) {
    if (name in live || metadata[name] !== undefined) fields[name] = metadata[name];
  }
  return fields;
};

/** Lays what is applied over what is there. */
function merge(live: unknown, applied: unknown, shape: Shape): unknown {
  if (applied === undefined) return live;
  if (live === undefined || shape.atomic) return applied;
  if (isFields(live) && isFields(applied)) {
    const merged: Fields = { ...live };
    for (const [name, value] of Object.entries(applied))
      merged[name] = merge(live[name], value, shapeOfField(shape, name));
    return merged;
  }
  if (Array.isArray(live) && Array.isArray(applied)) {
    const { keys, items = {} } = shape;
    if (shape.set) return [...new Set<unknown>([...(live as unknown[]), ...(applied as unknown[])])];
    if (keys) return mergeKeyed(live, applied, keys, items);
  }
  return applied;
}

/** Items that only one side has keep their place; those that both have stand in the order applied. */
function mergeKeyed(
  live: readonly unknown[],
  applied: readonly unknown[],
  keys: Readonly<Record<string, unknown>>,
  items: Shape,
): unknown[] {
  const old = new Map(live.map((item) => [itemKey(item, keys), item]));
  const wanted = new Set(applied.map((item) => itemKey(item, keys)));
  const merged: unknown[] = [];
  const waiting = [...old];
  for (const item of applied) {
    const key = itemKey(item, keys);
    while (waiting.length > 0 && !wanted.has(waiting[0]![0])) merged.push(waiting.shift()![1]);
    if (waiting[0]?.[0] === key) waiting.shift();
    merged.push(merge(old.get(key), item, items));
  }
  merged.push(...waiting.filter(([key]) => !wanted.has(key)).map(([, item]) => item));
  return merged;
}

/** Takes out what the manager applied last time and nobody owns now. */
function prune(value: unknown, shape: Shape, last: FieldSet, all: FieldSet): unknown {
  const children = childrenOf(value, shape);
  if (children === undefined) return value;
  const kept: [string, unknown][] = [];
  for (const [step, child] of children) {
    const [before, now] = [last.children.get(step), all.children.get(step)];
    if (before === undefined) kept.push([step, child.value]);
    else if (now !== undefined) kept.push([step, prune(child.value, child.shape, before, now)]);
  }
  if (Array.isArray(value)) return kept.map(([, item]) => item);
  return Object.fromEntries(kept.map(([step, field]) => [step.slice(2), field]));
}

interface Conflict {
  readonly owner: string;
  readonly path: string;
}

/** An applier is known by its name alone, any other manager also by the version and time of its write. */
const worded = ({ manager, subresource, operation, apiVersion, time }: Owner['entry']): string =>
  `"${manager}"${subresource === undefined ? '' : ` with subresource "${subresource}"`}${
    operation === 'Update' ? ` using ${apiVersion} at ${time ?? ''}` : ''
  }`;

function conflictError(conflicts: readonly Conflict[]): Error {
  const causes = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${owner}`,
    field: path,
  }));
  const [first] = conflicts;
  if (conflicts.length === 1) {
    return applyConflict(`Apply failed with 1 conflict: conflict with ${first!.owner}: ${first!.path}`, causes);
  }
  const byOwner = Map.groupBy(conflicts, ({ owner }) => owner);
  const listed = [...byOwner.keys()]
    .sort()
    .map((owner) => [`conflicts with ${owner}:`, ...byOwner.get(owner)!.map(({ path }) => `- ${path}`)].join('\n'));
  return applyConflict(`Apply failed with ${conflicts.length} conflicts: ${listed.join('\n')}`, causes);
}
