/**
 * What is wrong with what a target sends, as log lines and Events of its Link: objects that the API does not allow, at a
 * limited rate (rule G3), and Services about which the target does not answer.
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

  /** Reports an object that was left out since it is not what the API allows. */
  malformed(what: string): void {
    this.#malformed.add(what);
  }

  /** Reports that the target, asked for one Service, does not answer. */
  unanswered(key: string, error: unknown): void {
    this.#log.warn(
      { link: this.#link, service: key, error: describe(error) },
      'the target does not answer whether it still exports the Service; nothing of it is deleted before',
    );
  }

  /** Reports at once what the rate has kept back. */
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
