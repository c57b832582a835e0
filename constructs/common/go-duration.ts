/** Durations as the wire has them: text that Go's time.ParseDuration reads. */
import type { Duration } from 'cdk8s';

/** A Duration as a Go duration; one that is written as such already stays as it is. */
export const goDuration = (duration: Duration | string): string => {
  if (typeof duration === 'string') return duration;
  const ms = duration.toMilliseconds();
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
};
