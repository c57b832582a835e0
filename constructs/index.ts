/**
 * The constructs of Linkspan: everything a cdk8s chart needs to say a Link, its credentials and its mirrors.
 */
export { copiedAnnotations, copiedLabels, type Metadata } from './copied-metadata.ts';
export { EndpointMirror, type EndpointMirrorProps } from './endpoint-mirror.ts';
export type { EndpointsKind } from './endpoints-object.ts';
export type { GatewayEndpoints } from './gateway-endpoints.ts';
export { gatewayIdentity } from './gateway-identity.ts';
export { GatewayProbe, type GatewayProbeProps } from './gateway-probe.ts';
export {
  HeadlessMirror,
  type HeadlessMirrorAddress,
  type HeadlessMirrorEndpoints,
  type HeadlessMirrorProps,
  type HeadlessMirrorSubset,
} from './headless-mirror.ts';
export { InvalidPropsError } from './invalid-props.ts';
export { LinkCrd } from './link-crd.ts';
export { LinkCredentials, type LinkCredentialsProps } from './link-credentials.ts';
export { Link, type LinkProbe, type LinkProps } from './link.ts';
export { crossesGateway, type EndpointPort, type MirrorPort, type Protocol } from './mirror-port.ts';
export { type MirrorMode, MirrorService, type MirrorServiceProps } from './mirror-service.ts';
export { type ApiJson, render } from './render.ts';
export type { TargetServiceProps } from './target-service.ts';

export type { LabelSelector } from '../crds/link.types.gen.ts';
export type { FieldError } from '../crds/validate.ts';
export {
  Annotation,
  credentialsName,
  Default,
  federatedName,
  Label,
  LinkApi,
  mirrorName,
  probeName,
  Value,
} from '../crds/wire.ts';
