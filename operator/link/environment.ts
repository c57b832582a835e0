/** What sessions of Links are given. */
import type { FederationEnvironment } from '../federation/party.ts';
import type { ImportsEnvironment } from '../mcs/party.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import type { LinkPresence } from './presence.ts';

/** What the work for all Links needs. */
export interface LinksEnvironment extends SharedEnvironment {
  /** Whether Links can be there at all. */
  readonly presence: Pick<LinkPresence, 'holdMs'>;
}

/** What the session of each Link needs. */
export interface Environment extends LinksEnvironment, FederationEnvironment, ImportsEnvironment {}
