#!/usr/bin/env node
/**
 * The executable `linkspan` of the package. It refuses a Node that is too old in one line, before it imports the command
 * line, which such a Node cannot run. So it has no other imports.
 */
import { createRequire } from 'node:module';

const USAGE_ERROR = 2;

const { engines } = createRequire(import.meta.url)('linkspan/package.json') as { readonly engines: { node: string } };

/** Major and minor number of a version such as `v22.19.0`, or of a range such as `>=22.19`. */
const parts = (version: string): readonly [major: number, minor: number] => {
  const [, major, minor] = /(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return [Number(major), Number(minor ?? 0)];
};

const [major, minor] = parts(process.version);
const [leastMajor, leastMinor] = parts(engines.node);

if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) {
  await import('./cli.ts');
} else {
  process.stderr.write(
    `error: Linkspan needs Node ${leastMajor}.${leastMinor} or later, this is ${process.version} (install a newer Node)\n`,
  );
  process.exitCode = USAGE_ERROR;
}
