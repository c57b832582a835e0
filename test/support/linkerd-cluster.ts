/** A cluster of its own with what Linkerd's control plane brings: its namespace, its settings and its policy's kinds. */
import { gatewayIdentity } from '../../crds/wire.ts';
import { type Backing, startCluster, type TestCluster } from '../cluster/index.ts';
import { type Api, api, installCrd, type ObjectRef } from '../cluster/workload/index.ts';
import { LINKS_NAMESPACE, namespace, service } from './builders.ts';
import { meshCrds } from './mesh-crds.ts';

export interface LinkerdCluster {
  readonly cluster: TestCluster;
  readonly client: Api;
  /** Closes the client, and ends the cluster. */
  readonly stop: () => Promise<void>;
}

export interface LinkerdClusterOptions {
  readonly backing: Backing;
  readonly name: string;
  /** Kubernetes' own controllers. @default none */
  readonly controllers?: readonly string[];
}

/** Linkerd's settings, as far as commands read them; its trust domain is `<cluster>.example`. */
export const linkerdConfig = (cluster: string): ObjectRef => {
  const manifest = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'linkerd-config', namespace: 'linkerd' },
    data: { values: `clusterDomain: ${cluster}.local\nidentityTrustDomain: ${cluster}.example\n` },
  };
  return manifest;
};

/** The gateway of a cluster, as Linkerd's chart makes its Service; a load balancer has not given it an address. */
export const linkerdGateway = (cluster: string): ReturnType<typeof service> =>
  service('linkerd-gateway', {
    namespace: LINKS_NAMESPACE,
    annotations: {
      'mirror.linkerd.io/gateway-identity': gatewayIdentity('linkerd', `${cluster}.example`),
      'mirror.linkerd.io/probe-period': '1',
      'mirror.linkerd.io/probe-path': '/ready',
    },
    ports: [
      { name: 'mc-gateway', port: 4143 },
      { name: 'mc-probe', port: 4191 },
    ],
    spec: { type: 'LoadBalancer' },
  });

/** Installs Linkerd's control plane, without anything that runs. */
export const installLinkerd = async ({
  cluster,
  client,
}: Pick<LinkerdCluster, 'cluster' | 'client'>): Promise<void> => {
  for (const crd of meshCrds) {
    if (!crd.metadata.name.endsWith('policy.linkerd.io')) break;
    await installCrd(cluster, crd);
  }
  await client.apply(namespace('linkerd'));
  await client.apply(linkerdConfig(cluster.name));
};

/** Starts a cluster without Linkerd: {@link installLinkerd} adds it. */
export const startLinkerdCluster = async (options: LinkerdClusterOptions): Promise<LinkerdCluster> => {
  const cluster = await startCluster(options);
  const client = api(cluster);
  const stop = async (): Promise<void> => {
    await client.close();
    await cluster.stop();
  };
  return { cluster, client, stop };
};
