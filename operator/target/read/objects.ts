/**
 * Reads Services and EndpointSlices of a target or of the source cluster. Checks those fields of a target's objects
 * that are used, because a target is not trusted. Drops all other fields, because a target can have thousands of
 * objects.
 */
import { isIP } from 'node:net';
import { type Checked } from '../../../crds/field-error.ts';
import { addressProblem } from '../../../crds/gateway-address.ts';
import { isDnsLabel } from '../../../crds/names.ts';
import { compile } from '../../../crds/validate.ts';
import { Annotation, Label } from '../../../crds/wire.ts';
import { cut } from '../../kube/errors.ts';
import type { EndpointSlice, KubeObject, Service, SliceEndpoint } from '../../kube/objects.ts';

/** Result of reading an object: the object, or its name and why it is invalid. */
export type Read<T> = { readonly object: T } | { readonly malformed: string };

export const readService = (object: Service): Read<Service> =>
  read('Service', checkService(object), object, trimService);

/**
 * Reads a Service that a ServiceExport might export. Keeps only the fields that decide whether the Service can be
 * exported, and those that other clusters need to import it.
 */
export const readExportedService = (object: Service): Read<Service> =>
  read('Service', checkExportedService(object), object, trimExportedService);

/**
 * Reads a slice of an exported Service. Keeps the addresses of the pods, because clients in other clusters connect to
 * them (rule K3).
 */
export const readExportedSlice = (object: EndpointSlice): Read<EndpointSlice> =>
  read('EndpointSlice', checkSlice(object), object, trimExportedSlice);

export const readSlice = (object: EndpointSlice): Read<EndpointSlice> =>
  read('EndpointSlice', checkSlice(object), object, trimSlice);

/**
 * Reads a slice of the source cluster. Keeps the addresses of the pods and the references to the pods, because the
 * slices of a local member need both (rule I5).
 */
export const readLocalSlice = (object: EndpointSlice): Read<EndpointSlice> =>
  read('EndpointSlice', checkSlice(object), object, trimLocalSlice);

/**
 * Returns a list with the key, `namespace/name`, of the Service that a slice belongs to; an empty list if the slice
 * names no Service.
 */
export function serviceKeys(slice: EndpointSlice | undefined): readonly string[] {
  const service = slice?.metadata.labels?.[Label.serviceName];
  return slice === undefined || service === undefined ? [] : [`${slice.metadata.namespace ?? ''}/${service}`];
}

export function read<T extends KubeObject>(
  kind: string,
  checked: Checked<T>,
  object: T,
  trim: (object: T) => T,
): Read<T> {
  if (checked.ok) return { object: trim(checked.value) };
  const [first] = checked.errors;
  return { malformed: cut(`${kind} ${nameOf(object)}: ${first?.path ?? ''} ${first?.reason ?? ''}`) };
}

function nameOf(object: unknown): string {
  const { metadata } = (object ?? {}) as {
    readonly metadata?: { readonly namespace?: unknown; readonly name?: unknown };
  };
  return `${String(metadata?.namespace)}/${String(metadata?.name)}`.slice(0, 128);
}

/** Returns a copy of an object with only the given fields. Fields that the object lacks are left out. */
const only = <T extends object, K extends keyof T>(object: T, ...fields: readonly K[]): Pick<T, K> =>
  Object.fromEntries(fields.filter((field) => field in object).map((field) => [field, object[field]])) as Pick<T, K>;

function trimService({ metadata, spec = {} }: Service): Service {
  const { name, namespace, uid, resourceVersion, creationTimestamp, labels, annotations } = metadata;
  const { type, clusterIP, selector, publishNotReadyAddresses } = spec;
  const ports = spec.ports?.map((port) => only(port, 'name', 'protocol', 'port', 'targetPort', 'appProtocol'));
  return {
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp, labels, annotations },
    spec: { type, clusterIP, selector, ports, publishNotReadyAddresses },
  } as Service;
}

/**
 * The only labels of an exported Service that are read: they decide whether it can be exported. None is copied to a
 * ServiceImport (rule K1).
 */
const READ_LABELS = [Label.mirroredService, Label.remoteDiscovery, Label.serviceImport];
const READ_ANNOTATIONS = [Annotation.remoteDiscovery, Annotation.localDiscovery, Annotation.opaquePorts];

/**
 * Keeps only the fields that matter for an export. All Services of the cluster are stored, often thousands, and most
 * are not exported.
 */
function trimExportedService({ metadata, spec = {} }: Service): Service {
  const { name, namespace, resourceVersion, labels = {}, annotations = {} } = metadata;
  return {
    metadata: {
      name,
      namespace,
      resourceVersion,
      labels: only(labels, ...READ_LABELS),
      annotations: only(annotations, ...READ_ANNOTATIONS),
    },
    spec: {
      ...only(spec as ExportedSpec, 'type', 'clusterIP', 'publishNotReadyAddresses', ...IMPORTED_FIELDS),
      ports: spec.ports?.map((port) => only(port, 'name', 'protocol', 'port', 'appProtocol')),
    },
  } as Service;
}

/** Keeps hostnames, conditions and ports, but no addresses: mirrors do not use the addresses of pods in the target. */
const trimSlice = (slice: EndpointSlice): EndpointSlice =>
  trimSliceBut(slice, ({ conditions, hostname }) => ({
    addresses: [],
    conditions: conditions && only(conditions, 'ready', 'terminating'),
    hostname,
  }));

/**
 * Keeps hostnames, conditions, ports and addresses, but drops invalid addresses and hostnames. The API server refuses a
 * whole slice if one of its addresses or hostnames is invalid. Endpoints that are left without an address are dropped
 * too. A slice of address type FQDN keeps its endpoints, but none of their addresses.
 */
function trimExportedSlice(slice: EndpointSlice): EndpointSlice {
  const isOfNames = slice.addressType === 'FQDN';
  const trimmed = trimSliceBut(slice, ({ addresses, conditions, hostname }) => ({
    addresses: isOfNames ? [] : addressesOf(addresses, slice.addressType),
    conditions: conditions && only(conditions, 'ready', 'serving', 'terminating'),
    hostname: isDnsLabel(hostname ?? '') ? hostname : undefined,
  }));
  return isOfNames
    ? trimmed
    : { ...trimmed, endpoints: trimmed.endpoints?.filter(({ addresses }) => addresses.length > 0) ?? [] };
}

const trimLocalSlice = (slice: EndpointSlice): EndpointSlice =>
  trimSliceBut(slice, (endpoint) =>
    only(endpoint, 'addresses', 'conditions', 'hostname', 'targetRef', 'nodeName', 'zone'),
  );

/** Maximum number of addresses that the API server allows in one endpoint. */
const MAX_ADDRESSES = 100;
/** Maximum number of endpoints that the API server allows in one slice. */
const MAX_ENDPOINTS = 1_000;

/**
 * Returns the addresses of an endpoint that can be copied into a slice of this address type in another cluster. Leaves
 * out addresses of another IP family, and addresses that Kubernetes refuses, for example loopback addresses. Returns
 * none if there are more than {@link MAX_ADDRESSES}.
 */
function addressesOf(given: unknown, addressType: string): readonly string[] {
  const family = addressType === 'IPv6' ? 6 : 4;
  if (!Array.isArray(given) || given.length > MAX_ADDRESSES) return [];
  return given.filter(
    (each): each is string => typeof each === 'string' && isIP(each) === family && addressProblem(each) === undefined,
  );
}

/**
 * Returns a copy of a slice with only the fields that are used.
 * @param endpoint returns a copy of an endpoint with only the fields that are kept
 */
function trimSliceBut(
  { metadata, addressType, endpoints, ports }: EndpointSlice,
  endpoint: (full: SliceEndpoint) => object,
): EndpointSlice {
  const { name, namespace, uid, resourceVersion, creationTimestamp, labels = {} } = metadata;
  const service = labels[Label.serviceName];
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      labels: service === undefined ? {} : { [Label.serviceName]: service },
    },
    addressType,
    endpoints: (endpoints ?? []).map(endpoint),
    ports: ports?.map((port) => only(port, 'name', 'protocol', 'port', 'appProtocol')),
  } as EndpointSlice;
}

export const TEXT = { type: 'string', maxLength: 253 };
/**
 * Schema of labels, annotations and selectors: up to 10,000 entries of any length. API servers limit the annotations of
 * an object to 256 KiB in total, and do not limit the number of labels.
 */
const TEXTS = { type: 'object', maxProperties: 10_000, additionalProperties: { type: 'string' } };
export const METADATA = {
  type: 'object',
  required: ['name', 'namespace', 'resourceVersion'],
  properties: {
    name: { ...TEXT, minLength: 1, pattern: '^[^/%]+$' },
    namespace: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' },
    uid: TEXT,
    resourceVersion: TEXT,
    creationTimestamp: TEXT,
    labels: TEXTS,
    annotations: TEXTS,
  },
};
const PORT = { type: 'integer', minimum: 0, maximum: 65_535 };
const PORT_PROPERTIES = { name: TEXT, protocol: { enum: ['TCP', 'UDP', 'SCTP'] }, appProtocol: TEXT };

const SERVICE_SPEC_PROPERTIES = {
  type: TEXT,
  clusterIP: TEXT,
  selector: TEXTS,
  publishNotReadyAddresses: { type: 'boolean' },
  ports: {
    type: 'array',
    maxItems: 1000,
    items: {
      type: 'object',
      required: ['port'],
      properties: { ...PORT_PROPERTIES, port: PORT, targetPort: { anyOf: [PORT, TEXT] } },
    },
  },
};

const serviceSchema = (specProperties: object): object => ({
  type: 'object',
  required: ['metadata'],
  properties: { metadata: METADATA, spec: { type: 'object', properties: specProperties } },
});

/** Checks the fields of a Service that are read. */
const checkService = compile<Service>(serviceSchema(SERVICE_SPEC_PROPERTIES), { firstOnly: true });

/** Fields of a Service that are read only for ServiceImports. */
const IMPORTED_FIELDS = [
  'ipFamilies',
  'sessionAffinity',
  'sessionAffinityConfig',
  'internalTrafficPolicy',
  'trafficDistribution',
] as const;

type ExportedSpec = NonNullable<Service['spec']> & {
  readonly [Field in (typeof IMPORTED_FIELDS)[number]]?: unknown;
};

/** Checks the fields of a Service that matter for an export. */
const checkExportedService = compile<Service>(
  serviceSchema({
    ...SERVICE_SPEC_PROPERTIES,
    ipFamilies: { type: 'array', maxItems: 2, items: TEXT },
    sessionAffinity: TEXT,
    sessionAffinityConfig: {
      type: 'object',
      properties: { clientIP: { type: 'object', properties: { timeoutSeconds: { type: 'integer' } } } },
    },
    internalTrafficPolicy: TEXT,
    trafficDistribution: TEXT,
  }),
  { firstOnly: true },
);

const OPTIONAL_BOOLEAN = { anyOf: [{ type: 'boolean' }, { type: 'null' }] };

/** Checks the fields of an EndpointSlice that are read. */
const checkSlice = compile<EndpointSlice>(
  {
    type: 'object',
    required: ['metadata', 'addressType'],
    properties: {
      metadata: METADATA,
      addressType: TEXT,
      endpoints: {
        anyOf: [
          { type: 'null' },
          {
            type: 'array',
            maxItems: MAX_ENDPOINTS,
            items: {
              type: 'object',
              properties: {
                hostname: { anyOf: [TEXT, { type: 'null' }] },
                conditions: {
                  type: 'object',
                  properties: { ready: OPTIONAL_BOOLEAN, serving: OPTIONAL_BOOLEAN, terminating: OPTIONAL_BOOLEAN },
                },
              },
            },
          },
        ],
      },
      ports: {
        anyOf: [
          { type: 'null' },
          {
            type: 'array',
            maxItems: 1000,
            items: { type: 'object', properties: { ...PORT_PROPERTIES, port: { anyOf: [PORT, { type: 'null' }] } } },
          },
        ],
      },
    },
  },
  { firstOnly: true },
);
