/** Errors of the props of Link: the rules of the operator for the spec, by the names of the props, and those of props alone. */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { type LinkSettings, readLink } from '../../crds/link/settings.ts';
import {
  annotationsErrors,
  dnsLabel,
  dnsSubdomain,
  excludedErrors,
  gatewayAddress,
  labelsErrors,
  targetClusterName,
} from '../common/prop-rules.ts';
import { beside } from '../common/props.ts';
import type { LinkProps } from './props.ts';
import { linkSpec } from './spec.ts';

/** Errors of the props, by path; `namespace` is the one of the Link. */
export const linkErrors = (props: LinkProps, namespace: string): readonly (FieldError | undefined)[] => {
  const name = props.name ?? props.targetCluster;
  const own = [
    targetClusterName('targetCluster', props.targetCluster),
    props.name === undefined ? undefined : dnsSubdomain('name', name),
    dnsLabel('namespace', namespace),
    ...labelsErrors('labels', props.labels),
    ...annotationsErrors('annotations', props.annotations),
    props.targetTrustDomain === undefined ? undefined : dnsSubdomain('targetTrustDomain', props.targetTrustDomain),
    ...gatewayErrors(props),
    ...excludedErrors('excludedLabels', props.excludedLabels),
    ...excludedErrors('excludedAnnotations', props.excludedAnnotations),
  ].filter((error) => error !== undefined);
  // Through JSON, as the operator reads it: undefined fields are absent.
  const read = readLink(JSON.parse(JSON.stringify({ metadata: { name, namespace }, spec: linkSpec(props) })));
  const inSpec = read.ok ? withoutGatewayErrors(read.value) : read.errors.map((error) => byProp(error, props));
  return [...own, ...beside(own, inSpec)];
};

/** Errors of the props of the gateway, which require its addresses. */
const gatewayErrors = ({ gatewayAddresses, ...props }: LinkProps): readonly (FieldError | undefined)[] => {
  if (gatewayAddresses?.length === 0) {
    return [
      fieldError('gatewayAddresses', gatewayAddresses, 'must not be empty', 'name one, or leave it out for no gateway'),
    ];
  }
  if (gatewayAddresses !== undefined) {
    return gatewayAddresses.map((address, index) => gatewayAddress(`gatewayAddresses[${index}]`, address));
  }
  const dropped = (['gatewayPort', 'gatewayIdentity', 'probe'] as const).filter((prop) => props[prop] !== undefined);
  return dropped.map((prop) =>
    fieldError(prop, props[prop], 'must not be set without gatewayAddresses', 'write gatewayAddresses, or remove it'),
  );
};

/** What requires a gateway. The operator serves such a Link, as Linkerd does, but declaring it is a mistake. */
const withoutGatewayErrors = ({ selector, federation, gateway }: LinkSettings): readonly FieldError[] => {
  if (gateway !== undefined) return [];
  const required = (why: string, remedy: string): FieldError =>
    fieldError('gatewayAddresses', undefined, `is required: ${why}`, `write the gateway's addresses, or ${remedy}`);
  if (selector !== undefined) {
    return [required('selector mirrors Services through the gateway', 'select with remoteDiscoverySelector instead')];
  }
  return federation === 'gateway'
    ? [required('federation is gateway', 'set federation to flat, which needs a flat network')]
    : [];
};

/** An error of a field of the spec as an error of its prop, with the prop's value. */
const byProp = (error: FieldError, props: LinkProps): FieldError => {
  const path = error.path
    .replace(/^spec\.probeSpec\b/, 'probe')
    .replace(/^spec\.gatewayAddress\b/, 'gatewayAddresses')
    .replace(/^spec\.targetClusterName\b/, 'targetCluster')
    .replace(/^spec\.targetClusterLinkerdNamespace\b/, 'targetLinkerdNamespace')
    .replace(/^(spec|metadata)\./, '');
  const remedy = error.remedy?.replace(', as a string', '');
  const [field = '', inner] = path.split('.');
  const outer = (props as unknown as Readonly<Record<string, unknown>>)[field];
  const value = inner === undefined ? outer : (outer as Readonly<Record<string, unknown>> | undefined)?.[inner];
  const isScalar = typeof value === 'number' || typeof value === 'string';
  return isScalar ? fieldError(path, value, error.reason, remedy) : { ...error, path, ...(remedy && { remedy }) };
};
