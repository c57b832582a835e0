/**
 * Sets up the credentials of a Link with the operator's settings. Metrics show when the token of these credentials
 * expires, and the latest time at which its renewal starts.
 */
import { Default } from '../../crds/wire.ts';
import { fenced } from '../runtime/fence.ts';
import { Credentials, type CredentialsOptions } from '../target/credentials.ts';
import { type AccountToken, renewalMs } from '../kube/account-token.ts';
import type { SharedEnvironment } from '../served/environment.ts';

/**
 * Returns the command that mints credentials for a Link. The user adds the flags for the kubeconfig contexts of the two
 * clusters. The command has `--name` with the name of the Link, because the default of that flag is the name of the
 * target's context, which might differ. It has a flag for each namespace that is not the default (rule P4).
 */
export const mintCommand = (
  link: string,
  { namespace, controlPlaneNamespace }: Pick<SharedEnvironment['config'], 'namespace' | 'controlPlaneNamespace'>,
): string => {
  const flags = [
    ...['--name', link],
    ...(namespace === Default.multiclusterNamespace ? [] : ['--namespace', namespace]),
    ...(controlPlaneNamespace === Default.controlPlaneNamespace ? [] : ['--linkerd-namespace', controlPlaneNamespace]),
  ];
  return `linkspan credentials mint ${flags.join(' ')} --apply`;
};

/**
 * Returns a {@link Credentials} that keeps the metrics of its token up to date.
 * @param cluster the target cluster
 * @param link returns the name of the Link
 */
export function measuredCredentials(
  cluster: string,
  env: Pick<SharedEnvironment, 'config' | 'tuning' | 'metrics' | 'client' | 'mayWrite'>,
  link: () => string,
  { onVerdict, adopt }: Pick<CredentialsOptions, 'onVerdict' | 'adopt'>,
): Credentials {
  const { config, tuning, metrics, client, mayWrite } = env;
  const credentials: Credentials = new Credentials({
    timeoutMs: tuning.requestTimeoutMs,
    network: tuning.network,
    hooks: metrics.clientHooks,
    listed: config.credentialsSecrets,
    renewal: { namespace: config.namespace, source: fenced(client, mayWrite), part: tuning.renewedAfter },
    mint: () => mintCommand(link(), config),
    onVerdict: (found) => {
      measure(env, cluster, credentials.token);
      onVerdict(found);
    },
    adopt,
  });
  return credentials;
}

/**
 * Sets the metrics that show when the token in use expires, and the latest time at which its renewal starts (rule P4).
 * Without a token that expires, the metrics have no series for the cluster.
 */
function measure(
  { metrics, tuning }: Pick<SharedEnvironment, 'metrics' | 'tuning'>,
  cluster: string,
  token: AccountToken | undefined,
): void {
  const { credentialsExpiry, credentialsRenewal } = metrics.target;
  const labels = { target_cluster_name: cluster };
  if (token === undefined) {
    credentialsExpiry.remove(labels);
    credentialsRenewal.remove(labels);
    return;
  }
  credentialsExpiry.set(labels, token.expiresAtMs / 1_000);
  credentialsRenewal.set(labels, renewalMs(token, 0, tuning.renewedAfter) / 1_000);
}
