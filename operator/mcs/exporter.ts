/**
 * Observes the export of one cluster for a ServiceImport: what the cluster exports under a key and, for a target, the
 * settings of its Link. The operator and a forecast share this code. Pure, apart from the first question to
 * `discovery`, which starts a watch of Secrets.
 */
import type { DiscoveredClusters } from '../federation/party.ts';
import type { Service } from '../kube/objects.ts';
import type { LinkNow } from '../mirror/observed.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { Aspect } from '../target/aspect.ts';
import type { Certain } from '../target/certain/certain.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { LocalExporter, TargetExporter } from './observed.ts';

/**
 * Returns what is known about one export of a Link's target, by its key.
 * @param exports the target's Services that have a ServiceExport
 * @param discovery asked only if the Link imports in flat mode and the cluster has the Service, because the first
 *   question starts a watch of Secrets
 * @param mayExport see {@link TargetExporter.mayExport}. @default false
 */
export const observeExporter = (
  key: string,
  exports: Pick<Certain<Service>, 'get' | 'slicesOf' | 'decides' | 'admits'>,
  serviceExport: ServiceExport | undefined,
  { settings, view, gateway }: LinkNow,
  discovery: DiscoveredClusters,
  mayExport = false,
): Omit<TargetExporter, 'id' | 'departed'> => {
  const service = exports.get(key);
  const slices = exports.slicesOf(key);
  const isFlat = settings.importsThrough === 'flat';
  return {
    link: view,
    linkedAt: settings.createdAt,
    mode: isFlat ? 'remote-discovery' : 'gateway',
    isDiscoverable: isFlat && service !== undefined ? discovery.has(view.cluster) : undefined,
    gateway,
    lacksGateway: gateway === undefined,
    isKnown: exports.decides(key),
    serviceExport,
    service,
    slices,
    anyReady: service && slices && readSlices(service, slices).anyReady,
    mayExport,
    isAdmitted: exports.admits(key),
  };
};

/** Returns what is known about one export of the source cluster, by its key. */
export const observeLocalExport = (
  key: string,
  exports: Pick<Aspect<Service>, 'get' | 'slicesOf' | 'decides'> & {
    readonly exportOf: (key: string) => ServiceExport | undefined;
  },
): Omit<LocalExporter, 'id'> => ({
  isKnown: exports.decides(key),
  serviceExport: exports.exportOf(key),
  service: exports.get(key),
  slices: exports.slicesOf(key),
});
