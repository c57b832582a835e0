/**
 * The kinds of the MCS API, as they are read: checked against the schemas, since a target is not trusted, and any CRD may
 * be installed, and cut to the fields that are read.
 */
import { SERVICE_EXPORT_SCHEMA, SERVICE_EXPORT_SPEC_SCHEMA } from '../../crds/mcs/service-export/schema.ts';
import type { ServiceExportSpec, ServiceExportStatus } from '../../crds/mcs/service-export/types.gen.ts';
import { SERVICE_IMPORT_SPEC_SCHEMA, SERVICE_IMPORT_STATUS_SCHEMA } from '../../crds/mcs/service-import/schema.ts';
import type { ServiceImportSpec, ServiceImportStatus } from '../../crds/mcs/service-import/types.gen.ts';
import { compile } from '../../crds/validate.ts';
import { McsApi } from '../../crds/wire.ts';
import type { KubeObject, Resource } from '../kube/objects.ts';

export const SERVICE_EXPORTS: Resource = {
  group: McsApi.group,
  version: McsApi.version,
  ...McsApi.serviceExport,
  namespaced: true,
};

export const SERVICE_IMPORTS: Resource = {
  group: McsApi.group,
  version: McsApi.version,
  ...McsApi.serviceImport,
  namespaced: true,
};

export interface ServiceExport extends KubeObject {
  readonly spec?: ServiceExportSpec;
  readonly status?: ServiceExportStatus;
}

export interface ServiceImport extends KubeObject {
  readonly spec?: ServiceImportSpec;
  readonly status?: ServiceImportStatus;
}

const checkExportSpec = compile<ServiceExportSpec>(SERVICE_EXPORT_SPEC_SCHEMA, { firstOnly: true });
const checkExportStatus = compile<ServiceExportStatus>(SERVICE_EXPORT_SCHEMA.properties.status, { firstOnly: true });
const checkImportSpec = compile<ServiceImportSpec>(SERVICE_IMPORT_SPEC_SCHEMA, { firstOnly: true });
const checkImportStatus = compile<ServiceImportStatus>(SERVICE_IMPORT_STATUS_SCHEMA, { firstOnly: true });

/** Reads a ServiceExport. A spec or a status that is not as the MCS API has it is left out: the Service is exported. */
export function readServiceExport({ metadata, spec, status }: ServiceExport): ServiceExport {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion, generation, creationTimestamp } as ServiceExport['metadata'],
    ...validated('spec', checkExportSpec, spec),
    ...validated('status', checkExportStatus, status),
  };
}

/** Reads a ServiceImport. A spec or a status that is not as the MCS API has it is left out: it is written anew. */
export const readServiceImport = ({ metadata, spec, status }: ServiceImport): ServiceImport => ({
  metadata,
  ...validated('spec', checkImportSpec, spec),
  ...validated('status', checkImportStatus, status),
});

/** The field, if its value is valid. */
const validated = <K extends string, T>(
  field: K,
  check: (value: unknown) => { readonly ok: true; readonly value: T } | { readonly ok: false },
  value: unknown,
): { readonly [Field in K]?: T } => {
  const checked = check(value);
  return (checked.ok ? { [field]: checked.value } : {}) as { readonly [Field in K]?: T };
};
