/**
 * Reads ServiceImports. They are checked against our schema of the MCS API, because the schema of the installed CRD may
 * differ.
 */
import { IMPORT_KINDS } from '../../crds/derived-kinds.ts';
import { SERVICE_IMPORT_SPEC_SCHEMA, SERVICE_IMPORT_STATUS_SCHEMA } from '../../crds/mcs/service-import/schema.ts';
import type { ServiceImportSpec, ServiceImportStatus } from '../../crds/mcs/service-import/types.gen.ts';
import { compile } from '../../crds/validate.ts';
import type { KubeObject, Resource } from '../kube/objects.ts';
import { validated } from '../target/read/mcs-objects.ts';

export const SERVICE_IMPORTS: Resource = IMPORT_KINDS.imports;

export interface ServiceImport extends KubeObject {
  readonly spec?: ServiceImportSpec;
  readonly status?: ServiceImportStatus;
}

const checkImportSpec = compile<ServiceImportSpec>(SERVICE_IMPORT_SPEC_SCHEMA, { firstOnly: true });
const checkImportStatus = compile<ServiceImportStatus>(SERVICE_IMPORT_STATUS_SCHEMA, { firstOnly: true });

/** Reads a ServiceImport. A spec or status that does not match the MCS API is left out, so that it is written anew. */
export const readServiceImport = ({ metadata, spec, status }: ServiceImport): ServiceImport => ({
  metadata,
  ...validated('spec', checkImportSpec, spec),
  ...validated('status', checkImportStatus, status),
});
