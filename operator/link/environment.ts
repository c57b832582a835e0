/** What sessions of Links need from the rest of the operator. */
import type { FederationEnvironment } from '../federation/party.ts';
import type { ImportsEnvironment } from '../mcs/party.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import type { LinkPresence } from './presence.ts';

/** What the work for all Links needs. */
export interface LinksEnvironment extends SharedEnvironment {
  /**
   * Decides how long the mirrors of a cluster without a Link must stay if all Links vanished at once: while Links
   * cannot exist, and then for `tuning.returnGraceMs`.
   */
  readonly presence: Pick<LinkPresence, 'holdMs'>;
}

/** What the session of each Link needs. */
export interface Environment extends LinksEnvironment, FederationEnvironment, ImportsEnvironment {}
