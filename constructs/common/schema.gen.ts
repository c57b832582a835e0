/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { described } from './schema.ts';

export const SERVICE_ACCOUNT_REF = {
  type: 'object',
  description: 'A ServiceAccount of the same cluster',
  additionalProperties: false,
  required: ['name', 'namespace'],
  properties: {
    name: { type: 'string', description: 'Name of the ServiceAccount' },
    namespace: { type: 'string', description: 'Namespace of the ServiceAccount' },
  },
} as const;

export const TOPOLOGY_SPREAD = {
  type: 'object',
  description: 'A topology that the pods are spread over: the values of a node label',
  additionalProperties: false,
  required: ['topologyKey'],
  properties: {
    topologyKey: { type: 'string', description: 'Key of the node label, as in topology.kubernetes.io/zone' },
    maxSkew: {
      type: 'integer',
      description: 'Maximum difference between the numbers of pods of two values; default 1',
    },
    whenUnsatisfiable: {
      type: 'string',
      description: 'Whether a pod that cannot be spread is scheduled anyway or waits; default ScheduleAnyway',
      enum: ['ScheduleAnyway', 'DoNotSchedule'],
    },
  },
} as const;

export const TOLERATION = {
  type: 'object',
  description: 'A taint that the pods tolerate',
  additionalProperties: false,
  required: [],
  properties: {
    key: { type: 'string', description: 'Key of the taint; default every key, with operator Exists' },
    operator: {
      type: 'string',
      description: 'Equal compares the value; Exists tolerates every value; default Equal',
      enum: ['Equal', 'Exists'],
    },
    value: { type: 'string', description: 'Value of the taint, for Equal; default the empty value' },
    effect: {
      type: 'string',
      description: 'Effect of the taint; default every effect',
      enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
    },
    tolerationSeconds: {
      type: 'integer',
      description: 'Seconds that a pod stays on a node that gets a NoExecute taint; default forever',
    },
  },
} as const;

export const RESOURCES = {
  type: 'object',
  description:
    'Resource requests and limits of a container: quantities such as 100m and 64Mi, by cpu, memory and the like',
  additionalProperties: false,
  required: [],
  properties: {
    requests: {
      type: 'object',
      description: 'Quantities that are reserved for the container; default none',
      additionalProperties: { type: 'string' },
    },
    limits: {
      type: 'object',
      description: 'Quantities that the container may use at most; default none',
      additionalProperties: { type: 'string' },
    },
  },
} as const;

export const NODE_REQUIREMENT = {
  type: 'object',
  description: 'A requirement for a label of a node',
  additionalProperties: false,
  required: ['key', 'operator'],
  properties: {
    key: { type: 'string', description: 'Key of the label' },
    operator: {
      type: 'string',
      description: 'Operator that compares the label with the values',
      enum: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'],
    },
    values: {
      type: 'array',
      description:
        'Values: one or more for In and NotIn, one integer for Gt and Lt, none for Exists and DoesNotExist; default none',
      items: { type: 'string' },
    },
  },
} as const;

export const NODE_TERM = {
  type: 'object',
  description: 'Nodes whose labels meet all requirements',
  additionalProperties: false,
  required: ['matchExpressions'],
  properties: {
    matchExpressions: {
      type: 'array',
      description: 'Requirements for the labels of a node; all must be met',
      items: NODE_REQUIREMENT,
    },
  },
} as const;

export const REQUIRED_NODES = {
  type: 'object',
  description: 'Nodes that the pods may run on',
  additionalProperties: false,
  required: ['nodeSelectorTerms'],
  properties: {
    nodeSelectorTerms: { type: 'array', description: 'Terms; a node must match at least one', items: NODE_TERM },
  },
} as const;

export const PREFERRED_NODES = {
  type: 'object',
  description: 'Nodes that the pods prefer',
  additionalProperties: false,
  required: ['weight', 'preference'],
  properties: {
    weight: { type: 'integer', description: 'Weight of the preference, from 1 to 100' },
    preference: described(NODE_TERM, 'The nodes'),
  },
} as const;

export const NODE_AFFINITY = {
  type: 'object',
  description:
    'Nodes that the pods run on, as nodeAffinity of a pod. A node must match at least one of the required terms',
  additionalProperties: false,
  required: [],
  properties: {
    requiredDuringSchedulingIgnoredDuringExecution: described(
      REQUIRED_NODES,
      'Nodes that the pods may run on; default any node',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: {
      type: 'array',
      description: 'Nodes that the pods prefer, each term with a weight from 1 to 100; default no preference',
      items: PREFERRED_NODES,
    },
  },
} as const;
