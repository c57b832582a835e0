/** Tokens that end, and Secrets with them as a person puts them there: what others write is theirs to renew (P5). */
import { CredentialsSecret } from '../../crds/wire.ts';
import { parseTargetKubeconfig } from '../../operator/kube/access/secret-kubeconfig.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { type KubeObject, SECRETS, SERVICE_ACCOUNTS, TOKEN_REQUESTS } from '../../operator/kube/objects.ts';
import type { TokenRequest } from '../../operator/kube/account-token.ts';
import type { TestCluster } from '../cluster/index.ts';
import type { KubeObject as LiveObject, ObjectRef } from '../cluster/workload/index.ts';

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

type LiveSecret = LiveObject & { readonly data?: Readonly<Record<string, string>> };

/** The kubeconfig in a Secret of a cluster; empty if there is none. */
export const kubeconfigIn = async (
  api: { get<T>(ref: ObjectRef): Promise<T | undefined> },
  secret: ObjectRef,
): Promise<string> => {
  const base64 = (await api.get<LiveSecret>(secret))?.data?.[CredentialsSecret.key] ?? '';
  return Buffer.from(base64, 'base64').toString();
};

/** The token in a kubeconfig; empty if it has none. */
export const tokenIn = (kubeconfig: string): string => /token: (\S+)/.exec(kubeconfig)?.[1] ?? '';

/** The CA certificates in a kubeconfig, as PEM; empty if it has none. */
export const caIn = (kubeconfig: string): string =>
  Buffer.from(/certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1] ?? '', 'base64').toString();
