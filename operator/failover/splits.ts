/**
 * TrafficSplits of the users of linkerd-failover, served as it does (rule J5): those that its label marks, by its
 * annotation. Requests go to the primary backend while it is ready, else to all that are. Unlike there, readiness is
 * that of rule J3, writes are retried, and weights never come to be all 0.
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

/** Selects the TrafficSplits that are to be served. */
export const CONTROLLED_SPLITS = Label.controlledBy;

/** A TrafficSplit. It is data from outside. */
export interface TrafficSplit extends KubeObject {
  readonly spec?: { readonly backends?: readonly SplitBackend[] | null };
}

interface SplitBackend {
  readonly service: string;
  readonly weight?: unknown;
}

/** Returns the backends of a TrafficSplit; none if they are not of the expected form. */
export function backendsOf({ spec }: TrafficSplit): readonly SplitBackend[] {
  const backends: unknown = spec?.backends;
  if (!Array.isArray(backends)) return [];
  const isBackend = (each: unknown): each is SplitBackend =>
    typeof each === 'object' && each !== null && typeof (each as SplitBackend).service === 'string';
  return backends.every(isBackend) ? backends : [];
}

/** The Services of a TrafficSplit, by key. */
export const servicesOf = (split: TrafficSplit): readonly string[] => [
  ...new Set(backendsOf(split).map(({ service }) => `${split.metadata.namespace}/${service}`)),
];

/**
 * Returns the weights of the backends, in their order; undefined if they stay as they are, since none is ready.
 * @param isReady undefined while it is not known: then a backend is what its weight takes it for
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
  /** Reports whether all that readiness is known from has been read in a namespace. */
  readonly isKnown: (namespace: string) => boolean;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly mayWrite: MayWrite;
  readonly turn: <T>(signal: AbortSignal, execute: () => Promise<T>) => Promise<T>;
  readonly log: Logger;
}

/** The controller of these TrafficSplits. */
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
    // A version that is not the latest is answered 409, and then the key comes again.
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
