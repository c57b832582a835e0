/**
 * Access to our own cluster: in a pod by the files that Kubernetes mounts, elsewhere by a kubeconfig, whose reader a
 * pod does not load.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { bearer, type ClusterAccess } from './access.ts';
import { TerminalError } from '../errors.ts';
import type { SourceKubeconfigOptions } from './kubeconfig.ts';
import { parseErrorText } from './parse-error-text.ts';

/** Where Kubernetes puts the token of a pod's ServiceAccount, and the CA of its API server. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Access by the kubeconfig that the options name; by default that of the pod, else by the rules of kubectl.
 * @param folder of the pod's files `token` and `ca.crt`; for tests
 * @throws TerminalError `InvalidKubeconfig`, with what is missing and what to do
 */
export async function sourceAccess(options: SourceKubeconfigOptions, folder = SERVICE_ACCOUNT): Promise<ClusterAccess> {
  const named = options.kubeconfig !== undefined || options.context !== undefined;
  if (!named && process.env['KUBERNETES_SERVICE_HOST'] && existsSync(`${folder}/token`)) {
    return inClusterAccess(folder);
  }
  const { kubeconfigAccess, loadSourceKubeconfig } = await import('./kubeconfig.ts');
  return kubeconfigAccess(loadSourceKubeconfig(options));
}

/**
 * Access with the ServiceAccount of the pod.
 * @param folder of the files `token` and `ca.crt`; for tests
 */
export async function inClusterAccess(folder = SERVICE_ACCOUNT): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  const token = async (): Promise<string> => (await readFile(`${folder}/token`, 'utf8')).trim();
  const authority = (): Promise<string> => readFile(`${folder}/ca.crt`, 'utf8');
  try {
    // Read once now, so that a pod without a token fails when it starts.
    const [ca] = await Promise.all([authority(), token()]);
    return {
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      tls: { ca },
      authorization: async () => bearer(await token()),
      currentTls: async () => ({ ca: await authority() }),
    };
  } catch (error) {
    throw new TerminalError(
      'InvalidKubeconfig',
      `the in-cluster configuration cannot be read: ${parseErrorText(error)}; let the pod mount its ServiceAccount's token, or use --kubeconfig`,
    );
  }
}
