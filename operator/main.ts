/**
 * The operator as a process: connects, serves its admin port, waits until it leads, works while it leads, and stops in
 * order. Its caller handles signals, exit codes and the command line.
 */
import type { OperatorConfig } from './config/config.ts';
import { type AdminServer, type ReadyCheck, startAdmin } from './runtime/admin.ts';
import { KubeClient } from './kube/client.ts';
import { EventRecorder } from './runtime/events.ts';
import type { ClusterAccess } from './kube/access/access.ts';
import { sourceAccess } from './kube/access/in-cluster.ts';
import { LeaseLock } from './runtime/lease.ts';
import { limitedLog } from './runtime/limited-log.ts';
import type { Logger } from './runtime/logger.ts';
import { createMetrics } from './metrics.ts';
import { FIELD_MANAGER, OPERATOR_LEASE, UserAgent } from '../crds/wire.ts';
import { Manager } from './link/manager.ts';
import type { Tuning } from './config/tuning.ts';

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

/** Thrown when the Lease was lost: another replica may lead now, and this process must end. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
}

/** Time in which the operator closes its Events, admin port and connections. */
const STOP_DEADLINE_MS = 4_500;

/**
 * Runs until the signal aborts.
 * @throws TerminalError if the kubeconfig is unusable, LeadershipLostError if leadership was lost, Error if the admin
 *   address cannot be bound
 */
export async function runOperator(options: RunOptions): Promise<void> {
  const log = limitedLog(options.log);
  const { config, signal, tuning = {} } = options;
  const metrics = createMetrics(tuning.processMetrics === undefined ? {} : { process: tuning.processMetrics });
  // Set from the start: that no replica leads is not the same as that none runs.
  metrics.leader.set({ name: OPERATOR_LEASE }, 0);
  const client = new KubeClient(options.access ?? (await sourceAccess(config)), {
    userAgent: UserAgent.source,
    fieldManager: FIELD_MANAGER,
    connections: Math.max(32, config.concurrency * 2),
    ...metrics.clientHooks,
    ...(tuning.requestTimeoutMs === undefined ? {} : { timeoutMs: tuning.requestTimeoutMs }),
    ...(tuning.network === undefined ? {} : { network: tuning.network }),
  });
  const events = new EventRecorder({
    client,
    namespace: config.namespace,
    component: 'linkspan',
    instance: config.identity,
    log,
  });
  let manager: Manager | undefined;
  const admin = await (tuning.serveAdmin ?? startAdmin)({
    ...config.adminAddress,
    registry: metrics.registry,
    ready: () => {
      const checks: ReadyCheck[] =
        manager === undefined
          ? [{ name: 'standing by', ok: true }]
          : [{ name: 'synced', ok: manager.synced, message: 'the source cluster has not been listed yet' }];
      return { ok: checks.every(({ ok }) => ok), checks };
    },
  });
  options.onListening?.(admin.address);
  log.info({ ...admin.address, server: client.server, namespace: config.namespace }, 'linkspan operator is up');

  const lead = async (until: AbortSignal): Promise<void> => {
    manager = new Manager({ config, tuning, client, metrics, events, log });
    metrics.leader.set({ name: OPERATOR_LEASE }, 1);
    await manager.run(until);
    manager = undefined;
    metrics.leader.set({ name: OPERATOR_LEASE }, 0);
  };
  try {
    if (config.leaderElect) await whileLeading({ ...options, log }, client, lead);
    else await lead(signal);
  } finally {
    await Promise.race([
      Promise.all([events.close(STOP_DEADLINE_MS), admin.close()]),
      new Promise((resolve) => setTimeout(resolve, STOP_DEADLINE_MS).unref()),
    ]);
    await client.close();
    log.info({}, 'linkspan operator has stopped');
    log.flush();
  }
}

/** Leads once, until the signal aborts or the Lease is lost. */
async function whileLeading(
  { config, log, signal }: RunOptions,
  client: KubeClient,
  lead: (until: AbortSignal) => Promise<void>,
): Promise<void> {
  const lock = new LeaseLock({
    client,
    namespace: config.namespace,
    name: OPERATOR_LEASE,
    identity: config.identity,
    leaseDurationMs: config.leaseDurationMs,
    renewDeadlineMs: config.renewDeadlineMs,
    retryPeriodMs: config.retryPeriodMs,
  });
  const ended = new AbortController();
  let leading: Promise<void> = Promise.resolve();
  let failure: Error | undefined;
  const running = lock.run(ended.signal, {
    held: (lost) => {
      log.info({ lease: OPERATOR_LEASE, identity: config.identity }, 'leading');
      leading = lead(AbortSignal.any([lost, signal])).catch((error: unknown) => {
        failure = error instanceof Error ? error : new Error(String(error));
        ended.abort();
      });
    },
    heldByAnother: (holder) => log.info({ holder }, 'standing by'),
    lost: (reason) => {
      failure = new LeadershipLostError(`lost Lease ${OPERATOR_LEASE}: ${reason}`);
      ended.abort();
    },
    failing: (message) =>
      log.warn({ lease: OPERATOR_LEASE, error: message }, 'the Lease cannot be acquired or renewed'),
  });
  await new Promise<void>((resolve) => {
    for (const each of [signal, ended.signal]) {
      if (each.aborted) resolve();
      each.addEventListener('abort', () => resolve(), { once: true });
    }
  });
  // All writes end before the Lease is released.
  await leading;
  ended.abort();
  await running;
  if (failure !== undefined) throw failure;
}
