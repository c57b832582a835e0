/** `linkspan upgrade` and `uninstall`, stopped at each write. */
import { upgrades } from './scenarios.ts';
import { stopEverywhere } from './stop-everywhere.ts';

stopEverywhere(upgrades);
