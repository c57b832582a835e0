/**
 * What a command is about to do, tried by dry runs before its first write: whatever an API server would refuse, by rights or
 * by a webhook, refuses the command while nothing is changed.
 */
import { isNotFound } from '../../../../operator/kube/errors.ts';
import { CommandError, withEveryObstacle } from '../command-error.ts';
import type { Change } from './compare.ts';
import type { Existing, Unwanted } from './want.ts';

/** A request of which nothing is kept. */
export type Trial = () => Promise<unknown>;

/** Makes all of them. @throws CommandError with every obstacle */
export const tryAll = async (trials: readonly Trial[]): Promise<void> => {
  await withEveryObstacle(trials.map(unlessNotThereYet));
};

/** Whether a write needs what is created before it, such as a namespace, a kind or the role of a binding, shows only then. */
const unlessNotThereYet = async (trial: Trial): Promise<void> => {
  try {
    await trial();
  } catch (error) {
    if (!(error instanceof CommandError && isNotFound(error.cause))) throw error;
  }
};

/** Tries to create what is not there. Only who writes needs the right: what is printed may be for somebody else to apply. */
export const creationTrials = (changes: readonly Change[]): readonly Trial[] =>
  changes
    .filter(({ outcome }) => outcome === 'created')
    .map(
      ({ want, object }) =>
        () =>
          want.cluster.trial().create(object),
    );

/** Tries to delete objects. */
export const deletionTrials = (all: readonly Unwanted[]): readonly Trial[] =>
  all.map((each) => () => each.cluster.trial().delete(each.of, each.object));

/** Tries to change objects, whatever in them. */
export const patchTrials = (all: readonly Existing[]): readonly Trial[] =>
  all.map((each) => () => each.cluster.trial().patch(each.of, each.object.metadata, {}));
