/** Kinds whose CRDs need not be installed, as a forecast is given them. */
import type { Listed } from '../../../operator/forecast/index.ts';
import type { KubeObject, Resource } from '../../../operator/kube/objects.ts';
import { ifAllowed } from './readable.ts';
import type { ClusterReader } from './reader.ts';

/**
 * Lists the objects of a kind.
 * @param namespaces the only ones that are read; undefined for all. What cannot be read in one of them is not read at all
 */
export const listed = async <T extends KubeObject>(
  reader: ClusterReader,
  of: Resource,
  namespaces?: readonly string[],
): Promise<Listed<T>> => {
  const found: T[] = [];
  for (const namespace of namespaces ?? [undefined]) {
    const read = await ifAllowed(() => reader.select<T>(of, { namespace }));
    if (!('found' in read)) return 'forbidden';
    for (const each of read.found) found.push(each);
  }
  return found.length > 0 || (await reader.serves(of)) ? found : 'missing';
};
