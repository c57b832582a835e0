/**
 * The vocabulary of Linkspan: wire names; schema, types and CRD of the Link and of the ServiceFailover, and the reading of
 * both; schemas, types and CRDs of the MCS API and the About API.
 * What is exported here is public.
 */
export { linkCrd } from './link/definition.ts';
export { failoverCrd } from './failover/definition.ts';
export type { StructuralSchema } from './structural.ts';
export { parseDuration, parsePort } from './duration.ts';
export type { GatewaySettings, ProbeSettings } from './link/gateway-settings.ts';
export { LABEL_SELECTOR_SCHEMA, LINK_SCHEMA, LINK_SPEC_SCHEMA, LINK_STATUS_SCHEMA } from './link/schema.ts';
export type {
  Condition,
  GatewayStatus,
  LabelSelector,
  LabelSelectorRequirement,
  Link,
  LinkSpec,
  LinkStatus,
  MirrorCounts,
  ObjectMeta,
  ObjectRef,
  ProbeSpec,
  ServiceCondition,
  ServiceStatus,
} from './link/types.gen.ts';
export {
  LABEL_MAX_LENGTH,
  SUBDOMAIN_MAX_LENGTH,
  isDnsLabel,
  isDnsSubdomain,
  isLabelKey,
  isLabelValue,
  isServiceName,
} from './names.ts';
export { isCidr, isIpAddress } from './network.ts';
export { type Labels, type Selector, parseSelector } from './selector.ts';
export { type LinkSettings, readLink } from './link/settings.ts';
export { FAILOVER_SCHEMA, FAILOVER_SPEC_SCHEMA, FAILOVER_STATUS_SCHEMA } from './failover/schema.ts';
export { type FailoverBackend, type FailoverSettings, type MinReady, readFailover } from './failover/settings.ts';
export type { BackendStatus, FailoverSpec, FailoverStatus, ServiceFailover } from './failover/types.gen.ts';
export { CLUSTER_PROPERTY_SCHEMA } from './mcs/cluster-property/schema.ts';
export type { ClusterProperty } from './mcs/cluster-property/types.gen.ts';
export { clusterPropertyCrd, mcsCrds, serviceExportCrd, serviceImportCrd } from './mcs/definitions.ts';
export { SERVICE_EXPORT_SCHEMA } from './mcs/service-export/schema.ts';
export type { ServiceExport, ServiceExportSpec, ServiceExportStatus } from './mcs/service-export/types.gen.ts';
export { SERVICE_IMPORT_SCHEMA } from './mcs/service-import/schema.ts';
export type {
  ServiceImport,
  ServiceImportPort,
  ServiceImportSpec,
  ServiceImportStatus,
} from './mcs/service-import/types.gen.ts';
export { type Checked, type FieldError, fieldError, fieldPath, formatFieldErrors } from './field-error.ts';
export { type CheckOptions, compile } from './validate.ts';
export {
  AboutApi,
  Annotation,
  CredentialsSecret,
  Default,
  ENDPOINT_SLICE_MANAGER,
  FailoverApi,
  FIELD_MANAGER,
  Label,
  LinkApi,
  McsApi,
  OPERATOR_LEASE,
  OPERATOR_NAME,
  OperatorPort,
  PROTECTED_NAMESPACES,
  PolicyApi,
  RouteApi,
  Value,
  credentialsName,
  gatewayIdentity,
  mirrorName,
  probeName,
  remoteAccessName,
  remoteFqName,
  tokenSecretName,
  writeLeaseName,
} from './wire.ts';
