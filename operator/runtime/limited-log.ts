/**
 * A logger that writes lines of one message about one Link at a rate (rule G3): whatever a target does, it fills no
 * log. A line that stands for others has their number in field `more`. Lines at `debug` are not limited.
 */
import type { LogFunction, Logger } from './logger.ts';
import { LOG_RATE, Throttle } from './rate.ts';

type Fields = Parameters<LogFunction>[0];

/** Messages of Links that are remembered; of more, those that came first are forgotten. */
const MAX_KINDS = 2000;

export interface LimitedLogger extends Logger {
  /** Writes the lines that are held. */
  flush(): void;
}

export function limitedLog(log: Logger): LimitedLogger {
  const kinds = new Map<string, Throttle<Fields>>();
  const throttle = (level: 'info' | 'warn' | 'error', fields: Fields, message: string): Throttle<Fields> => {
    const key = JSON.stringify([level, fields['link'] ?? fields['controller'], message]);
    const known = kinds.get(key);
    if (known !== undefined) return known;
    const made = new Throttle<Fields>(LOG_RATE, (latest, more) =>
      log[level](more === 0 ? latest : { ...latest, more }, message),
    );
    kinds.set(key, made);
    for (const [first, oldest] of kinds) {
      if (kinds.size <= MAX_KINDS) break;
      oldest.flush();
      kinds.delete(first);
    }
    return made;
  };
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => throttle('info', fields, message).add(fields),
    warn: (fields, message) => throttle('warn', fields, message).add(fields),
    error: (fields, message) => throttle('error', fields, message).add(fields),
    flush: () => {
      for (const each of kinds.values()) each.flush();
    },
  };
}
