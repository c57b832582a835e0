/** One plain value with everything that the routes of one ServiceFailover depend on. It is read without I/O. */
import type { RouteKind } from '../../constructs/rendered/index.ts';
import type { FailoverSettings } from '../../crds/failover/settings.ts';
import type { KubeObject, Service } from '../kube/objects.ts';
import type { KindState } from '../runtime/optional-kind.ts';
import type { Readiness } from './decide.ts';
import type { EndpointCounts } from './readiness.ts';

/** A route, with the fields that are read here. The route may belong to anybody, and is not trusted. */
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

/** The present state of a backend. */
export interface ObservedBackend {
  /** Undefined if the Service does not exist. */
  readonly live: Service | undefined;
  /** Undefined while the endpoints are not known. */
  readonly endpoints: EndpointCounts | undefined;
}

export interface ObservedFailover {
  readonly settings: FailoverSettings;
  /** The Service that clients call; undefined if it does not exist. */
  readonly apex: Service | undefined;
  /** In the order of the settings. */
  readonly backends: readonly ObservedBackend[];
  /** Our routes for this ServiceFailover. */
  readonly owned: readonly Route[];
  /**
   * The other routes in the namespace whose parent is the Service: routes of others, and our routes for other
   * ServiceFailovers.
   */
  readonly others: readonly Route[];
  readonly kinds: Readonly<Record<RouteKind, KindState>>;
  /** Whether a ServiceProfile makes Linkerd's proxies ignore routes of the Service. */
  readonly hasProfile: boolean;
  /** The readiness that was last decided, by Service. After a start, it is the readiness in the status. */
  readonly before: ReadonlyMap<string, Readiness>;
}
