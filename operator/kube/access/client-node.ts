/**
 * Access by a kubeconfig that a program already has as an object of client-node: for those that run the operator as a
 * library beside clients of their own. The types alone are imported, so that nobody else loads it.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import type { RequestOptions as HttpsOptions } from 'node:https';
import { TerminalError } from '../errors.ts';
import type { ClusterAccess, TlsMaterial } from './access.ts';

/**
 * What a client needs of client-node's kubeconfig, at its current context, with whichever credentials client-node
 * supports.
 * @throws TerminalError `InvalidKubeconfig` if it has no cluster for its current context
 */
export async function clientNodeAccess(config: KubeConfig): Promise<ClusterAccess> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new TerminalError(
      'InvalidKubeconfig',
      `the kubeconfig has no cluster for context "${config.getCurrentContext()}"`,
    );
  }
  const { ca, cert, key, servername, rejectUnauthorized } = await applied(config);
  return {
    server: cluster.server,
    tls: { ca, cert, key, servername, rejectUnauthorized } as TlsMaterial,
    authorization: async () => {
      const { headers, auth } = await applied(config);
      const basic = typeof auth === 'string' && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` };
      return { ...(headers as Record<string, string>), ...basic };
    },
    ...(cluster.proxyUrl !== undefined && { proxy: new URL(cluster.proxyUrl) }),
  };
}

/** Request options from client-node, which reads the files and runs the programs that the kubeconfig names. */
async function applied(config: KubeConfig): Promise<HttpsOptions> {
  const options: HttpsOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  return options;
}
