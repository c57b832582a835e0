/** What sessions of Links need from the rest of the operator. */
import type { FederationEnvironment } from '../federation/party.ts';
import type { ImportsEnvironment } from '../mcs/party.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import type { LinkPresence } from './presence.ts';

/** What the work for all Links needs. */
export interface LinksEnvironment extends SharedEnvironment {
  /**
   * Tells how long the mirrors of a cluster without a Link must stay: while no Link can exist, and then until the Links
   * have had time to come back.
   */
  readonly presence: Pick<LinkPresence, 'holdMs'>;
}

/** What the session of each Link needs. */
export interface Environment extends LinksEnvironment, FederationEnvironment, ImportsEnvironment {}
