/**
 * The JSON schema of ServiceImport of the MCS API (KEP-1645). Names and fields are those of its reference CRD, in v1beta1;
 * it refuses no object that the reference accepts.
 */
import { text } from '../../schema-fields.ts';
import { conditions, objectFields } from '../fields.ts';

const port = {
  title: 'ServiceImportPort',
  description: 'A port of the Service',
  type: 'object',
  required: ['port'],
  properties: {
    name: text('Name of the port, a DNS label; required of each if there are several'),
    protocol: text('TCP, UDP or SCTP; TCP when absent'),
    appProtocol: text('Application protocol, as in kubernetes.io/h2c'),
    port: { type: 'integer', description: 'Port number', format: 'int32' },
  },
} as const;

/** Schema of `spec`. */
export const SERVICE_IMPORT_SPEC_SCHEMA = {
  title: 'ServiceImportSpec',
  description: 'The Service as its clients in this cluster see it',
  type: 'object',
  required: ['ports', 'type'],
  properties: {
    ports: { type: 'array', description: 'Ports', 'x-kubernetes-list-type': 'atomic', items: port },
    ips: {
      type: 'array',
      description: 'IP addresses of the Service, one for each family, if type is ClusterSetIP',
      maxItems: 2,
      items: { type: 'string' },
    },
    type: {
      type: 'string',
      description: 'Whether clients reach the Service by an IP address of its own, or each of its pods',
      enum: ['ClusterSetIP', 'Headless'],
    },
    sessionAffinity: text('ClientIP or None; None when absent'),
    sessionAffinityConfig: {
      title: 'SessionAffinityConfig',
      description: 'Settings of the session affinity',
      type: 'object',
      properties: {
        clientIP: {
          title: 'ClientIPConfig',
          description: 'Settings of ClientIP',
          type: 'object',
          properties: {
            timeoutSeconds: { type: 'integer', description: 'Time that a session lasts, in seconds', format: 'int32' },
          },
        },
      },
    },
    ipFamilies: {
      type: 'array',
      description: 'Families of the IP addresses: IPv4, IPv6',
      maxItems: 2,
      items: { type: 'string' },
    },
    internalTrafficPolicy: text('Cluster or Local: whether clients reach endpoints on other nodes'),
    trafficDistribution: text('Endpoints that are preferred, as in PreferClose'),
  },
} as const;

/** Schema of `status`. */
export const SERVICE_IMPORT_STATUS_SCHEMA = {
  title: 'ServiceImportStatus',
  description: 'The exports that the ServiceImport is made of',
  type: 'object',
  properties: {
    endpointSliceObjects: {
      type: 'string',
      description: 'Whether the cluster has EndpointSlices of the ServiceImport',
      enum: ['Present', 'Absent'],
    },
    clusters: {
      type: 'array',
      description: 'Clusters that export the Service',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['cluster'],
      items: {
        title: 'ServiceImportCluster',
        description: 'A cluster that exports the Service',
        type: 'object',
        required: ['cluster'],
        properties: { cluster: text('Id of the cluster, a DNS label') },
      },
    },
    conditions: conditions('ServiceImportCondition'),
  },
} as const;

/** Schema of a whole ServiceImport. */
export const SERVICE_IMPORT_SCHEMA = {
  title: 'ServiceImport',
  description: 'The Service of its namespace and name that clusters of the set export',
  type: 'object',
  properties: {
    ...objectFields('ServiceImport'),
    spec: SERVICE_IMPORT_SPEC_SCHEMA,
    status: SERVICE_IMPORT_STATUS_SCHEMA,
  },
} as const;
