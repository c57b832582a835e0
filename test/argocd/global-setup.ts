/**
 * Decides, before any test runs, whether there is an Argo CD to run against: builds it where it is missing and Go is
 * there. Without it, or without redis, nothing is tested and the run says so; under CI=true it is a failed one.
 */
import { hasGo, buildMissing } from '../cluster/real/build.ts';
import { AVAILABLE_VARIABLE } from './available.ts';
import { argoCdTools, findRedis } from './tools.ts';

/** Run by vitest before the tests. */
export const setup = async (): Promise<void> => {
  const reason = await unavailable();
  if (reason !== undefined && process.env['CI'] === 'true') {
    throw new Error(`${reason}: under CI=true every suite must run`);
  }
  if (reason !== undefined) console.warn(`\nWARNING: nothing is tested on Argo CD: ${reason}\n`);
  process.env[AVAILABLE_VARIABLE] = String(reason === undefined);
};

/** Why the suite cannot run, after what can be done about it. */
const unavailable = async (): Promise<string | undefined> => {
  if (findRedis() === undefined) return 'redis-server is not in PATH (on Debian: apt-get install redis-server)';
  if (!hasGo()) return 'there is no Go, which Argo CD and its manifests come by (install Go 1.26)';
  if (argoCdTools.missing().length > 0) {
    console.log('Building Argo CD, which the suite runs on: minutes the first time, never again.');
    await buildMissing((line) => console.log(line), argoCdTools);
  }
  return undefined;
};
