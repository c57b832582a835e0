/**
 * The CustomResourceDefinitions of the MCS API and the About API, derived from their JSON schemas, for clusters where no
 * other implementation has installed them. Plain JSON in which no object occurs twice.
 */
import { conditionOf, structural } from '../structural.ts';
import { AboutApi, McsApi } from '../wire.ts';
import { CLUSTER_PROPERTY_SCHEMA } from './cluster-property/schema.ts';
import { SERVICE_EXPORT_SCHEMA } from './service-export/schema.ts';
import { SERVICE_IMPORT_SCHEMA } from './service-import/schema.ts';

interface Column {
  readonly name: string;
  readonly type: 'string' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
}

const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Both versions have one schema, and no webhook converts them. */
const versions = (
  { version, olderVersion }: typeof McsApi | typeof AboutApi,
  schema: { readonly properties: object },
  columns: readonly Column[],
) =>
  [olderVersion, version].map((name) => ({
    name,
    served: true,
    storage: name === version,
    schema: {
      openAPIV3Schema: structural(
        // The API server has the schema of metadata, and refuses a CRD that repeats it.
        { ...schema, properties: { ...schema.properties, metadata: { type: 'object' } } },
        { maps: 'typed' },
      ),
    },
    subresources: { status: {} },
    additionalPrinterColumns: [...columns, AGE].map((column) => ({ ...column })),
  }));

const { serviceExport, serviceImport } = McsApi;

/** The manifest of the CustomResourceDefinition of the ServiceExport. */
export const serviceExportCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${serviceExport.plural}.${McsApi.group}` },
  spec: {
    group: McsApi.group,
    names: {
      plural: serviceExport.plural,
      singular: 'serviceexport',
      kind: serviceExport.kind,
      listKind: 'ServiceExportList',
      shortNames: ['svcex', 'svcexport'],
      categories: ['multicluster'],
    },
    scope: 'Namespaced',
    versions: versions(McsApi, SERVICE_EXPORT_SCHEMA, [
      {
        name: 'Valid',
        type: 'string',
        jsonPath: conditionOf('Valid', 'status'),
        description: 'Whether there is a Service to export',
      },
      {
        name: 'Conflict',
        type: 'string',
        jsonPath: conditionOf('Conflict', 'reason'),
        description: 'What the exports of the clusters disagree about',
      },
    ]),
  },
} as const;

/** The manifest of the CustomResourceDefinition of the ServiceImport. */
export const serviceImportCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${serviceImport.plural}.${McsApi.group}` },
  spec: {
    group: McsApi.group,
    names: {
      plural: serviceImport.plural,
      singular: 'serviceimport',
      kind: serviceImport.kind,
      listKind: 'ServiceImportList',
      shortNames: ['svcim', 'svcimport'],
      categories: ['multicluster'],
    },
    scope: 'Namespaced',
    versions: versions(McsApi, SERVICE_IMPORT_SCHEMA, [
      { name: 'Type', type: 'string', jsonPath: '.spec.type', description: 'Whether it has an IP address of its own' },
      { name: 'IP', type: 'string', jsonPath: '.spec.ips', description: 'IP addresses that clients connect to' },
    ]),
  },
} as const;

/** The manifest of the CustomResourceDefinition of the ClusterProperty. */
export const clusterPropertyCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${AboutApi.clusterProperty.plural}.${AboutApi.group}`,
    // The API server wants this of every group in k8s.io.
    annotations: {
      'api-approved.kubernetes.io':
        'https://github.com/kubernetes/enhancements/tree/master/keps/sig-multicluster/2149-clusterid',
    },
  },
  spec: {
    group: AboutApi.group,
    names: {
      plural: AboutApi.clusterProperty.plural,
      singular: 'clusterproperty',
      kind: AboutApi.clusterProperty.kind,
      listKind: 'ClusterPropertyList',
    },
    scope: 'Cluster',
    versions: versions(AboutApi, CLUSTER_PROPERTY_SCHEMA, [
      { name: 'Value', type: 'string', jsonPath: '.spec.value', description: 'Its value' },
    ]),
  },
} as const;

/** All of them. */
export const mcsCrds = [serviceExportCrd, serviceImportCrd, clusterPropertyCrd] as const;
