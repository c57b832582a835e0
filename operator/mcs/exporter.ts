/**
 * What decides about the export of one target in a ServiceImport: what the target exports under a key, and what its
 * Link says. Pure.
 */
import type { Service } from '../kube/objects.ts';
import type { LinkNow } from '../mirror/observed.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { Certain } from '../target/certain/certain.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { TargetExporter } from './observed.ts';

/**
 * Returns what is known of an export of a Link's target.
 * @param exports the Services that ServiceExports export
 * @param mayExport whether the target has yet to say what it exports. @default false
 */
export const observeExporter = (
  key: string,
  exports: Pick<Certain<Service>, 'get' | 'slicesOf' | 'decides' | 'admits'>,
  serviceExport: ServiceExport | undefined,
  { settings, view, gateway }: LinkNow,
  mayExport = false,
): Omit<TargetExporter, 'id' | 'departed'> => {
  const service = exports.get(key);
  const slices = exports.slicesOf(key);
  return {
    link: view,
    linkedAt: settings.createdAt,
    mode: settings.importsThrough === 'flat' ? 'remote-discovery' : 'gateway',
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
