/**
 * Makes one pass over the objects of one key: plans, executes, and returns the result as a value. A pass takes one
 * step. Once it has written objects of one step, the next pass sees them and writes the objects that need them. Only a
 * pass that wrote nothing deletes, so that no deletion is based on an old view.
 */
import { ENDPOINT_SLICES, ENDPOINTS, type KubeObject, type Resource } from '../kube/objects.ts';
import { type Action, type Desired, type ForeignSlices, idOf, type OwnedKind, plan, type Settled } from './plan.ts';
import { type Pass, type Reason, serviceOf, Tally, type TallyContext } from './tally.ts';
import { ENDLESS, inTurns, type Turns } from './turns.ts';

/** Reports whether an owned object stays although it is not desired. */
export type Retain = (of: Resource, object: KubeObject) => boolean;

export interface PassContext<R extends Reason> extends TallyContext<R> {
  /** Turns of the event loop for planning. @default - everything is planned in one turn */
  readonly turns?: Turns | undefined;
  /**
   * Returns the goal as of now. Called after a failed request. @default - the goal stays as it was when the pass began
   */
  readonly renewed?: (() => Promise<Goal>) | undefined;
}

/** Objects that are written together: the desired ones, and those that exist and are owned. */
export interface Step {
  readonly desired: readonly Desired[];
  readonly owned: readonly OwnedKind[];
  /** What earlier plans of the same step have found. @default - everything is compared */
  readonly settled?: Settled | undefined;
}

/** The result that a pass works towards. */
export interface Goal {
  /** Namespaces that are created first. They need only exist, whoever created them. @default - none */
  readonly namespaces?: readonly Desired[];
  /** Steps in the order in which they are written. */
  readonly steps: readonly Step[];
  /** Whether more objects are desired once these have been written. */
  readonly isPartial: boolean;
  /** Whether a foreign object has a name that is needed. The key is then reconciled again later. */
  readonly isBlocked: boolean;
  /** Reports whether an object must not be deleted although it is not desired. @default - reports false */
  readonly retain?: Retain;
  /** Slices that others have made for our Services. @default - none */
  readonly foreign?: readonly ForeignSlices[] | undefined;
  /**
   * Returns the goal for objects that could not be replaced, and still exist in their old form. @default - they stay as
   * they are
   */
  readonly unreplaced?: (names: ReadonlySet<string>) => Promise<Goal>;
}

/**
 * Takes the next step towards a goal. If objects could not be replaced, takes another step that keeps their old form up
 * to date until they can be.
 */
export async function takeStep<R extends Reason>(
  goal: Goal,
  context: PassContext<R>,
  signal: AbortSignal,
): Promise<Pass<R>> {
  const pass = await stepTo(goal, context, signal);
  if (pass.unreplaced.size === 0) return pass;
  const { unreplaced } = await renewed(goal, context, signal);
  if (unreplaced !== undefined) await stepTo(await unreplaced(pass.unreplaced), context, signal);
  return pass;
}

/** Takes the first step that is not complete. If all are, deletes what is not desired. */
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
    // Whatever happens in between, each write is conditional.
    const actions = await planOf(step, context, tally);
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
  if (goal === begun) return tally.pass({ again: await clear(goal, gone, tally, signal) });
  const before = await deletions(begun, context, tally);
  const now = await deletions(goal, context, tally);
  const ids = new Set(before.map(({ of, object }) => idOf(of, object)));
  const agreed = now.filter(({ of, object }) => ids.has(idOf(of, object)));
  return tally.pass({ again: await clear(goal, agreed, tally, signal) });
}

const planOf = <R extends Reason>(
  { desired, owned, settled }: Step,
  { turns = ENDLESS }: PassContext<R>,
  tally: Tally<R>,
): Promise<readonly Action[]> => inTurns(plan(tally.allowed(desired), owned, settled), turns);

/**
 * Returns the deletions that a goal comes to. Once the goal was renewed, only those are made that the goals before and
 * after have in common: what has come back since stays (L119), and so does what a new name has yet to replace.
 */
async function deletions<R extends Reason>(
  { steps, retain = () => false }: Goal,
  context: PassContext<R>,
  tally: Tally<R>,
): Promise<readonly Action[]> {
  const found: Action[] = [];
  for (const step of steps) {
    const actions = await planOf(step, context, tally);
    found.push(...actions.filter(({ op }) => op === 'delete'));
  }
  return found.filter(({ of, object }) => !retain(of, object));
}

/**
 * Returns the goal after a request that failed. The request may have waited for its answer until its deadline: if a
 * gateway has died since, the objects from before must not be written (L104).
 */
const renewed = (
  before: Goal,
  context: Pick<PassContext<Reason>, 'renewed'>,
  { aborted }: AbortSignal,
): Promise<Goal> | Goal => (aborted ? before : (context.renewed?.() ?? before));

/**
 * Deletes what is not desired. Reports whether another pass must follow, since a deleted object may have had a name
 * that is needed.
 */
async function clear<R extends Reason>(
  { retain = () => false, foreign = [] }: Goal,
  undesired: readonly Action[],
  tally: Tally<R>,
  signal: AbortSignal,
): Promise<boolean> {
  const goes = undesired.filter(({ of, object }) => !retain(of, object));
  const former = new Set(goes.filter((each) => tally.isFormer(each)).map(serviceOf));
  const gone = goes.filter((each) => !former.has(serviceOf(each)));
  if (!tally.isViewOld && tally.unreplaced.size === 0) {
    // Who is stopped in between finds endpoints without a Service, and goes on; a Service without endpoints would get
    // some.
    const isLast = ({ of }: Action): boolean => of === ENDPOINTS || of === ENDPOINT_SLICES;
    await tally.execute(
      gone.filter((each) => !isLast(each)),
      signal,
    );
    // A Service that could not be changed still needs what it leads to.
    await tally.execute(
      gone.filter((each) => isLast(each) && !tally.isBehindUnsettled(each)),
      signal,
    );
  }
  for (const name of former) tally.unreplaced.add(name);
  return !tally.isViewOld && (await tally.execute(clearings(foreign, gone), signal)) > 0;
}

/** Returns actions that remove the slices of others from those Services that stay. */
const clearings = (foreign: readonly ForeignSlices[], gone: readonly Action[]): readonly Action[] =>
  foreign
    .filter(({ service }) => !gone.some(({ object }) => object === service))
    .map(({ service, ...what }) => ({ op: 'clear', of: ENDPOINT_SLICES, object: service, ...what }));

const isWrite = ({ op }: Action): boolean => op !== 'delete';
