/** What a target exports under one key by the MCS API, as a ServiceImport is decided by it: with what its Link says of it. Pure. */
import type { LinkSettings } from '../../crds/index.ts';
import type { Service } from '../kube/objects.ts';
import type { GatewayView, LinkView } from '../mirror/observed.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { Certain } from '../target/certain/certain.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { TargetExporter } from './observed.ts';

/** A Link and its gateway as they are now. */
export interface LinkNow {
  readonly settings: LinkSettings;
  readonly view: LinkView;
  readonly gateway: GatewayView | undefined;
}

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
