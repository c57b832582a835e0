/**
 * Runs a login program once. With a terminal it has its stdin and stderr, so that a person sees its questions and can
 * answer them; without one, the end of what it writes to stderr is kept for a message, and shown if it takes long. It
 * never outlives its deadline.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';

export interface RunOptions {
  /** Variables besides those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it may read what is typed. */
  readonly isInteractive: boolean;
  readonly deadlineMs: number;
}

/** How a program has ended. */
export interface Ended {
  readonly stdout: string;
  /** The end of what it wrote; empty if that went to the terminal. */
  readonly stderr: string;
  /** What went wrong, completing "the login program `name`: …"; undefined if it succeeded. */
  readonly problem: string | undefined;
  /** Whether the program does not exist. */
  readonly isMissing: boolean;
}

/** Longest output that is read, and the part of stderr that is kept. */
const MAX_STDOUT = 1024 * 1024;
const KEPT_STDERR = 4096;

/**
 * A program that fails at once is one line; one that still runs then waits for somebody who must read what it has
 * written.
 */
const QUIET_MS = 2_000;

/** Programs that ask questions run one after the other: they share a terminal. */
let terminal: Promise<unknown> = Promise.resolve();

/** Runs a program to its end. Never throws. */
export function runPlugin(command: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const program = programOf(command);
  if (program === undefined) {
    return Promise.resolve({ stdout: '', stderr: '', problem: 'not found, or not executable', isMissing: true });
  }
  if (!options.isInteractive) return run(program, args, options);
  const turn = terminal.then(() => run(program, args, options));
  terminal = turn;
  return turn;
}

const run = (
  program: string,
  args: readonly string[],
  { env, isInteractive, deadlineMs }: RunOptions,
): Promise<Ended> =>
  new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(program, args, {
        env: { ...process.env, ...env },
        stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', process.stderr.isTTY ? 'inherit' : 'pipe'],
      });
    } catch (error) {
      // A variable with all CAs of a company may be too long.
      resolve({ stdout: '', stderr: '', problem: notStarted(error), isMissing: false });
      return;
    }
    let [stdout, stderr] = ['', ''];
    let isShown = isInteractive;
    const shown = setTimeout(() => {
      if (!isShown) process.stderr.write(stderr);
      isShown = true;
    }, QUIET_MS);
    const end = (problem: string | undefined): void => {
      clearTimeout(deadline);
      clearTimeout(shown);
      // What it has started may keep the pipes open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ stdout, stderr, problem, isMissing: false });
    };
    const stop = (problem: string): void => {
      child.kill('SIGKILL');
      end(problem);
    };
    const deadline = setTimeout(() => stop(`no answer in ${deadlineMs / 1000} s`), deadlineMs);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout.length > MAX_STDOUT) stop('it printed more than a credential');
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-KEPT_STDERR);
      if (isShown) process.stderr.write(text);
    });
    child.on('error', (error) => end(notStarted(error)));
    child.on('close', (code, signal) => {
      end(code === 0 ? undefined : code === null ? `ended by ${signal ?? 'a signal'}` : `ended with exit code ${code}`);
    });
  });

/** Not the message, which may have the arguments. */
const notStarted = (error: unknown): string =>
  `cannot be started: ${(error as NodeJS.ErrnoException).code ?? 'no reason'}`;

/** The file of a program; undefined if there is none. A bare name is looked up in the PATH of this process. */
function programOf(command: string): string | undefined {
  // Windows has extensions to try; there the system looks it up.
  if (process.platform === 'win32') return command;
  if (command.includes(sep)) return isExecutable(command) ? command : undefined;
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith(sep));
  return folders.map((folder) => join(folder, command)).find(isExecutable);
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};
