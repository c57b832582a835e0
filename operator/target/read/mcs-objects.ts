/**
 * Reads objects of the MCS API and the About API. Checks the objects against schemas, because a target is not trusted
 * and may have other CRDs under these names. Reduces the objects to the fields that are used.
 */
import { CLUSTER_ID_KINDS, IMPORT_KINDS } from '../../../crds/derived-kinds.ts';
import type { ClusterProperty as ClusterPropertyFields } from '../../../crds/mcs/cluster-property/types.gen.ts';
import { SERVICE_EXPORT_SCHEMA, SERVICE_EXPORT_SPEC_SCHEMA } from '../../../crds/mcs/service-export/schema.ts';
import type { ServiceExportSpec, ServiceExportStatus } from '../../../crds/mcs/service-export/types.gen.ts';
import { compile } from '../../../crds/validate.ts';
import { AboutApi } from '../../../crds/wire.ts';
import type { KubeObject, Resource } from '../../kube/objects.ts';
import { METADATA, type Read, read, TEXT } from './objects.ts';

export const SERVICE_EXPORTS: Resource = IMPORT_KINDS.exports;
export const CLUSTER_PROPERTIES: Resource = CLUSTER_ID_KINDS.properties;

export interface ServiceExport extends KubeObject {
  readonly spec?: ServiceExportSpec;
  readonly status?: ServiceExportStatus;
}

export interface ClusterProperty extends KubeObject {
  readonly spec: Pick<ClusterPropertyFields['spec'], 'value'>;
}

const checkExport = compile<ServiceExport>(
  { type: 'object', required: ['metadata'], properties: { metadata: METADATA } },
  { firstOnly: true },
);
const checkExportSpec = compile<ServiceExportSpec>(SERVICE_EXPORT_SPEC_SCHEMA, { firstOnly: true });
const checkExportStatus = compile<ServiceExportStatus>(SERVICE_EXPORT_SCHEMA.properties.status, { firstOnly: true });

/**
 * Reads a ServiceExport. A spec or status that does not match the MCS API is left out: the Service is exported all
 * the same.
 */
export function readServiceExport({ metadata, spec, status }: ServiceExport): ServiceExport {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion, generation, creationTimestamp } as ServiceExport['metadata'],
    ...validated('spec', checkExportSpec, spec),
    ...validated('status', checkExportStatus, status),
  };
}

/**
 * Reads a ServiceExport of a cluster that is not trusted. Unlike {@link readServiceExport}, it checks the metadata too.
 */
export const readTargetExport = (object: ServiceExport): Read<ServiceExport> =>
  read('ServiceExport', checkExport(object), object, readServiceExport);

/** Maximum length of the id of a cluster, in characters: the maximum length of a DNS label. */
const MAX_ID = 63;

const checkClusterId = compile<ClusterProperty>(
  {
    type: 'object',
    required: ['metadata', 'spec'],
    properties: {
      metadata: {
        type: 'object',
        required: ['name', 'resourceVersion'],
        properties: { name: { enum: [AboutApi.clusterId] }, uid: TEXT, resourceVersion: TEXT },
      },
      spec: {
        type: 'object',
        required: ['value'],
        properties: { value: { type: 'string', minLength: 1, maxLength: MAX_ID } },
      },
    },
  },
  { firstOnly: true },
);

/** Reads the ClusterProperty that holds the id of a cluster. */
export const readClusterId = (object: ClusterProperty): Read<ClusterProperty> =>
  read('ClusterProperty', checkClusterId(object), object, ({ metadata: { name, uid, resourceVersion }, spec }) => ({
    metadata: { name, uid, resourceVersion } as ClusterProperty['metadata'],
    spec: { value: spec.value },
  }));

/** Returns an object that has only the given field if the value is valid, and an empty object otherwise. */
export const validated = <K extends string, T>(
  field: K,
  check: (value: unknown) => { readonly ok: true; readonly value: T } | { readonly ok: false },
  value: unknown,
): { readonly [Field in K]?: T } => {
  const checked = check(value);
  return (checked.ok ? { [field]: checked.value } : {}) as { readonly [Field in K]?: T };
};
