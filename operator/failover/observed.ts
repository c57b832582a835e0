/** One plain value with everything that decides what the routes of one ServiceFailover must be, read without I/O. */
import type { RouteKind } from '../../constructs/rendered/index.ts';
import type { FailoverSettings } from '../../crds/failover/settings.ts';
import type { KubeObject, Service } from '../kube/objects.ts';
import type { KindState } from '../runtime/optional-kind.ts';
import type { Readiness } from './decide.ts';
import type { EndpointCounts } from './readiness.ts';

/** A route, with the fields that are read here. It may be anybody's, and is not trusted. */
export interface Route extends KubeObject {
  readonly kind: RouteKind;
  readonly spec?: {
    readonly parentRefs?: readonly ParentRef[] | null;
    readonly rules?: readonly { readonly backendRefs?: readonly RouteBackendRef[] | null }[] | null;
  };
}

export interface ParentRef {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly port?: number;
}

export interface RouteBackendRef {
  readonly namespace?: string;
  readonly name?: string;
  readonly port?: number;
  readonly weight?: number;
}

/** A backend, as it is. */
export interface ObservedBackend {
  /** Absent if the Service does not exist. */
  readonly live: Service | undefined;
  /** Undefined while they are not known. */
  readonly endpoints: EndpointCounts | undefined;
}

export interface ObservedFailover {
  readonly settings: FailoverSettings;
  /** The Service that clients call; absent if there is none. */
  readonly apex: Service | undefined;
  /** In the order of the settings. */
  readonly backends: readonly ObservedBackend[];
  /** The routes that are ours, for this ServiceFailover. */
  readonly owned: readonly Route[];
  /** The other routes in its namespace whose parent is the Service: of others, or for other ServiceFailovers. */
  readonly others: readonly Route[];
  readonly kinds: Readonly<Record<RouteKind, KindState>>;
  /** Whether a ServiceProfile makes Linkerd's proxies ignore routes of the Service. */
  readonly hasProfile: boolean;
  /** The readiness that was reported last, by Service. */
  readonly before: ReadonlyMap<string, Readiness>;
}
