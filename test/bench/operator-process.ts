/**
 * The operator as users run it, a process of its own, so that its CPU and memory are nobody else's. What it did is read
 * from its metrics and its log, as an administrator would.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What is shipped, not its sources: node would keep the compiler that strips their types in memory. */
const CLI = fileURLToPath(new URL('../../dist/synth/cli.js', import.meta.url));

/** As the operator's Deployment sets it: a small young generation, which a process that mostly waits does not miss. */
const NODE_FLAGS = ['--max-semi-space-size=1'];

/** One line of its log. */
export interface LogEntry {
  readonly msg: string;
  /** ISO 8601. */
  readonly time: string;
  readonly [field: string]: unknown;
}

/** A series: name, labels, value. */
export interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

export class OperatorProcess {
  readonly #child: ChildProcess;
  /** What it has logged since the line that was last asked for. */
  readonly #log: LogEntry[] = [];
  #told: () => void = () => undefined;
  #admin = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error('the operator has no output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.startsWith('{')) return;
      this.#log.push(JSON.parse(line) as LogEntry);
      this.#told();
    });
  }

  /**
   * @param nodeFlags of the node that runs it, e.g. `--cpu-prof`
   * @param env besides ours
   */
  static async start(
    flags: readonly string[],
    nodeFlags: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<OperatorProcess> {
    const child = spawn(
      process.execPath,
      [...NODE_FLAGS, ...nodeFlags, CLI, 'operator', '--admin-address=127.0.0.1:0', '--log-format=json', ...flags],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } },
    );
    const operator = new OperatorProcess(child);
    const { host, port } = await operator.logged(({ msg }) => msg === 'linkspan operator is up');
    operator.#admin = `http://${String(host)}:${String(port)}`;
    return operator;
  }

  /** The first log line that matches, after the one that was last asked for. @throws Error if the process ends */
  async logged(matches: (entry: LogEntry) => boolean): Promise<LogEntry> {
    for (;;) {
      const at = this.#log.findIndex(matches);
      const [found] = at === -1 ? [] : this.#log.splice(0, at + 1).slice(-1);
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null) throw new Error(`the operator ended with ${this.#child.exitCode}`);
      await new Promise<void>((resolve) => {
        this.#told = resolve;
        this.#child.once('exit', () => resolve());
      });
    }
  }

  /** The sum of the series of one metric whose labels contain all of these, as `name="value"`. */
  async metric(name: string, ...labels: readonly string[]): Promise<number> {
    const found = (await this.#samples()).filter(
      (sample) => sample.name === name && labels.every((label) => sample.labels.includes(label)),
    );
    return found.reduce((sum, { value }) => sum + value, 0);
  }

  /** Stops it as Kubernetes does. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }

  async #samples(): Promise<readonly Sample[]> {
    const text = await (await fetch(`${this.#admin}/metrics`)).text();
    return text.split('\n').flatMap((line) => {
      const [, name = '', labels = '', value] = /^([a-z_0-9]+)(\{.*\})? (\S+)$/i.exec(line) ?? [];
      return value === undefined ? [] : [{ name, labels, value: Number(value) }];
    });
  }
}
