/** EndpointSlices, found by the names of their Services. */
import { isLabelValue } from '../../../crds/names.ts';
import { Label } from '../../../crds/wire.ts';
import { ENDPOINT_SLICES, type EndpointSlice } from '../../../operator/kube/objects.ts';
import type { ClusterReader } from './reader.ts';
import { fixedSelector } from './selectors.ts';

/** So many names fit into one query. */
const MAX_NAMES = 100;

/** The slices of Services, in a namespace or in all. A name that no label can have is of no slice. */
export const slicesOfServices = async (
  reader: ClusterReader,
  names: readonly string[],
  namespace?: string,
): Promise<readonly EndpointSlice[]> => {
  const all = [...new Set(names.filter(isLabelValue))].sort();
  const chunks = Array.from({ length: Math.ceil(all.length / MAX_NAMES) }, (_, at) =>
    all.slice(at * MAX_NAMES, (at + 1) * MAX_NAMES),
  );
  const found = await Promise.all(
    chunks.map((values) => {
      const selector = fixedSelector({ matchExpressions: [{ key: Label.serviceName, operator: 'In', values }] });
      return reader.select<EndpointSlice>(ENDPOINT_SLICES, { namespace, selector });
    }),
  );
  return found.flat();
};
