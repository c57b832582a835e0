/**
 * Decides where the requests to a Service go (rule J2). The result depends on the settings, on the readiness of each
 * backend and its last change, on the weights that the route has now, and on the clock. State that must outlive a
 * restart is in the status and in the route, so a new process decides like the previous one.
 */
import type { FailoverSettings } from '../../crds/failover/settings.ts';
import { type EndpointCounts, isEnough } from './readiness.ts';

/** Whether a backend is ready, and since when. */
export interface Readiness {
  readonly ready: boolean;
  /** When `ready` last changed, in milliseconds since 1970. */
  readonly sinceMs: number;
}

/** What is known of a backend. */
export interface BackendView {
  /** Whether the Service exists. */
  readonly exists: boolean;
  /** Undefined while the endpoints are not known. */
  readonly endpoints: EndpointCounts | undefined;
  /** Whether a route sends requests to the backend now. */
  readonly isActive: boolean;
}

/**
 * Returns the readiness of a backend. While the endpoints are not known, the backend keeps its former readiness.
 * Without a former readiness, the backend counts as ready if a route sends requests to it.
 */
export function readinessOf(
  { exists, endpoints, isActive }: BackendView,
  minReady: FailoverSettings['backends'][number]['minReady'],
  before: Readiness | undefined,
  nowMs: number,
): Readiness {
  const ready = exists && (endpoints === undefined ? (before?.ready ?? isActive) : isEnough(endpoints, minReady));
  // The status has whole seconds. Rounded up, the time of a change is never too early.
  const changedMs = Math.ceil(nowMs / 1000) * 1000;
  return { ready, sinceMs: before?.ready === ready ? Math.min(before.sinceMs, changedMs) : changedMs };
}

/** A backend that a route can have. */
export interface Candidate extends Readiness {
  readonly service: string;
  readonly weight?: number | undefined;
}

/** The weights that a route must have. */
export interface Shares {
  /** The weight of each candidate, in the order of the candidates. At least one weight is above 0. */
  readonly weights: readonly number[];
  /**
   * When the next hold-down ends that may change the weights, in milliseconds since 1970; undefined if there is none.
   */
  readonly dueMs: number | undefined;
}

/**
 * Returns the weights of a route.
 * @param candidates at least one, by preference
 * @param current weights that the route has now, by Service; undefined if there is no route yet
 */
export function sharesOf(
  candidates: readonly Candidate[],
  current: ReadonlyMap<string, number> | undefined,
  holdDownMs: number,
  nowMs: number,
): Shares {
  const isIn = (service: string): boolean => (current?.get(service) ?? 0) > 0;
  const services = candidates.map(({ service }) => service);
  // If the route sends requests to none of the candidates, its own order shows which backends it was led away from.
  const order = services.some(isIn) ? services : [...(current?.keys() ?? [])];
  const active = order.findIndex(isIn);
  // The hold-down applies only to backends that requests were led away from.
  const isHeld = (each: Candidate): boolean => {
    const at = order.indexOf(each.service);
    const isLedAway = active >= 0 && at >= 0 && !isIn(each.service) && (isWeighed(each) || at < active);
    return isLedAway && nowMs < each.sinceMs + holdDownMs;
  };
  const ready = candidates.filter((each) => each.ready);
  if (ready.length === 0) return { weights: unchanged(candidates, current), dueMs: undefined };
  const free = ready.filter((each) => !isHeld(each));
  // A backend that has been ready only for a moment is better than one that is not ready at all.
  const chosen = free.length > 0 ? free : ready;
  const takes = chosen.some(isWeighed) ? chosen : chosen.slice(0, 1);
  const held = ready.filter((each) => !takes.includes(each) && isHeld(each));
  return {
    weights: candidates.map((each) => (takes.includes(each) ? (each.weight ?? 1) : 0)),
    dueMs: held.length === 0 ? undefined : Math.min(...held.map(({ sinceMs }) => sinceMs + holdDownMs)),
  };
}

const isWeighed = ({ weight }: Candidate): boolean => weight !== undefined;

/**
 * Returns the present weights, because no backend is ready. If none of them is above 0, returns the weights of the
 * settings. Without weights in the settings, all requests go to the first backend.
 */
function unchanged(
  candidates: readonly Candidate[],
  current: ReadonlyMap<string, number> | undefined,
): readonly number[] {
  const weights = candidates.map(({ service }) => current?.get(service) ?? 0);
  if (weights.some((weight) => weight > 0)) return weights;
  return candidates.map(({ weight }, at) => weight ?? (at === 0 ? 1 : 0));
}
