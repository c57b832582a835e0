/** The version of Linkspan that runs. */
import { createRequire } from 'node:module';

const { version } = createRequire(import.meta.url)('linkspan/package.json') as { readonly version: string };

export const VERSION = version;
