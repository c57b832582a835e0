/**
 * From what should be and what is ours to the API calls between them: `plan` is pure, `Applier.execute` makes one call
 * with its ownership precondition. Creation never adopts what is there, a change and a deletion touch only the very
 * object (uid and resourceVersion) that was proven ours, and an object of somebody else's is never written at all.
 */
import { backoffMs } from '../kube/backoff.ts';
import { saysTheSame, type Comparison } from './compare.ts';
import type { KubeClient } from '../kube/client.ts';
import { isConflict, isInvalid, isNotFound } from '../kube/errors.ts';
import {
  keyOf,
  type FieldsV1,
  type KubeObject,
  type ManagedFieldsEntry,
  type Resource,
  ENDPOINTS,
  SERVICES,
} from '../kube/objects.ts';

/** An object as it should be. */
export interface Desired {
  readonly of: Resource;
  readonly object: KubeObject;
  readonly comparison?: Comparison;
}

/** An object as it is, proven ours by whoever lists it. */
export interface Owned {
  readonly of: Resource;
  readonly object: KubeObject;
}

export type Action =
  | ({ readonly op: 'create' } & Desired)
  | ({ readonly op: 'update'; readonly live: KubeObject } & Desired)
  /** What cannot be changed in place: deleted, then created. */
  | ({ readonly op: 'replace'; readonly live: KubeObject } & Desired)
  | ({ readonly op: 'delete' } & Owned);

/** What became of an action. */
export type Outcome =
  | { readonly result: 'written'; readonly object: KubeObject }
  | { readonly result: 'deleted' }
  /** Somebody else's object has the name. */
  | { readonly result: 'foreign'; readonly of: Resource; readonly object: KubeObject }
  /** The same repair was undone over and over: it is tried again later. */
  | { readonly result: 'deferred'; readonly afterMs: number };

const idOf = (of: Resource, object: KubeObject): string => `${of.plural}/${keyOf(object)}`;

/**
 * The actions that lead from `owned` to `desired`; none if they say the same. Creations and changes come first, so
 * that what is replaced by another name is there before the old one goes.
 */
export function plan(desired: readonly Desired[], owned: readonly Owned[]): readonly Action[] {
  const live = new Map(owned.map(({ of, object }) => [idOf(of, object), object]));
  const wanted = new Set<string>();
  const writes: Action[] = [];
  for (const each of desired) {
    const id = idOf(each.of, each.object);
    wanted.add(id);
    const current = live.get(id);
    if (current === undefined) writes.push({ op: 'create', ...each });
    else if (isImmutablyDifferent(each, current)) writes.push({ op: 'replace', live: current, ...each });
    else if (!saysTheSame(each.of, each.object, current, each.comparison)) {
      writes.push({ op: 'update', live: current, ...each });
    }
  }
  const deletions = owned
    .filter(({ of, object }) => !wanted.has(idOf(of, object)))
    .map(({ of, object }): Action => ({ op: 'delete', of, object }));
  return [...writes, ...deletions];
}

/** A Service's clusterIP, and a slice's address type, are for life. */
function isImmutablyDifferent({ of, object }: Desired, live: KubeObject): boolean {
  const headless = (service: KubeObject & { readonly spec?: { readonly clusterIP?: string } }): boolean =>
    service.spec?.clusterIP === 'None';
  const family = (slice: KubeObject & { readonly addressType?: string }): unknown => slice.addressType;
  if (of.kind === 'Service') return headless(object) !== headless(live);
  if (of.kind === 'EndpointSlice') return family(object) !== family(live);
  return false;
}

/** Where a write is to be seen at once: a store. */
export interface WriteThrough {
  wrote(object: KubeObject, basedOn: KubeObject | undefined): void;
  deleted(object: KubeObject): void;
}

export interface ApplierOptions {
  readonly client: KubeClient;
  /** By plural. */
  readonly stores: Readonly<Record<string, WriteThrough>>;
  /** Whether an object that stands in the way of a creation is ours after all (our view was old). */
  readonly isOurs: (object: KubeObject) => boolean;
}

/** How often one repair is repeated at once before it is spaced out; somebody else keeps undoing it. */
const FREE_REPAIRS = 3;
const REPAIR_BACKOFF = { baseMs: 1_000, capMs: 300_000 };
/** After so long without a repair of an object, the next one is free again. */
const REPAIR_MEMORY_MS = 600_000;

interface Repairs {
  readonly desired: KubeObject;
  readonly count: number;
  readonly notBeforeMs: number;
}

export class Applier {
  readonly #options: ApplierOptions;
  /** Objects that keep differing from what was last written to them, with the version left as it is. */
  readonly #repairs = new Map<string, Repairs>();
  readonly #left = new Map<string, { readonly resourceVersion: string | undefined; readonly desired: KubeObject }>();

  constructor(options: ApplierOptions) {
    this.#options = options;
  }

  /**
   * Makes the calls of one action.
   * @throws ApiError 409 when the object has changed since it was observed: observe and plan anew.
   */
  async execute(action: Action, signal: AbortSignal): Promise<Outcome> {
    switch (action.op) {
      case 'create':
        return this.#create(action, signal);
      case 'update':
        return this.#update(action, action.live, signal);
      case 'replace':
        await this.#delete(action.of, action.live, signal);
        return this.#create(action, signal);
      case 'delete':
        await this.#delete(action.of, action.object, signal);
        return { result: 'deleted' };
    }
  }

  async #create({ of, object }: Desired, signal: AbortSignal): Promise<Outcome> {
    const { client, isOurs } = this.#options;
    const { namespace, name } = object.metadata;
    if (of === SERVICES) {
      // With a Service the API server deletes the Endpoints of its name: it must not come to be over somebody else's.
      const endpoints = await client.read(ENDPOINTS, namespace, name, signal).catch(unlessNotFound);
      if (endpoints !== undefined && !isOurs(endpoints)) return { result: 'foreign', of: ENDPOINTS, object: endpoints };
    }
    try {
      const written = await client.apply(of, withPreconditions(object, { resourceVersion: '1' }), signal);
      this.#stored(of)?.wrote(written, undefined);
      return { result: 'written', object: written };
    } catch (error) {
      if (!isConflict(error)) throw error;
      const there = await client.read(of, namespace, name, signal);
      if (isOurs(there)) throw error;
      return { result: 'foreign', of, object: there };
    }
  }

  async #update(wanted: Desired, live: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const { of, object, comparison } = wanted;
    const id = idOf(of, object);
    const left = this.#left.get(id);
    if (
      left !== undefined &&
      left.resourceVersion === live.metadata.resourceVersion &&
      saysTheSame(of, object, left.desired, comparison)
    ) {
      return { result: 'written', object: live };
    }
    this.#left.delete(id);
    const deferred = this.#deferral(id, wanted);
    if (deferred !== undefined) return deferred;

    let written = await this.#applyOver(wanted, live, signal);
    if (!saysTheSame(of, object, written, comparison)) {
      // Apply leaves what other managers own: make everything in it ours, then what is not applied goes.
      written = await this.#apply(wanted, await this.#claim(wanted, written, signal), signal);
      if (!saysTheSame(of, object, written, comparison)) {
        // An admission webhook puts it back: leave this version alone.
        this.#left.set(id, { resourceVersion: written.metadata.resourceVersion, desired: object });
      }
    }
    this.#stored(of)?.wrote(written, live);
    return { result: 'written', object: written };
  }

  /**
   * Applies over an object that others may have written to. What theirs is would stay beside ours, and the two may not
   * go together (two ports of one name): what is refused for that is made ours first, so that it goes.
   */
  async #applyOver(wanted: Desired, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    try {
      return await this.#apply(wanted, live, signal);
    } catch (error) {
      if (!isInvalid(error)) throw error;
      const { namespace, name, uid, resourceVersion } = live.metadata;
      const now = await this.#options.client.read(wanted.of, namespace, name, signal);
      const same = now.metadata.uid === uid && now.metadata.resourceVersion === resourceVersion;
      const { managedFields = [] } = now.metadata;
      if (!same || managedFields.every(({ manager }) => manager === this.#options.client.fieldManager)) throw error;
      return this.#apply(wanted, await this.#claim(wanted, now, signal), signal);
    }
  }

  #apply({ of, object }: Desired, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { uid, resourceVersion } = live.metadata;
    return this.#options.client.apply(of, withPreconditions(object, { uid, resourceVersion }), signal);
  }

  /** Rewrites an object's managedFields so that every field that counts in it is ours, content unchanged. */
  async #claim({ of, comparison }: Desired, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { fieldManager } = this.#options.client;
    const { namespace, name, uid, resourceVersion, managedFields = [] } = live.metadata;
    return this.#options.client.patch(
      of,
      { namespace, name },
      [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
        {
          op: 'add',
          path: '/metadata/managedFields',
          value: claimed(managedFields, fieldManager, comparison?.extraMetadata === 'ignored'),
        },
      ],
      signal,
    );
  }

  async #delete(of: Resource, live: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, resourceVersion } = live.metadata;
    try {
      // By its version too: an object may stop being ours between looking and deleting.
      await this.#options.client.delete(of, { namespace, name }, { uid, resourceVersion }, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#forget(idOf(of, live));
    this.#stored(of)?.deleted(live);
  }

  /** Undefined: go ahead. Counts how often the very same content had to be written to one object again. */
  #deferral(id: string, { of, object, comparison }: Desired): Outcome | undefined {
    const now = performance.now();
    const before = this.#repairs.get(id);
    const repeats =
      before !== undefined &&
      now - before.notBeforeMs < REPAIR_MEMORY_MS &&
      saysTheSame(of, object, before.desired, comparison);
    if (!repeats) {
      this.#repairs.set(id, { desired: object, count: 0, notBeforeMs: now });
      return undefined;
    }
    if (now < before.notBeforeMs) return { result: 'deferred', afterMs: before.notBeforeMs - now };
    const count = before.count + 1;
    const wait = count < FREE_REPAIRS ? 0 : backoffMs(count - FREE_REPAIRS, REPAIR_BACKOFF, Math.random);
    this.#repairs.set(id, { desired: object, count, notBeforeMs: now + wait });
    return undefined;
  }

  #forget(id: string): void {
    this.#repairs.delete(id);
    this.#left.delete(id);
  }

  #stored(of: Resource): WriteThrough | undefined {
    return this.#options.stores[of.plural];
  }
}

const unlessNotFound = (error: unknown): undefined => {
  if (!isNotFound(error)) throw error;
};

const withPreconditions = (
  object: KubeObject,
  { uid, resourceVersion }: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  },
});

/**
 * One entry of ours with the fields of all: what other managers wrote is then ours to remove. Their metadata stays
 * theirs if it may stay on the object.
 */
function claimed(
  entries: readonly ManagedFieldsEntry[],
  manager: string,
  sparesMetadata: boolean,
): readonly ManagedFieldsEntry[] {
  const whole = entries.filter(({ subresource }) => subresource === undefined || subresource === '');
  const spared = sparesMetadata ? whole.filter((entry) => entry.manager !== manager) : [];
  const fieldsV1 = whole
    .map((entry) => (spared.includes(entry) ? withoutMetadata(entry.fieldsV1) : (entry.fieldsV1 ?? {})))
    .reduce<FieldsV1>(union, {});
  const first = whole[0];
  return [
    {
      manager,
      operation: 'Apply',
      ...(first?.apiVersion === undefined ? {} : { apiVersion: first.apiVersion }),
      fieldsType: 'FieldsV1',
      fieldsV1,
    },
    ...spared.flatMap((entry) => {
      const metadata = entry.fieldsV1?.[METADATA];
      return metadata === undefined ? [] : [{ ...entry, fieldsV1: { [METADATA]: metadata } }];
    }),
    ...entries.filter((entry) => !whole.includes(entry)),
  ];
}

const METADATA = 'f:metadata';

const withoutMetadata = ({ [METADATA]: _, ...fields }: FieldsV1 = {}): FieldsV1 => fields;

function union(a: FieldsV1, b: FieldsV1): FieldsV1 {
  const merged: Record<string, FieldsV1> = { ...a };
  for (const [path, fields] of Object.entries(b)) merged[path] = union(merged[path] ?? {}, fields);
  return merged;
}
