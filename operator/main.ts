/**
 * The operator as a process: connects, serves its admin port, waits until it leads, works while it leads, and stops in
 * order. Its caller handles signals, exit codes and the command line.
 */
import type { OperatorConfig } from './config/config.ts';
import { effectiveFlags } from './config/effective.ts';
import { VERSION } from './config/version.ts';
import { type AdminServer, type Readiness, startAdmin } from './runtime/admin.ts';
import { sleep } from './kube/backoff.ts';
import { KubeClient } from './kube/client.ts';
import { EventRecorder } from './runtime/events.ts';
import { fenced } from './runtime/fence.ts';
import type { ClusterAccess } from './kube/access/access.ts';
import { sourceAccess } from './kube/access/in-cluster.ts';
import { Interruptions } from './runtime/interruptions.ts';
import { limitedLog } from './runtime/limited-log.ts';
import type { Logger } from './runtime/logger.ts';
import { eventLoop } from './runtime/turns.ts';
import { createMetrics } from './metrics/index.ts';
import { Candidate } from './candidate.ts';
import { StopClock } from './stop-clock.ts';
import { FIELD_MANAGER, OPERATOR_LEASE, UserAgent } from '../crds/wire.ts';
import { Manager } from './link/manager.ts';
import type { Tuning } from './config/tuning.ts';

export { LeadershipLostError } from './candidate.ts';

export interface RunOptions {
  readonly config: OperatorConfig;
  readonly log: Logger;
  /** Stops the operator: mirrors stay, Leases are released. */
  readonly signal: AbortSignal;
  readonly tuning?: Tuning;
  /** How the source cluster is reached. @default as the configuration says */
  readonly access?: ClusterAccess;
  /** Called when the admin port is open. */
  readonly onListening?: (address: AdminServer['address']) => void;
}

/** Time between two log lines about an operator that is not ready. */
const UNREADY_PERIOD_MS = 60_000;

/**
 * Runs until the signal aborts, and 4.5 s longer at most, whatever hangs: the caller then ends the process (rule H2).
 * @throws TerminalError if the kubeconfig is unusable, LeadershipLostError if leadership was lost, Error if the admin
 *   address cannot be bound
 */
export async function runOperator(options: RunOptions): Promise<void> {
  const { signal } = options;
  const log = limitedLog(options.log);
  const stop = new StopClock();
  const begin = () => stop.begin();
  if (signal.aborted) begin();
  signal.addEventListener('abort', begin, { once: true });
  const ended = new AbortController();
  const running = run(options, log, stop).then(() => 'ended' as const);
  try {
    if ((await Promise.race([running, stop.overdue(ended.signal)])) === 'ended') return;
    log.warn({}, 'linkspan operator stops before all is released: what is left expires by itself');
    if (stop.failure !== undefined) throw stop.failure;
  } finally {
    ended.abort();
    signal.removeEventListener('abort', begin);
    log.flush();
  }
}

async function run(options: RunOptions, log: Logger, stop: StopClock): Promise<void> {
  const { config, signal } = options;
  const tuning = { turns: eventLoop, ...options.tuning };
  const metrics = createMetrics(tuning.metrics);
  // Set from the start: that no replica leads is not the same as that none runs.
  metrics.leader.set({ name: OPERATOR_LEASE }, 0);
  metrics.buildInfo.set({ version: VERSION, node_version: process.version }, 1);
  let isUp = false;
  const client = new KubeClient(options.access ?? (await sourceAccess(config)), {
    userAgent: UserAgent.source,
    fieldManager: FIELD_MANAGER,
    connections: Math.max(32, config.concurrency * 2),
    ...metrics.clientHooks,
    onResponse: (host, method, code) => {
      metrics.clientHooks.onResponse(host, method, code);
      if (isUp || !(Number(code) < 300)) return;
      isUp = true;
      log.info({ server: client.server }, 'linkspan operator is up');
    },
    ...(tuning.requestTimeoutMs === undefined ? {} : { timeoutMs: tuning.requestTimeoutMs }),
    ...(tuning.network === undefined ? {} : { network: tuning.network }),
  });
  const interruptions = new Interruptions();
  const candidate = config.leaderElect ? new Candidate({ config, client, log: options.log, interruptions }) : undefined;
  const mayWrite = (): boolean => candidate?.mayWrite ?? true;
  const hasCeased = (identity: string): boolean => candidate?.hasCeased(identity) ?? false;
  const events = new EventRecorder({
    client: fenced(client, mayWrite),
    namespace: config.namespace,
    component: 'linkspan',
    instance: config.identity,
    log,
  });
  let manager: Manager | undefined;
  const ready = (): Readiness => {
    const checks = [manager?.check() ?? candidate?.check() ?? { name: 'starting', ok: false }];
    return { ok: checks.every(({ ok }) => ok), checks };
  };
  const admin = await (tuning.serveAdmin ?? startAdmin)({
    ...config.adminAddress,
    registry: metrics.registry,
    ready,
  });
  options.onListening?.(admin.address);
  log.info(
    { version: VERSION, node: process.version, ...admin.address, server: client.server, flags: effectiveFlags(config) },
    'linkspan operator starts',
  );

  const lead = async (until: AbortSignal): Promise<void> => {
    manager = new Manager({ config, tuning, client, metrics, events, log, mayWrite, hasCeased, interruptions });
    metrics.leader.set({ name: OPERATOR_LEASE }, 1);
    await manager.run(until);
    manager = undefined;
    // As long as the Lease is held: later they may not be written.
    await events.flush(stop.leftMs / 2);
    metrics.leader.set({ name: OPERATOR_LEASE }, 0);
  };
  const ended = new AbortController();
  void reportUnready(ready, options.log, ended.signal);
  try {
    if (candidate === undefined) await lead(signal);
    else await candidate.run(signal, lead, (failure) => stop.begin(failure));
  } finally {
    ended.abort();
    stop.begin();
    await Promise.all([events.close(stop.leftMs), admin.close()]);
    await client.close();
    log.info({}, 'linkspan operator has stopped');
  }
}

/** Says again and again why the operator is not ready, until the signal aborts. */
async function reportUnready(ready: () => Readiness, log: Logger, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(UNREADY_PERIOD_MS, signal);
    if (signal.aborted) return;
    const { ok, checks } = ready();
    if (!ok) log.warn({ checks: checks.filter((each) => !each.ok) }, 'linkspan operator is not ready');
  }
}
