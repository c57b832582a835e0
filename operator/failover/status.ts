/** Computes the status of a ServiceFailover, and reads it back. A status that is read back is foreign data. Pure. */
import type { FailoverStatus } from '../../crds/failover/types.gen.ts';
import { type FieldError, formatFieldErrors } from '../../crds/field-error.ts';
import {
  type Condition,
  type Fields,
  fieldsOf,
  readConditions,
  setCondition,
  toTime,
  type Verdict,
  verdict,
} from '../kube/conditions.ts';
import type { Readiness } from './decide.ts';
import type { ObservedFailover } from './observed.ts';
import type { Decision, Finding } from './plan.ts';
import type { EndpointCounts } from './readiness.ts';

/** Result of a reconcile: the errors of an invalid spec, or a decision. */
export type FailoverFindings = { readonly invalid: readonly FieldError[] } | DecidedFailover;

export interface DecidedFailover {
  readonly observed: ObservedFailover;
  readonly decision: Decision;
  /** Why a route could not be written. */
  readonly failure?: Finding | undefined;
}

/** The operator that reports a status, and the generation of the spec that the status is about. */
export interface ReportedOf {
  /** Namespace of the operator. */
  readonly operator: string;
  readonly generation: number;
}

/** The part of a status that is read back. */
export interface StatusBefore {
  readonly conditions: readonly Condition[];
  readonly readiness: ReadonlyMap<string, Readiness>;
  /** Names of the backends that requests went to, joined by commas. */
  readonly active: string | undefined;
  /** Namespace of the operator that serves the ServiceFailover. */
  readonly operator: string | undefined;
}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** Reads a status back. No content causes an error. */
export function readStatus(status: unknown): StatusBefore {
  const { conditions, backends, active, operator } = fieldsOf(status);
  const readiness = listOf(backends).flatMap(({ service, ready, lastTransitionTime }) => {
    const sinceMs = typeof lastTransitionTime === 'string' ? Date.parse(lastTransitionTime) : NaN;
    if (typeof service !== 'string' || typeof ready !== 'boolean' || Number.isNaN(sinceMs)) return [];
    return [[service, { ready, sinceMs }] as const];
  });
  return {
    conditions: readConditions(conditions),
    readiness: new Map(readiness),
    active: typeof active === 'string' ? active : undefined,
    operator: typeof operator === 'string' && operator !== '' ? operator : undefined,
  };
}

/**
 * Returns the namespace of another operator that serves a ServiceFailover (rule J6); undefined if this operator serves
 * it, or if the status names no operator.
 */
export function anotherOf(status: unknown, own: string): string | undefined {
  const { operator } = readStatus(status);
  return operator === own ? undefined : operator;
}

/** Returns the new status. For an invalid ServiceFailover, the backends in the status stay as they were. */
export function failoverStatus(
  findings: FailoverFindings,
  { operator, generation }: ReportedOf,
  before: unknown,
  now: Date,
): FailoverStatus {
  const isInvalid = 'invalid' in findings;
  let { conditions } = readStatus(before);
  for (const [type, each] of Object.entries(isInvalid ? invalidVerdicts(findings.invalid) : verdictsOf(findings))) {
    conditions = setCondition(conditions, { type, ...each, observedGeneration: generation }, now);
  }
  const backends = isInvalid ? backendsBefore(before) : backendsOf(findings, before);
  return { observedGeneration: generation, operator, conditions, ...backends };
}

function backendsBefore(before: unknown): FailoverStatus {
  const { backends, active } = fieldsOf(before) as FailoverStatus;
  return { ...(backends !== undefined && { backends }), ...(active !== undefined && { active }) };
}

/** @param before the present status, which provides the counts that are not known now */
function backendsOf(
  { observed: { settings, backends }, decision: { readiness, weights } }: DecidedFailover,
  before: unknown,
): FailoverStatus {
  const counted = new Map(listOf(fieldsOf(before)['backends']).map((each) => [each['service'], each]));
  return {
    active: activeOf(settings.backends, weights),
    backends: settings.backends.map(({ service }, at) => {
      const { ready = false, sinceMs = 0 } = readiness[at] ?? {};
      const { readyEndpoints, endpoints } = countsOf(backends[at]?.endpoints) ?? counted.get(service) ?? {};
      const weight = weights[at];
      return {
        service,
        ready,
        lastTransitionTime: toTime(new Date(sinceMs)),
        ...(weight !== undefined && { weight }),
        ...(isCount(readyEndpoints) && { readyEndpoints }),
        ...(isCount(endpoints) && { endpoints }),
      };
    }),
  };
}

const countsOf = (endpoints: EndpointCounts | undefined): Fields | undefined =>
  endpoints && { readyEndpoints: endpoints.ready, endpoints: endpoints.total };

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

/** Names of the backends that requests go to, joined by commas. */
export const activeOf = (
  backends: readonly { readonly service: string }[],
  weights: readonly (number | undefined)[],
): string =>
  backends
    .filter((_, at) => (weights[at] ?? 0) > 0)
    .map(({ service }) => service)
    .join(',');

const yes = (reason: string, message = ''): Verdict => verdict('True', reason, message);
const no = ({ reason, message }: Finding): Verdict => verdict('False', reason, message);

function invalidVerdicts(errors: readonly FieldError[]): Readonly<Record<string, Verdict>> {
  const accepted = verdict('False', 'Invalid', formatFieldErrors(errors));
  return { Ready: accepted, Accepted: accepted };
}

function verdictsOf({ observed, decision, failure }: DecidedFailover): Readonly<Record<string, Verdict>> {
  const ofRoutes = failure ?? decision.ofRoutes;
  const parts = {
    Accepted: yes('Accepted'),
    RoutesApplied: ofRoutes === undefined ? yes('Applied') : pendingOr(ofRoutes),
    BackendsFound: decision.ofBackends === undefined ? yes('Found') : no(decision.ofBackends),
    BackendReady: decision.readiness.some(({ ready }) => ready)
      ? yes('BackendReady')
      : verdict('False', 'NoBackendReady', 'no backend is ready: requests go where they went'),
  };
  const first = Object.values(parts).find(({ status }) => status !== 'True');
  const active = activeOf(observed.settings.backends, decision.weights);
  return { Ready: first ?? yes('Ready', `requests go to ${active}`), ...parts };
}

const pendingOr = (finding: Finding): Verdict =>
  finding.reason === 'Pending' ? verdict('Unknown', finding.reason, finding.message) : no(finding);
