/** What the operator gives to the life of a Link. */
import type { FederationEnvironment } from '../federation/party.ts';
import type { ImportsEnvironment } from '../mcs/party.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import type { LinkPresence } from './presence.ts';

/** What the work for all Links is given. */
export interface LinksEnvironment extends SharedEnvironment {
  /** Whether Links can be there at all. */
  readonly presence: Pick<LinkPresence, 'holdMs'>;
}

/** What the work for each Link is given. */
export interface Environment extends LinksEnvironment, FederationEnvironment, ImportsEnvironment {}
