/**
 * Watches what failover depends on besides Services: ServiceFailovers, TrafficSplits and routes; once there is a
 * ServiceFailover or a TrafficSplit, also ServiceProfiles, Linkerd's own HTTPRoutes and EndpointSlices. None of the
 * CRDs need be installed. While a kind cannot be read, its objects are not known, and nothing is deleted because of
 * that. The operator tries again for ever to read the kind.
 */
import { isDeepStrictEqual } from 'node:util';
import type { RouteKind } from '../../constructs/rendered/index.ts';
import { Annotation } from '../../crds/wire.ts';
import { ENDPOINT_SLICES, type KubeObject } from '../kube/objects.ts';
import { OptionalKind, type OptionalKindOptions } from '../runtime/optional-kind.ts';
import type { Action } from '../runtime/plan.ts';
import type { Change } from '../runtime/store.ts';
import {
  type CountedSlice,
  type FailoverKinds,
  type FailoverObject,
  KEPT,
  ownersOf,
  parentKeysOf,
  POLICY_ROUTES,
  profiledOf,
  SERVICE_FAILOVERS,
  SERVICE_PROFILES,
  sliceOwners,
} from './kinds.ts';
import type { Route } from './observed.ts';
import { ROUTE_KINDS, ROUTES } from './routes.ts';
import { CONTROLLED_SPLITS, servicesOf as servicesOfSplit, TRAFFIC_SPLITS, type TrafficSplit } from './splits.ts';

/** Notified of changes of the watched objects. */
export interface WatchListener {
  /** Called when a ServiceFailover has changed. */
  failover(key: string): void;
  /** Called when a TrafficSplit that is to be served has changed. */
  split(key: string): void;
  /** Called when an object that concerns one Service, `namespace/name`, has changed. */
  service(key: string): void;
  /** Called when a list shows no ServiceFailover at all. */
  noneLeft(): void;
  /** Called when other objects can be read than before. */
  all(): void;
}

export class Watched implements FailoverKinds {
  readonly failovers: OptionalKind<FailoverObject>;
  readonly routes: Readonly<Record<RouteKind, OptionalKind<Route>>>;
  /** Linkerd's own HTTPRoutes. None of them is ours, but they may keep our routes from having effect. */
  readonly policyRoutes: OptionalKind<Route>;
  readonly profiles: OptionalKind<KubeObject>;
  readonly slices: OptionalKind<CountedSlice>;
  readonly splits: OptionalKind<TrafficSplit>;

  constructor(options: OptionalKindOptions, listener: WatchListener) {
    const stateChanged = (): void => listener.all();
    const routeListener = { stateChanged, changed: (change: Change<Route>) => routeChanged(change, listener) };
    this.failovers = new OptionalKind<FailoverObject>(SERVICE_FAILOVERS, options, KEPT.failovers, {
      stateChanged,
      relisted: (first, lost) => {
        if ((first || lost > 0) && this.failovers.store.size === 0) listener.noneLeft();
      },
      changed: ({ key, before, after }) => {
        // Our own write of a status is in the store before the watch shows it, so the watch shows no change.
        if (!isSame(before, after)) listener.failover(key);
      },
    });
    const route = (kind: RouteKind): OptionalKind<Route> =>
      new OptionalKind<Route>(ROUTES[kind], options, KEPT.routes(kind), routeListener);
    this.routes = { GRPCRoute: route('GRPCRoute'), HTTPRoute: route('HTTPRoute'), TCPRoute: route('TCPRoute') };
    this.policyRoutes = new OptionalKind<Route>(POLICY_ROUTES, options, KEPT.policyRoutes, routeListener);
    this.profiles = new OptionalKind(SERVICE_PROFILES, options, KEPT.profiles, {
      stateChanged,
      changed: ({ before, after }) =>
        [before, after].flatMap((each) => (each ? profiledOf(each) : [])).forEach((key) => listener.service(key)),
    });
    this.splits = new OptionalKind<TrafficSplit>(
      TRAFFIC_SPLITS,
      options,
      { trim: trimSplit, indexes: { service: servicesOfSplit } },
      { stateChanged, changed: ({ key }) => listener.split(key) },
      CONTROLLED_SPLITS,
    );
    this.slices = new OptionalKind<CountedSlice>(ENDPOINT_SLICES, options, KEPT.slices, {
      stateChanged,
      changed: ({ before, after }) => {
        for (const key of new Set([before, after].flatMap((each) => (each ? sliceOwners(each) : []))))
          listener.service(key);
      },
    });
  }

  /** Returns the keys of the Services that ServiceFailovers and TrafficSplits depend on. */
  services(): ReadonlySet<string> {
    return new Set([this.failovers, this.splits].flatMap(({ store }) => [...store.indexed('service')]));
  }

  /** Watches ServiceFailovers, TrafficSplits and routes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const kinds = [this.failovers, this.splits, ...ROUTE_KINDS.map((kind) => this.routes[kind])];
    await Promise.all(kinds.map((each) => each.run(signal)));
  }

  /**
   * Watches the kinds that are needed once there is a ServiceFailover or a TrafficSplit, until the signal aborts.
   * Further calls start no further watches.
   */
  async runRest(signal: AbortSignal): Promise<void> {
    await Promise.all([this.profiles, this.policyRoutes, this.slices].map((each) => each.run(signal)));
  }
}

/**
 * Reports whether two versions of a ServiceFailover are equal in everything that is read. The specs are compared too,
 * because after a restore from a backup one generation may stand for two specs.
 */
const isSame = (before: FailoverObject | undefined, after: FailoverObject | undefined): boolean =>
  before?.metadata.uid === after?.metadata.uid &&
  before?.metadata.generation === after?.metadata.generation &&
  isDeepStrictEqual(before?.read, after?.read) &&
  isDeepStrictEqual(before?.status, after?.status);

/**
 * Returns the Services that have become parents of a route by a write of ours, or have ceased to be. Such a route may
 * keep the routes of other ServiceFailovers from having effect, or may do so no longer. The caller needs the Services
 * because stores do not report our own writes.
 */
export function parentsChanged(action: Action): readonly string[] {
  if (action.op === 'clear') return [];
  const live = action.op === 'delete' ? action.object : 'live' in action ? action.live : undefined;
  const before = live === undefined ? [] : parentKeysOf(live as Route);
  const after = action.op === 'delete' ? [] : parentKeysOf(action.object as Route);
  return [...before.filter((each) => !after.includes(each)), ...after.filter((each) => !before.includes(each))];
}

function routeChanged({ before, after }: Change<Route>, listener: WatchListener): void {
  const both = [before, after].filter((each) => each !== undefined);
  for (const key of new Set(both.flatMap(ownersOf))) listener.failover(key);
  for (const key of new Set(both.flatMap(parentKeysOf))) listener.service(key);
}

function trimSplit({ metadata, spec }: TrafficSplit): TrafficSplit {
  const { name, namespace, uid, resourceVersion, annotations } = metadata;
  const primary = annotations?.[Annotation.primaryService];
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      ...(primary !== undefined && { annotations: { [Annotation.primaryService]: primary } }),
    },
    spec: { backends: spec?.backends },
  } as TrafficSplit;
}
