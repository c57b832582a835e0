/**
 * Remedies: the commands in messages of `linkspan`. In CI each that a suite sees is typed into a shell, on
 * the clusters that it was printed for: what writes as a dry run of the server, so that the suite goes on as it was.
 */
import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { findBinary, requireBinary } from '../../cluster/real/binaries.ts';
import { commandsIn, dry, printedText } from './command-line.ts';
import { REMEDIES_LOG, type Tried } from './summary.ts';

const CLI = new URL('../../../synth/cli.ts', import.meta.url).pathname;

/** Commands that are not run, each with the reason. */
const NOT_RUN: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^kubectl .*\brollout status\b/, 'waits for pods, which no kubelet runs here'],
  [/^kubectl .*\bwait\b/, 'waits for somebody else'],
  [/^linkspan .*\bmigrate\b.* --back\b/, 'needs the Deployment that its suite has just taken away'],
];

let shims: Promise<string> | undefined;

/** A folder with the two programs that remedies name. */
const programs = (): Promise<string> =>
  (shims ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'linkspan-remedies-'));
    const script = async (name: string, line: string): Promise<void> => {
      const file = join(folder, name);
      await writeFile(file, `#!/bin/sh\n${line} "$@"\n`);
      await chmod(file, 0o755);
    };
    await script('linkspan', `exec '${process.execPath}' '${CLI}'`);
    await script('kubectl', `exec '${requireBinary('kubectl')}'`);
    return folder;
  })());

const seen = new Map<string, Promise<Tried>>();

/** One of a kind: what differs from run to run is left out. */
const kindOf = (command: string): string =>
  command.replaceAll(/\S*\/(tmp|var)\/\S*/g, 'FILE').replaceAll(/:\d{4,5}\b/g, ':PORT');

/** Runs a remedy of a kind that was not seen yet. */
const tryRemedy = (command: string, cwd: string): Promise<Tried> => {
  const kind = kindOf(command);
  const known = seen.get(kind);
  if (known !== undefined) return known;
  const trying = attempt(command, cwd).then((tried) => logged(kind, tried));
  seen.set(kind, trying);
  return trying;
};

/** A line for the summary at the end of the run. */
const logged = async (kind: string, tried: Tried): Promise<Tried> => {
  const file = process.env[REMEDIES_LOG];
  if (file !== undefined) await appendFile(file, `${JSON.stringify({ ...tried, kind })}\n`);
  return tried;
};

/** Types one command. */
export const attempt = async (command: string, cwd: string): Promise<Tried> => {
  const skipped = NOT_RUN.find(([pattern]) => pattern.test(command))?.[1];
  if (skipped !== undefined) return { command, skipped };
  const line = dry(command);
  if (line === undefined) return { command, failure: 'cannot be typed without changing anything' };
  const { code, output } = await shell(line, cwd, await programs());
  const failure = failureOf(command, code, output);
  return failure === undefined ? { command } : { command, failure };
};

const shell = (
  line: string,
  cwd: string,
  folder: string,
): Promise<{ readonly code: number; readonly output: string }> =>
  new Promise((resolve) => {
    execFile(
      'bash',
      ['-o', 'pipefail', '-c', line],
      { cwd, env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` }, timeout: 60_000 },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output: stdout + stderr }),
    );
  });

/** What ends a command line of `linkspan` that is wrong. */
const USAGE =
  /unknown option|unknown command|too many arguments|missing required|required option|is invalid|has no context|is required with --apply/;
/** Kinds that take others with them. */
const WHOLE = /^(namespace|customresourcedefinition\S*) "/m;

const NO_KUBELET = /no preferred addresses found|dial tcp .*:10250/;

/** Why a command does not do what it says. */
export const failureOf = (command: string, code: number, output: string): string | undefined => {
  if (command.startsWith('linkspan ') && !command.includes(' | ')) {
    if (/^linkspan install .*--apply/.test(command) && !command.includes(' --image'))
      return 'needs --image with --apply';
    // Reports end with 1 where something is wrong, which it is.
    return USAGE.test(output) || code < 0 || code > 2 ? `exit code ${code}: ${output}` : undefined;
  }
  // Its pod was found; here no kubelet runs that has its log.
  if (NO_KUBELET.test(output)) return undefined;
  if (code !== 0) return `exit code ${code}: ${output}`;
  const deleted = [...output.matchAll(/"([^"]+)" deleted/g)].map(([, name = '']) => name);
  if (deleted.length > 0 && WHOLE.test(output)) return `deletes all that is in it: ${deleted.join(', ')}`;
  const named = new Set(command.split(/[\s/'"]+/));
  const unnamed = deleted.filter((name) => !named.has(name));
  return unnamed.length === 0 ? undefined : `deletes more than it names: ${unnamed.join(', ')}`;
};

/** Whether this run types remedies, where there is a kubectl: CI does, and `npm run test:remedies`. */
const typesRemedies =
  [process.env['LINKSPAN_TYPES_REMEDIES'], process.env['CI']].includes('true') && findBinary('kubectl') !== undefined;
/** The suites of commands; others stop them, or leave clusters half-way. */
const SUITES = '/test/synth/commands/';

/** Types the remedies in what a command has printed. @throws Error with those that do not work */
export const typeRemedies = async (cwd: string, ...outputs: readonly string[]): Promise<void> => {
  if (!typesRemedies || expect.getState().testPath?.includes(SUITES) !== true) return;
  const commands = new Set(outputs.flatMap((output) => commandsIn(printedText(output))));
  const failed: string[] = [];
  for (const command of commands) {
    const { failure } = await tryRemedy(command, cwd);
    if (failure !== undefined) failed.push(`the remedy ${command}\n${failure}`);
  }
  if (failed.length > 0) throw new Error(failed.join('\n'));
};
