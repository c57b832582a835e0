/** The commands about Links, accounts and credentials, without one of the rights that they use. */
import { links } from './scenarios.ts';
import { withoutRights } from './without-rights.ts';

// What other commands do half-way needs no rights of these.
withoutRights(links.filter(({ between, again }) => between === undefined && again === undefined));
