/**
 * The constructs of Linkspan: everything a cdk8s chart needs to declare a Link, its credentials and its mirrors.
 */
export type { AlertName } from './alert-rules.ts';
export { Alerts, type AlertSettings, type AlertsProps } from './alerts.ts';
export { ArgoCd } from './argo-cd.ts';
export type { ArgoCdDestination, ArgoCdProps, AutomatedSync } from './argo-cd-props.ts';
export type { Backend, BackendRef, BackendsProps } from './backend.ts';
export { ClusterSet, type ClusterSetCluster } from './cluster-set.ts';
export type { ApiServer, ClusterCredentials, ClusterSetMember, ClusterSetProps } from './cluster-set-props.ts';
export {
  CredentialsReference,
  type CredentialsReferenceProps,
  type SecretStoreRef,
  type StoredToken,
} from './credentials-reference.ts';
export type { CredentialsProps } from './credentials-secret.ts';
export { Dashboard, type DashboardProps } from './dashboard.ts';
export { type ExportOptions, Exported } from './exported.ts';
export { Federated } from './federated.ts';
export { GatewayPolicy, type GatewayPolicyProps } from './gateway-policy.ts';
export type { GatewayServiceProps } from './gateway-service.ts';
export { Gateway, type GatewayProps } from './gateway.ts';
export { Grant, type Grantee, type GrantProps, type PolicyRule } from './grant.ts';
export { InvalidPropsError } from './invalid-props.ts';
export { LinkCrd } from './link-crd.ts';
export { LinkCredentials, type LinkCredentialsProps } from './link-credentials.ts';
export { Link, type LinkProbe, type LinkProps } from './link.ts';
export {
  type ApiJson,
  copiedAnnotations,
  copiedLabels,
  crossesGateway,
  EndpointMirror,
  type EndpointMirrorProps,
  type EndpointPort,
  type EndpointsKind,
  type GatewayEndpoints,
  GatewayProbe,
  type GatewayProbeProps,
  HeadlessMirror,
  type HeadlessMirrorAddress,
  type HeadlessMirrorEndpoints,
  type HeadlessMirrorProps,
  type HeadlessMirrorSubset,
  type Metadata,
  type MirrorMode,
  type MirrorPort,
  MirrorService,
  type MirrorServiceProps,
  type Protocol,
  render,
  type StaticEndpointsProps,
  type TargetServiceProps,
} from './mirror/index.ts';
export { MirrorOperator, type MirrorOperatorProps } from './mirror-operator.ts';
export { Monitor, type MonitorProps } from './monitor.ts';
export { Monitoring, type MonitoringProps } from './monitoring.ts';
export { Multicluster, type MulticlusterProps } from './multicluster.ts';
export type { OperatorSettings } from './operator-args.ts';
export type { PodPlacementProps, Resources, Toleration, TopologySpread } from './pod-placement.ts';
export { RemoteAccess, type RemoteAccessProps } from './remote-access.ts';
export { ServiceRoute, type ServiceRouteProps } from './service-route.ts';
export type { ClusterPair, Topology } from './topology.ts';
export { TrafficSplit, type TrafficSplitProps } from './traffic-split.ts';

export type { LabelSelector } from '../crds/link/types.gen.ts';
export type { FieldError } from '../crds/field-error.ts';
export {
  Annotation,
  credentialsName,
  Default,
  gatewayIdentity,
  Label,
  LinkApi,
  mirrorName,
  probeName,
  remoteAccessName,
  tokenSecretName,
  Value,
} from '../crds/wire.ts';
