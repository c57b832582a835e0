/**
 * The manifests of a Link's probe Service and its endpoints, which exist while the Link has a gateway that is probed
 * (rule F4). Labels and annotations that others put on the Service, as Linkerd's chart does, stay. Pure.
 */
import { type EndpointsKind, GatewayProbe, renderOf } from '../../constructs/rendered/index.ts';
import { type LinkSettings, probeName } from '../../crds/index.ts';
import { SERVICES } from '../kube/objects.ts';
import { desiredOf, type Manifests, NOTHING, writable } from '../mirror/manifests.ts';
import type { GatewayView, OwnedObjects } from '../mirror/observed.ts';

export interface ProbeObserved {
  readonly settings: Pick<LinkSettings, 'name' | 'cluster'>;
  /** The gateway that endpoints lead to, which may be a former one of the Link; with at least one address. */
  readonly gateway: GatewayView;
  /** Namespace of the Links, where probe Services are. */
  readonly namespace: string;
  readonly endpointsKind: EndpointsKind;
  readonly owned: OwnedObjects;
  readonly isForeign: (service: string) => boolean;
}

export function desiredProbe(observed: ProbeObserved): Manifests {
  const { settings, gateway, namespace, endpointsKind } = observed;
  const { name, cluster } = settings;
  const { addresses, identity, probe } = gateway;
  if (probe === undefined) return NOTHING;
  const objects = renderOf(GatewayProbe, {
    link: name,
    targetCluster: cluster,
    namespace,
    port: probe.port,
    addresses,
    identity,
    kind: endpointsKind,
  });
  const manifests = writable(observed, probeName(name), desiredOf(objects));
  return {
    ...manifests,
    services: manifests.services.map((each) =>
      each.of === SERVICES ? { ...each, comparison: { extraMetadata: 'ignored' } } : each,
    ),
  };
}
