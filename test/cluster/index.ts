/**
 * Test clusters: one interface over real API servers and a simulated one. Suites start theirs here, and reach them
 * through a kubeconfig as any program does.
 */
import { startReal } from './real/real.ts';
import { startSimulated } from './simulated/start.ts';
import type { Backing, StartOptions, TestCluster } from './types.ts';

export { backings } from './backings.ts';
export { borrowCluster } from './shared.ts';
export type { AuditEntry, Backing, StartOptions, TestCluster, TestUser } from './types.ts';

/** Starts a cluster; the caller stops it. */
export const startCluster = ({
  backing,
  ...options
}: StartOptions & { readonly backing: Backing }): Promise<TestCluster> => {
  switch (backing) {
    case 'real':
      return startReal(options);
    case 'simulated':
      return startSimulated(options);
  }
};
