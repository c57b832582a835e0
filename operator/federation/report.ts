/**
 * Reports whether local Services that are selected join their federated Services (rule I8): as Events on these
 * Services, log lines and a metric, because no Link has a status for these Services. A Service that was already
 * selected when the operator started is assumed to have joined, so that after a restart, Events and log lines report
 * such a Service only if it cannot join. The metric counts it in either case.
 */
import { splitKey } from '../kube/objects.ts';
import type { Metrics } from '../metrics/index.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { Logger } from '../runtime/logger.ts';

export interface LocalReportOptions {
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly log: Logger;
  /** Returns the uid of a selected Service by its key; undefined if the Service is no longer selected. */
  readonly uidOf: (key: string) => string | undefined;
}

/** Label value that stands for the source cluster in metrics of target clusters. */
const HERE = '';

const STATES = ['joined', 'refused'] as const;
type State = (typeof STATES)[number];

export class LocalReport {
  readonly #options: LocalReportOptions;
  readonly #states = new Map<string, State>();
  readonly #counts: Record<State, number> = { joined: 0, refused: 0 };
  /**
   * Text last reported for each selected Service. The text consists of reason and message, and is empty if the Service
   * has joined. Services that were selected when the operator started begin with an empty text, because they are
   * assumed to have joined. Key: `namespace/name` of the Service.
   */
  readonly #known = new Map<string, string>();

  constructor(options: LocalReportOptions) {
    this.#options = options;
  }

  /** Notes the keys of the Services that were selected when the operator started. */
  listed(keys: Iterable<string>): void {
    for (const key of keys) this.#known.set(key, '');
  }

  /**
   * Counts the status of a Service in the metric. If the status differs from the one last reported, records an Event on
   * the Service and writes a log line.
   * @param status undefined if the status is not known, or the Service is not selected
   */
  report(key: string, status: MirrorStatus | undefined): void {
    this.#count(key, status && (status.mirrored ? 'joined' : 'refused'));
    const uid = this.#options.uidOf(key);
    if (uid === undefined) this.#known.delete(key);
    else if (status !== undefined) this.#announce(key, uid, status);
  }

  /** Removes the metric. */
  async forget(): Promise<void> {
    await this.#options.metrics.forgetTarget(HERE);
  }

  #announce(key: string, uid: string, { mirrored, local, reason, message }: MirrorStatus): void {
    const { events, log } = this.#options;
    const text = mirrored ? '' : `${reason}: ${message}`;
    if (this.#known.get(key) === text) return;
    this.#known.set(key, text);
    const regarding = { apiVersion: 'v1', kind: 'Service', ...splitKey(key), uid };
    const federated = `${regarding.namespace}/${local}`;
    if (mirrored) {
      log.info({ service: key, federated }, 'the local Service has joined its federated Service');
      events.record(regarding, 'Normal', 'Federated', `joined federated Service ${federated}`);
    } else {
      log.warn({ service: key, federated, reason, error: message }, 'the local Service cannot join');
      events.record(regarding, 'Warning', reason, `cannot join federated Service ${federated}: ${message}`);
    }
  }

  #count(key: string, state: State | undefined): void {
    const before = this.#states.get(key);
    if (before === state) return;
    if (before !== undefined) this.#counts[before] -= 1;
    if (state === undefined) this.#states.delete(key);
    else {
      this.#states.set(key, state);
      this.#counts[state] += 1;
    }
    const { federatedMembers } = this.#options.metrics.target;
    for (const each of STATES) federatedMembers.set({ target_cluster_name: HERE, state: each }, this.#counts[each]);
  }
}
