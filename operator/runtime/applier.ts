/**
 * Makes the API calls of planned actions, each with its ownership precondition. Creation never adopts what is there, a
 * change and a deletion touch only the very object (uid and resourceVersion) that was proven ours, and an object of
 * somebody else's is never written at all.
 */
import { Label } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import { cut, hasNoDryRun, isConflict, isInvalid, unlessNotFound } from '../kube/errors.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type EndpointSlice,
  keyOf,
  type KubeObject,
  type Resource,
  type Service,
  SERVICES,
  withPreconditions,
} from '../kube/objects.ts';
import { clear, type Clearing, isOfService } from './clear.ts';
import { fenced, type Fenceable, type MayWrite } from './fence.ts';
import { additions, digestOf, isEquivalent } from './compare.ts';
import { claimed } from './managed-fields.ts';
import { Lives } from './lives.ts';
import { type Action, type Desired, idOf, type Owned } from './plan.ts';
import { Repairs } from './repairs.ts';

/** The result of an action. */
export type Outcome =
  | { readonly result: 'written'; readonly object: KubeObject }
  | { readonly result: 'deleted' }
  /** There was nothing to do after all. */
  | { readonly result: 'unchanged' }
  /** Somebody else's object has the name. */
  | { readonly result: 'foreign'; readonly of: Resource; readonly object: KubeObject }
  /**
   * Others undid the same repair again and again, or an admission webhook undid it at once. It is due later. If only
   * labels and annotations that somebody adds differ, `additions` are their keys.
   */
  | {
      readonly result: 'deferred';
      readonly afterMs: number;
      readonly additions?: readonly string[] | undefined;
      /** Why: a webhook undoes it at once, so the object is as near to what is wanted as it comes. @default - others */
      readonly by?: 'webhook';
      /** Whether it was written now. @default false */
      readonly isWritten?: boolean;
    };

/** A store, which shows our writes before the watch reports them. */
export interface WriteThrough {
  get(key: string): KubeObject | undefined;
  wrote(object: KubeObject, basedOn: KubeObject | undefined, sentMs?: number): void;
  deleted(object: KubeObject): void;
}

/** What is asked of an API server for the actions. */
export interface WriteClient
  extends
    Pick<KubeClient, 'fieldManager' | 'read' | 'apply' | 'tryApply' | 'patch' | 'delete'>,
    Fenceable<WriteClient> {}

export interface ApplierOptions {
  readonly client: WriteClient;
  /** The stores to show writes in, by the plural of their resource; deletions are shown in all. */
  readonly stores: Readonly<Record<string, WriteThrough>>;
  /**
   * Waits for the turn of an action, and executes it.
   * @default - at once
   */
  readonly turn?: <T>(signal: AbortSignal, execute: () => Promise<T>) => Promise<T>;
  /** Whether an object that prevents a creation is ours after all (the store was behind). */
  readonly isOurs: (object: KubeObject) => boolean;
  readonly mayWrite: MayWrite;
  /** The uid of a namespace, if it is known. @default - it is not known */
  readonly namespaceUid?: ((name: string) => string | undefined) | undefined;
}

export class Applier {
  readonly #options: ApplierOptions;
  readonly #repairs: Repairs;
  readonly #lives: Lives;
  /** The client, for writes: they fail while the Lease may have expired. */
  readonly #writer: WriteClient;

  constructor(options: ApplierOptions, repairs = new Repairs()) {
    this.#options = options;
    this.#repairs = repairs;
    this.#lives = new Lives(repairs, options.namespaceUid);
    this.#writer = fenced(options.client, options.mayWrite);
  }

  /** Returns this applier for writes that also need something else: another Lease. */
  under(mayWrite: MayWrite): Applier {
    const { mayWrite: before } = this.#options;
    return new Applier({ ...this.#options, mayWrite: () => before() && mayWrite() }, this.#repairs);
  }

  /**
   * Makes the calls of one action.
   * @throws ApiError 409 if the object has changed since it was observed: observe and plan anew
   */
  execute(action: Action, signal: AbortSignal): Promise<Outcome> {
    const { turn } = this.#options;
    return turn === undefined ? this.#execute(action, signal) : turn(signal, () => this.#execute(action, signal));
  }

  async #execute(action: Action, signal: AbortSignal): Promise<Outcome> {
    switch (action.op) {
      case 'create':
        return this.#unlessUndone(action, () => this.#create(action, action.endpointsProven === true, signal));
      case 'update':
        return this.#update(action, action.live, signal);
      case 'replace':
        return this.#unlessUndone(action, async () => {
          await this.#tryCreation(action, signal);
          await this.#delete(action.of, action.live, signal);
          // Its Endpoints were deleted with the old one.
          return this.#create(action, false, signal);
        });
      case 'delete':
        return this.#remove(action, signal);
      case 'clear':
        return this.#clear(action, signal);
    }
  }

  /** Creates what is wanted, unless somebody keeps deleting it, or turning it into what must be replaced. */
  async #unlessUndone(wanted: Desired, create: () => Promise<Outcome>): Promise<Outcome> {
    const afterMs = this.#lives.creationWaitMs(wanted);
    return afterMs > 0 ? { result: 'deferred', afterMs } : create();
  }

  /** @param areEndpointsProven whether Endpoints of the name exist and are ours */
  async #create(wanted: Desired, areEndpointsProven: boolean, signal: AbortSignal): Promise<Outcome> {
    const { of, object } = wanted;
    const { client, isOurs } = this.#options;
    const { namespace, name } = object.metadata;
    if (of === SERVICES && !areEndpointsProven) {
      // When a Service is deleted, the API server deletes the Endpoints of its name: these must not be somebody else's.
      const endpoints = await client.read(ENDPOINTS, namespace, name, signal).catch(unlessNotFound);
      if (endpoints !== undefined && !isOurs(endpoints)) return { result: 'foreign', of: ENDPOINTS, object: endpoints };
    }
    const sentMs = performance.now();
    try {
      const written = await this.#writer.apply(of, withPreconditions(object, { resourceVersion: '1' }), signal);
      this.#stored(of)?.wrote(written, undefined, sentMs);
      this.#lives.wasCreated(wanted);
      return { result: 'written', object: written };
    } catch (error) {
      if (!isConflict(error)) throw error;
      const there = await client.read(of, namespace, name, signal).catch(unlessNotFound);
      if (there?.metadata.deletionTimestamp !== undefined && isOurs(there)) throw new Error(heldText(of, there));
      if (there !== undefined && isOurs(there) && this.#isHidden(of, there)) return this.#reveal(wanted, there, signal);
      if (there === undefined || isOurs(there)) throw error;
      // The name is free now: the creation is planned anew.
      if (isOfService(object, there) && (await this.#clearHidden(there, signal))) throw error;
      return { result: 'foreign', of, object: there };
    }
  }

  /**
   * Asks whether an object could be created, under a free name, since the one that it is to replace has its own:
   * webhooks and quotas may be against it, and none of them sees a deletion.
   * @throws ApiError if it could not be
   */
  async #tryCreation(
    { of, object, live }: Desired & { readonly live: KubeObject },
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = this.#options;
    const name = `linkspan-try-${live.metadata.uid ?? ''}`;
    const other = { ...object, metadata: { ...object.metadata, name } };
    await client.tryApply(of, other, client.fieldManager, signal).catch((error: unknown) => {
      if (!hasNoDryRun(error)) throw error;
    });
  }

  /**
   * Reports whether an object is one that no watch shows: which slices there are is asked by the label that says who
   * maintains them, and somebody may have written into it that Kubernetes does.
   */
  #isHidden(of: Resource, object: KubeObject): boolean {
    return of === ENDPOINT_SLICES && this.#stored(of)?.get(keyOf(object)) === undefined;
  }

  /** Puts right what no watch shows, and shows it. */
  async #reveal(wanted: Desired, hidden: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const sentMs = performance.now();
    const outcome = await this.#update(wanted, hidden, signal);
    if (outcome.result === 'written') this.#stored(wanted.of)?.wrote(outcome.object, undefined, sentMs);
    return outcome;
  }

  async #update(wanted: Desired, live: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const { of, object, comparison } = wanted;
    const id = idOf(of, object);
    const digest = digestOf(of, object, comparison);
    const inVainMs = this.#repairs.inVainMs(id, digest, live);
    const waitMs = inVainMs > 0 ? inVainMs : this.#repairs.waitMs(id, digest);
    if (waitMs > 0) {
      const left = additions(of, object, live, comparison);
      return { result: 'deferred', afterMs: waitMs, additions: left, ...(inVainMs > 0 && { by: 'webhook' }) };
    }

    let written = await this.#applyOver(wanted, live, signal);
    let isRight = isEquivalent(of, object, written, comparison);
    if (!isRight) {
      // Apply leaves what other managers own: make everything in it ours, then what is not applied goes.
      written = await this.#apply(wanted, await this.#claim(wanted, written, signal), signal);
      isRight = isEquivalent(of, object, written, comparison);
    }
    this.#repairs.wrote(id, digest);
    this.#stored(of)?.wrote(written, live);
    if (isRight) return { result: 'written', object: written };
    // An admission webhook puts it back.
    const left = additions(of, object, written, comparison);
    const afterMs = this.#repairs.inVain(id, digest, written, left !== undefined);
    return { result: 'deferred', afterMs, additions: left, by: 'webhook', isWritten: true };
  }

  /**
   * Applies over an object that others may have written to. Their fields would stay beside ours, and the two may
   * conflict (two ports of one name). If the API server refuses the result for that, or nobody may see the two beside
   * each other, their fields are made ours first, so that the apply removes them.
   */
  async #applyOver(wanted: Desired, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    if (wanted.atOnce === true) return this.#apply(wanted, await this.#claimAll(wanted, live, signal), signal);
    try {
      return await this.#apply(wanted, live, signal);
    } catch (error) {
      if (!isInvalid(error)) throw error;
      const claimed = await this.#claimAll(wanted, live, signal);
      if (claimed === live) throw error;
      return this.#apply(wanted, claimed, signal);
    }
  }

  /** Makes the fields of other managers ours. Returns the object as it was, if there are none, or if it has changed. */
  async #claimAll(wanted: Desired, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { namespace, name, uid, resourceVersion } = live.metadata;
    const now = await this.#options.client.read(wanted.of, namespace, name, signal);
    const same = now.metadata.uid === uid && now.metadata.resourceVersion === resourceVersion;
    const { managedFields = [] } = now.metadata;
    if (!same || managedFields.every(({ manager }) => manager === this.#options.client.fieldManager)) return live;
    return this.#claim(wanted, now, signal);
  }

  #apply({ of, object }: Desired, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { uid, resourceVersion } = live.metadata;
    return this.#writer.apply(of, withPreconditions(object, { uid, resourceVersion }), signal);
  }

  /** Makes every field that is compared ours, by a rewrite of managedFields that leaves the content as it is. */
  async #claim({ of, comparison }: Desired, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { fieldManager } = this.#options.client;
    const { namespace, name, uid, resourceVersion, managedFields = [] } = live.metadata;
    // A merge patch over an older version is a conflict, while a JSON patch whose test fails is invalid.
    const owned = claimed(managedFields, fieldManager, comparison?.extraMetadata === 'ignored');
    const patch = { metadata: { uid, resourceVersion, managedFields: owned } };
    return this.#writer.patch(of, { namespace, name }, patch, signal);
  }

  /** Deletes an object, unless somebody keeps creating it anew. */
  async #remove(owned: Owned, signal: AbortSignal): Promise<Outcome> {
    const afterMs = this.#lives.deletionWaitMs(owned);
    if (afterMs > 0) return { result: 'deferred', afterMs };
    await this.#delete(owned.of, owned.object, signal);
    this.#lives.wasDeleted(owned);
    return { result: 'deleted' };
  }

  async #delete(of: Resource, live: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, resourceVersion } = live.metadata;
    // By its version too: the object may have stopped being ours since it was observed.
    await this.#writer.delete(of, { namespace, name }, { uid, resourceVersion }, signal).catch(unlessNotFound);
    // Slices are in several stores.
    for (const store of Object.values(this.#options.stores)) store.deleted(live);
  }

  /** Deletes slices that others give a Service of ours, unless they come again and again. */
  async #clear(action: Clearing, signal: AbortSignal): Promise<Outcome> {
    const id = `${idOf(ENDPOINT_SLICES, action.object)} of others`;
    const afterMs = this.#repairs.waitMs(id, '');
    if (afterMs > 0) return { result: 'deferred', afterMs };
    const { client, isOurs } = this.#options;
    const remove = (of: Resource, live: KubeObject): Promise<void> => this.#delete(of, live, signal);
    if (!(await clear(action, { client, isOurs, remove }, signal))) return { result: 'unchanged' };
    this.#repairs.wrote(id, '');
    return { result: 'deleted' };
  }

  /** Deletes a slice of others that no watch shows, and that stands where one of a Service of ours is to be. */
  async #clearHidden(slice: EndpointSlice, signal: AbortSignal): Promise<boolean> {
    const { namespace, labels } = slice.metadata;
    const read = this.#options.client.read<Service>(SERVICES, namespace, labels?.[Label.serviceName] ?? '', signal);
    const object = await read.catch(unlessNotFound);
    if (object === undefined) return false;
    const { result } = await this.#clear({ op: 'clear', of: ENDPOINT_SLICES, object, slices: [slice] }, signal);
    return result === 'deleted';
  }

  #stored(of: Resource): WriteThrough | undefined {
    return this.#options.stores[of.plural];
  }
}

/** Why an object of ours cannot be created anew yet. The finalizers come last, so that they alone are cut. */
const heldText = ({ kind }: Resource, object: KubeObject): string =>
  `${kind} ${keyOf(object)} is being deleted, and finalizers hold it; have whoever set them remove them: ${cut((object.metadata.finalizers ?? []).join(', '))}`;
