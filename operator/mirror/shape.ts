/**
 * What form a target Service's mirror takes, or why it has none: rules A1, A3 to A5, and D1 to D3. Pure.
 */
import { Annotation, Label, mirrorName, Value } from '../../crds/wire.ts';
import { isServiceName } from '../../crds/names.ts';
import type { Service } from '../kube/objects.ts';
import { type Refusal, type RefusalReason, unreadableNamespace } from './reasons.ts';
import { type Claim, endpointMirrorNames } from './names.ts';
import type { Observed } from './observed.ts';
import { readSlices, type TargetEndpoints, type TargetHost } from './target-endpoints.ts';

export type Shape =
  /** Not known: everything stays as it is, and only the gateway is kept up to date. */
  | { readonly kind: 'undecided' }
  /** Not exported: nothing of it may be left. */
  | { readonly kind: 'absent' }
  /** Not mirrored; what exists of it is removed, or kept where it may not be written to. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly existing: 'remove' | 'keep' }
  | { readonly kind: 'flat'; readonly service: Service }
  | {
      readonly kind: 'clusterIP' | 'headless';
      readonly service: Service;
      /** Undefined: not known yet. */
      readonly endpoints: TargetEndpoints | undefined;
      /** Ports left out since they do not cross a gateway, for people. */
      readonly note?: string;
    };

const refused = (reason: RefusalReason, message: string, existing: 'remove' | 'keep' = 'remove'): Shape => ({
  kind: 'refused',
  refusal: { reason, message },
  existing,
});

export function shapeOf(observed: Observed): Shape {
  const { target, link, name, namespace, namespaceState } = observed;
  if (!observed.decidable) return { kind: 'undecided' };
  if (namespaceState === 'forbidden' || namespaceState === 'unreadable') {
    if (target === undefined && !ownsAnything(observed)) return { kind: 'absent' };
    if (namespaceState === 'unreadable') return refused('MissingNamespace', unreadableNamespace(namespace), 'keep');
    return refused(
      'NamespaceNotAllowed',
      `namespace ${namespace} may not be written to: it is Kubernetes' own, the control plane's, the operator's, or not among --mirror-namespaces`,
      'keep',
    );
  }
  if (target === undefined) return { kind: 'absent' };
  const { service, mode } = target;
  const refusal = invalidService(service) ?? invalidName(name, link.cluster);
  if (refusal !== undefined) return { kind: 'refused', refusal, existing: 'remove' };
  if (namespaceState === 'missing' && !link.createNamespaces) {
    return refused(
      'MissingNamespace',
      `namespace ${namespace} does not exist in the source cluster; create it, or enable namespace creation`,
    );
  }
  if (mode === 'remote-discovery') return { kind: 'flat', service };
  if (observed.gateway === undefined) {
    return refused(
      'WaitingForGateway',
      'the Link has no gatewayAddress: set spec.gatewayAddress, or export the Service as remote-discovery',
      'keep',
    );
  }

  const ports = service.spec?.ports ?? [];
  const left = ports.filter(({ protocol }) => (protocol ?? 'TCP') !== 'TCP');
  if (left.length === ports.length) {
    return refused(
      'InvalidService',
      'all its ports are UDP or SCTP, which do not cross a gateway; export it as remote-discovery on a flat network',
    );
  }
  const note =
    left.length === 0
      ? {}
      : {
          note: `ports left out, as they do not cross a gateway: ${left.map((port) => `${port.name ?? port.port}/${port.protocol ?? ''}`).join(', ')}`,
        };
  const endpoints = observed.slices === undefined ? undefined : readSlices(service, observed.slices);
  if (!link.headless || service.spec?.clusterIP !== 'None') return { kind: 'clusterIP', service, endpoints, ...note };

  const mirror = observed.owned.services.find(({ metadata }) => metadata.name === mirrorName(name, link.cluster));
  const wasHeadless = mirror?.spec?.clusterIP === 'None';
  if (endpoints === undefined || !endpoints.any) {
    if (mirror === undefined) {
      return refused(
        'WaitingForEndpoints',
        'a headless Service without endpoints: it is mirrored when its first endpoint appears',
      );
    }
    return { kind: wasHeadless ? 'headless' : 'clusterIP', service, endpoints, ...note };
  }
  return { kind: endpoints.hosts.size > 0 ? 'headless' : 'clusterIP', service, endpoints, ...note };
}

/** The local names that a shape needs, the mirror's own first. */
export function claimsOf({ name, namespace, link }: Observed, shape: Shape): readonly Claim[] {
  if (!isMirrored(shape)) return [];
  const owner = { cluster: link.cluster, key: `${namespace}/${name}` };
  const since = shape.service.metadata.creationTimestamp ?? '';
  return [
    { owner, names: [mirrorName(name, link.cluster)], since },
    ...hostsOf(shape).map(({ hostname }) => ({
      owner,
      hostname,
      names: endpointMirrorNames(hostname, name, link.cluster),
      since,
    })),
  ];
}

/** A shape that is mirrored. */
export type MirroredShape = Extract<Shape, { readonly service: Service }>;

export const isMirrored = (shape: Shape): shape is MirroredShape => 'service' in shape;

/** The pods that get an endpoint mirror each; none while the endpoints are not known. */
export const hostsOf = (shape: Shape): readonly TargetHost[] =>
  shape.kind === 'headless' && shape.endpoints !== undefined ? [...shape.endpoints.hosts.values()] : [];

function invalidService(service: Service): Refusal | undefined {
  const invalid = (message: string): Refusal => ({ reason: 'InvalidService', message });
  const { labels = {}, annotations = {} } = service.metadata;
  if (service.spec?.type === 'ExternalName')
    return invalid('a Service of type ExternalName has no endpoints to mirror; export the Service that it stands for');
  if ((service.spec?.ports ?? []).length === 0)
    return invalid('it has no ports, and a mirror needs at least one; name those that clients use');
  const foreign =
    labels[Label.mirroredService] === Value.true ||
    Label.remoteDiscovery in labels ||
    Annotation.remoteDiscovery in annotations ||
    Annotation.localDiscovery in annotations;
  if (foreign)
    return invalid(
      'it is itself a mirror or a federated Service; mirrors are not mirrored on; export the original in its own cluster',
    );
  return undefined;
}

function invalidName(name: string, cluster: string): Refusal | undefined {
  const local = mirrorName(name, cluster);
  if (isServiceName(local)) return undefined;
  return {
    reason: 'InvalidName',
    message: `its mirror would be called ${local}, which is no Service name: a DNS label of at most 63 characters that starts with a letter; shorten the Service's name or the Link's targetClusterName`,
  };
}

const ownsAnything = ({ owned }: Observed): boolean =>
  owned.services.length > 0 || owned.endpoints.length > 0 || owned.slices.length > 0;
