/**
 * One plain value with everything that decides what one target Service's mirrors must be. It is read from stores,
 * without I/O; all later steps are functions of it.
 */
import type { LinkSettings, ProbeSettings } from '../../crds/index.ts';
import type { EndpointsKind, MirrorMode } from '../../constructs/rendered/index.ts';
import type { Endpoints, EndpointSlice, Service } from '../kube/objects.ts';
import type { ForeignSlices } from '../runtime/plan.ts';

/** Settings of the Link and the operator that apply to every mirror of the Link. */
export interface LinkView {
  readonly cluster: string;
  readonly clusterDomain: string;
  readonly excludedLabels: readonly string[];
  readonly excludedAnnotations: readonly string[];
  readonly headless: boolean;
  readonly createNamespaces: boolean;
  readonly endpointsKind: EndpointsKind;
  /** Most pods of one headless Service that have an endpoint mirror. @default - any number */
  readonly maxServicePods?: number | undefined;
}

/** The target's gateway: its addresses, and whether it answers. */
export interface GatewayView {
  readonly port: number;
  readonly identity?: string | undefined;
  /** IP addresses, sorted; empty until a host name has been resolved. */
  readonly addresses: readonly string[];
  /** The probe's verdict; undefined until there is one. */
  readonly alive: boolean | undefined;
  /** The last verdict before that, or before a restart, as far as it is known: what is empty or new begins with it. */
  readonly wasAlive?: boolean | undefined;
  /** How it is probed. @default - it is not */
  readonly probe?: ProbeSettings | undefined;
}

/** Present settings of a Link, and present state of its gateway. */
export interface LinkNow {
  readonly settings: LinkSettings;
  readonly view: LinkView;
  /** Undefined if the Link has no gateway. */
  readonly gateway: GatewayView | undefined;
}

/**
 * `unreadable`: the namespace does not exist or may not be read, so what is in it is not known; `forbidden`: mirrors
 * may never be written to it; `over limit`: it is missing, and no more namespaces are created for the Link.
 */
export type NamespaceState = KnownNamespace | 'over limit';

/** What is known of a namespace, whichever Link wants something in it. */
export type KnownNamespace = 'exists' | 'missing' | 'unreadable' | 'forbidden';

/** The operator that asks, and what it knows of others in the cluster (rules I9, K7). */
export interface Operators {
  /** Namespace of the operator. */
  readonly own: string;
  /** Whether a namespace is certainly gone, and the operator in it with it. */
  readonly isGone: (namespace: string) => boolean;
}

/**
 * Our objects in the source cluster for one target Service or one federated Service, and the slices that others gave to
 * our Services.
 */
export interface OwnedObjects {
  readonly services: readonly Service[];
  readonly endpoints: readonly Endpoints[];
  readonly slices: readonly EndpointSlice[];
  /** Slices that others gave these Services. @default - none */
  readonly foreign?: readonly ForeignSlices[] | undefined;
}

export interface Observed {
  readonly link: LinkView;
  /** Absent if the Link has no gateway; then nothing is mirrored in gateway mode. */
  readonly gateway?: GatewayView | undefined;
  /** Namespace and name of the target Service. */
  readonly namespace: string;
  readonly name: string;
  /** Absent if the Service is not exported, or does not exist. */
  readonly target?: { readonly service: Service; readonly mode: MirrorMode } | undefined;
  /** Undefined while they are not known; readiness is then left as it is. */
  readonly slices: readonly EndpointSlice[] | undefined;
  /** Whether the Service is one of those that the limit of the Link allows (rule E10). */
  readonly isAdmitted: boolean;
  /** Reports whether the limit of the Link admits a pod of a headless Service (rule E10). */
  readonly admitsPod: (hostname: string) => boolean;
  /** Whether it admits all there are, so that none need be looked at. @default false */
  readonly areAllPodsAdmitted?: boolean | undefined;
  /** Reports whether all that is derived from the Service may take so many bytes. @default - it may */
  readonly admitsBytes?: ((bytes: number) => boolean) | undefined;
  /**
   * Pods of a headless Service that are gone and keep their endpoint mirrors for now: how long, in milliseconds, by
   * hostname. It is Infinity for one whose deletion is held or unconfirmed (rules D5, D11, E6).
   */
  readonly departed: ReadonlyMap<string, number>;
  /**
   * Whether some of those stay only since the target has not answered yet, asked for the pods behind the Service, that
   * they are gone (rule D5). @default false
   */
  readonly arePodsUnconfirmed?: boolean | undefined;
  /**
   * Whether the target is known well enough to say what must exist and what must go. False while it has not been
   * listed, and for a Service whose deletion is held (rule E6).
   */
  readonly decidable: boolean;
  /**
   * Whether the target, asked for this one Service, has answered what is observed of it. Until then its mirror is not
   * taken away: watches and lists may be behind.
   */
  readonly isConfirmed: boolean;
  readonly namespaceState: NamespaceState;
  readonly owned: OwnedObjects;
  /** Reports whether a Service of this name, in {@link namespace}, belongs to somebody else. */
  readonly isForeign: (service: string) => boolean;
}
