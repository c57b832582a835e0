/** Tokens that end, and Secrets with them as a person puts them there: what others write is theirs to renew (P5). */
import { parseTargetKubeconfig } from '../../operator/kube/access/secret-kubeconfig.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { type KubeObject, SECRETS, SERVICE_ACCOUNTS, TOKEN_REQUESTS } from '../../operator/kube/objects.ts';
import type { TokenRequest } from '../../operator/kube/account-token.ts';
import type { TestCluster } from '../cluster/index.ts';

const asAdmin = async <R>(
  cluster: Pick<TestCluster, 'kubeconfig'>,
  fieldManager: string,
  use: (client: KubeClient) => Promise<R>,
): Promise<R> => {
  const parsed = parseTargetKubeconfig(cluster.kubeconfig);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  const client = new KubeClient(parsed.value.access, { userAgent: 'test', fieldManager });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
};

/** Applies a Secret as kubectl does. */
export const applySecret = (cluster: Pick<TestCluster, 'kubeconfig'>, secret: object): Promise<unknown> =>
  asAdmin(cluster, 'kubectl', (client) => client.apply(SECRETS, secret as KubeObject));

/** A token of a ServiceAccount; by default it lives for ten minutes, the shortest that API servers grant. */
export const requestToken = (
  cluster: Pick<TestCluster, 'kubeconfig'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  boundObjectRef?: TokenRequest['spec']['boundObjectRef'],
  expirationSeconds = 600,
): Promise<string> =>
  asAdmin(cluster, 'test', async (client) => {
    const to = { of: SERVICE_ACCOUNTS, namespace, name, subresource: 'token' };
    const spec = { expirationSeconds, ...(boundObjectRef && { boundObjectRef }) };
    const { status } = await client.ask<TokenRequest>(TOKEN_REQUESTS, { spec }, to);
    return String(status?.token);
  });
