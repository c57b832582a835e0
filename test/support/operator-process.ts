/**
 * The operator as users run it, a process of its own from the command line: for what can only be shown by ending it, and
 * so that its CPU and memory are nobody else's. It ends with the process that started it, whatever way that ends.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Processes, type RunningProcess } from '../cluster/real/processes.ts';
import { LINKS_NAMESPACE } from './builders.ts';
import { type AdminAddress, readMetrics, sumOf } from './metrics.ts';
import type { TwoClusters } from './two-clusters.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** The command line from its sources, relative to the root of the repository. */
const SOURCES = 'synth/cli.ts';
/** The command line as it is shipped: node keeps no compiler in memory that strips types. */
export const BUILT = 'dist/synth/cli.js';
const STOP_MS = 6_000;
const POLL_MS = 10;

/** The command that a user would type, without flags. */
export const OPERATOR_COMMAND = `node ${SOURCES} operator`;

/** One line of its log. */
export interface LogEntry {
  readonly msg: string;
  /** ISO 8601. */
  readonly time: string;
  readonly [field: string]: unknown;
}

export interface OperatorProcessOptions {
  /** Of `linkspan operator`. */
  readonly flags: readonly string[];
  /** Of the node that runs it, e.g. `--cpu-prof`. @default none */
  readonly nodeFlags?: readonly string[];
  /** Environment variables besides ours. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it runs from `dist` instead of the sources. @default false */
  readonly built?: boolean;
}

export class OperatorProcess {
  /** Where it logs to. */
  readonly logFile: string;
  readonly #processes: Processes;
  readonly #running: RunningProcess;
  /** Lines of the log that {@link logged} has passed. */
  #passed = 0;
  #admin: AdminAddress | undefined;
  #ending = false;

  /** Starts at once. */
  constructor({ flags, nodeFlags = [], env = {}, built = false }: OperatorProcessOptions) {
    this.#processes = new Processes('operator');
    this.logFile = join(this.#processes.dir, 'operator.log');
    const cli = join(ROOT, built ? BUILT : SOURCES);
    const args = [...nodeFlags, cli, 'operator', '--admin-address=127.0.0.1:0', '--log-format=json', ...flags];
    this.#running = this.#processes.run({ name: 'operator', path: process.execPath, args, env });
  }

  /** Resolves when it has ended by itself, with its exit code or the signal that ended it. */
  async died(): Promise<number | NodeJS.Signals> {
    const ending = await this.#running.exited;
    return this.#ending ? new Promise(() => undefined) : ending;
  }

  /** The lines that it has logged. */
  log(): readonly string[] {
    return readFileSync(this.logFile, 'utf8').split('\n').slice(0, -1);
  }

  /** The first entry of the log that matches, after the one that was last asked for. @throws Error if it ends before */
  async logged(matches: (entry: LogEntry) => boolean): Promise<LogEntry> {
    for (;;) {
      const { isRunning } = this.#running;
      const lines = this.log();
      for (const line of lines.slice(this.#passed)) {
        this.#passed += 1;
        const entry = line.startsWith('{') ? (JSON.parse(line) as LogEntry) : undefined;
        if (entry !== undefined && matches(entry)) return entry;
      }
      if (!isRunning) throw new Error(`the operator has ended; its log:\n${lines.join('\n')}`);
      await sleep(POLL_MS);
    }
  }

  /** Waits until its admin port listens. */
  async up(): Promise<AdminAddress> {
    if (this.#admin !== undefined) return this.#admin;
    const { host, port } = await this.logged(({ msg }) => msg === 'linkspan operator starts');
    return (this.#admin = { host: String(host), port: Number(port) });
  }

  /** The sum of the series of one metric that have all of these labels. */
  async metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number> {
    return sumOf(await readMetrics(await this.up()), name, labels);
  }

  /** Sends a signal that does not end it. */
  signal(signal: NodeJS.Signals): void {
    this.#running.signal(signal);
  }

  /** SIGTERM, as the kubelet does it, SIGKILL if that does not help. @returns its exit code, or the signal */
  async stop(): Promise<number | NodeJS.Signals> {
    this.#ending = true;
    this.#running.signal('SIGTERM');
    const late = new AbortController();
    await Promise.race([this.#running.exited, sleep(STOP_MS, undefined, late).catch(() => undefined)]);
    late.abort();
    return this.kill();
  }

  /** SIGKILL: nothing is released. May be called twice. @returns its exit code, or the signal */
  async kill(): Promise<number | NodeJS.Signals> {
    this.#ending = true;
    await this.#running.kill();
    await this.#processes.close();
    return this.#running.exited;
  }
}

/** Starts it on the source cluster of a pair; flags as on the command line. */
export const startOperatorProcess = (clusters: TwoClusters, flags: readonly string[] = []): OperatorProcess => {
  const { host, port } = clusters.gateway.address;
  return new OperatorProcess({
    flags: [
      `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`,
      '--log-level=error',
      `--probe-connect-to=probe-west.${LINKS_NAMESPACE}.svc=${host}:${port}`,
      ...flags,
    ],
  });
};
