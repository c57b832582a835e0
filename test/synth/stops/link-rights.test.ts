/** The commands about Links, accounts and credentials, without one of the rights that they use. */
import { links } from './scenarios.ts';
import { withoutRights } from './without-rights.ts';

withoutRights(links);
