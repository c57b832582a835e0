/**
 * What the operator watches for failover besides Services: ServiceFailovers, TrafficSplits, routes, ServiceProfiles
 * and, once there is anything to fail over, EndpointSlices. None of their CRDs need be installed: a kind that cannot be
 * read is not known, and nothing is deleted because of it. It is looked at again for ever.
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

/** What is reported of a change. */
export interface WatchListener {
  /** A ServiceFailover, by key. */
  failover(key: string): void;
  /** A TrafficSplit that is to be served, by key. */
  split(key: string): void;
  /** What concerns one Service: `namespace/name`. */
  service(key: string): void;
  /** A list shows no ServiceFailover at all. */
  noneLeft(): void;
  /** What can be read has changed. */
  all(): void;
}

export class Watched implements FailoverKinds {
  readonly failovers: OptionalKind<FailoverObject>;
  readonly routes: Readonly<Record<RouteKind, OptionalKind<Route>>>;
  /** Those of others, which may be in the way: none is ours. */
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
        // What the watch shows of our own writes of the status is in the store already.
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

  /** Watches ServiceFailovers, TrafficSplits and routes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const kinds = [this.failovers, this.splits, ...ROUTE_KINDS.map((kind) => this.routes[kind])];
    await Promise.all(kinds.map((each) => each.run(signal)));
  }

  /**
   * Watches what is needed once there is a ServiceFailover or a TrafficSplit, until the signal aborts; once, however
   * often it is called.
   */
  async runRest(signal: AbortSignal): Promise<void> {
    await Promise.all([this.profiles, this.policyRoutes, this.slices].map((each) => each.run(signal)));
  }
}

/** After a restore from a backup, one generation may stand for two specs. */
const isSame = (before: FailoverObject | undefined, after: FailoverObject | undefined): boolean =>
  before?.metadata.uid === after?.metadata.uid &&
  before?.metadata.generation === after?.metadata.generation &&
  isDeepStrictEqual(before?.read, after?.read) &&
  isDeepStrictEqual(before?.status, after?.status);

/**
 * The Services that come to be a parent of a route, or are one no longer: other ServiceFailovers may wait for that, or
 * be in its shadow now. Stores report no writes of ours.
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
