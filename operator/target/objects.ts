/**
 * Services and EndpointSlices as they come from a target: checked against what the API says they are, since a target is
 * not trusted, and cut to what is read of them, since there may be thousands.
 */
import { type Checked } from '../../crds/field-error.ts';
import { compile } from '../../crds/validate.ts';
import { Label } from '../../crds/wire.ts';
import type { EndpointSlice, KubeObject, Service } from '../kube/objects.ts';

/** The object, or what is wrong with it, naming it. */
export type Read<T> = { readonly object: T } | { readonly malformed: string };

export const readService = (object: Service): Read<Service> =>
  read('Service', checkService(object), object, trimService);

export const readSlice = (object: EndpointSlice): Read<EndpointSlice> =>
  read('EndpointSlice', checkSlice(object), object, trimSlice);

/** `namespace/name` of the Service that a slice belongs to; none or one. */
export function serviceKeys(slice: EndpointSlice | undefined): readonly string[] {
  const service = slice?.metadata.labels?.[Label.serviceName];
  return slice === undefined || service === undefined ? [] : [`${slice.metadata.namespace ?? ''}/${service}`];
}

function read<T extends KubeObject>(kind: string, checked: Checked<T>, object: T, trim: (object: T) => T): Read<T> {
  if (checked.ok) return { object: trim(checked.value) };
  const [first] = checked.errors;
  return { malformed: `${kind} ${nameOf(object)}: ${first?.path ?? ''} ${first?.reason ?? ''}` };
}

function nameOf(object: unknown): string {
  const { metadata } = (object ?? {}) as {
    readonly metadata?: { readonly namespace?: unknown; readonly name?: unknown };
  };
  return `${String(metadata?.namespace)}/${String(metadata?.name)}`.slice(0, 128);
}

function trimService({ metadata, spec = {} }: Service): Service {
  const { name, namespace, uid, resourceVersion, creationTimestamp, labels, annotations } = metadata;
  const { type, clusterIP, selector, ports, publishNotReadyAddresses } = spec;
  return {
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp, labels, annotations },
    spec: { type, clusterIP, selector, ports, publishNotReadyAddresses },
  } as Service;
}

/** Addresses in the target mean nothing here: only hostnames, readiness and ports are kept. */
function trimSlice({ metadata, addressType, endpoints, ports }: EndpointSlice): EndpointSlice {
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
    endpoints: (endpoints ?? []).map(({ conditions, hostname }) => ({ addresses: [], conditions, hostname })),
    ports,
  } as EndpointSlice;
}

const TEXT = { type: 'string', maxLength: 253 };
const TEXTS = { type: 'object', additionalProperties: { type: 'string' } };
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

/** The parts of a Service that are read, as the API has them. */
const checkService = compile<Service>({
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
});

const OPTIONAL_BOOLEAN = { anyOf: [{ type: 'boolean' }, { type: 'null' }] };

/** The parts of an EndpointSlice that are read, as the API has them. */
const checkSlice = compile<EndpointSlice>({
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
              conditions: { type: 'object', properties: { ready: OPTIONAL_BOOLEAN } },
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
});
