/**
 * One Link as users see it: whether it is accepted, its status, Events and metrics. It owns the writer of its status,
 * and receives the reports of its session.
 */
import { LinkApi } from '../../crds/index.ts';
import { fieldsOf, type Verdict, verdict } from '../kube/conditions.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Resource } from '../kube/objects.ts';
import type { Metrics } from '../metrics/index.ts';
import { countsByReason, mirrorState } from '../mirror/status.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { MayWrite } from '../runtime/fence.ts';
import type { Logger } from '../runtime/logger.ts';
import type { LinkReport } from '../served/environment.ts';
import { linkStatus, type LinkFindings, NO_FINDINGS, type SessionFindings } from './status/status.ts';
import { readStatus } from './status/before.ts';
import { type LinkObject, StatusWriter } from './status/writer.ts';

export const LINKS: Resource = { ...LinkApi, namespaced: true };

export interface LinkOptions {
  readonly name: string;
  readonly namespace: string;
  readonly client: KubeClient;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** Returns the Link as last seen; undefined if it is deleted. */
  readonly current: () => LinkObject | undefined;
  /**
   * Called after each successful write of the status.
   * @param written the Link in the answer of the API server
   * @param before the Link that the status was computed from
   */
  readonly wrote: (written: LinkObject, before: LinkObject) => void;
  /** Called when the installed CRD drops the fields that Linkspan adds to spec and status (rule G5). */
  readonly onPruned: () => void;
  readonly statusPeriodMs?: number | undefined;
  readonly mayWrite: MayWrite;
}

/** The part of a session that the status of its Link needs. */
export interface LinkWork {
  /**
   * Cluster of the session: the cluster that the Link names now, or one that was named earlier by this Link, or by a
   * Link that had the same name.
   */
  readonly cluster: string;
  findings(): SessionFindings;
}

/** Findings for a Link whose mirrors and members have been removed, or belong to another Link now. */
const CLEARED: Pick<SessionFindings, 'mirrors' | 'federated'> = { mirrors: new Map(), federated: new Map() };

export class Link implements LinkReport {
  readonly #options: LinkOptions;
  readonly #writer: StatusWriter;
  readonly #ended = new AbortController();
  #accepted: Verdict = verdict('Unknown', 'Pending', '');
  #cluster = '';
  #work: LinkWork | undefined;
  /**
   * True from a call of {@link cleared} until a session reports mirrors. During this time, the status must list no
   * mirrors, because those that it listed have been removed, or belong to another Link.
   */
  #isCleared = false;

  constructor(options: LinkOptions) {
    const { client, name, log, current, wrote, onPruned, statusPeriodMs, mayWrite } = options;
    this.#options = options;
    this.#writer = new StatusWriter(
      {
        client,
        resource: LINKS,
        name,
        log,
        current,
        compute: (before) => {
          const findings = this.#findings();
          const status = linkStatus(findings, before, new Date());
          this.#measure(findings, status.conditions);
          return status;
        },
        onWritten: (written, before) => {
          wrote(written, before);
          if (fieldsOf(written.status)['conditions'] === undefined) onPruned();
        },
        mayWrite,
        periodMs: statusPeriodMs,
      },
      this.#ended.signal,
    );
  }

  /**
   * Sets the condition `Accepted`. A new refusal is logged and becomes an Event.
   * @param cluster the cluster that the Link names; undefined if the Link is invalid
   */
  accept(accepted: Verdict, cluster: string | undefined): void {
    this.#cluster = cluster ?? '';
    const isNew = accepted.message !== this.#accepted.message;
    this.#accepted = accepted;
    if (isNew && accepted.status === 'False') {
      this.#options.log.warn({ link: this.#options.name, error: accepted.message }, 'the Link is not accepted');
      this.event('Warning', accepted.reason, accepted.message);
    }
    this.statusChanged();
  }

  /** The session that works for the Link; undefined if there is none. */
  get work(): LinkWork | undefined {
    return this.#work;
  }

  set work(work: LinkWork | undefined) {
    this.#work = work;
    this.statusChanged();
  }

  statusChanged(): void {
    this.#writer.schedule();
  }

  /**
   * Called when the mirrors of a former cluster have been removed, or belong to another Link now. Earlier, this Link,
   * or a Link that had the same name, named the former cluster.
   */
  cleared(): void {
    this.#isCleared = true;
    this.statusChanged();
  }

  wasAlive(): boolean | undefined {
    const { conditions = [] } = readStatus(this.#options.current()?.status);
    const status = conditions.find(({ type }) => type === 'GatewayAlive')?.status;
    return status === undefined || status === 'Unknown' ? undefined : status === 'True';
  }

  /** Called when Links were listed anew. */
  listed(): void {
    this.#writer.listed();
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    if (this.#ended.signal.aborted) return;
    const { name, namespace, events, current } = this.#options;
    const uid = current()?.metadata.uid ?? '';
    events.record({ apiVersion: LinkApi.apiVersion, kind: LinkApi.kind, namespace, name, uid }, type, reason, message);
  }

  /**
   * Stops writing the status, Events and metrics of the Link, because the Link is deleted or the operator ends.
   * Resolves when no write is under way.
   */
  async end(): Promise<void> {
    this.#ended.abort();
    this.#options.metrics.forgetLink(this.#options.name);
    await this.#writer.ended();
  }

  #findings(): LinkFindings {
    const generation = this.#options.current()?.metadata.generation ?? 0;
    const { namespace, name } = this.#options;
    const found = this.#work?.findings() ?? NO_FINDINGS;
    if (found.mirrors !== undefined) this.#isCleared = false;
    const isServed = this.#work !== undefined;
    return {
      ...found,
      ...(this.#isCleared && CLEARED),
      namespace,
      name,
      generation,
      accepted: this.#accepted,
      isServed,
    };
  }

  #measure(
    { mirrors, federated, pruneHeld }: LinkFindings,
    conditions: ReturnType<typeof linkStatus>['conditions'],
  ): void {
    const { metrics, name } = this.#options;
    // Condition `Ready` of a suspended Link is not measured: such a Link is never ready, so an alert about it would
    // have no remedy.
    const measured = conditions.filter(({ type, reason }) => type !== 'Ready' || reason !== 'Suspended');
    metrics.setConditions(name, this.#cluster, measured);
    if (this.#work === undefined) return;
    const { cluster } = this.#work;
    if (federated !== undefined) {
      const joined = [...federated.values()].filter((each) => each.mirrored).length;
      for (const [state, count] of Object.entries({ joined, refused: federated.size - joined })) {
        metrics.target.federatedMembers.set({ target_cluster_name: cluster, state }, count);
      }
    }
    if (mirrors === undefined) return;
    const states = { ready: 0, waiting: 0, failed: 0 };
    for (const each of mirrors.values()) states[mirrorState(each)] += 1;
    for (const [state, count] of Object.entries(states)) {
      metrics.target.mirrors.set({ target_cluster_name: cluster, state }, count);
    }
    metrics.setFailed(cluster, countsByReason([...mirrors.values()].filter((each) => mirrorState(each) === 'failed')));
    metrics.target.heldDeletions.set({ target_cluster_name: cluster }, pruneHeld);
  }
}
