/** Times in props: one type for all, and its text for Go's time.ParseDuration, which the wire contract uses. */
import type { Duration } from 'cdk8s';

/** A length of time: a Duration of cdk8s, a Go duration such as `1m30s`, or a number of seconds. */
export type TimeSpan = Duration | string | number;

/** A time as a Go duration; a text stays as it is. */
export const goDuration = (time: TimeSpan): string => {
  if (typeof time === 'string') return time;
  const ms = typeof time === 'number' ? Number((time * 1000).toFixed(6)) : time.toMilliseconds();
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
};
