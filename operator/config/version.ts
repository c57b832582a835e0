/** The version of Linkspan that runs, as its package states it. */
import { createRequire } from 'node:module';

/** Version of the package, as in `1.2.3`. */
export const { version: VERSION } = createRequire(import.meta.url)('linkspan/package.json') as {
  readonly version: string;
};
