/**
 * Where the requests to a Service go (rule J2): a function of the settings, of what is ready since when, of the weights
 * that the route has now, and of the clock. What has to outlive a restart is in the status and in the route, so a new
 * process decides as the one before it.
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
  /** Whether there is such a Service. */
  readonly exists: boolean;
  /** Undefined while they are not known. */
  readonly endpoints: EndpointCounts | undefined;
  /** Whether a route sends requests to it now. */
  readonly isActive: boolean;
}

/**
 * Returns the readiness of a backend. While it is not known, it stays as it was; of a backend that was never seen, it
 * is what the route takes it for.
 */
export function readinessOf(
  { exists, endpoints, isActive }: BackendView,
  minReady: FailoverSettings['backends'][number]['minReady'],
  before: Readiness | undefined,
  nowMs: number,
): Readiness {
  const ready = exists && (endpoints === undefined ? (before?.ready ?? isActive) : isEnough(endpoints, minReady));
  // Whole seconds, as the status has them, and never early.
  const changedMs = Math.ceil(nowMs / 1000) * 1000;
  return { ready, sinceMs: before?.ready === ready ? Math.min(before.sinceMs, changedMs) : changedMs };
}

/** A backend that a route can have. */
export interface Candidate extends Readiness {
  readonly service: string;
  readonly weight?: number | undefined;
}

/** What a route must say. */
export interface Shares {
  /** The weight of each candidate, in their order. At least one is above 0. */
  readonly weights: readonly number[];
  /** When a hold-down ends that may change them, in milliseconds since 1970. */
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
  // What a route that leads to none of them has been led away from, its own order says.
  const order = services.some(isIn) ? services : [...(current?.keys() ?? [])];
  const active = order.findIndex(isIn);
  // Only what a route has been led away from must prove itself.
  const isHeld = (each: Candidate): boolean => {
    const at = order.indexOf(each.service);
    const isLedAway = active >= 0 && at >= 0 && !isIn(each.service) && (isWeighed(each) || at < active);
    return isLedAway && nowMs < each.sinceMs + holdDownMs;
  };
  const ready = candidates.filter((each) => each.ready);
  if (ready.length === 0) return { weights: unchanged(candidates, current), dueMs: undefined };
  const free = ready.filter((each) => !isHeld(each));
  // What is ready only just now is better than what is not ready at all.
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
 * Nothing is ready: the weights stay. A route that would have none above 0 gets those of the settings, or its first
 * backend.
 */
function unchanged(
  candidates: readonly Candidate[],
  current: ReadonlyMap<string, number> | undefined,
): readonly number[] {
  const weights = candidates.map(({ service }) => current?.get(service) ?? 0);
  if (weights.some((weight) => weight > 0)) return weights;
  return candidates.map(({ weight }, at) => weight ?? (at === 0 ? 1 : 0));
}
