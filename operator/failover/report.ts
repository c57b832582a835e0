/** Reports on ServiceFailovers: status, metrics, Events and log. */
import type { FailoverStatus } from '../../crds/failover/types.gen.ts';
import { FailoverApi } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import { fieldsOf } from '../kube/conditions.ts';
import { describe } from '../kube/errors.ts';
import { keyOf, splitKey } from '../kube/objects.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Outcome } from '../runtime/outcome.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { MayWrite } from '../runtime/fence.ts';
import type { Logger } from '../runtime/logger.ts';
import { StatusPatch } from '../runtime/status-patch.ts';
import type { Store } from '../runtime/store.ts';
import { failoverStatus, type FailoverFindings, readStatus } from './status.ts';
import { type FailoverObject, SERVICE_FAILOVERS } from './kinds.ts';

export interface ReportOptions {
  /** Namespace of the operator. */
  readonly namespace: string;
  /** The source cluster. */
  readonly client: KubeClient;
  readonly store: Store<FailoverObject>;
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly log: Logger;
  readonly mayWrite: MayWrite;
  /** Time between two writes of one status, in milliseconds. @default 1000 */
  readonly statusPeriodMs?: number | undefined;
  /** @default Date.now */
  readonly now?: () => number;
}

export const STATUS_PERIOD_MS = 1_000;

/**
 * Time until a ServiceFailover that another operator serves is checked again, in milliseconds. The namespace of the
 * other operator may be gone by then.
 */
const LOOK_MS = 60_000;

export class FailoverReport {
  readonly #options: ReportOptions;
  readonly #statuses: StatusPatch<FailoverObject>;
  /** For each ServiceFailover that another operator serves, the namespace of that operator, by key. */
  readonly #left = new Map<string, string>();

  /**
   * ServiceFailovers from whose status the API server has dropped the field that names the operator. The CRD is older
   * than the field, so nobody can tell which operator serves them.
   */
  readonly #unmarked = new Set<string>();

  constructor(options: ReportOptions) {
    this.#options = options;
    const { client, mayWrite, store, statusPeriodMs = STATUS_PERIOD_MS } = options;
    this.#statuses = new StatusPatch<FailoverObject>({
      client,
      of: SERVICE_FAILOVERS,
      mayWrite,
      periodMs: statusPeriodMs,
      onWritten: (written, before) => {
        if (readStatus(written.status).operator === undefined) this.#unmarked.add(keyOf(written));
        else this.#upgraded();
        store.wroteStatus(written, before);
      },
    });
  }

  /**
   * Makes this operator the one that serves a ServiceFailover (rule J6). The write replaces only the very status that
   * was seen. So another operator cannot claim the ServiceFailover at the same time, and a ServiceFailover that is gone
   * cannot be claimed.
   * @returns undefined if this operator serves the ServiceFailover already, or if the CRD drops the field that names
   *   the operator
   */
  async claim(key: string, object: FailoverObject, signal: AbortSignal): Promise<Outcome | undefined> {
    const { namespace: operator } = this.#options;
    if (this.#unmarked.has(key) || readStatus(object.status).operator === operator) return undefined;
    const outcome = await this.#write(key, object, { ...fieldsOf(object.status), operator }, signal);
    return outcome === 'written' ? { again: true } : outcome;
  }

  /** Writes the status of a ServiceFailover if it has changed, at most once in each period. */
  async report(key: string, object: FailoverObject, findings: FailoverFindings, signal: AbortSignal): Promise<Outcome> {
    const { namespace: operator, metrics, now = Date.now } = this.#options;
    const { generation = 0 } = object.metadata;
    this.#left.delete(key);
    const status = failoverStatus(findings, { operator, generation }, object.status, new Date(now()));
    metrics.setFailover(key, status.backends ?? []);
    const outcome = await this.#write(key, object, status, signal);
    if (outcome !== 'written') return outcome;
    this.#record(key, object, status);
    return {};
  }

  /** @returns `written`; if the status has not been written, what to do next */
  async #write(key: string, object: FailoverObject, status: object, signal: AbortSignal): Promise<'written' | Outcome> {
    try {
      const outcome = await this.#statuses.write(object, status, signal);
      if (typeof outcome === 'object') return { requeueAfterMs: outcome.waitMs };
      return outcome === 'unchanged' ? {} : outcome;
    } catch (error) {
      if (signal.aborted) return {};
      const { log } = this.#options;
      log.warn({ failover: key, error: describe(error) }, 'the status of a ServiceFailover cannot be written');
      return { errors: [error] };
    }
  }

  /** Reports, once, that another operator serves a ServiceFailover (rule J6). */
  leave(key: string, object: FailoverObject, operator: string): Outcome {
    const again = { requeueAfterMs: LOOK_MS };
    if (this.#left.get(key) === operator) return again;
    this.forget(key);
    this.#left.set(key, operator);
    const { namespace: own, log } = this.#options;
    const { namespace, name } = splitKey(key);
    const message = `the operator in namespace ${operator} serves it, and the one in ${own} leaves it alone. If there is none in ${operator} any more, run: kubectl patch ${FailoverApi.plural}.${FailoverApi.group} ${name} --namespace ${namespace} --subresource=status --type=merge --patch '{"status":{"operator":null}}'`;
    log.warn({ failover: key, operator }, 'another operator serves the ServiceFailover');
    this.#event(key, object, 'Warning', 'ServedByAnother', message);
    return again;
  }

  /**
   * Called when the CRD has the field that names the operator. Statuses from which an older CRD dropped the field are
   * written again.
   */
  #upgraded(): void {
    for (const key of this.#unmarked) this.#statuses.forget(key);
    this.#unmarked.clear();
  }

  /** Forgets a ServiceFailover that is gone, or that another operator serves. */
  forget(key: string): void {
    this.#left.delete(key);
    this.#unmarked.delete(key);
    this.#statuses.forget(key);
    this.#options.metrics.forgetFailover(key);
  }

  /** Records Events about changes of the status. Logs and counts a change of the backends that requests go to. */
  #record(key: string, object: FailoverObject, status: FailoverStatus): void {
    const { log, metrics } = this.#options;
    const before = readStatus(object.status);
    const event = (...what: readonly ['Normal' | 'Warning', string, string]): void => this.#event(key, object, ...what);
    const { active = '' } = status;
    if (before.active !== undefined && before.active !== active) {
      const message = `requests go to ${active}; they went to ${before.active}`;
      metrics.failoverSwitches.inc({ failover: key });
      log.info({ failover: key, active, before: before.active }, 'requests go to another backend');
      event('Normal', 'FailedOver', message);
    }
    for (const { type, status: now, reason, message } of status.conditions ?? []) {
      if (type === 'Ready' || now === 'Unknown') continue;
      const was = before.conditions.find((each) => each.type === type);
      const isNews = was?.status !== now || (now === 'False' && was.reason !== reason);
      if (now === 'False' && isNews) event('Warning', reason, message);
    }
  }

  #event(key: string, object: FailoverObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { apiVersion, kind } = FailoverApi;
    const { uid = '' } = object.metadata;
    this.#options.events.record({ apiVersion, kind, ...splitKey(key), uid }, type, reason, message);
  }
}
