/**
 * Reports the state of ServiceImports and of the local ServiceExports: in their statuses, as Events if somebody must
 * act, as log lines and as a metric.
 */
import { McsApi } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import { keyOf, type KubeObject, SERVICES, splitKey } from '../kube/objects.ts';
import type { ImportDecision } from './decide.ts';
import { readServiceImport, SERVICE_IMPORTS, type ServiceImport } from './objects.ts';
import { exportStatus, importStatus } from './status.ts';
import type { Refusal } from '../mirror/reasons.ts';
import { merged, type Outcome } from '../runtime/outcome.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { Action } from '../runtime/plan.ts';
import { StatusPatch } from '../runtime/status-patch.ts';
import { readServiceExport, SERVICE_EXPORTS, type ServiceExport } from '../target/read/mcs-objects.ts';
import type { SharedEnvironment } from '../served/environment.ts';

export interface ImportReportOptions {
  readonly env: Pick<SharedEnvironment, 'client' | 'mayWrite' | 'tuning' | 'metrics' | 'log'>;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Makes a write when its turn comes. */
  readonly turn: <T>(signal: AbortSignal, execute: () => Promise<T>) => Promise<T>;
  /** Updates the store with a ServiceImport whose status was written. */
  readonly wrote: (written: ServiceImport, before: ServiceImport) => void;
}

/** What is reported about one key. */
export interface ImportFindings {
  readonly decision: ImportDecision;
  /** The ServiceImport, if it is ours. */
  readonly live: ServiceImport | undefined;
  readonly serviceExport: ServiceExport | undefined;
  /**
   * Whether statuses stay unchanged for now, because the exports or the id of a cluster are expected to become known:
   * - `conflict`: the condition `Conflict` of the ServiceExport stays unchanged. The condition waits for all clusters,
   *   and for the answer of a cluster that is asked whether an export is gone.
   * - `ofImport`: the status of the ServiceImport stays unchanged. The status waits for the clusters that are part of
   *   the ServiceImport.
   */
  readonly waits: { readonly conflict: boolean; readonly ofImport: boolean };
}

const STATUS_PERIOD_MS = 1_000;

const STATES = ['true', 'false'] as const;

export class ImportReport {
  readonly #options: ImportReportOptions;
  readonly #ofImports: StatusPatch<ServiceImport>;
  readonly #ofExports: StatusPatch<ServiceExport>;
  /** Whether each ServiceImport of ours is ready, by key. */
  readonly #ready = new Map<string, boolean>();
  readonly #counts: Record<(typeof STATES)[number], number> = { true: 0, false: 0 };
  /** Message of the obstacle that was last reported for each key that cannot be imported. */
  readonly #said = new Map<string, string>();

  constructor(options: ImportReportOptions) {
    const { client, mayWrite, tuning } = options.env;
    const common = { client, mayWrite, turn: options.turn, periodMs: tuning.statusPeriodMs ?? STATUS_PERIOD_MS };
    this.#options = options;
    this.#ofImports = new StatusPatch({
      ...common,
      of: SERVICE_IMPORTS,
      read: readServiceImport,
      onWritten: options.wrote,
    });
    this.#ofExports = new StatusPatch({ ...common, of: SERVICE_EXPORTS, read: readServiceExport });
  }

  /**
   * Writes the statuses of the ServiceImport and the ServiceExport of one key, except what must wait
   * ({@link ImportFindings.waits}). A status is written only if it differs from the present status of the object.
   */
  async report(key: string, findings: ImportFindings, signal: AbortSignal): Promise<Outcome> {
    const { decision, live, serviceExport, waits } = findings;
    const now = new Date();
    const ofImport = live && importStatus(decision, live, now);
    this.#count(key, live && ofImport?.conditions.some(isReady));
    if (live === undefined) this.#ofImports.forget(key);
    if (serviceExport === undefined) this.#ofExports.forget(key);
    const ofExport = serviceExport && exportStatus(decision, serviceExport, now, waits.conflict);
    return merged([
      ofImport === undefined || waits.ofImport ? {} : await this.#write(this.#ofImports, live, ofImport, signal),
      ofExport === undefined ? {} : await this.#write(this.#ofExports, serviceExport, ofExport, signal),
    ]);
  }

  /** Forgets the reported statuses of a key, because another operator serves its ServiceImport. */
  leave(key: string): void {
    this.#count(key, undefined);
    this.#ofImports.forget(key);
    this.#ofExports.forget(key);
  }

  /**
   * Reports why a key cannot be imported, unless the last report about the key had the same message.
   * @param obstacle what prevents the import; undefined if nothing prevents it
   * @param object the object about which an Event is recorded. @default - no Event is recorded
   */
  say(key: string, obstacle: Refusal | undefined, object?: KubeObject & { readonly kind: string }): void {
    const before = this.#said.get(key);
    if (obstacle === undefined) this.#said.delete(key);
    if (obstacle === undefined || obstacle.message === before) return;
    const { reason, message } = obstacle;
    this.#said.set(key, message);
    this.#options.env.log.warn({ controller: 'imports', service: key, error: message }, 'a Service cannot be imported');
    if (object !== undefined) this.#event(object.kind, object, reason, message);
  }

  /** Logs what was written. */
  wrote(key: string, done: readonly Action[]): void {
    const { log } = this.#options.env;
    for (const { op, of, object } of done) {
      log.debug({ service: key, op, object: `${of.kind} ${object.metadata.name}` }, 'written');
      if (of === SERVICE_IMPORTS && op !== 'update') {
        const message = op === 'delete' ? 'ServiceImport deleted: no cluster exports it' : 'ServiceImport created';
        log.info({ controller: 'imports', service: key }, message);
      }
      if (of === SERVICES && op === 'delete') log.debug({ service: keyOf(object) }, 'derived Service deleted');
    }
  }

  /** Removes the metric. */
  forget(): void {
    for (const ready of STATES) this.#options.env.metrics.serviceImports.remove({ ready });
  }

  async #write<T extends KubeObject & { readonly status?: unknown }>(
    patch: StatusPatch<T>,
    object: T | undefined,
    status: Reported,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (object === undefined) return {};
    try {
      const outcome = await patch.write(object, status, signal);
      if (typeof outcome === 'object') return { requeueAfterMs: outcome.waitMs };
      if (outcome === 'written') this.#announce(object, status);
      return {};
    } catch (error) {
      if (signal.aborted) return {};
      const { log } = this.#options.env;
      log.warn({ controller: 'imports', service: keyOf(object), error: describe(error) }, 'a status cannot be written');
      return { errors: [error] };
    }
  }

  /** Records an Event for each condition that reports a problem and has a new status or reason. */
  #announce(object: KubeObject & { readonly status?: unknown }, { conditions, clusters }: Reported): void {
    const isExport = clusters === undefined;
    const { kind } = isExport ? McsApi.serviceExport : McsApi.serviceImport;
    const before = (object.status as Partial<Reported> | undefined)?.conditions ?? [];
    for (const { type, status, reason, message } of conditions) {
      const was = before.find((each) => each.type === type);
      const isNews = was?.status !== status || was.reason !== reason;
      // `Ready` of a ServiceExport only repeats that the export is not valid.
      const isProblem = type === 'Conflict' ? status === 'True' : status === 'False' && !(isExport && type === 'Ready');
      if (isProblem && isNews) this.#event(kind, object, reason, message);
    }
  }

  /**
   * Records a Warning Event about an object.
   * @param reason one or several reasons, separated by commas; the Event gets the first of the list
   */
  #event(kind: string, object: KubeObject, reason: string, message: string): void {
    const { uid = '' } = object.metadata;
    const regarding = { apiVersion: McsApi.apiVersion, kind, ...splitKey(keyOf(object)), uid };
    this.#options.events.record(regarding, 'Warning', reason.split(',')[0] ?? reason, message);
  }

  #count(key: string, isReady: boolean | undefined): void {
    const before = this.#ready.get(key);
    if (before === isReady) return;
    if (before !== undefined) this.#counts[`${before}`] -= 1;
    if (isReady === undefined) this.#ready.delete(key);
    else {
      this.#ready.set(key, isReady);
      this.#counts[`${isReady}`] += 1;
    }
    const { serviceImports } = this.#options.env.metrics;
    for (const ready of STATES) serviceImports.set({ ready }, this.#counts[ready]);
  }
}

/** Fields that the statuses of ServiceImports and ServiceExports have in common. */
interface Reported {
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
  readonly clusters?: readonly unknown[];
}

const isReady = ({ type, status }: Reported['conditions'][number]): boolean => type === 'Ready' && status === 'True';
