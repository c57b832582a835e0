/** `linkspan install`, `upgrade` and `uninstall`, without one of the rights that they use. */
import { installations, upgrades } from './scenarios.ts';
import { withoutRights } from './without-rights.ts';

withoutRights([...installations, ...upgrades]);
