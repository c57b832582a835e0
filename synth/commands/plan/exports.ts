/** What a cluster exports by the MCS API, read once. */
import type { OperatorConfig } from '../../../operator/config/config.ts';
import {
  type ExportLists,
  type ImportFacts,
  type ModelCluster,
  SERVICE_IMPORTS,
} from '../../../operator/forecast/index.ts';
import { type EndpointSlice, type KubeObject, type Service, SERVICES } from '../../../operator/kube/objects.ts';
import { CLUSTER_PROPERTIES, SERVICE_EXPORTS } from '../../../operator/target/read/mcs-objects.ts';
import { listed } from '../common/listed.ts';
import { ifAllowed } from '../common/readable.ts';
import type { ClusterReader } from '../common/reader.ts';
import { slicesOfServices } from '../common/slices.ts';

/** What of it does not depend on the Links. */
export type SourceImports = Pick<ImportFacts, 'local'>;

/** Reads what the source cluster exports; undefined if it has no ServiceImports, or the operator leaves them alone. */
export const readImports = async (
  reader: ClusterReader,
  { serviceImports, mirrorNamespaces }: OperatorConfig,
  model: ModelCluster,
): Promise<SourceImports | undefined> => {
  if (!serviceImports) return undefined;
  if (typeof (await model.list(SERVICE_IMPORTS)) === 'string') return undefined;
  return { local: await readExports(reader, mirrorNamespaces) };
};

/**
 * Reads what a cluster exports.
 * @param namespaces the only ones that are read; undefined for all
 */
export const readExports = async (
  reader: ClusterReader,
  namespaces: readonly string[] | undefined,
): Promise<ExportLists> => {
  const [exports, properties] = await Promise.all([
    listed<KubeObject>(reader, SERVICE_EXPORTS, namespaces),
    listed<KubeObject>(reader, CLUSTER_PROPERTIES),
  ]);
  const nothing = { exports, services: [], slices: [], properties, namespaces };
  if (typeof exports === 'string' || exports.length === 0) return nothing;
  const names = exports.map(({ metadata }) => metadata.name);
  const within = namespaces ?? [undefined];
  const read = await ifAllowed(async () => ({
    services: await Promise.all(within.map((namespace) => reader.select<Service>(SERVICES, { namespace }))),
    slices: await Promise.all(within.map((namespace) => slicesOfServices(reader, names, namespace))),
  }));
  // What is behind the exports is not known then.
  if (!('found' in read)) return { ...nothing, exports: 'forbidden' };
  const services: readonly Service[] = read.found.services.flat();
  const slices: readonly EndpointSlice[] = read.found.slices.flat();
  return { exports, services, slices, properties, namespaces };
};
