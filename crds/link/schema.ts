/**
 * The Link's JSON schema: the one source of its CRD, its TypeScript types and its validators.
 *
 * Fields, types and defaults are those of Linkerd's own CRD; what we add is optional. Every served version has this one
 * schema. Versions are converted by changing `apiVersion` alone, so one that knew fewer fields would drop the others from
 * storage whenever a client writes through it, as happens with Linkerd's (its v1alpha1 has no status, no
 * `federatedServiceSelector` and no `excluded…`). The price: a later field in an object of an old version, which Linkerd
 * silently drops, has its effect here.
 *
 * The CRD refuses no Link that Linkerd's accepts. It has no CEL rule, and in `spec` no pattern and no size limit: each
 * would refuse something that Linkerd takes. It does not have Linkerd's `format: duration` either, which Kubernetes
 * reads differently from Go (`1 day` passes). `readLink` reports every error of a Link, with field, reason and remedy, in
 * the condition `Accepted`. In `matchLabels` Linkerd's CRD lets any value pass, though its controller can decode
 * strings only: so does the CRD here, and the types and validators want strings.
 *
 * `title` names the generated type; the CRD leaves it out.
 */
import { CONDITION_FIELDS, count, text } from '../schema-fields.ts';
import { OFFERED_TYPES } from './import-policy.ts';

const texts = (description: string) => ({ type: 'array', description, items: { type: 'string' } }) as const;

const flag = (description: string) => ({ type: 'boolean', description }) as const;

const labelSelectorRequirement = {
  title: 'LabelSelectorRequirement',
  description: 'One requirement on a label',
  type: 'object',
  required: ['key', 'operator'],
  properties: {
    key: text('Label key'),
    operator: {
      type: 'string',
      description: 'Relation of the label to the values',
      enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
    },
    values: texts('At least one for In and NotIn, none for Exists and DoesNotExist'),
  },
} as const;

/**
 * Schema of a label selector. Server-side apply replaces it as a whole, as it does with those of Kubernetes' own kinds:
 * of two selectors that are joined, each requirement would take Services away.
 */
export const LABEL_SELECTOR_SCHEMA = {
  title: 'LabelSelector',
  description: 'Selects Services by label; all requirements must hold, and an empty selector selects nothing',
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: {
    matchLabels: {
      type: 'object',
      description: 'Labels, each with the value it must have',
      additionalProperties: { type: 'string' },
    },
    matchExpressions: { type: 'array', description: 'Requirements', items: labelSelectorRequirement },
  },
} as const;

const selects = (description: string) => ({ ...LABEL_SELECTOR_SCHEMA, description }) as const;

const probeSpec = {
  title: 'ProbeSpec',
  description: 'How the health of the gateway is probed; without a path it is not',
  type: 'object',
  properties: {
    path: text("Path of the gateway's health endpoint, such as /ready"),
    port: text("Port of the gateway's health endpoint: a number as a string"),
    period: text('Time between probes: a Go duration such as 3s'),
    timeout: { ...text('Time after which a probe has failed: a Go duration'), default: '30s' },
    failureThreshold: {
      ...text('Consecutive failures that make the gateway not alive: a number as a string'),
      default: '3',
    },
  },
} as const;

const importPolicy = {
  title: 'ImportPolicySpec',
  description:
    'Linkspan: what of the exports of the target is mirrored, joined or imported; all of it when absent. Each list that is there must admit a Service',
  type: 'object',
  properties: {
    namespaces: texts('Namespaces of Services: names, or patterns with *'),
    names: texts('Names of Services, or patterns with *'),
    ports: texts(
      'Ports of Services, each a number or a range such as 8000-8999, as a string; all of its ports must be among them',
    ),
    types: {
      type: 'array',
      description: 'Types of Services; Headless for those without a ClusterIP',
      items: { type: 'string', enum: OFFERED_TYPES },
    },
    approval: {
      type: 'string',
      description: 'Whether a Service that is not among those approved waits; none when absent',
      enum: ['none', 'required'],
    },
    approved: {
      ...texts('Services that are approved, as namespace/name, or patterns with *; required if approval is'),
      'x-kubernetes-list-type': 'set',
    },
  },
} as const;

/** Schema of `spec`. */
export const LINK_SPEC_SCHEMA = {
  title: 'LinkSpec',
  description: 'The target cluster, how it is reached and what is mirrored from it',
  type: 'object',
  properties: {
    targetClusterName: text('Name of the target cluster; mirrors are called <service>-<name>'),
    targetClusterDomain: text('DNS domain of the target cluster; cluster.local when absent'),
    targetClusterLinkerdNamespace: text(
      "Namespace of Linkerd's control plane on the target cluster; linkerd when absent",
    ),
    clusterCredentialsSecret: text('Secret with the kubeconfig of the target cluster, in the namespace of the Link'),
    gatewayAddress: text(
      "Addresses of the target's gateway: IPs and host names, comma separated; without one there is no gateway",
    ),
    gatewayPort: text("Port of the target's gateway: a number as a string"),
    gatewayIdentity: text("TLS identity of the target's gateway; without it proxies send plaintext"),
    probeSpec,
    selector: selects('Services to mirror through the gateway'),
    remoteDiscoverySelector: selects('Services to mirror in flat mode'),
    federatedServiceSelector: selects('Services that join the federated Service of their name'),
    federation: {
      type: 'string',
      description:
        'Linkspan: how these Services are reached, through the gateway of the target or on a flat network; flat when absent',
      enum: ['gateway', 'flat'],
    },
    serviceExports: flag(
      'Linkspan: import what the ServiceExports of the target export, reached as federation says, or if that is absent through the gateway, if there is one; true when absent',
    ),
    excludedAnnotations: texts('Annotations not to copy: exact keys, or prefix/*'),
    excludedLabels: texts('Labels not to copy: exact keys, or prefix/*'),
    targetNamespaces: texts(
      'Linkspan: the only namespaces of the target cluster that are read, for credentials that are limited to them; all when absent',
    ),
    importPolicy,
    enableHeadlessServices: flag("Linkspan: mirror headless Services pod by pod; the operator's default when absent"),
    enableNamespaceCreation: flag(
      "Linkspan: create namespaces that a mirror needs; the operator's default when absent",
    ),
  },
} as const;

const conditionType = {
  type: 'string',
  description: 'CamelCase, or prefixed as example.com/CamelCase',
  maxLength: 316,
  pattern:
    '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
} as const;

const conditionFields = { type: conditionType, ...CONDITION_FIELDS } as const;

/** Schema of a reference to an object. */
export const OBJECT_REF_SCHEMA = {
  title: 'ObjectRef',
  description: 'Names an object',
  type: 'object',
  required: ['name', 'namespace'],
  properties: {
    group: {
      type: 'string',
      description: 'API group',
      default: 'core',
      maxLength: 253,
      pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
    },
    kind: {
      type: 'string',
      description: 'Kind',
      default: 'Service',
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$',
    },
    name: { type: 'string', description: 'Name', minLength: 1, maxLength: 253 },
    namespace: {
      type: 'string',
      description: 'Namespace',
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    },
  },
} as const;

const serviceCondition = {
  title: 'ServiceCondition',
  description: 'One aspect of a mirrored or federated Service',
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    ...conditionFields,
    localRef: { ...OBJECT_REF_SCHEMA, description: 'The Service in the source cluster' },
  },
} as const;

const serviceStatus = {
  title: 'ServiceStatus',
  description: 'How one Service of the target is doing',
  type: 'object',
  required: ['controllerName', 'remoteRef'],
  properties: {
    controllerName: {
      type: 'string',
      description: 'Who wrote this entry: domain/path',
      minLength: 1,
      maxLength: 253,
      pattern:
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$",
    },
    remoteRef: { ...OBJECT_REF_SCHEMA, description: 'The Service in the target cluster' },
    conditions: { type: 'array', description: 'Its conditions', items: serviceCondition },
  },
} as const;

const condition = {
  title: 'Condition',
  description: 'One aspect of the Link',
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    ...conditionFields,
    observedGeneration: count('metadata.generation of the Link that this was seen at'),
  },
} as const;

const mirrorCounts = {
  title: 'MirrorCounts',
  description: 'Linkspan: how many Services are mirrored',
  type: 'object',
  properties: {
    total: count('Services selected on the target'),
    ready: count('Of these, mirrored'),
    failed: count('Of these, not mirrored; mirrorServices says why'),
    notAdmitted: count('Services beside these that importPolicy does not admit'),
    waitingForApproval: count('Services beside these that wait until they are approved'),
  },
} as const;

const gatewayStatus = {
  title: 'GatewayStatus',
  description: 'Linkspan: the gateway as it was last seen',
  type: 'object',
  properties: {
    alive: flag('Verdict of the probe'),
    addresses: texts('IPs that mirrors point at, sorted'),
  },
} as const;

/** Schema of `status`. Patterns are Linkerd's: what passes here is not refused where Linkerd's CRD is installed. */
export const LINK_STATUS_SCHEMA = {
  title: 'LinkStatus',
  description: 'What the operator has seen and done',
  type: 'object',
  properties: {
    mirrorServices: { type: 'array', description: 'Mirrored Services, failures first', items: serviceStatus },
    federatedServices: { type: 'array', description: 'Federated Services', items: serviceStatus },
    conditions: {
      type: 'array',
      description: 'Linkspan: conditions of the Link',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    mirrors: mirrorCounts,
    gateway: gatewayStatus,
    observedGeneration: count('Linkspan: metadata.generation that this status describes'),
  },
} as const;

const stringMap = (description: string) =>
  ({ type: 'object', description, additionalProperties: { type: 'string' } }) as const;

/** The part of Kubernetes' ObjectMeta that is read or written here. The API server has the whole one, whatever a CRD says. */
export const OBJECT_META_SCHEMA = {
  title: 'ObjectMeta',
  type: 'object',
  properties: {
    name: text('Name'),
    namespace: text('Namespace'),
    uid: text("Identity over the object's lifetime"),
    resourceVersion: text('Opaque version of the object'),
    generation: count('Version of the spec'),
    creationTimestamp: { type: 'string', format: 'date-time', description: 'When it was created' },
    deletionTimestamp: { type: 'string', format: 'date-time', description: 'When its deletion was asked for' },
    labels: stringMap('Labels'),
    annotations: stringMap('Annotations'),
  },
} as const;

/** Schema of a whole Link, of any served version. */
export const LINK_SCHEMA = {
  title: 'Link',
  description: 'Mirrors Services of a target cluster into this one',
  type: 'object',
  properties: {
    apiVersion: text('API group and version'),
    kind: text('Kind of the object: Link'),
    metadata: OBJECT_META_SCHEMA,
    spec: LINK_SPEC_SCHEMA,
    status: LINK_STATUS_SCHEMA,
  },
} as const;
