/**
 * How many bytes a Service takes that is a member of a federated Service, or exported by the MCS API (rule E10): at
 * most, as though it alone decided what is written. Whoever decides may change with any cluster.
 */
import type { EndpointSlice, KubeObject, Service } from '../kube/objects.ts';
import { bytesOf, sizeOf } from './bytes.ts';

/** Of a pod behind a gateway: a Service, and a slice for each family, beside their ports. */
const POD_BYTES = 2_000;

/** A federated Service has the metadata and the ports of a member, and slices have the ports once more. */
export const volumeOfMember = (service: Service): number => bytesOf(service) + sizeOf(service.spec?.ports);

/**
 * A ServiceImport, and the Service that is derived from it, have what the export says and the ports of its Service;
 * slices have the ports and the pods once more, and behind gateways each pod of a headless Service has objects of its
 * own.
 */
export function volumeOfExport(
  serviceExport: KubeObject,
  service: Service | undefined,
  slices: readonly EndpointSlice[] = [],
): number {
  if (service === undefined) return 0;
  const ports = sizeOf(service.spec?.ports);
  const common = 2 * bytesOf(serviceExport) + bytesOf(service) + 2 * ports;
  const listed = slices.reduce((sum, slice) => sum + bytesOf(slice), 0);
  if (service.spec?.clusterIP !== 'None') return common + listed;
  const pods = slices.reduce((sum, { endpoints }) => sum + (endpoints?.length ?? 0), 0);
  return common + listed + pods * (POD_BYTES + 2 * ports);
}
