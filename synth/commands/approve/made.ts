/** What a source cluster has of the Services of a target, whoever made it. */
import { PROBE_KEY } from '../../../operator/forecast/index.ts';
import type { Cluster } from '../common/cluster.ts';
import { operatorSettings } from '../common/operator-settings.ts';
import { liveReader } from '../common/reader.ts';
import { readModel } from '../common/source-model.ts';

/** Returns the Services of a cluster that are mirrored, joined or imported, as `namespace/name`, in that order. */
export const madeOf = async (
  source: Cluster,
  namespaces: { readonly namespace: string; readonly linkerdNamespace: string },
  cluster: string,
): Promise<readonly string[]> => {
  const reader = liveReader(source);
  const { config } = await operatorSettings(reader, namespaces);
  const { stores } = await readModel(reader, config);
  const keys = [...stores.keysOf(cluster), ...stores.membershipsOf(cluster), ...stores.importsFrom(cluster)];
  return [...new Set(keys)].filter((key) => key !== PROBE_KEY).sort();
};
