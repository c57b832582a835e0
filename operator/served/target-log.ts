/**
 * Reports problems with what a target sends, as log lines and as Events of its Link. Reports objects that the API does
 * not allow, at a limited rate (rule G3), and questions about Services that the target does not answer.
 */
import { describe } from '../kube/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { MALFORMED_RATE, Throttle } from '../runtime/rate.ts';
import type { LinkReport } from './environment.ts';

export class TargetLog {
  readonly #link: string;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #report: Pick<LinkReport, 'event'>;
  readonly #malformed = new Throttle<string>(MALFORMED_RATE, (what, more) => this.#reportMalformed(what, more));

  constructor(link: string, log: Pick<Logger, 'warn'>, report: Pick<LinkReport, 'event'>) {
    this.#link = link;
    this.#log = log;
    this.#report = report;
  }

  /** Reports an object that was left out because the API does not allow it. */
  malformed(what: string): void {
    this.#malformed.add(what);
  }

  /** Reports that the target does not answer a question about one Service. */
  unanswered(key: string, error: unknown): void {
    this.#log.warn(
      { link: this.#link, service: key, error: describe(error) },
      'the target does not answer whether it still exports the Service; nothing of it is deleted before',
    );
  }

  /** Reports at once the objects whose reports the limited rate has delayed. */
  flush(): void {
    this.#malformed.flush();
  }

  #reportMalformed(what: string, more: number): void {
    const others = more === 0 ? '' : `, and ${more} more`;
    this.#log.warn(
      { link: this.#link, object: what, ...(more > 0 && { more }) },
      'the target sent an object that the API does not allow; it is ignored',
    );
    this.#report.event('Warning', 'MalformedObject', `ignored an object that the target sent: ${what}${others}`);
  }
}
