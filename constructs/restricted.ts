/**
 * The security contexts of our containers: what Kubernetes' Pod Security Standard `restricted` asks for, and a root
 * file system that cannot be written to.
 */

/** Of a pod. */
export const restrictedPod = { seccompProfile: { type: 'RuntimeDefault' } } as const;

/** Of a container; `runAs` is its user and its group. */
export const restrictedContainer = (runAs: number) => ({
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  runAsUser: runAs,
  runAsGroup: runAs,
  seccompProfile: { type: 'RuntimeDefault' },
});
