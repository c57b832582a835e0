/**
 * What a command would change: each object that it wants beside the one that is there, by a dry run of the API server.
 * Nothing is written.
 */
import { COMMAND_LINE } from '../../../../crds/wire.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ApiJson } from '../../../../constructs/rendered/render.ts';
import { cut, isConflict } from '../../../../operator/kube/errors.ts';
import type { KubeObject } from '../../../../operator/kube/objects.ts';
import type { Outcome } from '../cluster.ts';
import { CommandError, type Problem, refuseProblems, withEveryObstacle } from '../command-error.ts';
import { resourceOf } from '../kinds.ts';
import {
  type FieldChange,
  fieldChanges,
  type FieldPath,
  isWithin,
  managersOf,
  pathsOf,
  valueAt,
  without,
  writtenPart,
} from './fields.ts';
import type { Unwanted, Want } from './want.ts';

/** A field that differs, and the managers that have set it, but for ourselves. */
export interface OwnedChange extends FieldChange {
  readonly owners: readonly string[];
}

/** What becomes of one object that is wanted. */
export interface Change {
  readonly want: Want;
  readonly outcome: Exclude<Outcome, 'deleted'>;
  /** What is applied: what is wanted, without what stays as others have set it. */
  readonly object: ApiJson;
  /** The object as it was read. */
  readonly live: KubeObject | undefined;
  /** What an existing object gets, or loses; nothing of an object that is created. */
  readonly fields: readonly OwnedChange[];
  /** What differs from what is wanted, and stays as others have set it. */
  readonly kept: readonly OwnedChange[];
}

/** What becomes of one object that is to go. */
export interface Deletion {
  readonly want: Unwanted;
  readonly outcome: 'deleted';
}

/** How often an object is read anew that somebody changes at the same time. The status of some is often written. */
export const ATTEMPTS = 5;

/** Compares what is wanted with what is there. @throws CommandError if the API server would not take it */
export const compare = (wants: readonly Want[]): Promise<readonly Change[]> =>
  withEveryObstacle(wants.map((want) => compareOne(want)));

/** Compares one object. */
export const compareOne = async (want: Want, attempts = ATTEMPTS): Promise<Change> => {
  try {
    return await compareOnce(want);
  } catch (error) {
    if (!isChangedMeanwhile(error) || attempts === 1) throw error;
    return compareOne(want, attempts - 1);
  }
};

/** Reports whether a request was refused since the object is no longer the one that was read. */
export const isChangedMeanwhile = (error: unknown): boolean => error instanceof CommandError && isConflict(error.cause);

const compareOnce = async (want: Want): Promise<Change> => {
  const { cluster } = want;
  const live = await cluster.find(resourceOf(want.object), want.object.metadata);
  if (live === undefined) return { want, outcome: 'created', object: want.object, live, fields: [], kept: [] };
  refuseProblems(goingProblems(want, live));
  const owned = (path: FieldPath): readonly string[] => managersOf(live, path, COMMAND_LINE);
  const yielded = (want.yields ?? [])
    .flatMap((pattern) => pathsOf(want.object, pattern))
    .flatMap((path) => yieldedParts(live, want.object, path))
    .filter((path) => owned(path).length > 0 && !isTaken(want, path));
  const object = yielded.reduce<ApiJson>(without, want.object);
  const kept = yielded.flatMap((path) =>
    missing(valueAt(live, path), valueAt(want.object, path), path).map((each) => ({ ...each, owners: owned(path) })),
  );
  const after = await cluster.preview<KubeObject>(sameAs(object, live));
  const fields = fieldChanges(writtenPart(live), writtenPart(after)).map((each) => ({
    ...each,
    owners: each.before === undefined ? [] : owned(each.path),
  }));
  return { want, outcome: fields.length === 0 ? 'unchanged' : 'configured', object, live, fields, kept };
};

/** What is being deleted takes changes, and is gone with them. */
const goingProblems = ({ cluster, object }: Want, { metadata }: KubeObject): readonly Problem[] => {
  if (metadata.deletionTimestamp === undefined) return [];
  const { finalizers = [] } = metadata;
  const names = finalizers.map((each) => cut(each)).join(', ');
  return [
    {
      object: cluster.title(object.kind, metadata),
      reason: `is being deleted${names === '' ? '' : `; finalizers keep it: ${names}`}`,
      remedy: 'run the command again when it is gone',
    },
  ];
};

/**
 * What can be left out of a field that yields. One that we have set a part of is looked into: without all of it, the API
 * server would take away what nobody else has set.
 */
const yieldedParts = (live: KubeObject, object: ApiJson, path: FieldPath): readonly FieldPath[] => {
  if (!managersOf(live, path, '').includes(COMMAND_LINE)) return [path];
  const parts = pathsOf(object, [...path, '*']);
  if (parts.length > 0) return parts.flatMap((part) => yieldedParts(live, object, part));
  return isDeepStrictEqual(valueAt(live, path), valueAt(object, path)) ? [] : [path];
};

/** What is wanted and differs. What an object has besides, defaults among it, does not count. */
const missing = (live: unknown, wanted: unknown, path: FieldPath): readonly FieldChange[] =>
  fieldChanges(live, wanted, path).filter(({ after }) => after !== undefined);

const isTaken = ({ takes = [] }: Want, path: FieldPath): boolean => takes.some((pattern) => isWithin(path, pattern));

/** The object as a write of just the one that was read. */
export const sameAs = (object: ApiJson, { metadata: { uid, resourceVersion } }: KubeObject): ApiJson => ({
  ...object,
  metadata: { ...object.metadata, uid, resourceVersion },
});

/** Fields that others have set to another value, and that no flag gives. */
export const conflictsOf = ({ want, fields }: Change): readonly OwnedChange[] =>
  fields.filter(({ path, owners }) => owners.length > 0 && !isTaken(want, path));

/**
 * The obstacles to a change set: what others have set and the command would change.
 * @param remedy what the user can do, as in `add --force-conflicts to change it`
 */
export const conflictProblems = (changes: readonly Change[], remedy: string): readonly Problem[] =>
  changes.flatMap((change) => {
    const { cluster, object } = change.want;
    return conflictsOf(change).map(({ path, before, after, owners }) => ({
      object: cluster.title(object.kind, object.metadata),
      reason:
        `${path.join('.')} would change from ${shown(object.kind, before)} to ${shown(object.kind, after)}, and ` +
        `${owners.join(', ')} ${owners.length === 1 ? 'has' : 'have'} set it`,
      remedy,
    }));
  });

/** Longest value that a line shows. */
const MAX_VALUE = 120;

/** Line breaks, and what a terminal would take for more than text. */
const CONTROL = /[\p{Cc}\p{Cf}]/u;

/** A value as a line shows it. What a Secret holds is not shown. */
export const shown = (kind: string, value: unknown): string => {
  if (value === undefined) return 'none';
  if (kind === 'Secret') return '(not shown)';
  const text = typeof value === 'string' && !CONTROL.test(value) ? value : JSON.stringify(value);
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE - 1)}…`;
};
