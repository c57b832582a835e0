/**
 * The JSON shapes of the Kubernetes objects that the operator reads and writes, with the fields that it reads. Objects
 * stay raw JSON end to end (timestamps are strings): fields that are not declared here pass through untouched.
 */

/** Metadata of any object, as the API server sends it. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldsV1;
  readonly subresource?: string;
}

/** A set of fields: `f:` is followed by a field name, `k:` by the keys of a list item; `.` is the field itself. */
export interface FieldsV1 {
  readonly [path: string]: FieldsV1;
}

/** Any object of the API. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export type IpFamily = 'IPv4' | 'IPv6';

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly nodePort?: number;
  readonly appProtocol?: string;
}

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ipFamilies?: readonly string[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
    readonly externalName?: string;
    readonly externalIPs?: readonly string[];
    readonly internalTrafficPolicy?: string;
    readonly sessionAffinity?: string;
    readonly publishNotReadyAddresses?: boolean;
  };
}

export interface EndpointAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: unknown;
}

export interface EndpointPort {
  readonly name?: string;
  readonly port?: number | null;
  readonly protocol?: string;
  readonly appProtocol?: string;
}

export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly EndpointPort[];
}

export interface Endpoints extends KubeObject {
  readonly subsets?: readonly EndpointSubset[] | null;
}

export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly conditions?: {
    readonly ready?: boolean | null;
    readonly serving?: boolean | null;
    readonly terminating?: boolean | null;
  };
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly targetRef?: unknown;
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: string;
  readonly endpoints?: readonly SliceEndpoint[] | null;
  readonly ports?: readonly EndpointPort[] | null;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Values are base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    /** RFC 3339 with microseconds. */
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

export type Namespace = KubeObject;

/** A kind and its place in the API. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const resource = (group: string, version: string, plural: string, kind: string, namespaced = true): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced,
});

export const NAMESPACES = resource('', 'v1', 'namespaces', 'Namespace', false);
export const SERVICES = resource('', 'v1', 'services', 'Service');
export const ENDPOINTS = resource('', 'v1', 'endpoints', 'Endpoints');
export const SECRETS = resource('', 'v1', 'secrets', 'Secret');
export const SERVICE_ACCOUNTS = resource('', 'v1', 'serviceaccounts', 'ServiceAccount');
export const CONFIG_MAPS = resource('', 'v1', 'configmaps', 'ConfigMap');
export const PODS = resource('', 'v1', 'pods', 'Pod');
export const EVENTS = resource('', 'v1', 'events', 'Event');
export const ENDPOINT_SLICES = resource('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice');
export const SELF_SUBJECT_REVIEWS = resource(
  'authentication.k8s.io',
  'v1',
  'selfsubjectreviews',
  'SelfSubjectReview',
  false,
);
export const TOKEN_REQUESTS = resource('authentication.k8s.io', 'v1', 'tokenrequests', 'TokenRequest');
export const LEASES = resource('coordination.k8s.io', 'v1', 'leases', 'Lease');

/** `apiVersion` of a resource's objects. */
export const apiVersionOf = (of: Pick<Resource, 'group' | 'version'>): string =>
  of.group === '' ? of.version : `${of.group}/${of.version}`;

/** Reports whether a Service selects pods. */
export const hasSelector = ({ spec }: Service): boolean => Object.keys(spec?.selector ?? {}).length > 0;

/** `namespace/name`, or `name` if the object has no namespace. */
export const keyOf = (object: { readonly metadata: { readonly namespace?: string; readonly name: string } }): string =>
  object.metadata.namespace === undefined
    ? object.metadata.name
    : `${object.metadata.namespace}/${object.metadata.name}`;

/** The two halves of a `namespace/name` key. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
}

/** The object as a request that fails unless the live one has this uid and version. */
export const withPreconditions = (
  object: KubeObject,
  { uid, resourceVersion }: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  },
});
