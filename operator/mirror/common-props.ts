/** What a mirror and all endpoint mirrors of one target Service have in common, as props of their constructs. */
import type { MirrorPort } from '../../constructs/rendered/index.ts';
import type { Service } from '../kube/objects.ts';
import type { Observed } from './observed.ts';

/** Returns the props that are the same for all that is rendered of a target Service. */
export function common({ link, name, namespace }: Observed, service: Service) {
  const { labels, annotations, resourceVersion } = service.metadata;
  return {
    service: name,
    namespace,
    targetCluster: link.cluster,
    targetClusterDomain: link.clusterDomain,
    labels,
    annotations,
    excludedLabels: link.excludedLabels,
    excludedAnnotations: link.excludedAnnotations,
    remoteResourceVersion: resourceVersion,
    ports: (service.spec?.ports ?? []).map(
      ({ name: portName, protocol, port, targetPort, appProtocol }) =>
        ({ name: portName, protocol, port, targetPort, appProtocol }) as MirrorPort,
    ),
  };
}
