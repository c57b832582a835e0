/**
 * One pass over the objects of one key, whatever they are: plans, executes, and returns the result as a value. A pass
 * takes one step: after one that wrote objects of a kind, the next pass sees them, and writes what needs them. Only a
 * pass that wrote nothing deletes, so that no deletion is based on an old view.
 */
import { Label } from '../../crds/wire.ts';
import { jittered } from '../kube/backoff.ts';
import { isConflict, isForbidden, isNameRefused, isNamespaceGone } from '../kube/errors.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type KubeObject,
  keyOf,
  NAMESPACES,
  type Resource,
  SERVICES,
} from '../kube/objects.ts';
import type { Applier } from './applier.ts';
import { FencedError } from './fence.ts';
import { type Action, type Desired, type ForeignSlices, type Owned, plan } from './plan.ts';
import { ENDLESS, giveWay, type Turns } from './turns.ts';

/** Why something could not be written, in the words of those who read it. */
export interface Reason {
  readonly reason: string;
  readonly message: string;
}

/** What is said of what is in the way; objects are `namespace/name`. */
export interface PassTexts<R extends Reason> {
  /** Somebody else's object has a name that is needed. */
  foreign(kind: string, name: string): R;
  /** Somebody keeps changing an object: its kind and name. */
  contested(object: string): R;
  /** A namespace is gone, or about to go. */
  vanished(namespace: string): R;
  /** The API server refuses the name of an object. */
  refusedName(kind: string, name: string): R;
  /** Somebody keeps adding labels or annotations of these keys to an object: its kind and name. */
  added(object: string, keys: readonly string[]): string;
}

/** Reports whether an owned object stays, whatever is desired. */
export type Retain = (of: Resource, object: KubeObject) => boolean;

export interface PassContext<R extends Reason> {
  readonly applier: Pick<Applier, 'execute'>;
  /** Time until a name that a foreign object has, or a namespace that is gone, is tried again. */
  readonly conflictRetryMs: number;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: () => number;
  readonly texts: PassTexts<R>;
  /** In which what there is to do is planned. @default - in one */
  readonly turns?: Turns | undefined;
  /** What the pass is to come to by what is known now. @default - what it was to come to when it began */
  readonly renewed?: (() => Promise<Goal>) | undefined;
}

/** Writes of one key that are under way at once (rule H7). */
const MAX_WRITES = 16;

/** Result of a pass. */
export interface Pass<R extends Reason> {
  /** Number of writes and deletions that were made. */
  readonly writes: number;
  /** The actions that wrote or deleted something. */
  readonly done: readonly Action[];
  /** Whether something was written that the next pass must follow up. */
  readonly again: boolean;
  /** Why something could not be written, for the status. */
  readonly refusals: readonly R[];
  /** What the status says of a mirror that works. */
  readonly notes: readonly string[];
  /** Errors of what failed and must be tried again. */
  readonly errors: readonly unknown[];
  /** Names of the objects that could not be replaced, and are there as before. */
  readonly unreplaced: ReadonlySet<string>;
  /** Whether a write was not sent, since the Lease may have expired. */
  readonly isFenced: boolean;
  /** Whether a write was refused because the namespace may be gone, or may not be written to. */
  readonly namespaceInDoubt: boolean;
  /** Time until the key is reconciled again although nothing failed. */
  readonly requeueAfterMs: number | undefined;
}

/** What is desired of objects that are written together, and what there is of them. */
export interface Step {
  readonly desired: readonly Desired[];
  readonly owned: readonly Owned[];
}

/** What a pass is to come to. */
export interface Goal {
  /** Namespaces that are created first; it is enough that they exist. @default - none */
  readonly namespaces?: readonly Desired[];
  /** In the order in which they are written. */
  readonly steps: readonly Step[];
  /** Whether more is desired once this has been written. */
  readonly isPartial: boolean;
  /** Whether a foreign object has a name that is needed. The key is then reconciled again later. */
  readonly isBlocked: boolean;
  /** Reports what must not be deleted although it is not desired. @default - nothing */
  readonly retain?: Retain;
  /** Slices that others gave our Services. @default - none */
  readonly foreign?: readonly ForeignSlices[] | undefined;
  /** Returns what is to be written of objects that could not be replaced, and are there as before. @default - nothing */
  readonly unreplaced?: (names: ReadonlySet<string>) => Promise<Goal>;
}

/** Takes the next step, and where something could not be replaced, one that keeps it as it must be until it can. */
export async function takeStep<R extends Reason>(
  goal: Goal,
  context: PassContext<R>,
  signal: AbortSignal,
): Promise<Pass<R>> {
  const pass = await stepTo(goal, context, signal);
  if (pass.unreplaced.size > 0 && goal.unreplaced !== undefined)
    await stepTo(await goal.unreplaced(pass.unreplaced), context, signal);
  return pass;
}

/** Takes the first step that is still to be taken, and deletes what is not desired if there is none. */
async function stepTo<R extends Reason>(begun: Goal, context: PassContext<R>, signal: AbortSignal): Promise<Pass<R>> {
  const tally = new Tally(context);
  const { namespaces = [], steps, isBlocked } = begun;
  if (isBlocked) tally.requeue(context.conflictRetryMs);
  await tally.execute(
    namespaces.map((each): Action => ({ op: 'create', ...each })),
    signal,
  );
  let goal = tally.errors.length === 0 ? begun : await renewed(begun, context, signal);
  const gone: Action[] = [];
  for (const at of steps.keys()) {
    const step = goal.steps[at];
    if (step === undefined) break;
    // That of thousands of pods takes long. Whatever happens in between, each write is conditional.
    await giveWay(context.turns ?? ENDLESS);
    const isAllowed = ({ of, object }: Desired): boolean => !tally.isSliceOfRefused(of, object);
    const actions = plan(step.desired.filter(isAllowed), step.owned);
    gone.push(...actions.filter(({ op }) => op === 'delete'));
    const due = actions.filter((action) => isWrite(action) && !tally.isOfUnwritten(action));
    const failed = tally.errors.length;
    const written = await tally.execute(due, signal);
    const { isPartial, foreign = [], retain = () => false } = goal;
    if (written > 0) {
      const isLast = at === steps.length - 1;
      const goes = gone.some(({ of, object }) => !retain(of, object));
      return tally.pass({ again: !isLast || isPartial || goes || foreign.length > 0 });
    }
    if (tally.errors.length > failed) goal = await renewed(goal, context, signal);
    // Another sort of goal has steps of its own, for the next pass.
    if (goal.steps.length !== steps.length) return tally.pass({ again: false });
  }
  return tally.pass({ again: await clear(begun, gone, tally, signal) });
}

/**
 * Returns what a pass is to come to after a request that failed. It may have waited for its answer until its
 * deadline: a gateway that has died since must not get what was to be written when it lived (L104).
 */
const renewed = (
  before: Goal,
  context: Pick<PassContext<Reason>, 'renewed'>,
  { aborted }: AbortSignal,
): Promise<Goal> | Goal => (aborted ? before : (context.renewed?.() ?? before));

/** Deletes what is not desired. Reports whether another pass is to follow: something may have had a name that is needed. */
async function clear<R extends Reason>(
  { retain = () => false, foreign = [] }: Goal,
  undesired: readonly Action[],
  tally: Tally<R>,
  signal: AbortSignal,
): Promise<boolean> {
  const gone = undesired.filter(({ of, object }) => !retain(of, object));
  if (!tally.isViewOld && tally.unreplaced.size === 0) {
    // Who is stopped in between finds endpoints without a Service, and goes on; a Service without endpoints would get some.
    const isLast = ({ of }: Action): boolean => of === ENDPOINTS || of === ENDPOINT_SLICES;
    await tally.execute(
      gone.filter((each) => !isLast(each)),
      signal,
    );
    await tally.execute(gone.filter(isLast), signal);
  }
  return !tally.isViewOld && (await tally.execute(clearings(foreign, gone), signal)) > 0;
}

/** The slices of others go from Services that stay. */
const clearings = (foreign: readonly ForeignSlices[], gone: readonly Action[]): readonly Action[] =>
  foreign
    .filter(({ service }) => !gone.some(({ object }) => object === service))
    .map(({ service, ...what }) => ({ op: 'clear', of: ENDPOINT_SLICES, object: service, ...what }));

const isWrite = ({ op }: Action): boolean => op !== 'delete';

class Tally<R extends Reason> {
  readonly #context: PassContext<R>;
  readonly #refusals: R[] = [];
  readonly #notes: string[] = [];
  readonly #done: Action[] = [];
  readonly errors: unknown[] = [];
  /** Names that the API server refuses, or that others have for Services: nothing else of them is written. */
  readonly #refusedNames = new Set<string>();
  /** What is there of these is of the old form. */
  readonly unreplaced = new Set<string>();
  /**
   * Whether something owned has changed since it was observed. A name that is not free to be created says nothing of
   * the kind: another key of ours may have it, and wait for a name that this one is to give up.
   */
  isViewOld = false;
  #isFenced = false;
  #namespaceInDoubt = false;
  #requeueAfterMs: number | undefined;

  constructor(context: PassContext<R>) {
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

  pass({ again }: { readonly again: boolean }): Pass<R> {
    const { random = Math.random } = this.#context;
    return {
      again,
      writes: this.#done.length,
      done: this.#done,
      refusals: this.#refusals,
      notes: this.#notes,
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
        if (outcome.additions === undefined) this.#refusals.push(texts.contested(object));
        else this.#notes.push(texts.added(object, outcome.additions));
        this.requeue(outcome.afterMs);
      }
    }
  }

  /** Reports whether an object belongs to a Service that could not be created, or replaced. What is there is kept true. */
  isOfUnwritten({ op, object: { metadata } }: Action): boolean {
    const names = [metadata.name, metadata.labels?.[Label.serviceName] ?? ''];
    return names.some((name) => this.unreplaced.has(name) || (op === 'create' && this.#refusedNames.has(name)));
  }

  /** Reports whether an object is a slice of a Service that may not be there: one that is left of a former one goes. */
  isSliceOfRefused(of: Resource, { metadata: { labels = {} } }: KubeObject): boolean {
    return of === ENDPOINT_SLICES && this.#refusedNames.has(labels[Label.serviceName] ?? '');
  }

  #failed({ op, of, object }: Action, error: unknown): void {
    if (isNameRefused(error) && op === 'create') {
      this.#refusedNames.add(object.metadata.name);
      this.#refusals.push(this.#context.texts.refusedName(of.kind, keyOf(object)));
      this.requeue(this.#context.conflictRetryMs);
      return;
    }
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
