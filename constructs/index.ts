/**
 * The constructs of Linkspan: everything a cdk8s chart needs to declare a Link, its credentials and its mirrors.
 */
export { Grant, type Grantee, type GrantProps, type NamedSubject, type PolicyRule } from './common/grant.ts';
export { InvalidPropsError } from './common/invalid-props.ts';
export type { TimeSpan } from './common/time-span.ts';
export type { PodPlacementProps, Resources, Toleration, TopologySpread } from './common/pod-placement.ts';
export type {
  NodeAffinity,
  NodeRequirement,
  NodeTerm,
  PodProps,
  PreferredNodes,
  RequiredNodes,
} from './common/pod-props.ts';
export type { ScrapePolicy, Scrapers, ServiceAccountRef } from './common/scrape-policy.ts';

export {
  type ApiJson,
  type Backend,
  type BackendRef,
  type BackendsProps,
  copiedAnnotations,
  type CopiedEndpoint,
  copiedLabels,
  type CopiedSlice,
  crossesGateway,
  type EndpointConditions,
  EndpointMirror,
  type EndpointMirrorProps,
  type EndpointPort,
  type EndpointsKind,
  type FederatedGateway,
  type FederatedLocalMember,
  type FederatedMember,
  type FederatedMembersProps,
  FederatedService,
  type FederatedServiceProps,
  type GatewayEndpoints,
  GatewayProbe,
  type GatewayProbeProps,
  HeadlessMirror,
  type HeadlessMirrorAddress,
  type HeadlessMirrorEndpoints,
  type HeadlessMirrorProps,
  type HeadlessMirrorSubset,
  type ImportedCluster,
  type ImportedPod,
  type ImportPort,
  type ImportType,
  type Metadata,
  type MirrorMode,
  type MirrorPort,
  MirrorService,
  type MirrorServiceProps,
  type PodRef,
  type Protocol,
  type RankedBackend,
  render,
  type RouteKind,
  ServiceImport,
  type ServiceImportProps,
  type ServiceObject,
  type ServiceRef,
  ServiceRoute,
  type ServiceRouteProps,
  type StaticEndpointsProps,
  type TargetServiceProps,
} from './rendered/index.ts';

export {
  CredentialsReference,
  type CredentialsReferenceProps,
  type SecretStoreRef,
  type StoredToken,
} from './link/credentials-reference.ts';
export type { CredentialsProps } from './link/kubeconfig.ts';
export { LinkCrd } from './link/link-crd.ts';
export { LinkCredentials, type LinkCredentialsProps } from './link/link-credentials.ts';
export { Link } from './link/link.ts';
export type { LinkImportPolicy, LinkProbe, LinkProps } from './link/props.ts';

export { type ExportOptions, Exported } from './services/exported.ts';
export { Federated } from './services/federated.ts';
export { type ExportedMetadata, ServiceExport, type ServiceExportProps } from './services/service-export.ts';
export { ClusterProperty, type ClusterPropertyProps } from './services/cluster-property.ts';
export { McsCrds } from './services/mcs-crds.ts';
export { ServiceFailoverCrd } from './services/service-failover-crd.ts';
export { type FailoverBackendProps, ServiceFailover, type ServiceFailoverProps } from './services/service-failover.ts';
export { TrafficSplit, type TrafficSplitProps } from './services/traffic-split.ts';

export { GatewayPolicy, type GatewayPolicyProps } from './gateway/gateway-policy.ts';
export type { GatewayServiceProps } from './gateway/gateway-service.ts';
export { Gateway, type GatewayProps } from './gateway/gateway.ts';
export { RemoteAccess, type RemoteAccessProps } from './gateway/remote-access.ts';

export { MirrorOperator } from './operator/mirror-operator.ts';
export type { AllowedPeers, IpBlock, MirrorOperatorProps, NetworkPolicyPeer } from './operator/props.ts';
export type { OperatorSettings } from './operator/settings.ts';

export type { AlertName } from './monitoring/alert-rules.ts';
export { Alerts, type AlertSettings, type AlertsProps } from './monitoring/alerts.ts';
export { Dashboard, type DashboardProps } from './monitoring/dashboard.ts';
export { Monitor, type MonitorProps } from './monitoring/monitor.ts';
export { Monitoring, type MonitoringProps } from './monitoring/monitoring.ts';

export { ClusterSet, type ClusterSetCluster } from './cluster-set/cluster-set.ts';
export { Multicluster, type MulticlusterProps, type PodSecurity } from './cluster-set/multicluster.ts';
export type {
  ApiServer,
  ClusterCredentials,
  ClusterSetLink,
  ClusterSetMcs,
  ClusterSetMember,
  ClusterSetProps,
} from './cluster-set/props.ts';
export type { ClusterPair, Topology } from './cluster-set/topology.ts';

export { ArgoCd } from './argo-cd/argo-cd.ts';
export type { ArgoCdDestination, ArgoCdProps, AutomatedSync } from './argo-cd/props.ts';

export { UnfitForGitError } from './tree/cluster-tree.ts';
export { writeClusterSet } from './tree/write-cluster-set.ts';
export { type FileChange, OutputFolderError } from './tree/write-tree.ts';

export type { LabelSelector, LabelSelectorRequirement } from '../crds/link/types.gen.ts';
export type { Client } from '../crds/clients.ts';
export type { FieldError } from '../crds/field-error.ts';
export { derivedName } from '../crds/mcs/derived-name.ts';
export {
  AboutApi,
  Annotation,
  credentialsName,
  Default,
  FailoverApi,
  gatewayIdentity,
  Label,
  LinkApi,
  McsApi,
  mirrorName,
  probeName,
  remoteAccessName,
  tokenSecretName,
  Value,
} from '../crds/wire.ts';
