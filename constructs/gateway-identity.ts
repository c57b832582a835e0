/**
 * The TLS identity of a target's gateway, as Linkerd derives it from a ServiceAccount.
 * A Link without one makes proxies send plaintext, which no gateway accepts.
 */
import { Default } from '../crds/wire.ts';

/**
 * Identity of the ServiceAccount `linkerd-gateway`.
 * @param linkerdNamespace namespace of the target's control plane
 * @param trustDomain identity trust domain of the target
 * @param namespace namespace of the gateway
 */
export const gatewayIdentity = (
  linkerdNamespace: string,
  trustDomain: string,
  namespace: string = Default.multiclusterNamespace,
): string => `${Default.gatewayName}.${namespace}.serviceaccount.identity.${linkerdNamespace}.${trustDomain}`;
