/**
 * The operator in the process of its test, with periods that a test can wait for. What it does is read from its admin
 * port and its log, as an administrator reads it.
 */
import { parseOperatorConfig } from '../../operator/config/config.ts';
import type { FlagValues } from '../../operator/config/flags.ts';
import type { Tuning } from '../../operator/config/tuning.ts';
import { runOperator } from '../../operator/main.ts';
import type { Logger } from '../../operator/runtime/logger.ts';
import { LINKS_NAMESPACE } from './builders.ts';
import type { TestGateway } from './gateway.ts';
import { type AdminAddress, askAdmin, readMetrics, type Sample, sumOf } from './metrics.ts';

/** Periods for tests that cannot wait; what they prove does not depend on them. */
export const FAST: Tuning = {
  sourceTimings: { idleTimeoutMs: 20_000, settledMs: 500, backoff: { baseMs: 50, capMs: 500 } },
  targetTimings: { idleTimeoutMs: 20_000, settledMs: 500, backoff: { baseMs: 50, capMs: 500 } },
  retryBackoff: { baseMs: 20, capMs: 1_000 },
  conflictRetryMs: 500,
  requestTimeoutMs: 5_000,
  statusPeriodMs: 200,
  removalGraceMs: 100,
  returnGraceMs: 100,
  labelCopyMs: 0,
  importSettleMs: 500,
  importGatherMs: 50,
};

/** Default flags of operators in tests: Leases that a busy machine does not lose. */
export const LASTING_LEASE = { leaseDuration: '30s', renewDeadline: '20s', retryPeriod: '200ms' };
/** Flags for Leases whose end a test awaits. */
export const SHORT_LEASE = { leaseDuration: '2s', renewDeadline: '1500ms', retryPeriod: '100ms' };

export interface OperatorOptions {
  /** As commander hands them over: camelCase. */
  readonly flags?: FlagValues;
  readonly tuning?: Tuning;
  readonly kubeconfigFile?: string;
  readonly log?: Logger;
}

/** What an operator logged. */
export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export class TestOperator {
  readonly lines: LogLine[] = [];
  /** Where its admin port listens, once it does. */
  admin: AdminAddress | undefined;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  /** How much it had done when {@link settled} last looked. */
  #done = -1;

  /** Starts at once. */
  constructor(kubeconfig: string, gateway: TestGateway, { flags = {}, tuning = {}, log }: OperatorOptions) {
    const parsed = parseOperatorConfig(
      {
        kubeconfig,
        adminAddress: '127.0.0.1:0',
        identity: 'linkspan-0',
        enableHeadlessServices: true,
        endpointMirrorGrace: '0s',
        probeConnectTo: [`probe-west.${LINKS_NAMESPACE}.svc=127.0.0.1:${gateway.address.port}`],
        ...LASTING_LEASE,
        ...flags,
      },
      {},
    );
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    this.#running = runOperator({
      config: parsed.value,
      log: log ?? recorder(this.lines),
      signal: this.#stop.signal,
      tuning: { ...FAST, ...tuning },
      onListening: (address) => (this.admin = address),
    }).catch((error: unknown) => error);
  }

  /** What its admin port answers at a path; undefined while it does not listen. */
  async ask(path: string): Promise<{ readonly code: number; readonly text: string } | undefined> {
    return this.admin && askAdmin(this.admin, path);
  }

  /** The sum of the series of one metric that have all of these labels. */
  async metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number> {
    return sumOf(await this.#samples(), name, labels);
  }

  /** Whether it leads, and has read the source cluster. */
  async leads(): Promise<boolean> {
    return (await this.metric('leader_election_master_status')) === 1 && (await this.ask('/readyz'))?.code === 200;
  }

  /**
   * Reports whether the operator is at rest: it has caught up with the target of each accepted Link, its queues are
   * empty, and it has done nothing since the last call. It may not have seen the test's last change yet.
   */
  async settled(): Promise<boolean> {
    const samples = await this.#samples();
    const accepted = samples.filter(
      ({ name, labels, value }) =>
        name === 'linkspan_link_condition' &&
        labels['type'] === 'Accepted' &&
        labels['status'] === 'True' &&
        value === 1,
    );
    const caughtUp = new Set(
      samples.flatMap(({ name, labels }) => (name === 'linkspan_mirrors' ? [labels['target_cluster_name']] : [])),
    );
    const before = this.#done;
    this.#done = sumOf(samples, 'workqueue_adds_total') + sumOf(samples, 'controller_runtime_reconcile_total');
    return (
      accepted.length > 0 &&
      accepted.every(({ labels }) => caughtUp.has(labels['target_cluster_name'])) &&
      sumOf(samples, 'workqueue_depth') === 0 &&
      sumOf(samples, 'controller_runtime_active_workers') === 0 &&
      this.#done === before
    );
  }

  /** Stops as SIGTERM does. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test stops the operator'));
    await this.#running;
  }

  /** What the process ended with; undefined for a clean end. */
  ended(): Promise<unknown> {
    return this.#running;
  }

  async #samples(): Promise<readonly Sample[]> {
    return this.admin === undefined ? [] : readMetrics(this.admin);
  }
}

const recorder = (lines: LogLine[]): Logger => {
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    lines.push({ level, fields, message });
    if (process.env['LINKSPAN_TEST_LOG'] !== undefined) console.error(level, message, JSON.stringify(fields));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};
