/** The gateway of a target, read from its Service. */
import { Default } from '../../../crds/wire.ts';
import { SERVICES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import { type GatewayRead, type GatewayService, type GivenGateway, readGatewayService } from './gateway.ts';

/** Where the gateway's Service is. */
export interface GatewayPlace {
  /** Namespace of the extension. */
  readonly namespace: string;
  readonly gatewayName?: string | undefined;
  readonly gatewayNamespace?: string | undefined;
}

/** Reads the gateway. */
export const readGateway = async (
  target: Cluster,
  { gatewayName, gatewayNamespace, namespace }: GatewayPlace,
  given: GivenGateway,
): Promise<GatewayRead> => {
  const ref = { namespace: gatewayNamespace || namespace, name: gatewayName || Default.gatewayName };
  const service = await target.find<GatewayService>(SERVICES, ref);
  const title = target.title('Service', ref);
  if (service === undefined) return { ok: false, problems: [noGateway(title)], isPending: false };
  return readGatewayService(service, title, given);
};

const noGateway = (title: string): Problem => ({
  object: title,
  reason: 'not found: the target has no gateway',
  remedy: 'install one, name it with --gateway-name and --gateway-namespace, or use --gateway=false for flat mode only',
});
