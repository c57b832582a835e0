/**
 * Mirrors that are kept although what they must be is not known, or cannot be (rules C1, E6). Their ports, labels and
 * annotations stay as they are. What others add to lead requests elsewhere goes from them, as it does from any mirror
 * (C3).
 */
import { hasSelector, type Service, type ServicePort, SERVICES } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import type { Observed } from './observed.ts';

/**
 * Returns those of our Services that others have added something to that no mirror has, as they are without it.
 * @param services those that are kept
 */
export const keptServices = ({ namespaceState }: Observed, services: readonly Service[]): readonly Desired[] =>
  namespaceState === 'forbidden' || namespaceState === 'unreadable'
    ? []
    : services.flatMap((live) => (isAsMirrored(live) ? [] : [{ of: SERVICES, object: asMirrored(live) }]));

/**
 * Whether the spec of a Service has nothing that no construct renders for a mirror. Without ports it could not be one.
 */
function isAsMirrored(live: Service): boolean {
  const { type = 'ClusterIP', externalName = '', externalIPs = [], ports = [] } = live.spec ?? {};
  const { internalTrafficPolicy, sessionAffinity = 'None', publishNotReadyAddresses = false } = live.spec ?? {};
  if (ports.length === 0) return true;
  if (hasSelector(live) || type !== 'ClusterIP' || externalName !== '' || externalIPs.length > 0) return false;
  return internalTrafficPolicy !== 'Local' && sessionAffinity === 'None' && !publishNotReadyAddresses;
}

function asMirrored({ metadata, spec = {} }: Service): Service {
  const { name, namespace, labels, annotations } = metadata;
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { ...labels },
      annotations: { ...annotations },
    },
    spec: {
      type: 'ClusterIP',
      ...(spec.clusterIP === 'None' && { clusterIP: 'None' }),
      ports: (spec.ports ?? []).map(withoutNodePort),
    },
  };
}

/** A port with the fields that a mirror copies (rule B1). */
const withoutNodePort = ({ name, protocol, port, targetPort, appProtocol }: ServicePort): ServicePort => ({
  ...(name !== undefined && { name }),
  ...(protocol !== undefined && { protocol }),
  port,
  ...(targetPort !== undefined && { targetPort }),
  ...(appProtocol !== undefined && { appProtocol }),
});
