/** What one pass has written, what it could not write and why, and what has to wait for that. */
import { clusterPartOf } from '../../crds/slice-names.ts';
import { Annotation, Label } from '../../crds/wire.ts';
import { jittered } from '../kube/backoff.ts';
import { isConflict, isForbidden, isNameRefused, isNamespaceGone } from '../kube/errors.ts';
import { ENDPOINT_SLICES, type KubeObject, keyOf, NAMESPACES, SERVICES } from '../kube/objects.ts';
import type { Applier } from './applier.ts';
import { FencedError } from './fence.ts';
import type { Action, Desired } from './plan.ts';

/** Why something could not be written, in the words of whoever reports it. */
export interface Reason {
  readonly reason: string;
  readonly message: string;
}

/** Texts about what prevents a write. Names of objects are `namespace/name`. */
export interface PassTexts<R extends Reason> {
  /** Returns the reason if a foreign object has a name that is needed. */
  foreign(kind: string, name: string): R;
  /** Returns the reason if somebody keeps changing an object, given by kind and name. */
  contested(object: string): R;
  /** Returns the reason if a namespace is gone, or is being deleted. */
  vanished(namespace: string): R;
  /** Returns the reason if the API server refuses the name of an object. */
  refusedName(kind: string, name: string): R;
  /**
   * Returns a note that somebody keeps adding labels or annotations with these keys to an object, given by kind and
   * name.
   */
  added(object: string, keys: readonly string[]): string;
}

/** What a pass writes with, and what it says. */
export interface TallyContext<R extends Reason> {
  readonly applier: Pick<Applier, 'execute'>;
  /**
   * Time until the operator tries again to use a name that a foreign object has, or a namespace that is gone, in
   * milliseconds.
   */
  readonly conflictRetryMs: number;
  /** Returns a number in [0, 1), uniformly distributed. @default Math.random */
  readonly random?: () => number;
  readonly texts: PassTexts<R>;
}

/** Maximum number of writes of one key that are under way at once (rule H7). */
const MAX_WRITES = 16;

/** Result of a pass. */
export interface Pass<R extends Reason> {
  /** Number of writes and deletions that the pass made. */
  readonly writes: number;
  /** Actions that wrote or deleted something. */
  readonly done: readonly Action[];
  /** Whether the next pass must follow at once. */
  readonly again: boolean;
  /** Reasons why something could not be written, for the status. */
  readonly refusals: readonly R[];
  /** Notes for the status of a key that works. */
  readonly notes: readonly string[];
  /** Errors of actions that failed and must be tried again. */
  readonly errors: readonly unknown[];
  /** Names of the objects that could not be replaced, and still exist in their old form. */
  readonly unreplaced: ReadonlySet<string>;
  /** Whether a write was not sent, because the Lease may have expired. */
  readonly isFenced: boolean;
  /** Whether a write was refused because the namespace may be gone, or may not be written to. */
  readonly namespaceInDoubt: boolean;
  /** Time until the key is reconciled again even if nothing failed, in milliseconds; undefined if it need not be. */
  readonly requeueAfterMs: number | undefined;
}

/** Returns the name of the Service that an object is, or that leads to it. */
export const serviceOf = ({ of, object: { metadata } }: Action): string =>
  (of === ENDPOINT_SLICES ? metadata.labels?.[Label.serviceName] : undefined) ?? metadata.name;

/**
 * Returns what is not as desired after a write that failed: a Service, or those slices of it that are of one cluster. A
 * slice that exists is still led to, so those of other clusters need not wait (L178). One that could not be created may
 * be what is to replace them, when a cluster is renamed.
 */
const awaitedOf = (action: Action): string =>
  action.of === ENDPOINT_SLICES && action.op !== 'create'
    ? clusterPartOf(action.object.metadata.name)
    : serviceOf(action);

/**
 * Returns the name of the Service or the pod in its own cluster that a mirror stands for; its own if it stands for
 * none.
 */
const standsFor = ({ metadata: { name, annotations } }: KubeObject): string =>
  annotations?.[Annotation.remoteSvcFqName] ?? name;

export class Tally<R extends Reason> {
  readonly #context: TallyContext<R>;
  readonly #refusals: R[] = [];
  /** Objects to which somebody keeps adding metadata, with the keys of that. */
  readonly #added: { readonly object: string; readonly keys: readonly string[] }[] = [];
  readonly #done: Action[] = [];
  readonly errors: unknown[] = [];
  /** Names that the API server refuses, or that foreign Services have. No other object for such a name is created. */
  readonly #refusedNames = new Set<string>();
  /** Names of the objects that could not be replaced, and still exist in their old form or under their former name. */
  readonly unreplaced = new Set<string>();
  /**
   * Names of the Services that are not as desired yet, or whose endpoints are not, since a write failed or is put off;
   * see {@link awaitedOf}.
   */
  readonly #unsettled = new Set<string>();
  /** What those Services stand for that could not be created, although nobody has their names. */
  readonly #uncreated = new Set<string>();
  /**
   * Whether an owned object has changed since it was observed. A creation that fails because the name is taken does not
   * show that: another key of ours may have the name, and may itself wait for a name that this key is to give up.
   */
  isViewOld = false;
  #isFenced = false;
  #namespaceInDoubt = false;
  #requeueAfterMs: number | undefined;

  constructor(context: TallyContext<R>) {
    this.#context = context;
  }

  /**
   * Executes independent actions, several at once. A failure does not stop the others. Returns the number of actions
   * that wrote or deleted something.
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

  pass({ again }: { readonly again: boolean }): Pass<R> {
    const { random = Math.random } = this.#context;
    return {
      again,
      writes: this.#done.length,
      done: this.#done,
      refusals: this.#refusals,
      notes: this.#notes(),
      errors: this.errors,
      unreplaced: this.unreplaced,
      isFenced: this.#isFenced,
      namespaceInDoubt: this.#namespaceInDoubt,
      requeueAfterMs: this.#requeueAfterMs === undefined ? undefined : jittered(this.#requeueAfterMs, random),
    };
  }

  async #one(action: Action, signal: AbortSignal): Promise<void> {
    const { applier, conflictRetryMs, texts } = this.#context;
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
        if (action.of === SERVICES) this.#refusedNames.add(action.object.metadata.name);
        this.#refusals.push(texts.foreign(outcome.of.kind, keyOf(outcome.object)));
        this.requeue(conflictRetryMs);
        break;
      case 'deferred': {
        const object = `${action.of.kind} ${keyOf(action.object)}`;
        if (outcome.isWritten === true) this.#done.push(action);
        if (outcome.additions === undefined) {
          this.#refusals.push(texts.contested(object));
          // What a webhook undoes never comes to be as desired: nothing waits for that.
          if (outcome.by !== 'webhook') this.#unsettled.add(awaitedOf(action));
        } else this.#added.push({ object, keys: outcome.additions });
        this.requeue(outcome.afterMs);
      }
    }
  }

  /** One for all objects to which the same is added: a headless mirror has thousands. */
  #notes(): readonly string[] {
    const { texts } = this.#context;
    const alike = Map.groupBy(this.#added, ({ keys }) => keys.join(' '));
    return [...alike.values()].flatMap(([first, ...more]) => {
      if (first === undefined) return [];
      return [texts.added(more.length === 0 ? first.object : `${first.object} and ${more.length} more`, first.keys)];
    });
  }

  /**
   * Reports whether an object belongs to a Service that could not be created or replaced. What exists of such a Service
   * is kept up to date separately.
   */
  isOfUnwritten({ op, object: { metadata } }: Action): boolean {
    const names = [metadata.name, metadata.labels?.[Label.serviceName] ?? ''];
    return names.some((name) => this.unreplaced.has(name) || (op === 'create' && this.#refusedNames.has(name)));
  }

  /**
   * Reports whether a Service stands, under a former name, for what another could not be created for. It stays until
   * then.
   */
  isFormer({ of, object }: Action): boolean {
    return of === SERVICES && this.#uncreated.has(standsFor(object));
  }

  /** Reports whether endpoints are of a Service that is not as desired yet, or the other endpoints of which are not. */
  isBehindUnsettled(action: Action): boolean {
    return this.#unsettled.has(serviceOf(action)) || this.#unsettled.has(clusterPartOf(action.object.metadata.name));
  }

  /**
   * Returns what may be desired. A slice of a Service that may not be created may not: if one is left from an earlier
   * Service, it is deleted.
   */
  allowed(desired: readonly Desired[]): readonly Desired[] {
    if (this.#refusedNames.size === 0) return desired;
    return desired.filter(
      ({ of, object: { metadata } }) =>
        of !== ENDPOINT_SLICES || !this.#refusedNames.has(metadata.labels?.[Label.serviceName] ?? ''),
    );
  }

  #failed(action: Action, error: unknown): void {
    const { op, of, object } = action;
    if (isNameRefused(error) && op === 'create') {
      this.#refusedNames.add(object.metadata.name);
      this.#refusals.push(this.#context.texts.refusedName(of.kind, keyOf(object)));
      this.requeue(this.#context.conflictRetryMs);
      return;
    }
    this.#unsettled.add(awaitedOf(action));
    // Whoever has the name may itself wait for one that this key is to give up.
    if (op === 'create' && of === SERVICES && !isConflict(error)) this.#uncreated.add(standsFor(object));
    if (op === 'replace') this.unreplaced.add(object.metadata.name);
    if (error instanceof FencedError) {
      this.#isFenced = true;
      return;
    }
    this.isViewOld ||= op !== 'create' && isConflict(error);
    this.#namespaceInDoubt ||= isForbidden(error) || isNamespaceGone(error);
    if (!isNamespaceGone(error)) {
      this.errors.push(error);
      return;
    }
    this.#refusals.push(this.#context.texts.vanished(object.metadata.namespace ?? object.metadata.name));
    this.requeue(this.#context.conflictRetryMs);
  }

  requeue(afterMs: number): void {
    this.#requeueAfterMs = Math.min(this.#requeueAfterMs ?? Infinity, afterMs);
  }
}
