/** `linkspan install`, stopped at each write. */
import { installations } from './scenarios.ts';
import { stopEverywhere } from './stop-everywhere.ts';

stopEverywhere(installations);
