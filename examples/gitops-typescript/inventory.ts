/** The clusters, and where they are: by the conventions of a company, which a program can state once. */
import type { ArgoCdDestination, ClusterSetMember, Topology } from 'linkspan';

/** URL of this repository, as Argo CD reads it. */
export const REPOSITORY = 'https://git.example.com/platform/clusters.git';

export const MEMBERS: readonly ClusterSetMember[] = ['east', 'west', 'north'].map((name, index) => ({
  name,
  gatewayAddresses: [`gateway.${name}.example.com`],
  networks: [`198.51.100.${index * 64}/26`],
}));

/** Each is linked with each. */
export const TOPOLOGY: Topology = { type: 'full-mesh' };

/** Argo CD runs in east; the others are registered in it by their names. */
export const DESTINATIONS: Readonly<Record<string, ArgoCdDestination>> = {
  east: { server: 'https://kubernetes.default.svc' },
};
