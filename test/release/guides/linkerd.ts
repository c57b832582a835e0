/** What of Linkerd a lab has: the objects that Linkspan reads, and the CRDs of what it writes. */
import { dumpYaml } from '@kubernetes/client-node';
import { meshCrds } from '../../support/mesh-crds.ts';
import { namespace } from '../../support/builders.ts';

/** A list that kubectl applies; JSON is YAML. */
const listOf = (items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

/** As `linkerd install --crds` and the Gateway API's release have them. It takes the Go toolchain. */
export const linkerdCrds = (): string => listOf([...meshCrds]);

/** Of `linkerd install`, the namespace and the settings. @param trustAnchors PEM, the same in all clusters */
export const linkerdSettings = (trustAnchors: string): string =>
  listOf([
    namespace('linkerd'),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'linkerd-config', namespace: 'linkerd' },
      data: {
        values: dumpYaml({
          clusterDomain: 'cluster.local',
          identityTrustDomain: 'cluster.local',
          identityTrustAnchorsPEM: trustAnchors,
        }),
      },
    },
  ]);
