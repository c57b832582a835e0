/**
 * The manifests of a Link's probe Service and its endpoints, which exist while the Link has a gateway that is probed
 * (rule F4). Labels and annotations that others put on the Service, as Linkerd's chart does, stay. Pure.
 */
import { type EndpointsKind, GatewayProbe, renderOf } from '../../constructs/rendered/index.ts';
import { type LinkSettings, probeName } from '../../crds/index.ts';
import { SERVICES } from '../kube/objects.ts';
import { type Manifests, NOTHING, writable } from '../mirror/manifests.ts';
import type { OwnedObjects } from '../mirror/observed.ts';

export interface ProbeObserved {
  readonly settings: Pick<LinkSettings, 'name' | 'cluster' | 'gateway' | 'probe'>;
  /** Namespace of the Links, where probe Services are. */
  readonly namespace: string;
  /** Addresses of the gateway; at least one. */
  readonly addresses: readonly string[];
  readonly endpointsKind: EndpointsKind;
  readonly owned: OwnedObjects;
  readonly isForeign: (service: string) => boolean;
}

export function desiredProbe(observed: ProbeObserved): Manifests {
  const { settings, namespace, addresses, endpointsKind } = observed;
  const { name, cluster, gateway, probe } = settings;
  if (gateway === undefined || probe === undefined) return NOTHING;
  const objects = renderOf(GatewayProbe, {
    link: name,
    targetCluster: cluster,
    namespace,
    port: probe.port,
    addresses,
    identity: gateway.identity,
    kind: endpointsKind,
  });
  const manifests = writable(observed, probeName(name), objects);
  return {
    ...manifests,
    services: manifests.services.map((each) =>
      each.of === SERVICES ? { ...each, comparison: { extraMetadata: 'ignored' } } : each,
    ),
  };
}
