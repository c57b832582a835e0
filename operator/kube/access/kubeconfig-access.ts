/**
 * Access to the API server of a context: its address, what proves it, the proxy on the way, and the user's credentials.
 */
import type { ClusterAccess, TlsMaterial } from './access.ts';
import { type SourceKubeconfig, titleOf, within } from './kubeconfig-context.ts';
import type { KubeconfigCluster } from './kubeconfig-file.ts';
import { anonymousProblem, clusterProblem, refuse, serverOf, userProblem } from './kubeconfig-problems.ts';
import { readAuthority, serverTls } from './kubeconfig-tls.ts';
import { authProviderProblem } from './oidc.ts';
import { environmentProxy, proxyOf } from './proxy.ts';
import { type Credentials, lastGood, loginCredentials, ownCredentials } from './user-credentials.ts';
import { impersonation } from './user-headers.ts';

/**
 * What a client needs of a context. A login program runs once before this returns, since it may ask questions.
 * @throws TerminalError `InvalidKubeconfig` if it cannot be used, `LoginFailed` if nobody is logged in with it
 */
export async function kubeconfigAccess(config: SourceKubeconfig): Promise<ClusterAccess> {
  const { cluster, user } = config;
  const url = within(config, 'cluster', () => {
    refuse(clusterProblem(cluster));
    return serverOf(cluster);
  });
  within(config, 'user', () => refuse(userProblem(user)));
  const server = url.href.replace(/\/$/, '');
  const proxy = within(config, 'cluster', () => proxyFor(url, cluster));
  const others = impersonation(user);
  // As for kubectl, credentials are for servers that prove who they are.
  if (url.protocol === 'http:') return { server, proxy, tls: {}, authorization: () => Promise.resolve(others) };
  within(config, 'user', () => refuse(anonymousProblem(user) ?? authProviderProblem(user)));
  const proof = lastGood(() => within(config, 'cluster', () => serverTls(cluster)));
  const ca = within(config, 'cluster', () => readAuthority(cluster));
  const credentials = loginCredentials(user, { ...cluster, server, ca }, titleOf(config)) ?? ownCredentials(config);
  const [tls] = await Promise.all([tlsOf(proof, credentials), credentials.headers()]);
  return {
    server,
    proxy,
    tls,
    authorization: async () => ({ ...(await credentials.headers()), ...others }),
    currentTls: () => tlsOf(proof, credentials),
    ...credentials.renewal,
  };
}

const tlsOf = async (proof: () => Promise<TlsMaterial>, { certificate }: Credentials): Promise<TlsMaterial> => ({
  ...(await proof()),
  ...(await certificate()),
});

/** @throws Error that completes "cluster `name` …" */
const proxyFor = (server: URL, { 'proxy-url': given }: KubeconfigCluster): URL | undefined => {
  if (!given) return environmentProxy(server, process.env);
  try {
    return proxyOf(given);
  } catch (error) {
    throw new Error(`has a proxy-url that ${(error as Error).message}`, { cause: error });
  }
};
