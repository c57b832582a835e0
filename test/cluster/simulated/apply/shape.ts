/**
 * How the fields of a kind merge: which lists are maps by key, which are sets, and what is replaced as a whole.
 * The little that server-side apply and strategic merge patches need of Kubernetes' OpenAPI schema; a field that no
 * shape mentions merges as JSON does (objects by field, lists as a whole).
 */
import { isFields, type Fields } from '../storage/object.ts';

/** The merge rules of one value. */
export interface Shape {
  /** Replaced as a whole. */
  readonly atomic?: true;
  /** An object: the rules of its named fields. */
  readonly fields?: Readonly<Record<string, Shape>>;
  /** A list of objects, known by these fields; a key that is absent takes the default given here. */
  readonly keys?: Readonly<Record<string, unknown>>;
  /** What a strategic merge patch takes for the key, where that is less than {@link keys}. */
  readonly patchKey?: string;
  /** A list of distinct scalars. */
  readonly set?: true;
  /** The rules of the items of a list, or of the values of a map. */
  readonly items?: Shape;
}

const NONE: Shape = {};
const ATOMIC: Shape = { atomic: true };
const SET: Shape = { set: true };

const keyed = (keys: Readonly<Record<string, unknown>>, items: Shape = NONE, patchKey?: string): Shape => ({
  keys,
  items,
  patchKey: patchKey ?? Object.keys(keys)[0]!,
});

const struct = (fields: Readonly<Record<string, Shape>>): Shape => ({ fields });

const METADATA = struct({ finalizers: SET, ownerReferences: keyed({ uid: '' }, ATOMIC) });
const CONDITIONS = keyed({ type: '' });

const CONTAINERS = keyed(
  { name: '' },
  struct({
    env: keyed({ name: '' }),
    ports: keyed({ containerPort: 0, protocol: 'TCP' }),
    volumeMounts: keyed({ mountPath: '' }),
  }),
);
const POD_SPEC = struct({
  containers: CONTAINERS,
  initContainers: CONTAINERS,
  imagePullSecrets: keyed({ name: '' }),
  volumes: keyed({ name: '' }),
  nodeSelector: ATOMIC,
});

const KINDS: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  Deployment: {
    spec: struct({ selector: ATOMIC, template: struct({ metadata: METADATA, spec: POD_SPEC }) }),
    status: struct({ conditions: CONDITIONS }),
  },
  NetworkPolicy: { spec: struct({ podSelector: ATOMIC, ingress: ATOMIC, egress: ATOMIC, policyTypes: ATOMIC }) },
  PodDisruptionBudget: { spec: struct({ selector: ATOMIC }), status: struct({ conditions: CONDITIONS }) },
  Endpoints: { subsets: ATOMIC },
  EndpointSlice: { endpoints: ATOMIC, ports: ATOMIC },
  Event: { involvedObject: ATOMIC, related: ATOMIC },
  Namespace: { spec: struct({ finalizers: ATOMIC }), status: struct({ conditions: CONDITIONS }) },
  Node: { status: struct({ conditions: CONDITIONS, addresses: keyed({ type: '' }) }) },
  Pod: {
    spec: POD_SPEC,
    status: struct({ conditions: CONDITIONS, podIPs: keyed({ ip: '' }), hostIPs: ATOMIC }),
  },
  Service: {
    spec: struct({ ports: keyed({ port: 0, protocol: 'TCP' }, NONE, 'port'), selector: ATOMIC }),
    status: struct({ conditions: CONDITIONS, loadBalancer: struct({ ingress: ATOMIC }) }),
  },
  ServiceAccount: { secrets: keyed({ name: '' }), imagePullSecrets: ATOMIC },
  StatefulSet: {
    spec: struct({
      selector: ATOMIC,
      template: struct({ metadata: METADATA, spec: POD_SPEC }),
      volumeClaimTemplates: ATOMIC,
    }),
    status: struct({ conditions: CONDITIONS }),
  },
  ClusterRoleBinding: { roleRef: ATOMIC },
  RoleBinding: { roleRef: ATOMIC },
  CustomResourceDefinition: { status: struct({ conditions: CONDITIONS }) },
};

/** The merge rules of a built-in kind. */
export const shapeOfKind = (kind: string): Shape => struct({ ...KINDS[kind], metadata: METADATA });

/** The merge rules that a structural schema states by its `x-kubernetes-*` extensions. */
export function shapeOfSchema(schema: Fields): Shape {
  const type = schema['x-kubernetes-list-type'];
  const items = isFields(schema.items)
    ? shapeOfSchema(schema.items)
    : isFields(schema.additionalProperties)
      ? shapeOfSchema(schema.additionalProperties)
      : NONE;
  if (type === 'set') return SET;
  if (type === 'map') {
    const keys = schema['x-kubernetes-list-map-keys'] as readonly string[];
    const properties = ((schema.items as Fields).properties ?? {}) as Record<string, Fields>;
    return { keys: Object.fromEntries(keys.map((key) => [key, properties[key]?.default])), items };
  }
  if (schema['x-kubernetes-map-type'] === 'atomic') return ATOMIC;
  const properties = (schema.properties ?? {}) as Record<string, Fields>;
  return {
    fields: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, shapeOfSchema(field)])),
    items,
  };
}

/** The merge rules of a custom resource. */
export const shapeOfCustomResource = (schema: Fields): Shape => ({
  fields: { ...shapeOfSchema(schema).fields, metadata: METADATA },
});

/** A value inside another, with its merge rules. */
export interface Child {
  readonly value: unknown;
  readonly shape: Shape;
}

/** The key of an item of a keyed list, written as managedFields do: `k:{"port":80,"protocol":"TCP"}`. */
export function itemKey(item: unknown, keys: Readonly<Record<string, unknown>>): string {
  const fields = item as Fields;
  return `k:${JSON.stringify(
    Object.fromEntries(
      Object.keys(keys)
        .sort()
        .map((key) => [key, fields[key] ?? keys[key]]),
    ),
  )}`;
}

/**
 * What is inside a value, by path element (`f:` a field, `k:` an item by its keys, `v:` an item of a set).
 * @returns undefined for a scalar and for what merges as a whole
 */
export function childrenOf(value: unknown, shape: Shape): ReadonlyMap<string, Child> | undefined {
  if (shape.atomic) return undefined;
  if (Array.isArray(value)) {
    if (shape.set)
      return new Map(value.map((item) => [`v:${JSON.stringify(item)}`, { value: item as unknown, shape: NONE }]));
    const { keys, items = NONE } = shape;
    if (keys) return new Map(value.map((item) => [itemKey(item, keys), { value: item as unknown, shape: items }]));
    return undefined;
  }
  if (!isFields(value)) return undefined;
  const children = new Map<string, Child>();
  for (const [name, field] of Object.entries(value)) {
    if (field !== undefined)
      children.set(`f:${name}`, { value: field, shape: shape.fields?.[name] ?? shape.items ?? NONE });
  }
  return children;
}

/** The merge rules of a field of an object. */
export const shapeOfField = (shape: Shape, name: string): Shape => shape.fields?.[name] ?? shape.items ?? NONE;
