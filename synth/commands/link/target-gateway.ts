/** The gateway of a target, read from its Service. */
import { SERVICES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import type { LinkFlags } from './flags.ts';
import { type GatewayRead, type GatewayService, type GivenGateway, readGatewayService } from './gateway.ts';

/** Reads the gateway. */
export const readGateway = async (
  target: Cluster,
  { gatewayName: name, gatewayNamespace, namespace }: Pick<LinkFlags, 'gatewayName' | 'gatewayNamespace' | 'namespace'>,
  given: GivenGateway,
): Promise<GatewayRead> => {
  const ref = { namespace: gatewayNamespace ?? namespace, name };
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
