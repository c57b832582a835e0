/**
 * The processes of one test cluster and the directory they live in. They end with the test process, whatever way it
 * ends, SIGKILL included: a shell waits for the end of a pipe that only the test process holds open, then kills what
 * was written to it and removes the directory. Each process has a log, whose tail explains its death.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pauseMs } from '../workload/eventually.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Reads `+ PID` and `- PID` lines; at the end of its input, kills and removes. Folders of other processes inside go
 * first, each by its own watchdog: a server that is still starting makes its folder anew, and the one around it.
 */
const WATCHDOG = `
pids=' '
while read -r sign pid; do
  case $sign in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
[ "$pids" = "\${pids# }" ] || kill -9 $pids
for again in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  set -- "$1" "$1"/linkspan-*-*-??????
  [ -e "$2" ] || break
  sleep 1
done
for again in 1 2 3 4 5; do rm -rf "$1" 2>/dev/null && exit; sleep 1; done
`;

const LOG_TAIL_CHARACTERS = 3_000;

/** Most milliseconds that a process may take to stop. */
const STOP_MS = 5_000;

/** What a process is started with. */
export interface Command {
  /** Names the process in errors, and its log. */
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  /** Environment variables besides those of the test process. @default none */
  readonly env?: Readonly<Record<string, string>>;
}

/** A directory, and processes that are killed when the test process ends. */
export class Processes {
  /** Removed by {@link close}. */
  readonly dir: string;
  readonly #watchdog: ChildProcess;
  readonly #running = new Set<RunningProcess>();

  constructor(name: string) {
    this.dir = temporaryFolder(name);
    // Detached, so that Ctrl-C reaches the test process alone, which then ends them in its own order.
    this.#watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'watchdog', this.dir], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#watchdog.unref();
    this.#watchdog.stdin?.on('error', () => undefined);
    if (this.#watchdog.stdin !== null && 'unref' in this.#watchdog.stdin) {
      (this.#watchdog.stdin as unknown as { unref(): void }).unref();
    }
  }

  /** Starts a process; its output goes to `<name>.log` in the directory, after that of earlier ones of the name. */
  run(command: Command): RunningProcess {
    const running = new RunningProcess(command, join(this.dir, `${command.name}.log`));
    this.#running.add(running);
    this.#tell(`+ ${running.pid}`);
    void running.exited.then(() => {
      this.#running.delete(running);
      this.#tell(`- ${running.pid}`);
    });
    return running;
  }

  /** Has a process that was started elsewhere killed when the test process ends; nothing else becomes of it. */
  watchOver(child: ChildProcess): void {
    if (child.pid === undefined) return;
    this.#tell(`+ ${child.pid}`);
    child.once('exit', () => this.#tell(`- ${child.pid}`));
  }

  /** Ends every process and removes the directory. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((running) => running.kill()));
    this.#watchdog.stdin?.end();
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  #tell(line: string): void {
    if (this.#watchdog.stdin?.writable === true) this.#watchdog.stdin.write(`${line}\n`);
  }
}

/** A process that was started, perhaps ended since. */
export class RunningProcess {
  readonly pid: number;
  /** Resolves when the process has ended, for whatever reason, with its exit code or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly #command: Command;
  readonly #logFile: string;
  readonly #child: ChildProcess;
  #ending: string | undefined;

  /** @throws Error when the program cannot be started at all */
  constructor(command: Command, logFile: string) {
    this.#command = command;
    this.#logFile = logFile;
    const log = openSync(logFile, 'a');
    this.#child = spawn(command.path, command.args, {
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...process.env, ...command.env },
    });
    closeSync(log);
    this.#child.unref();
    this.#child.on('error', () => undefined);
    if (this.#child.pid === undefined) throw new Error(`${command.name}: cannot start ${command.path}`);
    this.pid = this.#child.pid;
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#ending = signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
        resolve(signal ?? code ?? -1);
      });
    });
  }

  /** Whether it has not ended yet. */
  get isRunning(): boolean {
    return this.#ending === undefined;
  }

  /** Sends a signal; to a process that has ended, nothing. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Stops the process, and returns when none of its threads runs any more, as far as the system lets it be seen. */
  pause(): void {
    this.signal('SIGSTOP');
    const began = performance.now();
    while (!isStopped(this.pid)) {
      if (performance.now() - began > STOP_MS)
        throw this.#failure(`is not stopped after ${STOP_MS / 1000} s`, undefined);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }

  /** Ends the process at once, stopped or not, and waits until it has. */
  async kill(): Promise<void> {
    if (this.#ending !== undefined) return;
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  /**
   * Waits until the process is up. The probe is tried again while it returns false or throws.
   * @throws Error with the tail of the log when the process ends before, or is not up in time
   */
  async until(isUp: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
    const began = performance.now();
    let last: unknown;
    while (this.#ending === undefined) {
      try {
        if (await isUp()) return;
      } catch (error) {
        last = error;
      }
      const waitedMs = performance.now() - began;
      if (waitedMs > timeoutMs) throw this.#failure(`is not up after ${timeoutMs / 1000} s`, last);
      await sleep(pauseMs(waitedMs));
    }
    throw this.#failure(`ended at its start (${this.#ending})`, last);
  }

  #failure(what: string, cause: unknown): Error {
    const log = readFileSync(this.#logFile, 'utf8').slice(-LOG_TAIL_CHARACTERS);
    return new Error(`${this.#command.name} ${what}; the end of its log:\n${log}`, { cause });
  }
}

/** Whether every thread of a process is stopped; true where there is no /proc to see it, and if the process has ended. */
const isStopped = (pid: number): boolean => {
  const tasks = `/proc/${pid}/task`;
  return orElse([], () => readdirSync(tasks)).every((thread) => {
    const stat = orElse(') Z', () => readFileSync(`${tasks}/${thread}/stat`, 'utf8'));
    // The state follows the name of the program, which stands between parentheses.
    return 'TZ'.includes(stat.charAt(stat.lastIndexOf(')') + 2));
  });
};

const orElse = <T>(otherwise: T, read: () => T): T => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};
