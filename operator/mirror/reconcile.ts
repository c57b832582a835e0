/**
 * Brings the cluster from what is owned to what is desired: plans, executes, and returns the result as a value. One
 * pass makes one step. After a pass that wrote Services, the next one sees their ClusterIPs and writes what needs them.
 * Only a pass that wrote nothing deletes, so that no deletion is based on an old view.
 */
import { jittered } from '../kube/backoff.ts';
import { isConflict, isForbidden, isNamespaceGone } from '../kube/errors.ts';
import { ENDPOINT_SLICES, ENDPOINTS, keyOf, NAMESPACES, SERVICES } from '../kube/objects.ts';
import type { Applier } from '../runtime/applier.ts';
import { type Action, type Owned, plan } from '../runtime/plan.ts';
import type { Manifests } from './desired.ts';
import type { OwnedObjects } from './observed.ts';
import { addedMetadata, contestedObject, foreignObject, type Refusal, vanishedNamespace } from './reasons.ts';
import type { Retain } from './retain.ts';

export interface ReconcileContext {
  readonly applier: Pick<Applier, 'execute'>;
  /** Time until a name that a foreign object has, or a namespace that is gone, is tried again. */
  readonly conflictRetryMs: number;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: () => number;
}

/** Writes of one key that are under way at once (rule H7). */
const MAX_WRITES = 16;

/** Result of a pass. */
export interface Pass {
  /** Number of writes and deletions that were made. */
  readonly writes: number;
  /** The actions that wrote or deleted something. */
  readonly done: readonly Action[];
  /** Whether something was written that the next pass must follow up. */
  readonly again: boolean;
  /** Why something could not be written, for the status. */
  readonly refusals: readonly Refusal[];
  /** What the status says of a mirror that works. */
  readonly notes: readonly string[];
  /** Errors of what failed and must be tried again. */
  readonly errors: readonly unknown[];
  /** Whether a write was refused because the namespace may be gone, or may not be written to. */
  readonly namespaceInDoubt: boolean;
  /** Time until the key is reconciled again although nothing failed. */
  readonly requeueAfterMs: number | undefined;
}

/**
 * Makes one step from what is owned to what is desired.
 * @param retain reports what must not be deleted although it is not desired
 */
export async function reconcile(
  desired: Manifests,
  owned: OwnedObjects,
  retain: Retain,
  context: ReconcileContext,
  signal: AbortSignal,
): Promise<Pass> {
  const tally = new Tally(context);
  if (desired.isBlocked) tally.requeue(context.conflictRetryMs);
  await tally.execute(
    desired.namespaces.map((each): Action => ({ op: 'create', ...each })),
    signal,
  );
  const endpoints = plan(desired.endpoints, endpointsOf(owned));
  const services = plan(desired.services, servicesOf(owned));
  const gone = [...services, ...endpoints].filter(({ op, of, object }) => op === 'delete' && !retain(of, object));
  if ((await tally.execute(services.filter(isWrite), signal)) > 0) return tally.pass({ again: true });
  if ((await tally.execute(endpoints.filter(isWrite), signal)) > 0) {
    return tally.pass({ again: desired.isPartial || gone.length > 0 });
  }
  if (!tally.isViewOld) await tally.execute(gone, signal);
  return tally.pass({ again: false });
}

const isWrite = ({ op }: Action): boolean => op !== 'delete';

const servicesOf = (owned: OwnedObjects): readonly Owned[] =>
  owned.services.map((object) => ({ of: SERVICES, object }));

const endpointsOf = (owned: OwnedObjects): readonly Owned[] => [
  ...owned.endpoints.map((object) => ({ of: ENDPOINTS, object })),
  ...owned.slices.map((object) => ({ of: ENDPOINT_SLICES, object })),
];

class Tally {
  readonly #context: ReconcileContext;
  readonly #refusals: Refusal[] = [];
  readonly #notes: string[] = [];
  readonly #done: Action[] = [];
  readonly errors: unknown[] = [];
  /**
   * Whether something owned has changed since it was observed. A name that is not free to be created says nothing of
   * the kind: another key of ours may have it, and wait for a name that this one is to give up.
   */
  isViewOld = false;
  #namespaceInDoubt = false;
  #requeueAfterMs: number | undefined;

  constructor(context: ReconcileContext) {
    this.#context = context;
  }

  /**
   * Executes independent actions, some at once; a failure does not stop the others. Returns how many wrote or deleted.
   */
  async execute(actions: readonly Action[], signal: AbortSignal): Promise<number> {
    const before = this.#done.length;
    const queue = actions.values();
    const work = async (): Promise<void> => {
      for (const action of queue) {
        await this.#one(action, signal).catch((error: unknown) => this.#failed(action, error));
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_WRITES, actions.length) }, work));
    return this.#done.length - before;
  }

  pass({ again }: { readonly again: boolean }): Pass {
    const { random = Math.random } = this.#context;
    return {
      again,
      writes: this.#done.length,
      done: this.#done,
      refusals: this.#refusals,
      notes: this.#notes,
      errors: this.errors,
      namespaceInDoubt: this.#namespaceInDoubt,
      requeueAfterMs: this.#requeueAfterMs === undefined ? undefined : jittered(this.#requeueAfterMs, random),
    };
  }

  async #one(action: Action, signal: AbortSignal): Promise<void> {
    const { applier, conflictRetryMs } = this.#context;
    const outcome = await applier.execute(action, signal);
    switch (outcome.result) {
      case 'written':
      case 'deleted':
        this.#done.push(action);
        break;
      case 'unchanged':
        break;
      case 'foreign':
        // It is enough that the Namespace exists.
        if (action.of === NAMESPACES) break;
        this.#refusals.push(foreignObject(outcome.of.kind, keyOf(outcome.object)));
        this.requeue(conflictRetryMs);
        break;
      case 'deferred': {
        const object = `${action.of.kind} ${keyOf(action.object)}`;
        if (outcome.additions === undefined) this.#refusals.push(contestedObject(object));
        else this.#notes.push(addedMetadata(object, outcome.additions));
        this.requeue(outcome.afterMs);
      }
    }
  }

  #failed({ op, object }: Action, error: unknown): void {
    this.isViewOld ||= op !== 'create' && isConflict(error);
    this.#namespaceInDoubt ||= isForbidden(error) || isNamespaceGone(error);
    if (!isNamespaceGone(error)) {
      this.errors.push(error);
      return;
    }
    this.#refusals.push(vanishedNamespace(object.metadata.namespace ?? object.metadata.name));
    this.requeue(this.#context.conflictRetryMs);
  }

  requeue(afterMs: number): void {
    this.#requeueAfterMs = Math.min(this.#requeueAfterMs ?? Infinity, afterMs);
  }
}
