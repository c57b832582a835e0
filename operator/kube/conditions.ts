/**
 * Kubernetes status conditions as values. The one rule that alerts depend on is kept here: `lastTransitionTime` changes
 * when `status` changes, and at no other time.
 */
import { cut } from './errors.ts';

/** A condition, with the fields of `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase, for machines. */
  readonly reason: string;
  /** For people; at most {@link MAX_CONDITION_MESSAGE} characters. */
  readonly message: string;
  /** `metadata.generation` of the object that the condition was computed from. */
  readonly observedGeneration: number;
  /** RFC 3339, whole seconds, UTC. */
  readonly lastTransitionTime: string;
}

/** Status, reason and message of a condition, before it is set on an object. */
export type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;

export const verdict = (status: Verdict['status'], reason: string, message: string): Verdict => ({
  status,
  reason,
  message,
});

export const MAX_CONDITION_MESSAGE = 1024;

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** Whether the API server accepts the reason of a condition. */
export const isReason = (reason: string): boolean => reason.length <= 1024 && REASON.test(reason);

/** RFC 3339 with whole seconds, as `metav1.Time` is written. */
export const toTime = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');

/**
 * Returns the conditions with `next` in place of the one of its type, or last if there was none; the order stays.
 * @throws TypeError if the API server would not accept the reason: that is a mistake in the program
 */
export function setCondition(
  previous: readonly Condition[],
  next: Omit<Condition, 'lastTransitionTime'>,
  now: Date,
): readonly Condition[] {
  if (!isReason(next.reason)) {
    throw new TypeError(`condition ${next.type}: the reason "${cut(next.reason)}" must be CamelCase`);
  }
  const before = previous.find(({ type }) => type === next.type);
  const condition: Condition = {
    type: next.type,
    status: next.status,
    reason: next.reason,
    message: cut(next.message, MAX_CONDITION_MESSAGE),
    observedGeneration: next.observedGeneration,
    lastTransitionTime: before?.status === next.status ? before.lastTransitionTime : toTime(now),
  };
  const at = before === undefined ? previous.length : previous.indexOf(before);
  return [...previous.slice(0, at), condition, ...previous.slice(at + 1).filter(({ type }) => type !== next.type)];
}

/** Names the first `max` of many for a message, and says how many more there are. */
export const firstOf = (names: readonly string[], max: number): string => {
  const shown = names.slice(0, max).join(', ');
  return names.length > max ? `${shown} and ${names.length - max} more` : shown;
};

/** The fields of a status that is read back: foreign data. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a value; none if it is not an object. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** Reads conditions back. Those that are not of the expected form are left out, and no form makes this throw. */
export const readConditions = (foreign: unknown): readonly Condition[] =>
  Array.isArray(foreign) ? foreign.flatMap(readCondition) : [];

function readCondition(foreign: unknown): readonly Condition[] {
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = fieldsOf(foreign);
  if (typeof type !== 'string' || !isStatus(status) || !isTime(lastTransitionTime)) return [];
  if (typeof reason !== 'string' || !isReason(reason)) return [];
  return [
    {
      type,
      status,
      reason,
      message: typeof message === 'string' ? message : '',
      observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : 0,
      lastTransitionTime,
    },
  ];
}

/** Whether a value is the status of a condition. */
export const isStatus = (value: unknown): value is Condition['status'] =>
  value === 'True' || value === 'False' || value === 'Unknown';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Whether the API server accepts a value as a time: it is written back. */
export const isTime = (value: unknown): value is string =>
  typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));
