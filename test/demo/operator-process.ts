/**
 * The operator as a user runs it: a process of its own, from the command line. It ends with the demo, whatever way that
 * ends, and leaves a log for as long as the demo runs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Processes, RunningProcess } from '../cluster/real/processes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CLI = 'synth/cli.ts';
const STOP_MS = 6_000;

/** The command that a user would type, without flags. */
export const OPERATOR_COMMAND = `node ${CLI} operator`;

/** A running operator. */
export class OperatorProcess {
  readonly logFile: string;
  readonly #running: RunningProcess;
  #stopping = false;

  /**
   * @param flags of `linkspan operator`
   * @param onDeath told when it ends without having been stopped
   */
  constructor(processes: Processes, flags: readonly string[], onDeath: () => void) {
    const name = 'operator';
    this.logFile = join(processes.dir, `${name}.log`);
    this.#running = processes.run({ name, path: process.execPath, args: [join(ROOT, CLI), name, ...flags] });
    void this.#running.exited.then(() => {
      if (!this.#stopping) onDeath();
    });
  }

  /** The lines it has logged. */
  log(): readonly string[] {
    return readFileSync(this.logFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Where its admin port is, as `HOST:PORT`; undefined while it starts. */
  adminAddress(): string | undefined {
    const line = this.log().find((entry) => entry.includes('"linkspan operator is up"'));
    if (line === undefined) return undefined;
    const { host, port } = JSON.parse(line) as { readonly host: string; readonly port: number };
    return `${host}:${port}`;
  }

  /** SIGTERM, as the kubelet does it; SIGKILL if that does not help. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#running.signal('SIGTERM');
    const late = new AbortController();
    await Promise.race([this.#running.exited, sleep(STOP_MS, undefined, late).catch(() => undefined)]);
    late.abort();
    await this.#running.kill();
  }
}
