/**
 * What is wrong with one cluster and one user of a kubeconfig, as kubectl judges them before it asks the cluster
 * anything.
 */
import { execProblem } from './exec-plugin.ts';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-file.ts';

/** What is wrong, completing "cluster `name` …" or "user `name` …"; undefined if nothing is. */
type Problem = string | undefined;

/**
 * The URL of an API server; without a scheme it is http, as kubectl has it.
 * @throws Error that completes "cluster `name` …"
 */
export function serverOf({ server = '' }: KubeconfigCluster): URL {
  if (server === '') throw new Error('has no server (write https://HOST:PORT)');
  const url = URL.parse(server.includes('://') ? server : `http://${server}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.host === '') {
    throw new Error('has a server that is not an http or https URL (write https://HOST:PORT)');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('has a server with credentials in it (move them to the user)');
  }
  return url;
}

export function clusterProblem(cluster: KubeconfigCluster): Problem {
  const file = cluster['certificate-authority'];
  const data = cluster['certificate-authority-data'];
  if (file && data) return 'has both certificate-authority and certificate-authority-data (keep one)';
  if ((file || data) && cluster['insecure-skip-tls-verify']) {
    return 'has insecure-skip-tls-verify and a certificate-authority (keep one)';
  }
  return undefined;
}

export function userProblem(user: KubeconfigUser): Problem {
  const [certFile, certData] = [user['client-certificate'], user['client-certificate-data']];
  const [keyFile, keyData] = [user['client-key'], user['client-key-data']];
  const hasPassword = Boolean(user.username) || Boolean(user.password);
  if (certFile && certData) return 'has both client-certificate and client-certificate-data (keep one)';
  if ((certFile || certData) && keyFile && keyData) return 'has both client-key and client-key-data (keep one)';
  if ((certFile || certData) && !keyFile && !keyData) return 'has a client certificate without client-key (add it)';
  if ((user.token || user.tokenFile) && hasPassword) return 'has a token and a password (keep one)';
  if (user.exec !== undefined && user['auth-provider'] !== undefined) {
    return 'has both exec and auth-provider (keep exec)';
  }
  const isOther =
    user['as-uid'] || (user['as-groups'] ?? []).length > 0 || Object.keys(user['as-user-extra'] ?? {}).length > 0;
  if (isOther && !user.as) return 'has as-uid, as-groups or as-user-extra without as (name the user to act as)';
  return user.exec === undefined ? undefined : execProblem(user.exec);
}

/** @returns why nobody can be authenticated with it; kubectl would ask for a user name. */
export const anonymousProblem = (user: KubeconfigUser): Problem =>
  user.token ||
  user.tokenFile ||
  user.username ||
  user['client-certificate'] ||
  user['client-certificate-data'] ||
  user.exec ||
  user['auth-provider']
    ? undefined
    : 'has no credentials (give it a token, a client certificate or a login program)';

/** @throws Error if there is a problem */
export const refuse = (problem: string | undefined): void => {
  if (problem !== undefined) throw new Error(problem);
};
