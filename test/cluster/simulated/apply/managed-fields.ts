/**
 * Server-side apply, and the record of which manager owns which fields that it rests on: merging what is applied,
 * conflicts with other managers, and the removal of what a manager no longer applies and nobody else owns.
 */
import {
  byShape,
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
import { isFields, sameJson, type Fields, type KubeObject, type ManagedFieldsEntry } from '../storage/object.ts';
import { childrenOf, itemKey, shapeOfField, type Shape } from './shape.ts';
import { applyConflict } from '../storage/status.ts';

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
  /** Whether the kind is built in: then every object has its sections, if only empty ones, from the start. */
  readonly builtIn: boolean;
}

interface Owner {
  readonly entry: Omit<ManagedFieldsEntry, 'fieldsV1'>;
  readonly set: FieldSet;
}

type Owners = Map<string, Owner>;

/** Two writes are of one owner if this is the same; an apply is so under any version. */
const identity = (entry: Pick<ManagedFieldsEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string =>
  [entry.manager, entry.operation, entry.subresource, entry.operation === 'Apply' ? '' : entry.apiVersion].join('\0');

const ownersOf = (entries: readonly ManagedFieldsEntry[], shape: Shape): Owners =>
  new Map(entries.map(({ fieldsV1, ...entry }) => [identity(entry), { entry, set: byShape(decode(fieldsV1), shape) }]));

/** The metadata that managers own and requests can change. */
const OWNED_METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

const RECORDED_METADATA = [...OWNED_METADATA, 'generateName'] as const;

/** Top-level fields that nobody owns, or of which only a part is owned. */
const NOT_OWNED: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** The part of an object that managers own. */
function owned(object: KubeObject, ignored: readonly string[] = []): Fields {
  const fields: Fields = {};
  for (const field in object) {
    if (!NOT_OWNED.has(field) && !ignored.includes(field)) fields[field] = object[field];
  }
  if (ignored.includes('metadata')) return fields;
  const metadata: Fields = {};
  for (const field of RECORDED_METADATA) {
    if (object.metadata[field] !== undefined) metadata[field] = object.metadata[field];
  }
  return { ...fields, metadata };
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

/** What a create starts from. */
const blankFor = ({ builtIn }: Writer): Fields => (builtIn ? { metadata: {}, spec: {}, status: {} } : { metadata: {} });

/**
 * Returns the record of owners after a create or update that is not an apply.
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
  const isGiven = given.length > 0 && before !== undefined && !sameJson(given, kept);
  const owners = ownersOf(isGiven ? given : kept, shape);
  const { added, modified, removed } = compare(
    before === undefined ? blankFor(writer) : owned(before, writer.ignored),
    owned(after, writer.ignored),
    shape,
  );
  const changed = union(added, modified);
  if (isEmpty(changed) && isEmpty(removed)) return isGiven ? entriesOf(owners) : [...kept];
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
  const owners = ownersOf(live.metadata.managedFields ?? [], shape);
  if (owners.size === 0 && live.metadata.uid !== undefined) {
    const first: Writer = { ...writer, manager: 'before-first-apply', operation: 'Update' };
    own(owners, first, compare(blankFor(writer), owned(live, writer.ignored), shape).added);
  }
  const self = identity(writer);
  const last = owners.get(self)?.set;
  own(owners, writer, appliedSet(owned(applied, writer.ignored), shape));

  const [before, config] = [owned(live, writer.ignored), owned(applied, writer.ignored)];
  let after = merge(before, config, shape) as Fields;
  if (last !== undefined) {
    const all = [...owners.values()].reduce((sum, { set }) => union(sum, set), EMPTY);
    after = (prune(after, shape, last, all) ?? {}) as Fields;
  }

  const { added, modified, removed } = compare(before, after, shape);
  const changed = union(added, modified);
  const conflicts: Conflict[] = [];
  for (const [id, { entry, set }] of owners) {
    const clash = id === self ? EMPTY : intersection(set, changed);
    if (!isEmpty(clash)) conflicts.push(...pathsOf(clash).map((path) => ({ entry, path })));
    owners.set(id, { entry, set: difference(difference(set, clash), id === self ? EMPTY : removed) });
  }
  if (conflicts.length > 0 && !force) throw conflictError(conflicts);

  const { metadata = writer.ignored.includes('metadata') ? undefined : {}, ...rest } = after;
  const kept = writer.ignored
    .map((field) => [field, live[field]])
    .filter(([field, value]) => field !== 'metadata' && value !== undefined);
  return {
    apiVersion: live.apiVersion,
    kind: live.kind,
    ...rest,
    ...(Object.fromEntries(kept) as Fields),
    metadata: { ...live.metadata, ...defined(live.metadata, metadata), managedFields: entriesOf(owners) },
  };
}

/** What an apply owns; if it sets no metadata it owns none, not even that there is some. */
function appliedSet({ metadata, ...fields }: Fields, shape: Shape): FieldSet {
  const config = isFields(metadata) && Object.keys(metadata).length > 0 ? { ...fields, metadata } : fields;
  return Object.keys(config).length === 0 ? EMPTY : fieldsOf(config, shape);
}

/** The metadata fields that managers own, with those that are gone set to undefined; none if the write ignores them. */
function defined(live: object, metadata: unknown): Fields {
  const fields: Fields = {};
  if (!isFields(metadata)) return fields;
  for (const name of OWNED_METADATA) {
    if (name in live || metadata[name] !== undefined) fields[name] = metadata[name];
  }
  return fields;
}

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

/** Items that both have stand in the order applied; those that are only there keep their place among them. */
function mergeKeyed(
  live: readonly unknown[],
  applied: readonly unknown[],
  keys: Readonly<Record<string, unknown>>,
  items: Shape,
): unknown[] {
  const old = new Map(live.map((item) => [itemKey(item, keys), item]));
  const wanted = new Map(applied.map((item) => [itemKey(item, keys), item]));
  const [waiting, coming] = [[...old.keys()], [...wanted.keys()]];
  const merged: unknown[] = [];
  while (waiting.length > 0 || coming.length > 0) {
    const here = waiting[0];
    if (here !== undefined && here !== coming[0]) {
      const nextShared = coming.find((key) => old.has(key));
      if (!wanted.has(here)) merged.push(old.get(here));
      if (!wanted.has(here) || here !== nextShared) {
        waiting.shift();
        continue;
      }
    }
    const key = coming.shift()!;
    if (here === key) waiting.shift();
    merged.push(merge(old.get(key), wanted.get(key), items));
  }
  return merged;
}

/** Takes out what the manager applied last time and nobody owns now; a container that this empties becomes null. */
function prune(value: unknown, shape: Shape, last: FieldSet, all: FieldSet): unknown {
  const children = childrenOf(value, shape);
  if (children === undefined) return value;
  const kept: [string, unknown][] = [];
  for (const [step, child] of children) {
    const [before, now] = [last.children.get(step), all.children.get(step)];
    // A field stays while anything in it is owned, an item of a list only while it is owned itself.
    const isField = step.startsWith('f:');
    if (before === undefined || !(isField || before.member)) kept.push([step, child.value]);
    else if (now !== undefined && (isField || now.member)) {
      kept.push([step, prune(child.value, child.shape, before, now)]);
    }
  }
  if (kept.length === 0 && children.size > 0) return null;
  if (Array.isArray(value)) return kept.map(([, item]) => item);
  return Object.fromEntries(kept.map(([step, field]) => [step.slice(2), field]));
}

interface Conflict {
  readonly entry: Owner['entry'];
  readonly path: string;
}

/** An applier is known by its name alone, any other manager also by the version it wrote. */
const worded = ({ manager, subresource, operation, apiVersion }: Owner['entry']): string =>
  `"${manager}"${subresource === undefined ? '' : ` with subresource "${subresource}"`}${
    operation === 'Update' ? ` using ${apiVersion}` : ''
  }`;

/** Owners are listed in the order of their identities, as the API server writes those. */
const place = ({ manager, operation, apiVersion, subresource }: Owner['entry']): string =>
  JSON.stringify({ manager, operation, apiVersion: operation === 'Apply' ? undefined : apiVersion, subresource });

function conflictError(conflicts: readonly Conflict[]): Error {
  const causes = conflicts.map(({ entry, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${worded(entry)}`,
    field: path,
  }));
  if (causes.length === 1) {
    const [{ message, field }] = causes as [(typeof causes)[0]];
    return applyConflict(`Apply failed with 1 conflict: ${message}: ${field}`, causes);
  }
  const byOwner = Map.groupBy(conflicts, ({ entry }) => place(entry));
  const listed = [...byOwner.keys()].sort().map((key) => {
    const ofOwner = byOwner.get(key)!;
    return [`conflicts with ${worded(ofOwner[0]!.entry)}:`, ...ofOwner.map(({ path }) => `- ${path}`)].join('\n');
  });
  return applyConflict(`Apply failed with ${conflicts.length} conflicts: ${listed.join('\n')}`, causes);
}
