/**
 * What would become of the routes of ServiceFailovers (rules J1 to J4): what the operator derives, of what is listed of the
 * source cluster and of the targets of Links. It is of the time after all hold-downs.
 */
import type { RouteKind } from '../../constructs/rendered/index.ts';
import { formatFieldErrors } from '../../crds/field-error.ts';
import type { OperatorConfig } from '../config/config.ts';
import { FailoverDerivation } from '../failover/derivation.ts';
import { ServiceEndpoints } from '../failover/endpoints.ts';
import { type FailoverKinds, KEPT } from '../failover/kinds.ts';
import type { Finding } from '../failover/plan.ts';
import { NOTHING_KNOWN, type TargetKnowledge } from '../failover/readiness.ts';
import type { FailoverReport } from '../failover/report.ts';
import { failoverOf, ROUTE_KINDS, ROUTES } from '../failover/routes.ts';
import { ENDPOINT_SLICES } from '../kube/objects.ts';
import { type Listed, ListedKind } from './listed-kind.ts';
import type { ModelCluster } from './model.ts';
import { SILENT, type Stepping, Steps } from './steps.ts';

/** What is known of ServiceFailovers, and of what is in their way. */
export interface FailoverFacts {
  readonly failovers: Listed;
  readonly routes: Readonly<Record<RouteKind, Listed>>;
  /** Linkerd's own HTTPRoutes. */
  readonly policyRoutes: Listed;
  readonly profiles: Listed;
  /** The slices of the Services that ServiceFailovers name, and of members of federated ones among these. */
  readonly slices: Listed;
}

/** A Link that is served, as it knows its target at first hand. */
export interface Knowing {
  readonly cluster: string;
  knowledge(key: string): TargetKnowledge;
  isMemberReady(key: string): boolean | undefined;
}

export class FailoverForecast {
  /** What keeps each ServiceFailover from working in full, by key; none if nothing does. */
  readonly findings = new Map<string, readonly Finding[]>();
  readonly steps: Stepping;

  /** @param mayBeServed whether a Link that is not forecast may be served for a cluster: what is behind its mirrors is not known */
  constructor(
    { namespace, mirrorNamespaces: namespaces }: OperatorConfig,
    model: ModelCluster,
    facts: FailoverFacts,
    links: readonly Knowing[],
    mayBeServed: (cluster: string) => boolean,
  ) {
    const { stores: source } = model;
    const watched = kindsOf(facts, namespaces);
    for (const kind of ROUTE_KINDS) model.hold(ROUTES[kind], watched.routes[kind].store, facts.routes[kind]);
    // Those that are written for federated Services count at once.
    model.hold(ENDPOINT_SLICES, watched.slices.store);
    const knowing = new Map(links.map((each) => [each.cluster, each]));
    const derivation = new FailoverDerivation({
      ...{ namespace, namespaces, source, watched },
      endpoints: new ServiceEndpoints({
        namespace,
        services: source.services,
        slices: watched.slices,
        knowledge: (cluster, key) =>
          knowing.get(cluster)?.knowledge(key) ?? (mayBeServed(cluster) ? NOTHING_KNOWN : undefined),
        isMemberReady: (cluster, key) => knowing.get(cluster)?.isMemberReady(key),
      }),
      report: this.#report(),
      log: SILENT,
      now: () => Infinity,
      routeWritten: () => undefined,
    });
    // They are few, and all wait for what others write.
    this.steps = new Steps({
      ...{ sort: 'failover', derivation, model },
      isOurs: (object) => failoverOf(object) !== undefined,
      waiting: () => derivation.keys(),
    });
  }

  /** Notes what would be reported. */
  #report(): Pick<FailoverReport, 'claim' | 'report' | 'leave' | 'forget'> {
    const note = (key: string, findings: readonly (Finding | undefined)[]): void =>
      void this.findings.set(
        key,
        findings.filter((each) => each !== undefined),
      );
    return {
      claim: () => Promise.resolve(undefined),
      report: (key, _, { invalid, decision, failure }) => {
        const refused = invalid && { reason: 'Invalid', message: formatFieldErrors(invalid) };
        note(key, [refused, failure, decision?.ofRoutes, decision?.ofBackends]);
        return Promise.resolve({});
      },
      leave: (key, _, operator) => {
        note(key, [{ reason: 'ServedByAnother', message: `the operator in namespace ${operator} serves it` }]);
        return {};
      },
      forget: (key) => void this.findings.delete(key),
    };
  }
}

const kindsOf = (
  { failovers, routes, policyRoutes, profiles, slices }: FailoverFacts,
  namespaces: readonly string[] | undefined,
): FailoverKinds => {
  const ofKind = (kind: RouteKind) => new ListedKind(routes[kind], namespaces, KEPT.routes(kind));
  return {
    failovers: new ListedKind(failovers, namespaces, KEPT.failovers),
    routes: { GRPCRoute: ofKind('GRPCRoute'), HTTPRoute: ofKind('HTTPRoute'), TCPRoute: ofKind('TCPRoute') },
    policyRoutes: new ListedKind(policyRoutes, namespaces, KEPT.policyRoutes),
    profiles: new ListedKind(profiles, namespaces, KEPT.profiles),
    slices: new ListedKind(slices, namespaces, KEPT.slices),
  };
};
