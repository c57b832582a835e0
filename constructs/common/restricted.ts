/**
 * Security contexts that meet Kubernetes' Pod Security Standard `restricted`, with a read-only root file system.
 */

/** Security context of our pods. */
export const restrictedPod = { seccompProfile: { type: 'RuntimeDefault' } } as const;

/** Security context of our containers; `runAs` is their user and their group. */
export const restrictedContainer = (runAs: number) => ({
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  runAsUser: runAs,
  runAsGroup: runAs,
  seccompProfile: { type: 'RuntimeDefault' },
});
