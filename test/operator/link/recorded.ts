/** What is reported for a Link, and what is logged, as plain lines. */
import type { LinkReport } from '../../../operator/served/environment.ts';
import type { Logger } from '../../../operator/runtime/logger.ts';

export class RecordedReport implements LinkReport {
  statusChanges = 0;
  /** `type reason message`. */
  readonly events: string[] = [];

  statusChanged(): void {
    this.statusChanges += 1;
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.events.push(`${type} ${reason} ${message}`);
  }
}

/** One line of a log. */
export interface LogRecord {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A logger that keeps `level message` of each line, and the whole line. */
export function recordingLog(lines: string[], records: LogRecord[] = []): Logger {
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    lines.push(`${level} ${message}`);
    records.push({ level, fields, message });
  };
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return log;
}
