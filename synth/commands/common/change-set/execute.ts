/**
 * Writing a change set, object by object. Each write is of just the object that was read: one that somebody has changed
 * meanwhile is compared anew, and is written only if what becomes of it is what was announced.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '../cluster.ts';
import type { ResultReport } from '../output.ts';
import { ATTEMPTS, type Change, compareOne, isChangedMeanwhile, type OwnedChange, sameAs } from './compare.ts';
import { valueAt } from './fields.ts';
import type { Unwanted } from './want.ts';

/** Writes the changes in their order. @throws CommandError at the first that cannot be written */
export const execute = async (changes: readonly Change[], report: ResultReport): Promise<void> => {
  for (const change of changes) {
    const { cluster, object } = change.want;
    await report.add({ context: cluster.context, object, outcome: await write(change, ATTEMPTS) });
  }
};

const write = async (change: Change, attempts: number): Promise<Outcome> => {
  const { want, outcome, object, live } = change;
  if (outcome === 'unchanged') return outcome;
  try {
    if (live === undefined) await want.cluster.create(object);
    else await want.cluster.apply(sameAs(object, live));
    return outcome;
  } catch (error) {
    if (!isChangedMeanwhile(error) || attempts === 1) throw error;
    const again = await compareOne(want);
    // What another run has written meanwhile needs no write.
    if (again.outcome === 'unchanged') return again.outcome;
    if (!isSame(again, change)) throw error;
    return write(again, attempts - 1);
  }
};

/** Reports whether the same becomes of an object. What the API server allocates may be another at each try. */
const isSame = (one: Change, other: Change): boolean =>
  one.outcome === other.outcome &&
  isDeepStrictEqual(announced(one), announced(other)) &&
  isDeepStrictEqual(one.kept, other.kept);

const announced = ({ fields, object }: Change): readonly OwnedChange[] =>
  fields.filter(({ path, owners }) => owners.length > 0 || valueAt(object, path) !== undefined);

/** Deletes the objects in their order: just those that were read. */
export const executeDeletions = async (all: readonly Unwanted[], report: ResultReport): Promise<void> => {
  for (const { cluster, of, object } of all) {
    await cluster.delete(of, object);
    await report.add({ context: cluster.context, object: { ...object, kind: of.kind }, outcome: 'deleted' });
  }
};
