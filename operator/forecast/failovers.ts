/**
 * What would become of the routes of ServiceFailovers (rules J1 to J4): what the operator derives, of what is listed of
 * the source cluster and of the targets of Links. It is of the time after all hold-downs.
 */
import type { RouteKind } from '../../constructs/rendered/index.ts';
import { formatFieldErrors } from '../../crds/field-error.ts';
import { memberName } from '../../crds/wire.ts';
import type { OperatorConfig } from '../config/config.ts';
import { FailoverDerivation } from '../failover/derivation.ts';
import { ServiceEndpoints } from '../failover/endpoints.ts';
import { type FailoverKinds, KEPT, POLICY_ROUTES, SERVICE_FAILOVERS, SERVICE_PROFILES } from '../failover/kinds.ts';
import type { Finding } from '../failover/plan.ts';
import { NOTHING_KNOWN, type TargetKnowledge } from '../failover/readiness.ts';
import type { FailoverReport } from '../failover/report.ts';
import { failoverOf, ROUTES } from '../failover/routes.ts';
import { ENDPOINT_SLICES, type KubeObject } from '../kube/objects.ts';
import type { StoreOptions } from '../runtime/store.ts';
import type { ServedTarget } from '../served/served-target.ts';
import { ListedKind } from './listed-kind.ts';
import type { ModelCluster } from './model.ts';
import { SILENT, type Stepping, Steps } from './steps.ts';

/** A Link that is served, as it knows its target at first hand. */
export interface Knowing {
  readonly cluster: string;
  readonly target: Pick<ServedTarget, 'isMemberReady'>;
  knowledge(key: string): TargetKnowledge;
}

export class FailoverForecast {
  /** What keeps each ServiceFailover from working in full, by key; none if nothing does. */
  readonly findings = new Map<string, readonly Finding[]>();
  readonly steps: Stepping;

  /**
   * Returns undefined if there are no ServiceFailovers, or the operator leaves them alone.
   * @param mayBeServed whether a Link that is not forecast may be served for a cluster: what is behind its mirrors is
   * not known
   */
  static async of(
    config: OperatorConfig,
    model: ModelCluster,
    links: readonly Knowing[],
    mayBeServed: (cluster: string) => boolean,
  ): Promise<FailoverForecast | undefined> {
    if (!config.failover) return undefined;
    const failovers = await model.list(SERVICE_FAILOVERS);
    if (typeof failovers === 'string') return undefined;
    return new FailoverForecast(config, model, await kindsOf(model, config, failovers), links, mayBeServed);
  }

  private constructor(
    { namespace, mirrorNamespaces: namespaces }: OperatorConfig,
    model: ModelCluster,
    watched: FailoverKinds,
    links: readonly Knowing[],
    mayBeServed: (cluster: string) => boolean,
  ) {
    const { stores: source } = model;
    // Those that are written for federated Services count at once.
    model.show(ENDPOINT_SLICES, watched.slices.store);
    const knowing = new Map(links.map((each) => [each.cluster, each]));
    const derivation = new FailoverDerivation({
      ...{ namespace, namespaces, source, watched },
      endpoints: new ServiceEndpoints({
        namespace,
        services: source.services,
        slices: watched.slices,
        knowledge: (cluster, key) =>
          knowing.get(cluster)?.knowledge(key) ?? (mayBeServed(cluster) ? NOTHING_KNOWN : undefined),
        isMemberReady: (cluster, key) => knowing.get(cluster)?.target.isMemberReady(key),
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
      report: (key, _, findings) => {
        note(
          key,
          'invalid' in findings
            ? [{ reason: 'Invalid', message: formatFieldErrors(findings.invalid) }]
            : [findings.failure, findings.decision.ofRoutes, findings.decision.ofBackends],
        );
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

/** Reads what ServiceFailovers are derived from; where there is none, only the routes that may be left of others. */
const kindsOf = async (
  model: ModelCluster,
  { mirrorNamespaces: namespaces }: OperatorConfig,
  failovers: readonly KubeObject[],
): Promise<FailoverKinds> => {
  const ofKind = (kind: RouteKind) => model.kind(ROUTES[kind], KEPT.routes(kind));
  const isNone = failovers.length === 0;
  const none = <T extends KubeObject>(kept: StoreOptions<T>) => new ListedKind<T>([], namespaces, kept);
  const [read, GRPCRoute, HTTPRoute, TCPRoute, policyRoutes, profiles, slices] = await Promise.all([
    model.kind(SERVICE_FAILOVERS, KEPT.failovers),
    ofKind('GRPCRoute'),
    ofKind('HTTPRoute'),
    ofKind('TCPRoute'),
    isNone ? none(KEPT.policyRoutes) : model.kind(POLICY_ROUTES, KEPT.policyRoutes),
    isNone ? none(KEPT.profiles) : model.kind(SERVICE_PROFILES, KEPT.profiles),
    model.findSlices(failovers.flatMap(backendsOf)),
  ]);
  return {
    failovers: read,
    routes: { GRPCRoute, HTTPRoute, TCPRoute },
    policyRoutes,
    profiles,
    // Those of a ServiceImport on a flat network do not name its Service: they are among what the operator has written.
    slices: new ListedKind([...model.stores.slices.values(), ...slices], namespaces, KEPT.slices),
  };
};

/** The names of the Services of backends; of a federated one, also that of its local member. */
const backendsOf = ({ spec }: KubeObject & { readonly spec?: { readonly backends?: unknown } }): readonly string[] => {
  const backends: readonly unknown[] = Array.isArray(spec?.backends) ? spec.backends : [];
  return backends.flatMap((each) => {
    const name = (each as { readonly service?: unknown } | null)?.service;
    if (typeof name !== 'string') return [];
    return [name, memberName(name)].filter((each) => each !== undefined);
  });
};
