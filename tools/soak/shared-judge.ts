/**
 * What federated Services, ServiceImports and ServiceFailovers must be at a rest: the rules I, J and K as random histories
 * judge them, asked about what there is in the real clusters; and that what stays a member, or exported, keeps its address.
 */
import { RouteApi } from '../../crds/wire.ts';
import { type Collection, type Api } from '../../test/cluster/workload/index.ts';
import type { KubeObject } from '../../test/cluster/simulated/storage/object.ts';
import type { Content } from '../../test/simulation/cluster.ts';
import { TARGETS, type TargetName } from '../../test/simulation/command.ts';
import { FAILOVER, failoversIn, failoverOf, ourRoutesIn, routesIn } from '../../test/simulation/failover-users.ts';
import { federationProblems } from '../../test/simulation/federations.ts';
import { derivedName, SERVICE_EXPORT, SERVICE_IMPORT } from '../../test/simulation/import-objects.ts';
import { importProblems } from '../../test/simulation/imports.ts';
import type { LinkState, SourceState } from '../../test/simulation/oracle.ts';
import { failoverProblems } from '../../test/simulation/parts/failover-statement.ts';
import { statusOf } from '../../test/simulation/parts/failover-fields.ts';
import { countsOf } from '../../test/simulation/parts/failover-view.ts';
import { link, LINKS_NAMESPACE } from '../../test/support/builders.ts';
import { SHARED, steadyIn } from './shared.ts';

const NAMESPACE = 'shop';
const SERVICES = { apiVersion: 'v1', kind: 'Service' };
const SLICES = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' };
const OF_ALL: readonly Collection[] = [SERVICES, SLICES, SERVICE_EXPORT];
const OF_SOURCE: readonly Collection[] = [
  ...[SERVICE_IMPORT, FAILOVER, { apiVersion: 'v1', kind: 'Endpoints' }],
  ...(['HTTPRoute', 'GRPCRoute'] as const).map((kind) => ({ apiVersion: RouteApi[kind], kind })),
];

/** What a cluster holds of some kinds, read once. */
class Snapshot implements Content {
  readonly #lists: ReadonlyMap<string, readonly KubeObject[]>;

  private constructor(lists: ReadonlyMap<string, readonly KubeObject[]>) {
    this.#lists = lists;
  }

  static async of(api: Api, kinds: readonly Collection[]): Promise<Snapshot> {
    const read = async (kind: Collection) => [keyOf(kind), await api.list({ ...kind, namespace: NAMESPACE })];
    const lists = await Promise.all(kinds.map(read));
    return new Snapshot(new Map(lists as unknown as [string, readonly KubeObject[]][]));
  }

  has(kind: Collection): boolean {
    return this.#lists.has(keyOf(kind));
  }

  list(apiVersion: string, kind: string): readonly KubeObject[] {
    return this.#lists.get(keyOf({ apiVersion, kind })) ?? [];
  }

  get(apiVersion: string, kind: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.list(apiVersion, kind).find(
      ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
    );
  }
}

const keyOf = ({ apiVersion, kind }: Collection): string => `${apiVersion} ${kind}`;

export interface SharedClusters {
  readonly east: Api;
  readonly targets: Readonly<Record<TargetName, Api>>;
  /** Whether the gateway of a Link is alive. */
  readonly isAlive: (link: string) => boolean;
}

export class SharedJudge {
  readonly #clusters: SharedClusters;
  /** What clients know what stays by, by its name. */
  readonly #identities = new Map<string, string>();

  constructor(clusters: SharedClusters) {
    this.#clusters = clusters;
  }

  /** Returns what is wrong now; empty if all is right. */
  async problems(): Promise<readonly string[]> {
    const { targets: apis, isAlive } = this.#clusters;
    const east = await Snapshot.of(this.#clusters.east, [...OF_ALL, ...OF_SOURCE]);
    const [west, bar] = await Promise.all(TARGETS.map((name) => Snapshot.of(apis[name], OF_ALL)));
    const targets = { west: west!, bar: bar! };
    const found = await Promise.all(TARGETS.map((name) => this.#clusters.east.get(link(name))));
    const linkOf = (name: string): KubeObject | undefined =>
      found.find((each) => each?.metadata.name === name) as KubeObject | undefined;
    const links = TARGETS.map((name): LinkState => ({
      ...{ name, createdAt: linkOf(name)?.metadata.creationTimestamp ?? '', gatewayAlive: isAlive(name) },
      spec: linkOf(name)?.spec as LinkState['spec'],
      services: targets[name].list(SERVICES.apiVersion, SERVICES.kind),
      slices: targets[name].list(SLICES.apiVersion, SLICES.kind),
    }));
    const source = sourceOf(east);
    return [
      ...federationProblems({ east, linkOf }, links, source),
      ...importProblems({ east, targets, history: { commands: [] } }, links, source, undefined),
      ...routeProblems(east, links, source),
      ...this.#changed(east),
    ];
  }

  /** What stays a member, or exported, is what it was. */
  #changed(east: Snapshot): readonly string[] {
    return SHARED.filter((name) => steadyIn(name) !== undefined).flatMap((name) =>
      [`${name}-federated`, derivedName(name)].flatMap((each) => {
        const live = east.get(SERVICES.apiVersion, SERVICES.kind, NAMESPACE, each);
        if (live === undefined) return [`${each} is missing`];
        const now = `${live.metadata.uid} ${(live['spec'] as { readonly clusterIP?: string }).clusterIP}`;
        const before = this.#identities.get(each) ?? now;
        this.#identities.set(each, before);
        return before === now ? [] : [`${each} was ${before}, and is ${now}`];
      }),
    );
  }
}

const sourceOf = (east: Snapshot): SourceState => ({
  ...{ endpointsKind: 'endpoints', maxEndpointMirrors: Infinity, namespaces: new Set([NAMESPACE]) },
  services: east.list(SERVICES.apiVersion, SERVICES.kind),
  endpoints: east.list('v1', 'Endpoints'),
  slices: east.list(SLICES.apiVersion, SLICES.kind),
});

interface RouteSpec {
  readonly rules?: readonly { readonly backendRefs?: readonly object[] }[];
}

/** A route without what its CRD adds to each backend. */
const withoutDefaults = (route: KubeObject): KubeObject => {
  const { rules = [], ...spec } = route['spec'] as RouteSpec;
  const plain = (ref: object): object =>
    Object.fromEntries(Object.entries(ref).filter(([key, value]) => DEFAULTS[key] !== value));
  const bare = rules.map(({ backendRefs = [], ...rule }) => ({ ...rule, backendRefs: backendRefs.map(plain) }));
  return { ...route, spec: { ...spec, rules: bare } };
};

const DEFAULTS: Readonly<Record<string, unknown>> = { group: '', kind: 'Service' };

function routeProblems(east: Snapshot, links: readonly LinkState[], { slices }: SourceState): readonly string[] {
  const view = {
    routes: routesIn(east).map(withoutDefaults),
    service: (namespace: string, name: string) => east.get(SERVICES.apiVersion, SERVICES.kind, namespace, name),
    countsOf: (service: KubeObject) => countsOf(service, links, slices),
    // Nobody is made to wait.
    mayBeHeld: () => false,
  };
  const all = failoversIn(east);
  const wrong = all.flatMap((failover) => {
    const { operator } = statusOf(failover);
    return operator === LINKS_NAMESPACE
      ? failoverProblems(failover, view)
      : [`ServiceFailover ${failover.metadata.name} is served by ${operator}`];
  });
  const left = ourRoutesIn(east).filter((route) => !all.some(({ metadata }) => metadata.name === failoverOf(route)));
  return [...wrong, ...left.map(({ metadata }) => `route ${metadata.name} is left of a ServiceFailover that is gone`)];
}
