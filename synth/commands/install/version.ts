/** The version of Linkspan that runs, and how versions compare. */
import { createRequire } from 'node:module';

const { version } = createRequire(import.meta.url)('linkspan/package.json') as { readonly version: string };

export const VERSION = version;

/** Reports whether a version is newer than another: `1.10.0` is newer than `1.9.1`. */
export const isNewer = (version: string, than: string): boolean => {
  const [one, other] = [version, than].map((text) => text.split(/[.+-]/).map(Number));
  for (const index of [0, 1, 2]) {
    const difference = (one?.[index] ?? 0) - (other?.[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
};
