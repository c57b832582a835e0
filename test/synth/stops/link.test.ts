/** The commands about Links, accounts and credentials, stopped at each write. */
import { links } from './scenarios.ts';
import { stopEverywhere } from './stop-everywhere.ts';

stopEverywhere(links);
