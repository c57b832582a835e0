/**
 * Mirrors, endpoint mirrors, gateway probes and routes: the constructs that the operator renders, and `render` itself. The
 * operator imports this file and nothing else of constructs/.
 */
export {
  type AccessPartProps,
  ClientsAuthentication,
  GatewayAuthorization,
  GatewayRoute,
  KeptNetworks,
  MAX_HOSTS,
  type SourceNetwork,
} from './access/gateway-access.ts';
export { copiedAnnotations, copiedLabels, type Metadata } from './mirror/copied-metadata.ts';
export { type CopiedEndpoint, type CopiedSlice, type EndpointConditions, type PodRef } from './mirror/copied-slice.ts';
export { EndpointMirror, type EndpointMirrorProps } from './mirror/endpoint-mirror.ts';
export { type EndpointsKind, type EndpointsObjectProps, endpointsObjects } from './mirror/endpoints.ts';
export {
  type FederatedGateway,
  type FederatedLocalMember,
  type FederatedMember,
  type FederatedMembersProps,
  membershipAnnotations,
  sharedPorts,
} from './federated/members.ts';
export { FederatedService, type FederatedServiceProps } from './federated/federated-service.ts';
export { type GatewayEndpoints, gatewaySubset } from './mirror/gateway-endpoints.ts';
export { GatewayProbe, type GatewayProbeProps } from './mirror/gateway-probe.ts';
export {
  HeadlessMirror,
  type HeadlessMirrorAddress,
  type HeadlessMirrorEndpoints,
  type HeadlessMirrorProps,
  type HeadlessMirrorSubset,
} from './mirror/headless-mirror.ts';
export { type HeadlessMirrorPart, HeadlessSlices } from './mirror/headless-slices.ts';
export type { ImportedCluster, ImportedPod, ImportPort, ImportType, ServiceImportProps } from './import/props.ts';
export { type MirrorMode, MirrorService, type MirrorServiceProps } from './mirror/mirror-service.ts';
export { crossesGateway, type EndpointPort, type MirrorPort, type Protocol } from './mirror/ports.ts';
export { type ApiJson, render, renderOf } from './render.ts';
export { MAX_ANNOTATIONS_BYTES } from '../common/prop-rules.ts';
export {
  type Backend,
  backendName,
  type BackendRef,
  type BackendsProps,
  type RankedBackend,
  routeErrors,
  routeMetadata,
  routeName,
  type RouteProps,
  serviceNameOf,
  type ServiceObject,
  type ServiceRef,
} from './route/backends.ts';
export { podHostname } from './import/pods.ts';
export { derivedPortName } from './import/ports.ts';
export { ServiceImport } from './import/service-import.ts';
export { type RouteKind, ServiceRoute, type ServiceRouteProps } from './route/service-route.ts';
export type { StaticEndpointsProps } from './mirror/static-endpoints.ts';
export { podMetadata, type TargetServiceProps } from './mirror/target-service.ts';
