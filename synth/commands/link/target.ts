/** What a Link is made of, as its target cluster has it: the domains of its Linkerd, and its gateway. */
import { Default } from '../../../crds/wire.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import { type KubeObject, SERVICES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError, type Problem } from '../common/command-error.ts';
import { CONFIG_MAPS } from '../common/kinds.ts';
import type { LinkFlags } from './flags.ts';
import { type GatewayRead, type GatewayService, type GivenGateway, readGatewayService } from './gateway.ts';

/** DNS domain of a cluster, and the identity trust domain of its Linkerd. */
export interface Domains {
  readonly clusterDomain: string;
  readonly trustDomain: string;
}

/** The ConfigMap that Linkerd keeps its settings in. */
const LINKERD_CONFIG = 'linkerd-config';

/** Reads the domains; undefined if there is no Linkerd in that namespace. */
export const readDomains = async (cluster: Cluster, namespace: string): Promise<Domains | undefined> => {
  const ref = { namespace, name: LINKERD_CONFIG };
  const found = await cluster.find<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(CONFIG_MAPS, ref);
  if (found === undefined) return undefined;
  let values: { readonly clusterDomain?: unknown; readonly identityTrustDomain?: unknown } | undefined | null;
  try {
    values = parseYaml(found.data?.['values'] ?? '') as typeof values;
  } catch (error) {
    const reason = `its values cannot be read: ${(error as Error).message}`;
    throw new CommandError([{ object: cluster.title('ConfigMap', ref), reason, remedy: 'see `linkerd check`' }]);
  }
  const clusterDomain = textOf(values?.clusterDomain) ?? Default.clusterDomain;
  return { clusterDomain, trustDomain: textOf(values?.identityTrustDomain) ?? clusterDomain };
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

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
