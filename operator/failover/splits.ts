/**
 * Serves TrafficSplits like linkerd-failover, for users who come from it (rule J5): those with the label of
 * linkerd-failover, by its annotation. Requests go to the primary backend while it is ready, otherwise to all backends
 * that are ready. Three things differ from linkerd-failover: readiness is that of rule J3, writes are retried, and
 * weights never become all 0.
 */
import { FAILOVER_KINDS } from '../../crds/derived-kinds.ts';
import { Annotation, Label, RouteApi } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import { type KubeObject, type Resource, splitKey } from '../kube/objects.ts';
import { Controller, type ControllerOptions } from '../runtime/controller.ts';
import type { Outcome } from '../runtime/outcome.ts';
import type { EventRecorder } from '../runtime/events.ts';
import { fenced, type MayWrite } from '../runtime/fence.ts';
import type { Logger } from '../runtime/logger.ts';
import { Repairs } from '../runtime/repairs.ts';
import type { WriteThrough } from '../runtime/applier.ts';
import type { Lister } from '../runtime/store.ts';

export const TRAFFIC_SPLITS: Resource = FAILOVER_KINDS.splits;

/** Label that selects the TrafficSplits to serve. */
export const CONTROLLED_SPLITS = Label.controlledBy;

/** A TrafficSplit. It is foreign data, and not trusted. */
export interface TrafficSplit extends KubeObject {
  readonly spec?: { readonly backends?: readonly SplitBackend[] | null };
}

interface SplitBackend {
  readonly service: string;
  readonly weight?: unknown;
}

/** Returns the backends of a TrafficSplit; an empty list if they do not have the expected form. */
export function backendsOf({ spec }: TrafficSplit): readonly SplitBackend[] {
  const backends: unknown = spec?.backends;
  if (!Array.isArray(backends)) return [];
  const isBackend = (each: unknown): each is SplitBackend =>
    typeof each === 'object' && each !== null && typeof (each as SplitBackend).service === 'string';
  return backends.every(isBackend) ? backends : [];
}

/** Returns the backends of a TrafficSplit as keys of Services. */
export const servicesOf = (split: TrafficSplit): readonly string[] => [
  ...new Set(backendsOf(split).map(({ service }) => `${split.metadata.namespace}/${service}`)),
];

/**
 * Returns the weights of the backends, in their order; undefined if the weights stay, because no backend is ready.
 * @param isReady reports whether a backend is ready; undefined while that is not known. In that case, the backend
 *   counts as ready if its weight is above 0
 */
export function splitWeights(
  split: TrafficSplit,
  isReady: (service: string) => boolean | undefined,
): readonly number[] | undefined {
  const backends = backendsOf(split);
  const primary = split.metadata.annotations?.[Annotation.primaryService] ?? backends[0]?.service;
  const ready = backends.map(({ service, weight }) => isReady(service) ?? Number(weight) > 0);
  const leads = backends.findIndex(({ service }, at) => service === primary && ready[at] === true);
  if (leads >= 0) return backends.map((_, at) => (at === leads ? 1 : 0));
  return ready.includes(true) ? ready.map((each) => (each ? 1 : 0)) : undefined;
}

export interface SplitsOptions extends Pick<ControllerOptions, 'concurrency' | 'metrics' | 'backoff'> {
  readonly client: KubeClient;
  readonly store: Lister<TrafficSplit> & WriteThrough;
  /** Reports whether a Service is ready; undefined while that is not known. */
  readonly isReady: (key: string) => boolean | undefined;
  /** Reports whether the slices of a namespace, which show readiness, have been read. */
  readonly isKnown: (namespace: string) => boolean;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly mayWrite: MayWrite;
  readonly turn: <T>(signal: AbortSignal, execute: () => Promise<T>) => Promise<T>;
  readonly log: Logger;
}

/** Controller of the TrafficSplits that have the label of linkerd-failover. */
export class Splits {
  readonly #options: SplitsOptions;
  readonly #controller: Controller;
  readonly #repairs = new Repairs();

  constructor(options: SplitsOptions) {
    this.#options = options;
    this.#controller = new Controller({
      ...options,
      name: 'trafficsplit',
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
  }

  add(key: string): void {
    this.#controller.add(key);
  }

  /** Reconciles until the signal aborts and the reconciles under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#controller.run(signal);
    await this.#controller.forget();
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { client, store, isReady, isKnown, events, mayWrite, turn, log } = this.#options;
    const live = store.get(key);
    const { namespace, name } = splitKey(key);
    if (live === undefined) this.#repairs.forget(key);
    if (live === undefined || !isKnown(namespace)) return {};
    const weights = splitWeights(live, (service) => isReady(`${namespace}/${service}`));
    const backends = backendsOf(live);
    if (weights === undefined || backends.every(({ weight }, at) => Number(weight) === weights[at])) return {};
    const { resourceVersion, uid = '' } = live.metadata;
    const regarding = { apiVersion: RouteApi.trafficSplit, kind: 'TrafficSplit', namespace, name, uid };
    const waitMs = this.#repairs.waitMs(key, weights.join());
    if (waitMs > 0) {
      const message = 'somebody keeps changing the weights; if linkerd-failover still runs, uninstall it';
      log.warn({ trafficSplit: key }, message);
      events.record(regarding, 'Warning', 'TrafficSplitContested', message);
      return { requeueAfterMs: waitMs };
    }
    const next = backends.map((each, at) => ({ ...each, weight: weights[at] }));
    // If this version is not the latest, the API server answers 409, and the key is reconciled again.
    const patch = { metadata: { resourceVersion }, spec: { backends: next } };
    const written = await turn(signal, () =>
      fenced(client, mayWrite).patch<TrafficSplit>(TRAFFIC_SPLITS, { namespace, name }, patch, signal),
    );
    store.wrote(written, live);
    this.#repairs.wrote(key, weights.join());
    const active = next.filter(({ weight }) => weight === 1).map(({ service }) => service);
    log.info({ trafficSplit: key, active: active.join(',') }, 'requests go to other backends');
    events.record(regarding, 'Normal', 'FailedOver', `requests go to ${active.join(', ')}`);
    return {};
  }
}
