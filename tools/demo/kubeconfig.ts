/** One kubeconfig with a context for each cluster, so that `kubectl --context` works as in the guide. */
import { Yaml } from 'cdk8s';
import type { TestCluster } from '../../test/cluster/index.ts';

/** Renders it; the first cluster's context is the current one. */
export const mergedKubeconfig = (
  clusters: readonly Pick<TestCluster, 'name' | 'server' | 'caData' | 'adminToken'>[],
): string =>
  Yaml.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': clusters[0]?.name,
    clusters: clusters.map(({ name, server, caData }) => ({
      name,
      cluster: { server, 'certificate-authority-data': caData },
    })),
    users: clusters.map(({ name, adminToken }) => ({ name, user: { token: adminToken } })),
    contexts: clusters.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  });
