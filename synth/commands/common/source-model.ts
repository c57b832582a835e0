/** What the operator has written into a source cluster, and what is in its way, read once into its own stores. */
import { KUBERNETES_SLICE_MANAGERS, Label, SELECTED_SLICE_MANAGER } from '../../../crds/wire.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { type Listed, ModelCluster } from '../../../operator/forecast/index.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type Endpoints,
  type EndpointSlice,
  type Namespace,
  NAMESPACES,
  type Resource,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { listed } from './listed.ts';
import type { ClusterReader } from './reader.ts';
import { fixedSelector } from './selectors.ts';
import { slicesOfServices } from './slices.ts';

/**
 * Reads it. What is derived of other kinds has them listed.
 * @param given makes of such a list what it is to be. @default - it is what there is
 */
export const readModel = async (
  reader: ClusterReader,
  config: OperatorConfig,
  given: (of: Resource, listed: Listed) => Listed = (_, listed) => listed,
): Promise<ModelCluster> => {
  const { namespace, mirrorNamespaces } = config;
  const [namespaces, services, endpoints, slices, ...selected] = await Promise.all([
    reader.select<Namespace>(NAMESPACES, {}),
    reader.select<Service>(SERVICES, {}),
    reader.select<Endpoints>(ENDPOINTS, { selector: OF_A_CLUSTER }),
    reader.select<EndpointSlice>(ENDPOINT_SLICES, { selector: WRITTEN_SLICES }),
    ...SELECTED_SLICES.map((selector) => reader.select<EndpointSlice>(ENDPOINT_SLICES, { selector })),
  ]);
  return new ModelCluster({
    namespace,
    mirrorNamespaces,
    objects: { namespaces, services, endpoints, slices: [...slices, ...selected.flat()] },
    findEndpoints: (within, name) => reader.find(ENDPOINTS, { namespace: within, name }),
    findSlices: (names) => slicesOfServices(reader, names),
    list: async (of) => given(of, await listed(reader, of, mirrorNamespaces)),
  });
};

const OF_CLUSTER = [{ key: Label.clusterName, operator: 'Exists' }] as const;
const OF_A_CLUSTER = fixedSelector({ matchExpressions: OF_CLUSTER });
const WRITTEN_SLICES = fixedSelector({
  matchExpressions: [{ key: Label.endpointSliceManagedBy, operator: 'NotIn', values: KUBERNETES_SLICE_MANAGERS }],
});
/** What Kubernetes makes of mirrors and of probe Services that somebody gives a selector. */
const SELECTED_SLICES = [Label.mirroredService, Label.mirroredGateway].map((key) =>
  fixedSelector({
    matchExpressions: [
      { key: Label.endpointSliceManagedBy, operator: 'In', values: [SELECTED_SLICE_MANAGER] },
      { key, operator: 'Exists' },
    ],
  }),
);
