/**
 * Services and EndpointSlices from a target: checked against the API's schema, since a target is not trusted, and cut to
 * the fields that are read, since there may be thousands.
 */
import { type Checked } from '../../crds/field-error.ts';
import { compile } from '../../crds/validate.ts';
import { Label } from '../../crds/wire.ts';
import { cut } from '../kube/errors.ts';
import type { EndpointSlice, KubeObject, Service, SliceEndpoint } from '../kube/objects.ts';

/** The object, or its name and what is wrong with it. */
export type Read<T> = { readonly object: T } | { readonly malformed: string };

export const readService = (object: Service): Read<Service> =>
  read('Service', checkService(object), object, trimService);

export const readSlice = (object: EndpointSlice): Read<EndpointSlice> =>
  read('EndpointSlice', checkSlice(object), object, trimSlice);

/** A slice of the source cluster, with the addresses of its pods and the references to them: these count there (rule I5). */
export const readLocalSlice = (object: EndpointSlice): Read<EndpointSlice> =>
  read('EndpointSlice', checkSlice(object), object, trimLocalSlice);

/** `namespace/name` of the Service that a slice belongs to, if it belongs to one. */
export function serviceKeys(slice: EndpointSlice | undefined): readonly string[] {
  const service = slice?.metadata.labels?.[Label.serviceName];
  return slice === undefined || service === undefined ? [] : [`${slice.metadata.namespace ?? ''}/${service}`];
}

function read<T extends KubeObject>(kind: string, checked: Checked<T>, object: T, trim: (object: T) => T): Read<T> {
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

/** The object with these fields only, as far as it has them. */
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

/** Keeps hostnames, what is ready or terminates, and ports only: addresses in the target are of no use in the source. */
const trimSlice = (slice: EndpointSlice): EndpointSlice =>
  trimSliceBut(slice, ({ conditions, hostname }) => ({
    addresses: [],
    conditions: conditions && only(conditions, 'ready', 'terminating'),
    hostname,
  }));

const trimLocalSlice = (slice: EndpointSlice): EndpointSlice =>
  trimSliceBut(slice, (endpoint) => only(endpoint, 'addresses', 'conditions', 'targetRef', 'nodeName', 'zone'));

/** @param endpoint what is kept of an endpoint */
function trimSliceBut(
  { metadata, addressType, endpoints, ports }: EndpointSlice,
  endpoint: (full: SliceEndpoint) => object,
): EndpointSlice {
  const { name, namespace, uid, resourceVersion, labels = {} } = metadata;
  const service = labels[Label.serviceName];
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      labels: service === undefined ? {} : { [Label.serviceName]: service },
    },
    addressType,
    endpoints: (endpoints ?? []).map(endpoint),
    ports: ports?.map((port) => only(port, 'name', 'protocol', 'port', 'appProtocol')),
  } as EndpointSlice;
}

const TEXT = { type: 'string', maxLength: 253 };
/** More than any API server allows: labels have no limit of their own there, annotations 256 KiB together. */
const TEXTS = { type: 'object', maxProperties: 10_000, additionalProperties: { type: 'string' } };
const METADATA = {
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

/** The schema of the parts of a Service that are read. */
const checkService = compile<Service>(
  {
    type: 'object',
    required: ['metadata'],
    properties: {
      metadata: METADATA,
      spec: {
        type: 'object',
        properties: {
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
        },
      },
    },
  },
  { firstOnly: true },
);

const OPTIONAL_BOOLEAN = { anyOf: [{ type: 'boolean' }, { type: 'null' }] };

/** The schema of the parts of an EndpointSlice that are read. */
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
            maxItems: 10_000,
            items: {
              type: 'object',
              properties: {
                hostname: { anyOf: [TEXT, { type: 'null' }] },
                conditions: {
                  type: 'object',
                  properties: { ready: OPTIONAL_BOOLEAN, terminating: OPTIONAL_BOOLEAN },
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
