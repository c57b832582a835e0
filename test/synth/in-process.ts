/**
 * Runs a `linkspan` command in the process of the test, which spares each run the loading of the program: for suites of many
 * runs. One at a time: standard output, standard error and the exit code are the process's own.
 */
import { CommanderError } from 'commander';
import { program } from '../../synth/program.ts';
import type { Outcome } from './linkspan.ts';
import { typeRemedies } from './remedies/remedies.ts';

/** Takes what is written to a stream, until it is given back. */
const capture = (stream: NodeJS.WriteStream): { readonly text: () => string; readonly release: () => void } => {
  const original = stream.write.bind(stream);
  let text = '';
  const write = (chunk: string | Uint8Array, ...more: readonly unknown[]): boolean => {
    text += chunk.toString();
    const done = more.find((each) => typeof each === 'function');
    done?.();
    return true;
  };
  stream.write = write;
  return { text: () => text, release: () => void (stream.write = original) };
};

export const linkspanHere = async (...args: readonly string[]): Promise<Outcome> => {
  const outcome = await runHere(args);
  // What completes a command line is a program, and no message.
  if (args[0] !== 'completion') await typeRemedies(process.cwd(), outcome.stdout, outcome.stderr);
  return outcome;
};

const runHere = async (args: readonly string[]): Promise<Outcome> => {
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    await program.parseAsync(args, { from: 'user' });
    return { code: process.exitCode ?? 0, stdout: stdout.text(), stderr: stderr.text() };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // As synth/cli.ts: a command with codes of its own has set it.
    const code = error.exitCode === 0 ? 0 : (process.exitCode ?? 2);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.exitCode = before;
    stdout.release();
    stderr.release();
  }
};
