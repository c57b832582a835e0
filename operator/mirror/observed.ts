/**
 * One plain value with everything that decides what one target Service's mirrors must be. Taken from listers, without
 * I/O; what comes after is a function of it.
 */
import type { EndpointsKind } from '../../constructs/mirror/index.ts';
import type { Endpoints, EndpointSlice, Service } from '../kube/objects.ts';

/** What a Link and the operator's settings say about every mirror of the Link. */
export interface LinkView {
  readonly cluster: string;
  readonly clusterDomain: string;
  /** Absent: the Link has no gateway, and nothing is mirrored in gateway mode. */
  readonly gateway?: { readonly port: number; readonly identity?: string };
  readonly excludedLabels: readonly string[];
  readonly excludedAnnotations: readonly string[];
  readonly headless: boolean;
  readonly createNamespaces: boolean;
  readonly endpointsKind: EndpointsKind;
}

/** The target's gateway as it was last found. */
export interface GatewayView {
  /** IP addresses, sorted; empty until a name has been resolved. */
  readonly addresses: readonly string[];
  /** The probe's verdict; undefined until there is one. */
  readonly alive: boolean | undefined;
}

export type MirrorMode = 'gateway' | 'remote-discovery';

/**
 * `unreadable`: missing, or not to be read, so that what is there now is not known; `forbidden`: one that mirrors may
 * never be written to.
 */
export type NamespaceState = 'exists' | 'missing' | 'unreadable' | 'forbidden';

/** What is ours in the source cluster for one target Service. */
export interface OwnedObjects {
  readonly services: readonly Service[];
  readonly endpoints: readonly Endpoints[];
  readonly slices: readonly EndpointSlice[];
}

export interface Observed {
  readonly link: LinkView;
  readonly gateway: GatewayView;
  /** Namespace and name of the target Service. */
  readonly namespace: string;
  readonly name: string;
  /** Absent: not exported, or not there. */
  readonly target?: { readonly service: Service; readonly mode: MirrorMode };
  /** Undefined: not known yet. Readiness is then left as it is. */
  readonly slices: readonly EndpointSlice[] | undefined;
  readonly namespaceState: NamespaceState;
  readonly owned: OwnedObjects;
}
